"""arg: each innermost fiber becomes the coordinate of its greatest, or least, value."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.graph.numerics import Integer, ValueType
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import (
    TokenKind,
    all_end,
    is_payload,
    make_token,
    same_token,
    stop_hi,
    stop_lo,
    stop_token,
    token_layout,
    token_width,
)
from samhw.rtl.units import alu_unit

__all__ = ["Arg"]


class Arg(Primitive):
    """In `crd` and `val`, out `val` one level shallower: the coordinate of the best value of each fiber, zero
    for an empty fiber.

    Args:
        op: `max` or `min`.
    """

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str):
        self.arch = arch
        self.value_type = value_type
        self.op = op
        self.coordinate_width = token_width(Integer(32).width)
        super().__init__(
            {"crd": token_layout(arch.index_bits), "val": token_layout(token_width(value_type.width))},
            {"val": token_layout(self.coordinate_width)},
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, value_type=site.value, op=site.params["op"])

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.val = val = Output(self.coordinate_width, latency=self.arch.step)
        wiring.connect(m, val.o, wiring.flipped(self.o.val))
        coordinate, value = self.i.crd.payload, self.i.val.payload
        lo, hi = stop_lo(coordinate), stop_hi(coordinate)
        best = Signal(self.value_type.width)
        at = Signal(self.arch.index_bits)
        first = Signal(init=1)
        half = Signal()  # the coordinate of the fiber that ends has gone, its stop has not
        wins = first | self._beats(m, value.payload, best)

        both = [self.i.crd, self.i.val]
        table = FiringTable(m, both)
        found, below = make_token(TokenKind.VAL), stop_token(lo - (lo != 0), hi - 1)
        agree, ends = same_token(coordinate, value), all_end(coordinate, value)
        stops = ends & (coordinate.kind == TokenKind.STOP)
        over = [at.eq(0), first.eq(1)]
        with m.If((coordinate.kind == TokenKind.VAL) & is_payload(value)), table.row(takes=both):
            with m.If(wins):
                m.d.sync += [best.eq(value.payload), at.eq(coordinate.payload), first.eq(0)]
        with m.Elif(stops & (hi == 0)):
            with table.row(agree=agree, takes=both, pushes={val.i: found}):
                m.d.sync += over
        with m.Elif(stops & (lo == 0) & ~half):
            with table.row(agree=agree, needs=both, pushes={val.i: found}):
                m.d.sync += [*over, half.eq(1)]
        with m.Elif(stops), table.row(agree=agree, takes=both, pushes={val.i: below}):
            m.d.sync += half.eq(0)
        with m.Elif(ends):
            table.row(agree=agree, takes=both, pushes={val.i: make_token(TokenKind.DONE)})
        m.d.comb += [
            val.result.eq(at),
            self.fired.eq(table.fired),
            self.error.eq(error_bits(protocol=table.protocol)),
        ]
        return m

    def _beats(self, m: Module, value: Value, best: Signal) -> Value:
        """Whether a value takes the place of the best one. The payload of an EMPTY is zero, as it should
        count."""
        m.submodules.order = order = alu_unit("le", self.value_type)
        m.submodules.number = number = alu_unit("eq", self.value_type)
        a, b = (value, best) if self.op == "max" else (best, value)
        m.d.comb += [order.a.eq(a), order.b.eq(b), number.a.eq(best), number.b.eq(best)]
        return number.result.any() & ~order.result.any()
