"""union: the coordinates that some input has."""

from samhw.graph.spec.params import Params
from samhw.primitives.joiner.spec import Join

__all__ = ["SPEC"]


class _Union(Join):
    kind = "union"
    rule = "Merges the coordinates of all sides; where a side has none, its payload is empty."
    thins = False
    cell = "Union"

    def gives_empty(self, params: Params) -> bool:
        return True


SPEC = _Union()
