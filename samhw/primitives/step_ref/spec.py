"""step_ref: starts a graph with the reference of a step."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Plain, Ports
from samhw.graph.spec.params import EXTENT, REPEAT, Param, Params, parameters
from samhw.graph.spec.streams import ref

__all__ = ["SPEC"]


class _StepRef(Plain):
    kind = "step_ref"
    rule = "Gives the one reference of the step that a repeated region is at, or of one near it."
    params = parameters(
        repeat=REPEAT,
        offset=Param("a whole number", lambda value: type(value) is int),
        extent=EXTENT._replace(optional=True),
        down=EXTENT._replace(optional=True),
    )
    cell = "Step"

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [], [ref("ref", 0)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def gives_empty(self, params: Params) -> bool:
        return params["offset"] != 0 or "extent" not in params

    def follows(self, port: str, params: Params) -> str | None:
        return None


SPEC = _StepRef()
