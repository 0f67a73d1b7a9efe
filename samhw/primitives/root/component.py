"""root: one payload, then DONE."""

from typing import Self

from amaranth.hdl import Const, Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from samhw.graph import Arch
from samhw.rtl.actor import Primitive
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, make_token, token_layout

__all__ = ["Root"]


class Root(Primitive):
    """Begins a run: `start` is accepted in cycle 0, the first firing is possible in cycle 1."""

    def __init__(self, *, arch: Arch, stall_port: bool = False):
        self.arch = arch
        self.stall_port = stall_port
        super().__init__(
            {},
            {"out": token_layout(arch.index_bits)},
            {"start": In(1), **({"stall": In(1)} if stall_port else {})},
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, stall_port=site.stall_port)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.out = out = Output(self.arch.index_bits, latency=self.arch.step)
        wiring.connect(m, out.o, wiring.flipped(self.o.out))

        value_due = Signal()
        done_due = Signal()
        with m.If(self.start):
            m.d.sync += [value_due.eq(1), done_due.eq(1)]

        table = FiringTable(m, [], stall=self.stall if self.stall_port else Const(0))
        with m.If(value_due), table.row(pushes={out.i: make_token(TokenKind.VAL)}):
            m.d.sync += value_due.eq(0)
        with m.Elif(done_due), table.row(pushes={out.i: make_token(TokenKind.DONE)}):
            m.d.sync += done_due.eq(0)
        m.d.comb += self.fired.eq(table.fired)
        return m
