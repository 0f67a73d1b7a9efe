"""crd_hold: an outer coordinate, once for each inner coordinate."""

from typing import Self

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.primitives.hold.component import Hold
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, token_layout

__all__ = ["CrdHold"]


class CrdHold(Primitive):
    """In `outer` and `inner`, out `crd`; all are coordinates."""

    def __init__(self, *, arch: Arch):
        self.arch = arch
        index = token_layout(arch.index_bits)
        super().__init__({"outer": index, "inner": index}, {"crd": index})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.hold = hold = Hold(self.arch.index_bits, self.arch.index_bits)
        m.submodules.crd = crd = Output(self.arch.index_bits, latency=self.arch.step, zeros=False)
        wiring.connect(m, wiring.flipped(self.i.outer), hold.outer)
        wiring.connect(m, wiring.flipped(self.i.inner), hold.inner)
        wiring.connect(m, hold.o, crd.i)
        wiring.connect(m, crd.o, wiring.flipped(self.o.crd))
        no_coordinate = self.i.outer.valid & (self.i.outer.payload.kind == TokenKind.EMPTY)
        m.d.comb += [
            crd.result.eq(hold.payload),
            self.fired.eq(hold.fired),
            self.error.eq(error_bits(protocol=hold.protocol | no_coordinate)),
        ]
        return m
