"""The cycles that each region of a run has been under way."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["RegionCycles"]


class RegionCycles(wiring.Component):
    """Counts, in one memory, the cycles of regions of which one is under way at a time. Counters of their own
    would take most of the control of a network of many layers.

    Args:
        regions: how many there are. They count from 0 in the order in which a run first comes to them.
        again: a run may come to a region once more, after others.

    Members:
        clear: a run is about to begin, and all have 0.
        counts: a cycle to be counted, of the region
        number: that is under way. Two cycles later it is counted.
        asked: a region.
        spent: in the next cycle, what that has, modulo 2^32.
    """

    def __init__(self, regions: int, *, again: bool):
        self.regions = regions
        self.again = again
        super().__init__(
            {
                "clear": In(1),
                "counts": In(1),
                "number": In(range(regions)),
                "asked": In(range(regions)),
                "spent": Out(32),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.memory = memory = Memory(shape=32, depth=self.regions, init=[])
        write, shown = memory.write_port(), memory.read_port()
        counts, number = Signal(), Signal.like(self.number)
        total = Signal(32)  # of the region that counted last
        reached = Signal(range(self.regions + 1))  # Those before it have a number in the memory.
        known = Signal()
        before: Value = total
        if self.again:
            last, found = Signal.like(self.number), memory.read_port()
            # A number is read while that of another region is written: the same region has its in `total`.
            before = Mux(number == last, total, found.data)
            m.d.comb += found.addr.eq(self.number)
            with m.If(counts):
                m.d.sync += last.eq(number)
        is_new = number >= reached
        m.d.comb += [
            write.addr.eq(number),
            write.data.eq(Mux(is_new, 0, before) + 1),
            write.en.eq(counts),
            shown.addr.eq(self.asked),
            self.spent.eq(Mux(known, shown.data, 0)),
        ]
        m.d.sync += [counts.eq(self.counts), number.eq(self.number), known.eq(self.asked < reached)]
        with m.If(counts):
            m.d.sync += total.eq(write.data)
            with m.If(is_new):
                m.d.sync += reached.eq(number + 1)
        with m.If(self.clear):
            m.d.sync += reached.eq(0)
        return m
