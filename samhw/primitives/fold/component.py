"""fold: blocks that are reduced along some of their axes."""

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Self

from amaranth.hdl import Cat, Const, Elaboratable, Module
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.graph.numerics import REDUCTIONS, ValueType
from samhw.primitives.pairwise.component import Word, pairwise, rounds
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import any_of
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, is_payload, make_token, token_layout, token_width
from samhw.rtl.units import Unit, alu_unit

__all__ = ["Fold"]


class Fold(Primitive):
    """In `block`, out `val`; EMPTY counts as zeros. A tree of units for each element of the result.

    Args:
        value_type: of the elements.
        op: `sum`, `max`, `min` or `prod`.
        shape: of the blocks.
        over: the axes that are reduced, by their numbers.

    Raises:
        InputError: the value type has no such operation, or `Arch.alu` gives fewer cycles than its unit
            needs.
    """

    def __init__(
        self, *, arch: Arch, value_type: ValueType, op: str, shape: Sequence[int], over: Sequence[int]
    ):
        self.value_type = value_type
        self.operation = REDUCTIONS[op]
        self.shape, self.over = tuple(shape), tuple(over)
        self.kept = [axis for axis in range(len(shape)) if axis not in over]
        self.rounds = rounds(prod(shape[axis] for axis in over))
        self.each = arch.alu_latency(self.operation, value_type)
        self.latency = self.rounds * self.each or arch.step
        unit = self._unit()
        unit.check_latency(self.each, f"The latency of {self.operation!r} on {value_type} in Arch.alu")
        self.registers = (self.rounds - 1) * self.each + unit.registers if self.rounds else 0
        results = prod(shape[axis] for axis in self.kept)
        self.width = token_width(results * value_type.width)
        block = token_layout(token_width(prod(shape) * value_type.width))
        super().__init__({"block": block}, {"val": token_layout(self.width)})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            value_type=site.value,
            **{name: site.params[name] for name in ("op", "shape", "over")},
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.val = val = Output(self.width, latency=self.latency, registers=self.registers)
        wiring.connect(m, val.o, wiring.flipped(self.o.val))
        head = self.i.block.payload
        table = FiringTable(m, [self.i.block])
        with m.If(is_payload(head)):
            table.row(takes=[self.i.block], pushes={val.i: make_token(TokenKind.VAL)})
        with m.Else():
            table.row(takes=[self.i.block], pushes={val.i: make_token(head.kind, head.payload[:8])})
        words = [
            pairwise(m, f"fold{n}", self._unit, self.each, self._parts(place))
            for n, place in enumerate(product(*(range(self.shape[axis]) for axis in self.kept)))
        ]
        m.d.comb += [
            val.result.eq(Cat(word for word, _ in words)),
            self.fired.eq(table.fired),
            self.error.eq(
                error_bits(
                    overflow=val.used & any_of(overflow for _, overflow in words),
                    protocol=table.protocol,
                )
            ),
        ]
        return m

    def _unit(self) -> Unit:
        return alu_unit(self.operation, self.value_type)

    def _parts(self, kept: Sequence[int]) -> list[Word]:
        """The elements that go into the result at a place."""
        payload = self.i.block.payload.payload
        parts = []
        for inside in product(*(range(self.shape[axis]) for axis in self.over)):
            place = dict(zip((*self.kept, *self.over), (*kept, *inside), strict=True))
            number = 0
            for axis, size in enumerate(self.shape):
                number = number * size + place[axis]
            parts.append((payload.word_select(number, self.value_type.width), Const(0, 1)))
        return parts
