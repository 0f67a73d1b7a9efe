"""scan_dense: every coordinate of a dense level."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from samhw.graph import Arch
from samhw.primitives.walk.component import Walk
from samhw.rtl.actor import Primitive
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import make_token, token_layout
from samhw.rtl.units import MultiplyAdd

__all__ = ["ScanDense"]


class ScanDense(Primitive):
    """In `ref`, out `crd` and `ref`, N being the run-time `extent`: the actors *scale* and *walk*.

    `extent` must be stable from the cycle before the first token comes.
    """

    def __init__(self, *, arch: Arch):
        self.arch = arch
        self.unit = MultiplyAdd(arch.index_bits)
        self.unit.check_latency(arch.locate, "Arch.locate")
        index = token_layout(arch.index_bits)
        super().__init__({"ref": index}, {"crd": index, "ref": index}, {"extent": In(arch.index_bits)})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        width, latency = self.arch.index_bits, self.arch.locate
        m.submodules.unit = unit = self.unit
        m.submodules.scaled = scaled = Output(width, latency=latency, registers=unit.registers, zeros=False)
        m.submodules.base = base = Fifo(token_layout(width), self.arch.internal_depth(latency))
        m.submodules.walk = walk = Walk()
        m.submodules.crd = crd = Output(width, latency=self.arch.step, zeros=False)
        m.submodules.ref = ref = Output(width, latency=self.arch.step, zeros=False)
        wiring.connect(m, scaled.o, base.i)
        walk.feed(m, base.o)
        walk.drive(m, self.o, crd, ref)

        scale = FiringTable(m, [self.i.ref], actor="scale")
        fiber = self.i.ref.payload
        scale.row(takes=[self.i.ref], pushes={scaled.i: make_token(fiber.kind, fiber.payload[:8])})
        m.d.comb += [unit.a.eq(fiber.payload), unit.b.eq(self.extent), scaled.result.eq(unit.result)]

        # What the walk compares is made a cycle ahead.
        c = Signal(width)
        c_is_last = Signal()
        n_is_0 = Signal()
        n_is_1 = Signal()
        n_minus_2 = Signal(width)
        m.d.sync += [n_is_0.eq(self.extent == 0), n_is_1.eq(self.extent == 1), n_minus_2.eq(self.extent - 2)]
        with m.If(walk.step):
            m.d.sync += [c.eq(Mux(walk.last, 0, c + 1)), c_is_last.eq(c == n_minus_2)]
        m.d.comb += [
            walk.empty.eq(n_is_0),
            walk.last.eq(Mux(walk.first, n_is_1, c_is_last)),
            crd.result.eq(c),
            ref.result.eq(base.o.payload.payload + c),
            self.fired.eq(scale.fired | walk.fired),
        ]
        return m
