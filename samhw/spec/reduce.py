"""The reducers, which take a level away: reduce_scalar, last, arg, reduce_vector, recur_vector."""

from math import prod

from samhw.numerics import REDUCTIONS, Integer, ValueType
from samhw.spec.arch import MOST_BANKS, Arch
from samhw.spec.base import (
    PORTS,
    Distribution,
    Extents,
    InnerLatency,
    Joined,
    Ports,
    Reduction,
    Spec,
    Words,
    Work,
    too_shallow,
)
from samhw.spec.blocks import Blocked, TakenBlocks
from samhw.spec.params import SHAPE, VALUE, Param, Params, Role, choice, parameters
from samhw.spec.streams import crd, val

__all__ = ["ARG", "COORDINATE", "LAST", "RECUR_VECTOR", "REDUCE_SCALAR", "REDUCE_VECTOR"]

_MOST = PORTS - 2

COORDINATE = Integer(32)
"""The type of a coordinate that is a value."""


class _Reducer(Spec):
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


class _Scalar(_Reducer):
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


class _ReduceScalar(_Scalar):
    kind = "reduce_scalar"
    rule = "Folds the values of each fiber to one, which it gives when the fiber ends."
    params = parameters(op=choice(*REDUCTIONS), value=VALUE, shape=SHAPE)
    inner_latency = "step"

    def reduction(self, params: Params) -> Reduction | None:
        return Reduction(REDUCTIONS[params["op"]], (), "val")

    def work(self, params: Params) -> Work | None:
        return Work(REDUCTIONS[params["op"]], "val", each=prod(params.get("shape", ())))

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        return blocks.alike(self.kind, params)


class _Last(_Scalar):
    kind = "last"
    rule = "Gives the last value of each fiber."
    params = parameters(value=VALUE)

    def reduction(self, params: Params) -> Reduction | None:
        return Reduction(None, (), "val")

    def work(self, params: Params) -> Work | None:
        return None


class _Arg(_Scalar):
    kind = "arg"
    rule = "Gives the coordinate of the greatest, or least, value of each fiber."
    params = parameters(op=choice("max", "min"), value=VALUE)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [crd("crd", depth), val("val", depth)], [val("val", depth - 1)]

    def result_type(self, params: Params, value: ValueType) -> ValueType:
        """A coordinate is a whole number, of whatever type the values are."""
        return COORDINATE

    def reduction(self, params: Params) -> Reduction | None:
        return Reduction(None, (), "val")

    def work(self, params: Params) -> Work | None:
        return Work("le", "val")


def _are_widths(bits: object) -> bool:
    if not isinstance(bits, list | tuple) or not 1 <= len(bits) <= _MOST:
        return False
    return all(type(width) is int and width >= 0 for width in bits)


def _is_number_of_banks(banks: object) -> bool:
    return type(banks) is int and 2 <= banks <= MOST_BANKS


_BITS = Param(f"a list of 1 to {_MOST} widths in bits, the innermost coordinate's first", _are_widths)
_BANKS = Param(f"a number from 2 to {MOST_BANKS}", _is_number_of_banks, True, Role.BANKS)


class _Vector(_Reducer):
    """A reducer with an accumulator for each coordinate inside of the level that it takes away. Its bitmaps
    take some cycles, but what passes by it waits for a whole fiber."""

    values: tuple[str, ...]
    """The inputs behind the coordinates."""

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


class _ReduceVector(_Vector):
    kind = "reduce_vector"
    rule = (
        "Adds the fibers inside up, coordinate by coordinate, and gives the sums when the outer fiber ends."
    )
    params = parameters(op=choice(*REDUCTIONS), bits=_BITS, value=VALUE, banks=_BANKS, shape=SHAPE)
    values = ("val",)

    def reduction(self, params: Params) -> Reduction | None:
        return Reduction(REDUCTIONS[params["op"]], self.kept_coordinates(params), "val")

    def work(self, params: Params) -> Work | None:
        return Work(REDUCTIONS[params["op"]], "val", each=prod(params.get("shape", ())))

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        return blocks.alike(self.kind, params)


class _RecurVector(_Vector):
    kind = "recur_vector"
    rule = (
        "Rescales and adds the fibers inside, coordinate by coordinate, and gives the sums when the outer "
        "fiber ends."
    )
    params = parameters(bits=_BITS, value=VALUE, banks=_BANKS)
    values = ("factor", "val")

    def reduction(self, params: Params) -> Reduction | None:
        return Reduction(None, self.kept_coordinates(params), "val")

    def work(self, params: Params) -> Work | None:
        return Work("mul", "val")


REDUCE_SCALAR = _ReduceScalar()
LAST = _Last()
ARG = _Arg()
REDUCE_VECTOR = _ReduceVector()
RECUR_VECTOR = _RecurVector()
