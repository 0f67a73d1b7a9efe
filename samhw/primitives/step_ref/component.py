"""step_ref: the reference of a step, or of one near it, then DONE."""

from typing import Self

from amaranth.hdl import Const, Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from samhw.graph import Arch
from samhw.rtl.actor import Primitive
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, make_token, token_layout

__all__ = ["StepRef"]


class StepRef(Primitive):
    """Begins a run of a region that is repeated: out `ref`, the place `step + offset` or, if `down`,
    `down - 1 - step + offset`, if it is below `extent`, or if it is 0 where there is no extent; else EMPTY.

    Args:
        offset: a whole number.
        bounded: there is an `extent`.
        down: the places go down.

    Members:
        start: accepted in cycle 0; the first firing is possible in cycle 1.
        repeat: the number of the step; stable while the region runs.
        extent, down: run-time extents.
    """

    def __init__(self, *, arch: Arch, offset: int, bounded: bool, down: bool, stall_port: bool = False):
        self.arch = arch
        self.offset = offset
        self.bounded = bounded
        self.is_down = down
        self.stall_port = stall_port
        registers = ["repeat", *["extent"] * bounded, *["down"] * down]
        super().__init__(
            {},
            {"ref": token_layout(arch.index_bits)},
            {
                "start": In(1),
                **{name: In(arch.index_bits) for name in registers},
                **({"stall": In(1)} if stall_port else {}),
            },
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            offset=site.params["offset"],
            bounded="extent" in site.params,
            down="down" in site.params,
            stall_port=site.stall_port,
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        width = self.arch.index_bits
        m.submodules.ref = ref = Output(width, latency=self.arch.step)
        wiring.connect(m, ref.o, wiring.flipped(self.o.ref))

        value_due = Signal()
        done_due = Signal()
        with m.If(self.start):
            m.d.sync += [value_due.eq(1), done_due.eq(1)]

        present = self.down - 1 - self.repeat if self.is_down else self.repeat
        place = (present + self.offset).as_signed()
        limit = self.extent if self.bounded else Const(1)
        is_there = (place >= 0) & (place < limit)
        m.d.comb += ref.result.eq(place.as_unsigned()[:width])
        token = make_token(Mux(is_there, TokenKind.VAL, TokenKind.EMPTY))

        table = FiringTable(m, [], stall=self.stall if self.stall_port else Const(0))
        with m.If(value_due), table.row(pushes={ref.i: token}):
            m.d.sync += value_due.eq(0)
        with m.Elif(done_due), table.row(pushes={ref.i: make_token(TokenKind.DONE)}):
            m.d.sync += done_due.eq(0)
        m.d.comb += self.fired.eq(table.fired)
        return m
