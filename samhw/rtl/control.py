"""Start, regions, end, cycle counter and sticky errors of a run (docs/timing.md, from "Start and end" on)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from amaranth.hdl import Array, Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.graph import Parallel, Repeat, Run, Steps
from samhw.graph.address_map import NO_NODE
from samhw.graph.sequence import first_of, walk
from samhw.rtl.actor import Error
from samhw.rtl.logic import all_of, any_of, lowest_bit, place_of
from samhw.rtl.region_cycles import RegionCycles
from samhw.rtl.units.unit import delayed

__all__ = ["RunControl"]

SETTLE = 4
"""Cycles between the last commit and `done`, in which an error on its way still arrives."""

LATE = 3
"""Cycles from the firing that meets an error until the error ends the run, at most."""


class _Turn(NamedTuple):
    """What may follow when a region, or a parallel step, has ended.

    Attributes:
        ended: the region, or the number of regions and that of the parallel step.
        again: the repeat that begins its body once more, by its number; None if none does.
        left: the repeats that have made their last step, the innermost first.
        next: the regions that follow; none, if the body of the parallel step, or the run, has ended.
        body: of a parallel step in which this is, its number and that of the body.
    """

    ended: int
    again: int | None
    left: tuple[int, ...]
    next: tuple[int, ...]
    body: tuple[int, int] | None


class _Place(NamedTuple):
    """Where steps stand: the repeats around them, the outermost first, each with the steps that come after
    it, and the body of a parallel step, if they are in one, as of `_Turn`."""

    around: tuple[tuple[Repeat, Steps], ...] = ()
    body: tuple[int, int] | None = None


class RunControl(wiring.Component):
    """Starts the regions of a design as its sequence says, and watches over its nodes.

    Args:
        nodes: number of nodes in hardware.
        writers: the regions of each writer. Regions count from 0 in the order in which a run first comes to
            them, and each has a writer.
        watchdog: cycles without a firing that mean a deadlock.
        sequence: of these regions; else one after another. Repeats count in the order in which a run comes to
            them.
        index_bits: those of extents and steps.
        ports: there are ports to memory off the chip.
        of_nodes: the regions of each node, where some run side by side.
        users: for each node that `error_node` counts, the number of the one in hardware, and of the fabric as
            whose node that stands for it; without, each in hardware is one.

    Members:
        request: the host asks for a run; ignored in a run and after an error.
        busy: some node cannot start yet; the run waits for it.
        start: a bit for each region: its start is accepted. For the first one this is cycle 0.
        errors, fired: of each node in hardware, in order.
        here: with `users`, a bit for each fabric: one of its regions is under way, a cycle after `region`.
        committed: of each writer.
        ports_fired, ports_settled: with `ports`, as of `OffChipSignature`, a bit for each region where some
            run side by side. A region ends no earlier than they are settled, and what fires holds the
            watchdog back.
        running: from the cycle after the request until `done` or `error`, a few cycles after the last one.
        region: a bit for each region; while `running`, those of the ones under way are set.
        spent_of: a region.
        spent: in the next cycle, the cycles that it has been under way in the last run, modulo 2^32. Cycle 0
            does not count, so that the sum of all is that of the run.
        extents: of the steps of each repeat, 1 or more.
        steps: the step that each repeat is at; 0 while it is not under way.
        done: the last run has come to a good end.
        cycle: the present cycle of the run, from the one after the request on, and 0 while it waits for its
            start; after its end, the last one.
        error: the causes that nodes reported in the first cycle with an error, sticky until reset.
        error_node: the first of those nodes, or all ones.
        error_region: the region that was under way then; of several the first, and of those of nodes that
            reported the first of these.
    """

    def __init__(
        self,
        *,
        nodes: int,
        writers: Sequence[Collection[int]],
        watchdog: int,
        sequence: Steps = (),
        index_bits: int = 32,
        ports: bool = False,
        of_nodes: Sequence[Collection[int]] = (),
        users: Sequence[tuple[int, int]] = (),
    ):
        self.nodes = nodes
        self.users = tuple(users)
        self.writers = tuple(writers)
        self.regions = 1 + max(region for of in writers for region in of)
        self.watchdog = watchdog
        self.ports = ports
        self.sequence = sequence or tuple(map(Run, range(self.regions)))
        self.repeats = [step for step in walk(self.sequence) if isinstance(step, Repeat)]
        self.parallels = [step for step in walk(self.sequence) if isinstance(step, Parallel)]
        self.of_nodes = tuple(of_nodes)
        registers = {
            "extents": In(index_bits).array(len(self.repeats)),
            "steps": Out(index_bits).array(len(self.repeats)),
        }
        here = {"here": In(1 + max((fabric for _, fabric in users), default=0))} if users else {}
        settled = {"ports_fired": In(1), "ports_settled": In(self.regions if self.parallels else 1)}
        super().__init__(
            {
                "request": In(1),
                "busy": In(1),
                "start": Out(self.regions),
                "errors": In(Error).array(nodes),
                "fired": In(nodes),
                "committed": In(len(self.writers)),
                **here,
                "running": Out(1),
                "region": Out(self.regions),
                "spent_of": In(range(self.regions)),
                "spent": Out(32),
                "done": Out(1),
                "cycle": Out(64),
                "error": Out(Error),
                "error_node": Out(32, init=NO_NODE),
                "error_region": Out(range(self.regions)),
                **(registers if self.repeats else {}),
                **(settled if ports else {}),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        active = Signal()
        settling = Signal(SETTLE)
        committed = Signal(len(self.writers))
        ended = Signal(self.regions)
        following: Value = Signal(self.regions)
        if self.parallels:  # In signals of their own, of which several may be one.
            following = Cat(Signal(name=f"following{region}") for region in range(self.regions))
        next_start = Signal(self.regions)
        begin = Signal()
        finish = Signal()
        requested = Signal()
        waiting = Signal()
        count = Signal(64)
        failed = Signal()  # an error is sticky; one register, since a request reaches far in its cycle
        for region, bit in enumerate(ended):
            own = [n for n, of in enumerate(self.writers) if region in of]
            all_committed = all_of(committed[n] | self.committed[n] for n in own)
            ends: Value = all_committed
            if self.ports:
                ends = all_committed & self.ports_settled[region if self.parallels else 0]
            m.d.comb += bit.eq(active & self.region[region] & ends)
        self._follow(m, ended, following, finish, requested)
        first = sum(1 << region for region in first_of(self.sequence))
        m.d.comb += [
            requested.eq(self.request & ~self.running & ~failed),
            begin.eq((requested | waiting) & ~self.busy),
            self.start.eq(next_start | (begin if first == 1 else Mux(begin, first, 0))),
            self.cycle.eq(count),
        ]
        over = Cat(any_of(ended[region] for region in of) for of in self.writers)
        m.d.sync += [
            committed.eq((committed | self.committed) & ~over),
            next_start.eq(following),
            settling.eq((settling << 1) | finish),
        ]
        with m.If(finish):
            m.d.sync += active.eq(0)
        with m.Elif(active):
            m.d.sync += count.eq(count + 1)
        number = Signal(range(self.regions))  # of the region that is under way, where that is one
        if self.parallels:
            with m.If(ended.any() & ~finish):
                m.d.sync += self.region.eq((self.region & ~ended) | following)
        else:
            with m.If(following.any()):
                m.d.sync += [self.region.eq(following), number.eq(place_of(following))]
        self._spend(m, active, requested, count, number)
        with m.If(settling[-1]):
            m.d.sync += [self.running.eq(0), self.region.eq(0), self.done.eq(1)]
        with m.If(requested):
            m.d.sync += [self.running.eq(1), self.region.eq(first), self.done.eq(0), waiting.eq(1)]
            m.d.sync += number.eq(0)
            m.d.sync += [step.eq(0) for step in self.steps] if self.repeats else []
        with m.If(begin):
            m.d.sync += [active.eq(1), waiting.eq(0), committed.eq(0)]
        with m.If(requested | waiting):
            m.d.sync += count.eq(~self.busy)
        self._errors(m, active, failed, Cat(next_start, settling), number)
        return m

    def _spend(self, m: Module, active: Signal, requested: Signal, count: Signal, number: Signal) -> None:
        """The cycles of each region; those of a single one are those of the run. Of regions side by side each
        has a counter."""
        if self.regions == 1:
            m.d.comb += self.spent.eq(count)
            return
        if not self.parallels:
            m.submodules.cycles = cycles = RegionCycles(self.regions, again=bool(self.repeats))
            m.d.comb += [
                cycles.clear.eq(requested),
                cycles.counts.eq(active),
                cycles.number.eq(number),
                cycles.asked.eq(self.spent_of),
                self.spent.eq(cycles.spent),
            ]
            return
        counters = [Signal(32, name=f"spent{region}") for region in range(self.regions)]
        for counter, bit in zip(counters, self.region, strict=True):
            with m.If(active & bit):
                m.d.sync += counter.eq(counter + 1)
            with m.If(requested):
                m.d.sync += counter.eq(0)
        m.d.sync += self.spent.eq(Array(counters)[self.spent_of])

    def _follow(self, m: Module, ended: Signal, following: Value, finish: Signal, requested: Signal) -> None:
        """What comes after the regions that have ended: others, or the end of the run."""
        targets: list[list[Value]] = [[] for _ in range(self.regions)]
        ends: list[Value] = []
        joined = [Signal(name=f"joined{number}") for number in range(len(self.parallels))]
        over = [*ended, *joined]
        bodies: dict[tuple[int, int], list[Value]] = defaultdict(list)
        is_last = [step + 1 == extent for step, extent in self._counters()]
        for turn in self._turns(self.sequence, _Place()):
            here = over[turn.ended] & all_of(is_last[repeat] for repeat in turn.left)
            if turn.again is not None:
                here &= ~is_last[turn.again]
                with m.If(here):
                    m.d.sync += self.steps[turn.again].eq(self.steps[turn.again] + 1)
            if turn.left:
                with m.If(here):
                    m.d.sync += [self.steps[repeat].eq(0) for repeat in turn.left]
            for region in turn.next:
                targets[region].append(here)
            if not turn.next:
                (ends if turn.body is None else bodies[turn.body]).append(here)
        for number, step in enumerate(self.parallels):
            own = [any_of(bodies[number, body]) for body in range(len(step.bodies))]
            before = Signal(len(own), name=f"ended{number}")
            m.d.comb += joined[number].eq((before | Cat(own)).all())
            m.d.sync += before.eq(Mux(joined[number] | requested, 0, before | Cat(own)))
        m.d.comb += [following[region].eq(any_of(found)) for region, found in enumerate(targets)]
        m.d.comb += finish.eq(any_of(ends))

    def _counters(self) -> Iterator[tuple[Value, Value]]:
        if self.repeats:
            yield from zip(self.steps, self.extents, strict=True)

    def _turns(self, steps: Steps, at: _Place) -> Iterator[_Turn]:
        """All that may follow regions of some steps."""
        for place, step in enumerate(steps):
            behind = steps[place + 1 :]
            match step:
                case Repeat():
                    yield from self._turns(step.body, _Place((*at.around, (step, behind)), at.body))
                case Run(region):
                    yield from self._behind(region, behind, at)
                case Parallel(bodies):
                    number = self.parallels.index(step)
                    for body, own in enumerate(bodies):
                        yield from self._turns(own, _Place(body=(number, body)))
                    yield from self._behind(self.regions + number, behind, at)

    def _behind(self, ended: int, behind: Steps, at: _Place) -> Iterator[_Turn]:
        """What may follow a region or a parallel step, after which its own list has some steps."""
        left: tuple[int, ...] = ()
        for repeat, further in reversed(at.around):
            if behind:
                break
            number = self.repeats.index(repeat)
            yield _Turn(ended, number, left, first_of(repeat.body), at.body)
            left, behind = (*left, number), further
        yield _Turn(ended, None, left, first_of(behind) if behind else (), at.body)

    def _errors(self, m: Module, active: Signal, failed: Signal, ahead: Value, number: Signal) -> None:
        """An error ends the run and calls off what is `ahead`: the next region, or `done`."""
        # Registered once on the way: what each node in hardware reports, then the causes and the first node.
        late = [Signal(Error, name=f"error{n}") for n in range(self.nodes)]
        m.d.sync += [signal.eq(error) for signal, error in zip(late, self.errors, strict=True)]
        bits = [Cat(signal) for signal in late]
        quiet = Signal(range(self.watchdog + 1))
        fired = Signal()
        deadlock = Signal()
        # A node knows late in a cycle that it fires, so each has a register of its own before all are joined.
        late_fired = Signal(self.nodes)
        started = Signal()
        lately = late_fired.any() | started
        if self.ports:
            late_port = Signal()
            m.d.sync += late_port.eq(self.ports_fired)
            lately |= late_port
        m.d.sync += [
            late_fired.eq(self.fired),
            started.eq(self.start.any()),
            fired.eq(lately),
        ]
        with m.If(fired | started | ~active):
            m.d.sync += quiet.eq(0)
        with m.Elif(quiet != self.watchdog):
            m.d.sync += quiet.eq(quiet + 1)
        m.d.comb += deadlock.eq(active & (quiet == self.watchdog))

        causes = Signal(Error)
        flags = [error.any() for error in bits]
        if self.users:
            late_here = delayed(m, self.here)
            stood_for = Counter(node for node, _ in self.users)
            flags = [
                flags[node] & late_here[fabric] if stood_for[node] > 1 else flags[node]
                for node, fabric in self.users
            ]
        reporting = Signal(len(flags))
        m.d.comb += [
            reporting.eq(Cat(flags)),
            Cat(causes).eq(any_of(bits) | Mux(deadlock, Error.DEADLOCK, Error(0))),
        ]
        # The region of the firing: a node reports at most two cycles after that, what it reports is looked at
        # in the next cycle, and nodes of the next region report nothing in its first two.
        before, is_there, here = self._under_way(m, reporting, number)
        # The first error only, since the graph goes on with what the error left.
        with m.If(Cat(causes).any() & ~failed):
            m.d.sync += [
                failed.eq(1),
                self.error_region.eq(Mux(is_there, before, here)),
                self.error.eq(causes),
                active.eq(0),
                ahead.eq(0),
                self.running.eq(0),
                self.region.eq(0),
                self.done.eq(0),
            ]
            with m.If(reporting.any()):
                m.d.sync += self.error_node.eq(lowest_bit(reporting))

    def _under_way(self, m: Module, reporting: Signal, number: Signal) -> tuple[Value, Value, Value]:
        """The region that was under way when a firing met an error, whether there was one, and the one that
        is under way."""
        if not self.parallels:
            return delayed(m, number, LATE), delayed(m, self.region.any(), LATE), number
        before = delayed(m, self.region, LATE)
        own = Cat(
            any_of(reporting[n] for n, regions in enumerate(self.of_nodes) if region in regions)
            for region in range(self.regions)
        )
        told = before & own
        is_told = told.any()
        return lowest_bit(Mux(is_told, told, before)), before.any(), lowest_bit(self.region)
