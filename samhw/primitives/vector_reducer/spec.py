"""What the vector reducers have in common: accumulators for coordinates."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import MOST_BANKS, Arch
from samhw.graph.spec.base import PORTS, Ports, too_shallow
from samhw.graph.spec.params import Param, Params, Role
from samhw.graph.spec.streams import crd, val
from samhw.primitives.reducer.spec import Reducer

__all__ = ["BANKS", "BITS", "ReducerToVectors"]

_MOST = PORTS - 2


def _are_widths(bits: object) -> bool:
    if not isinstance(bits, list | tuple) or not 1 <= len(bits) <= _MOST:
        return False
    return all(type(width) is int and width >= 0 for width in bits)


def _is_number_of_banks(banks: object) -> bool:
    return type(banks) is int and 2 <= banks <= MOST_BANKS


BITS = Param(
    f"a list of 1 to {_MOST} widths in bits, the innermost coordinate's first", _are_widths, role=Role.WIDTHS
)

BANKS = Param(f"a number from 2 to {MOST_BANKS}", _is_number_of_banks, True, Role.BANKS)


class ReducerToVectors(Reducer):
    """A reducer with an accumulator for each coordinate inside of the level that it takes away. Its bitmaps
    take some cycles, but what passes by it waits for a whole fiber."""

    values: tuple[str, ...]
    """The inputs after the coordinates."""

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, len(params["bits"]) + 1)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        n, shape = len(params["bits"]), params.get("shape", ())
        coordinates = [crd(f"crd{i}", depth) for i in range(n)]
        inputs = [*coordinates, *(val(name, depth, shape) for name in self.values)]
        outputs = [*(crd(f"crd{i}", depth - 1 - i) for i in range(n)), val("val", depth - 1, shape)]
        return inputs, outputs

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.memory if port == "val" else arch.step

    def follows(self, port: str, params: Params) -> str | None:
        return "crd0"

    def kept_coordinates(self, params: Params) -> tuple[str, ...]:
        """The inputs of the coordinates that it keeps."""
        return tuple(f"crd{i}" for i in range(len(params["bits"])))
