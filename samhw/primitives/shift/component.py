"""shift: coordinates moved up by an extent."""

from typing import Self

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from samhw.graph import Arch
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, make_token, token_layout

__all__ = ["Shift"]


class Shift(Primitive):
    """In and out `crd`: c + N, N being the run-time `extent`."""

    def __init__(self, *, arch: Arch):
        self.arch = arch
        index = token_layout(arch.index_bits)
        super().__init__({"crd": index}, {"crd": index}, {"extent": In(arch.index_bits)})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.crd = crd = Output(self.arch.index_bits, latency=self.arch.step)
        wiring.connect(m, crd.o, wiring.flipped(self.o.crd))

        table = FiringTable(m, [self.i.crd])
        head = self.i.crd.payload
        with m.If(head.kind != TokenKind.EMPTY):
            table.row(takes=[self.i.crd], pushes={crd.i: make_token(head.kind, head.payload[:8])})
        m.d.comb += [
            crd.result.eq(head.payload + self.extent),
            self.fired.eq(table.fired),
            self.error.eq(error_bits(protocol=table.protocol)),
        ]
        return m
