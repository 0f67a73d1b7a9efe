"""What the reducers have in common: they take a level away."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Distribution, Extents, InnerLatency, Joined, Ports, Spec, Words, too_shallow
from samhw.graph.spec.blocked import Blocked, TakenBlocks
from samhw.graph.spec.params import Params
from samhw.graph.spec.streams import val

__all__ = ["Reducer", "ReducerToScalars"]


class Reducer(Spec):
    """Takes a level away: its values become those of an outer level."""

    inner_latency: InnerLatency = None
    thins = False
    moves = False
    carries = False
    completes = False
    scans = False
    locates = False
    cell = None
    finds_disorder = False

    def joins(self, params: Params) -> tuple[Joined, ...]:
        return ()

    def gives_empty(self, params: Params) -> bool:
        return False

    def distribution(self, params: Params) -> Distribution | None:
        return None

    def coordinates(self, params: Params, fibers: int, words: Words, extents: Extents) -> int | None:
        return None

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        return None


class ReducerToScalars(Reducer):
    """A reducer that makes one value of each fiber."""

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, 1)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        shape = params.get("shape", ())
        return [val("val", depth, shape)], [val("val", depth - 1, shape)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def follows(self, port: str, params: Params) -> str | None:
        return "val"
