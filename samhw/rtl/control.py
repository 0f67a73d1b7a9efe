"""Start, regions, end, cycle counter and sticky errors of a run (docs/timing.md, from "Start and end" on)."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.graph.address_map import NO_NODE
from samhw.rtl.actor import Error
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.priority import lowest_bit

__all__ = ["RunControl"]

SETTLE = 4
"""Cycles between the last commit and `done`, in which an error on its way still arrives."""


class RunControl(wiring.Component):
    """Starts the regions of a design one after another, and watches over its nodes.

    Args:
        nodes: number of nodes.
        writers: the region of each writer. Regions count from 0 as they run, and each has a writer.
        watchdog: cycles without a firing that mean a deadlock.

    Members:
        request: the host asks for a run; ignored in a run and after an error.
        busy: some node cannot start yet; the run waits for it.
        start: a bit for each region: its start is accepted. For the first one this is cycle 0.
        errors, fired: of each node, in order.
        committed: of each writer.
        running: from the cycle after the request until `done` or `error`, a few cycles behind the last one.
        region: a bit for each region; while `running`, that of the one under way is set.
        ends: the cycle in which each region ended, modulo 2^32; 0 for those that the last run has not ended.
        done: the last run has come to a good end.
        cycle: the present cycle of the run, 0 in that of its start; behind its end, that of its last one.
        error: the causes that nodes reported in the first cycle with an error, sticky until reset.
        error_node: the first of those nodes, or all ones.
    """

    def __init__(self, *, nodes: int, writers: Sequence[int], watchdog: int):
        self.nodes = nodes
        self.writers = tuple(writers)
        self.regions = max(writers) + 1
        self.watchdog = watchdog
        super().__init__(
            {
                "request": In(1),
                "busy": In(1),
                "start": Out(self.regions),
                "errors": In(Error).array(nodes),
                "fired": In(nodes),
                "committed": In(len(self.writers)),
                "running": Out(1),
                "region": Out(self.regions),
                "ends": Out(32).array(self.regions),
                "done": Out(1),
                "cycle": Out(64),
                "error": Out(Error),
                "error_node": Out(32, init=NO_NODE),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        active = Signal()
        settling = Signal(SETTLE)
        committed = Signal(len(self.writers))
        ended = Signal(self.regions)
        next_start = Signal(self.regions - 1)
        requested = Signal()
        waiting = Signal()
        count = Signal(64)
        for region, bit in enumerate(ended):
            own = [n for n, of in enumerate(self.writers) if of == region]
            all_committed = all_of(committed[n] | self.committed[n] for n in own)
            m.d.comb += bit.eq(active & self.region[region] & all_committed)
        finish = ended[-1]
        m.d.comb += [
            requested.eq(self.request & ~self.running & ~Cat(self.error).any()),
            self.start.eq(Cat((requested | waiting) & ~self.busy, next_start)),
            self.cycle.eq(Mux(requested | waiting, 0, count)),
        ]
        m.d.sync += [
            committed.eq(committed | self.committed),
            next_start.eq(ended[:-1]),
            settling.eq((settling << 1) | finish),
        ]
        with m.If(finish):
            m.d.sync += active.eq(0)
        with m.Elif(active):
            m.d.sync += count.eq(count + 1)
        with m.If(ended[:-1].any()):
            m.d.sync += self.region.eq(self.region << 1)
        for end, bit in zip(self.ends, ended, strict=True):
            with m.If(bit):
                m.d.sync += end.eq(count)
        with m.If(settling[-1]):
            m.d.sync += [self.running.eq(0), self.region.eq(0), self.done.eq(1)]
        with m.If(requested):
            m.d.sync += [self.running.eq(1), self.region.eq(1), self.done.eq(0), waiting.eq(1)]
            m.d.sync += [end.eq(0) for end in self.ends]
        with m.If(self.start[0]):
            m.d.sync += [active.eq(1), waiting.eq(0), count.eq(1), committed.eq(0)]
        self._errors(m, active, Cat(next_start, settling))
        return m

    def _errors(self, m: Module, active: Signal, ahead: Value) -> None:
        """An error ends the run and calls off what is `ahead`: the next region, or `done`."""
        # Registered once on the way: a flag of each node, then the causes and the first of them.
        late = [Signal(Error, name=f"error{n}") for n in range(self.nodes)]
        m.d.sync += [signal.eq(error) for signal, error in zip(late, self.errors, strict=True)]
        bits = [Cat(signal) for signal in late]
        quiet = Signal(range(self.watchdog + 1))
        fired = Signal()
        deadlock = Signal()
        # A node knows late in a cycle that it fires, so each has a register of its own before all are joined.
        late_fired = Signal(self.nodes)
        started = Signal()
        m.d.sync += [
            late_fired.eq(self.fired),
            started.eq(self.start.any()),
            fired.eq(late_fired.any() | started),
        ]
        with m.If(fired | started | ~active):
            m.d.sync += quiet.eq(0)
        with m.Elif(quiet != self.watchdog):
            m.d.sync += quiet.eq(quiet + 1)
        m.d.comb += deadlock.eq(active & (quiet == self.watchdog))

        causes = Signal(Error)
        reporting = Signal(self.nodes)
        m.d.comb += [
            reporting.eq(Cat(error.any() for error in bits)),
            Cat(causes).eq(any_of(bits) | Mux(deadlock, Error.DEADLOCK, Error(0))),
        ]
        # The first error only, since the graph goes on with what the error left.
        with m.If(Cat(causes).any() & ~Cat(self.error).any()):
            m.d.sync += [
                self.error.eq(causes),
                active.eq(0),
                ahead.eq(0),
                self.running.eq(0),
                self.region.eq(0),
                self.done.eq(0),
            ]
            with m.If(reporting.any()):
                m.d.sync += self.error_node.eq(lowest_bit(reporting))
