"""Start, end, cycle counter and sticky errors of a run (docs/timing.md, "Start and end" and "Errors")."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.graph.address_map import NO_NODE
from samhw.rtl.actor import Error
from samhw.rtl.logic import any_of

__all__ = ["RunControl"]

SETTLE = 4
"""Cycles between the last commit and `done`, in which an error on its way still arrives."""


class RunControl(wiring.Component):
    """Watches over the nodes of a graph.

    Args:
        nodes: number of nodes.
        writers: number of writers.
        watchdog: cycles without a firing that mean a deadlock.

    Members:
        request: the host asks for a start.
        start: the request is accepted; this is cycle 0.
        errors, fired: of each node, in order.
        committed: of each writer.
        running: from cycle 1 until `done` or `error`, a few cycles behind the run's last one.
        done: the last run has come to a good end.
        cycle: the present cycle of the run; behind its end, the number of its last cycle.
        error: the causes, sticky until reset.
        error_node: the first node that reported, or all ones.
    """

    def __init__(self, *, nodes: int, writers: int, watchdog: int):
        self.nodes = nodes
        self.writers = writers
        self.watchdog = watchdog
        super().__init__(
            {
                "request": In(1),
                "start": Out(1),
                "errors": In(Error).array(nodes),
                "fired": In(nodes),
                "committed": In(writers),
                "running": Out(1),
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
        committed = Signal(self.writers)
        finish = Signal()
        m.d.comb += [
            self.start.eq(self.request & ~self.running & ~Cat(self.error).any()),
            finish.eq(active & (committed | self.committed).all()),
        ]
        m.d.sync += [committed.eq(committed | self.committed), settling.eq((settling << 1) | finish)]
        with m.If(finish):
            m.d.sync += active.eq(0)
        with m.Elif(active):
            m.d.sync += self.cycle.eq(self.cycle + 1)
        with m.If(settling[-1]):
            m.d.sync += [self.running.eq(0), self.done.eq(1)]
        with m.If(self.start):
            m.d.sync += [self.running.eq(1), active.eq(1), self.done.eq(0), self.cycle.eq(1), committed.eq(0)]
        self._errors(m, active, settling)
        return m

    def _errors(self, m: Module, active: Signal, settling: Signal) -> None:
        # Registered once on the way: a flag of each node, then the causes and the first of them.
        late = [Signal(Error, name=f"error{n}") for n in range(self.nodes)]
        m.d.sync += [signal.eq(error) for signal, error in zip(late, self.errors, strict=True)]
        bits = [Cat(signal) for signal in late]
        quiet = Signal(range(self.watchdog + 1))
        fired = Signal()
        deadlock = Signal()
        m.d.sync += fired.eq(self.fired.any() | self.start)
        with m.If(fired | ~active):
            m.d.sync += quiet.eq(0)
        with m.Elif(quiet != self.watchdog):
            m.d.sync += quiet.eq(quiet + 1)
        m.d.comb += deadlock.eq(active & (quiet == self.watchdog))

        causes = Signal(Error)
        m.d.comb += Cat(causes).eq(any_of(bits) | Mux(deadlock, Error.DEADLOCK, Error(0)))
        with m.If(Cat(causes).any()):
            m.d.sync += [
                self.error.eq(self.error | causes),
                active.eq(0),
                settling.eq(0),
                self.running.eq(0),
                self.done.eq(0),
            ]
            with m.If(~Cat(self.error).any()):
                for node in reversed(range(self.nodes)):
                    with m.If(bits[node].any()):
                        m.d.sync += self.error_node.eq(node)
