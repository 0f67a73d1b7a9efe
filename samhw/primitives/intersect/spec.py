"""intersect: the coordinates that all inputs have."""

from samhw.primitives.joiner.spec import Join

__all__ = ["SPEC"]


class _Intersect(Join):
    kind = "intersect"
    rule = (
        "Compares coordinates of all sides and passes on those that all of them have; a cycle for each step."
    )
    thins = True
    cell = "Intersect"


SPEC = _Intersect()
