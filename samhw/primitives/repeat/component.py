"""repeat: an outer reference or value, once for each inner coordinate."""

from typing import Self

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.primitives.hold.component import Hold
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import token_layout

__all__ = ["Repeater"]


class Repeater(Primitive):
    """In `ref` (outer) and `crd` (inner), out `ref`.

    Args:
        payload_width: bits of the payload that is repeated: a ref's or a val's.
    """

    def __init__(self, *, arch: Arch, payload_width: int):
        self.arch = arch
        self.payload_width = payload_width
        payload = token_layout(payload_width)
        super().__init__({"ref": payload, "crd": token_layout(arch.index_bits)}, {"ref": payload})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, payload_width=site.width("ref"))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.hold = hold = Hold(self.payload_width, self.arch.index_bits)
        m.submodules.ref = ref = Output(self.payload_width, latency=self.arch.step, zeros=False)
        wiring.connect(m, wiring.flipped(self.i.ref), hold.outer)
        wiring.connect(m, wiring.flipped(self.i.crd), hold.inner)
        wiring.connect(m, hold.o, ref.i)
        wiring.connect(m, ref.o, wiring.flipped(self.o.ref))
        m.d.comb += [
            ref.result.eq(hold.payload),
            self.fired.eq(hold.fired),
            self.error.eq(error_bits(protocol=hold.protocol)),
        ]
        return m
