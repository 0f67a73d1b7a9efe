"""The reducers, which take a level away: reduce_scalar, reduce_vector."""

from samhw.numerics import REDUCTIONS, ValueType
from samhw.spec.arch import MOST_BANKS, Arch
from samhw.spec.base import (
    PORTS,
    Distribution,
    Extents,
    Joined,
    Ports,
    Reduction,
    Spec,
    Words,
    Work,
    too_shallow,
)
from samhw.spec.params import VALUE, Param, Params, Role, choice, parameters
from samhw.spec.streams import crd, val

__all__ = ["REDUCE_SCALAR", "REDUCE_VECTOR"]

_MOST = PORTS - 2


class _Reducer(Spec):
    thins = False
    moves = False
    carries = False
    scans = False
    cell = None
    finds_disorder = False

    def joins(self, params: Params) -> tuple[Joined, ...]:
        return ()

    def distribution(self, params: Params) -> Distribution | None:
        return None

    def work(self, params: Params) -> Work | None:
        return Work(REDUCTIONS[params["op"]], "val")

    def coordinates(self, params: Params, fibers: int, words: Words, extents: Extents) -> int | None:
        return None


class _ReduceScalar(_Reducer):
    kind = "reduce_scalar"
    params = parameters(op=choice(*REDUCTIONS), value=VALUE)
    inner_latency = "step"

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, 1)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [val("val", depth)], [val("val", depth - 1)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def follows(self, port: str, params: Params) -> str | None:
        return "val"

    def reduction(self, params: Params) -> Reduction | None:
        return Reduction(REDUCTIONS[params["op"]], (), "val")


def _are_widths(bits: object) -> bool:
    if not isinstance(bits, list | tuple) or not 1 <= len(bits) <= _MOST:
        return False
    return all(type(width) is int and width >= 0 for width in bits)


def _is_number_of_banks(banks: object) -> bool:
    return type(banks) is int and 2 <= banks <= MOST_BANKS


class _ReduceVector(_Reducer):
    kind = "reduce_vector"
    params = parameters(
        op=choice(*REDUCTIONS),
        bits=Param(f"a list of 1 to {_MOST} widths in bits, the innermost coordinate's first", _are_widths),
        value=VALUE,
        banks=Param(f"a number from 2 to {MOST_BANKS}", _is_number_of_banks, True, Role.BANKS),
    )
    inner_latency = None
    """Its bitmaps take some cycles, but what passes by it waits for a whole fiber."""

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, len(params["bits"]) + 1)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        n = len(params["bits"])
        inputs = [*(crd(f"crd{i}", depth) for i in range(n)), val("val", depth)]
        outputs = [*(crd(f"crd{i}", depth - 1 - i) for i in range(n)), val("val", depth - 1)]
        return inputs, outputs

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.memory if port == "val" else arch.step

    def follows(self, port: str, params: Params) -> str | None:
        return "crd0"

    def reduction(self, params: Params) -> Reduction | None:
        kept = tuple(f"crd{i}" for i in range(len(params["bits"])))
        return Reduction(REDUCTIONS[params["op"]], kept, "val")


REDUCE_SCALAR = _ReduceScalar()
REDUCE_VECTOR = _ReduceVector()
