"""locate: the reference of each inner coordinate in a dense level."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from samhw.graph import Arch
from samhw.primitives.hold.component import Hold
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, token_layout
from samhw.rtl.units import MultiplyAdd

__all__ = ["Locate"]


class Locate(Primitive):
    """In `ref` (outer) and `crd` (inner), out `ref`: r * N + x, N being the run-time `extent`.

    Args:
        empties: an outer reference may be EMPTY.
    """

    def __init__(self, *, arch: Arch, empties: bool = True):
        self.arch = arch
        self.empties = empties
        self.unit = MultiplyAdd(arch.index_bits)
        self.unit.check_latency(arch.locate, "Arch.locate")
        index = token_layout(arch.index_bits)
        super().__init__({"ref": index, "crd": index}, {"ref": index}, {"extent": In(arch.index_bits)})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, empties=site.may_be_empty("ref"))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        width = self.arch.index_bits
        m.submodules.unit = unit = self.unit
        m.submodules.hold = hold = Hold(width, width)
        m.submodules.ref = ref = Output(
            width, latency=self.arch.locate, registers=unit.registers, zeros=self.empties
        )
        wiring.connect(m, wiring.flipped(self.i.ref), hold.outer)
        wiring.connect(m, wiring.flipped(self.i.crd), hold.inner)
        wiring.connect(m, hold.o, ref.i)
        wiring.connect(m, ref.o, wiring.flipped(self.o.ref))

        head = self.i.crd.payload
        beyond = Signal()
        m.d.sync += beyond.eq(self.i.crd.valid & (head.kind == TokenKind.VAL) & (head.payload >= self.extent))
        m.d.comb += [
            unit.a.eq(hold.payload),
            unit.b.eq(self.extent),
            unit.c.eq(head.payload),
            ref.result.eq(unit.result),
            self.fired.eq(hold.fired),
            self.error.eq(error_bits(protocol=hold.protocol, range=beyond)),
        ]
        return m
