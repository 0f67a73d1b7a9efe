"""last: each innermost fiber becomes its last element."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, make_token, stop_hi, stop_lo, stop_token, token_layout, token_width

__all__ = ["Last"]


class Last(Primitive):
    """In `val`, out `val` one level shallower: the last element of each fiber, zero for an empty one."""

    def __init__(self, *, arch: Arch, value_type: ValueType):
        self.arch = arch
        self.width = token_width(value_type.width)
        value = token_layout(self.width)
        super().__init__({"val": value}, {"val": value})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, value_type=site.value)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.val = val = Output(self.width, latency=self.arch.step)
        wiring.connect(m, val.o, wiring.flipped(self.o.val))
        head = self.i.val.payload
        lo, hi = stop_lo(head), stop_hi(head)
        last = Signal(self.width)
        half = Signal()  # the element of the fiber that ends has gone, its stop has not

        table = FiringTable(m, [self.i.val])
        value, below = make_token(TokenKind.VAL), stop_token(lo - (lo != 0), hi - 1)
        with m.Switch(head.kind):
            with m.Case(TokenKind.VAL, TokenKind.EMPTY), table.row(takes=[self.i.val]):
                m.d.sync += last.eq(head.payload)
            with m.Case(TokenKind.STOP):
                with m.If(hi == 0), table.row(takes=[self.i.val], pushes={val.i: value}):
                    m.d.sync += last.eq(0)
                with m.Elif((lo == 0) & ~half), table.row(needs=[self.i.val], pushes={val.i: value}):
                    m.d.sync += [last.eq(0), half.eq(1)]
                with m.Else(), table.row(takes=[self.i.val], pushes={val.i: below}):
                    m.d.sync += half.eq(0)
            with m.Case(TokenKind.DONE):
                table.row(takes=[self.i.val], pushes={val.i: make_token(TokenKind.DONE)})
        m.d.comb += [
            val.result.eq(last),
            self.fired.eq(table.fired),
            self.error.eq(error_bits(protocol=table.protocol)),
        ]
        return m
