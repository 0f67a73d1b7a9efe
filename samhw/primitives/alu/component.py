"""alu: one operation on values."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Self

from amaranth.hdl import Cat, Const, Elaboratable, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, is_payload, make_token, same_token, token_layout, token_width
from samhw.rtl.units import alu_unit

__all__ = ["Alu"]

_SCALE_RANGES = {"b": 1 << 31, "c": 63}
"""The immediates of `scale` are below these."""


class Alu(Primitive):
    """In those of `a`, `b` and `c` that the operation has and that are not immediates; out `val`. EMPTY
    counts as zero.

    Args:
        value_type: of the operands.
        op: an operation of the value type, `convert` or `scale`.
        to: type of the result, if it is another one.
        immediates: the value (not the word) of an operand, by its name.
        varying: those of them that are others in other runs, of which the word is at `immediate_<operand>`.
        shape: of the blocks that it computes, element by element; () for single values.
        axes: by operand, which of the axes of the result it has, in its own order; all unless given. All
            along the others it is the same.

    Raises:
        InputError: there is no such operation on these types, an immediate is no operand of it or no value of
            its type, all operands are immediates, or the unit needs more cycles than `Arch.alu` gives.
    """

    def __init__(
        self,
        *,
        arch: Arch,
        value_type: ValueType,
        op: str,
        to: ValueType | None = None,
        immediates: Mapping[str, float] | None = None,
        varying: Sequence[str] = (),
        shape: Sequence[int] = (),
        axes: Mapping[str, Sequence[int]] | None = None,
    ):
        self.value_type = value_type
        self.to = value_type if to is None else to
        self.shape, self.axes = tuple(shape), axes or {}
        # An addition or multiplication into a wider type is one of that type.
        timed_as = value_type if op in ("convert", "scale") else self.to
        self.latency = arch.alu_latency(op, timed_as)
        self.units = [alu_unit(op, value_type, self.to, latency=self.latency) for _ in range(prod(shape))]
        self.unit = self.units[0]
        self.unit.check_latency(self.latency, f"The latency of {op!r} on {timed_as} in Arch.alu")
        operands = [name for name in "abc" if name in self.unit.signature.members]
        self.immediates = _words(op, value_type, operands, immediates or {})
        self.varying = tuple(varying)
        ports = [name for name in operands if name not in self.immediates]
        if not ports:
            raise InputError(f"All operands of {op!r} are immediates; leave one of {operands} to a stream.")
        words = {name: prod(shape[axis] for axis in self._axes(name)) for name in ports}
        self.width = token_width(prod(shape) * self.to.width)
        super().__init__(
            {name: token_layout(token_width(n * value_type.width)) for name, n in words.items()},
            {"val": token_layout(self.width)},
            {f"immediate_{name}": In(value_type.width) for name in self.varying},
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            value_type=site.value,
            op=site.params["op"],
            to=site.result,
            immediates=site.params.get("immediates"),
            varying=site.varying,
            shape=site.params.get("shape", ()),
            axes=site.params.get("axes", {}),
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.val = val = Output(
            self.width, latency=self.latency, registers=self.unit.registers, zeros=False
        )
        wiring.connect(m, val.o, wiring.flipped(self.o.val))

        inputs = {name: getattr(self.i, name) for name in self.i.signature.members}
        heads = [port.payload for port in inputs.values()]
        table = FiringTable(m, inputs.values())
        with m.If(is_payload(heads[0])):
            agree, token = all_of(map(is_payload, heads[1:])), make_token(TokenKind.VAL)
            table.row(agree=agree, takes=inputs.values(), pushes={val.i: token})
        with m.Else():
            end = make_token(heads[0].kind, heads[0].payload[:8])
            table.row(agree=same_token(*heads), takes=inputs.values(), pushes={val.i: end})

        for number, (unit, place) in enumerate(
            zip(self.units, product(*map(range, self.shape)), strict=True)
        ):
            m.submodules[f"unit{number}" if number else "unit"] = unit
            for name in inputs:
                m.d.comb += getattr(unit, name).eq(self._element(name, place))
            for name, word in self.immediates.items():
                given = getattr(self, f"immediate_{name}") if name in self.varying else None
                m.d.comb += getattr(unit, name).eq(
                    Const(word, self.value_type.width) if given is None else given
                )
        overflow = any_of(unit.overflow for unit in self.units)
        m.d.comb += [
            val.result.eq(Cat(unit.result for unit in self.units)),
            self.fired.eq(table.fired),
            self.error.eq(error_bits(overflow=val.used & overflow, protocol=table.protocol)),
        ]
        return m

    def _axes(self, name: str) -> Sequence[int]:
        """The axes of an operand."""
        return self.axes.get(name, range(len(self.shape)))

    def _element(self, name: str, place: Sequence[int]) -> Value:
        """The element of an operand that belongs to a place; that of an EMPTY is zero, as it should count."""
        number = 0
        for axis in self._axes(name):
            number = number * self.shape[axis] + place[axis]
        payload: Value = getattr(self.i, name).payload.payload
        return payload.word_select(number, self.value_type.width)


def _words(
    op: str, value_type: ValueType, operands: list[str], immediates: Mapping[str, float]
) -> dict[str, int]:
    """The words of the immediates, by the names of their operands."""
    for name, value in immediates.items():
        if name not in operands:
            raise InputError(f"{op!r} on {value_type} has no operand {name!r}; it has {operands}.")
        if op == "scale" and name in _SCALE_RANGES and not 0 <= value < _SCALE_RANGES[name]:
            raise InputError(
                f"The immediate {name} of 'scale' is {value}; give 0 to {_SCALE_RANGES[name] - 1}."
            )
    return {name: _word(op, value_type, name, value) for name, value in immediates.items()}


def _word(op: str, value_type: ValueType, name: str, value: float) -> int:
    try:
        return value_type.constant(value)
    except InputError:
        raise InputError(
            f"The immediate {name} of {op!r} is {value}, which {value_type} cannot hold; give another value."
        ) from None
