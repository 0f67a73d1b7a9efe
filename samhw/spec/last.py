"""last: each innermost fiber becomes its last element."""

from samhw.numerics import ValueType
from samhw.spec.arch import Arch
from samhw.spec.base import Distribution, Extents, Joined, Ports, Reduction, Spec, Words, Work, too_shallow
from samhw.spec.params import VALUE, Params, parameters
from samhw.spec.streams import val

__all__ = ["LAST"]


class _Last(Spec):
    kind = "last"
    rule = "Gives the last value of each fiber."
    params = parameters(value=VALUE)
    inner_latency = None
    thins = False
    moves = False
    carries = False
    scans = False
    cell = None
    finds_disorder = False

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, 1)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [val("val", depth)], [val("val", depth - 1)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def follows(self, port: str, params: Params) -> str | None:
        return "val"

    def joins(self, params: Params) -> tuple[Joined, ...]:
        return ()

    def distribution(self, params: Params) -> Distribution | None:
        return None

    def reduction(self, params: Params) -> Reduction | None:
        return Reduction(None, (), "val")

    def work(self, params: Params) -> Work | None:
        return None

    def coordinates(self, params: Params, fibers: int, words: Words, extents: Extents) -> int | None:
        return None


LAST = _Last()
