"""A component with counters of what its actors spend a run on (docs/host_port.md)."""

from amaranth.hdl import Array, Const, Elaboratable, Fragment, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.graph.address_map import MOST_ACTORS, STATES
from samhw.rtl.actor import Primitive
from samhw.rtl.firing import Watched, watched
from samhw.rtl.shared import Make, Shared, plainly
from samhw.rtl.units.unit import delayed

__all__ = ["Counted", "CountsSignature"]

_SELECT = (MOST_ACTORS * len(STATES) - 1).bit_length()


class CountsSignature(wiring.Signature):
    """How counters are cleared and read, seen from what has them.

    Members:
        clear: all of them are to be zero: a run is requested.
        begin: cycle 0 of a run of the region.
        select: state and actor, as the address map has them.
        word: the counter that was selected in the last cycle.
    """

    def __init__(self) -> None:
        super().__init__({"clear": In(1), "begin": In(1), "select": In(_SELECT), "word": Out(32)})


class Counted(Shared):
    """A primitive, or a port to memory off the chip, and for each of its actors the numbers of cycles in each
    of `STATES`; those of a port wait for memory where others are spaced.

    Args:
        make: of what is counted.

    Members beside its own:
        counts: a `CountsSignature`.
    """

    memory_ports = Primitive.memory_ports

    def __init__(self, make: Make):
        self.inner = make.component()
        super().__init__({**self.inner.signature.members, "counts": Out(CountsSignature())})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        with watched() as actors:
            inner = Fragment.get(plainly(self.inner, platform), platform)
        m.submodules.inner = _Elaborated(inner)
        for path, member, port in self.inner.signature.flatten(self.inner):
            ours: Value = self
            for part in path:
                ours = ours[part] if isinstance(part, int) else getattr(ours, part)
            ours, theirs = Value.cast(ours), Value.cast(port)
            m.d.comb += theirs.eq(ours) if member.flow is In else ours.eq(theirs)
        assert len(actors) <= MOST_ACTORS, f"{len(actors)} actors, of which {MOST_ACTORS} can be counted"
        words = [word for actor in actors for word in self._count(m, actor)]
        m.d.sync += self.counts.word.eq(Array([*words, Const(0, 32)])[self.counts.select])
        return m

    def _count(self, m: Module, actor: Watched) -> list[Value]:
        """The counters of an actor, in the order of `STATES`."""
        # From registers: what an actor does is known late in a cycle.
        fired, there, room, begin = (
            delayed(m, value) for value in (actor.fired, actor.there, actor.room, self.counts.begin)
        )
        counters = [Signal(32, name=name) for name in STATES]
        firing, starved, blocked, other = counters
        waiting = Signal(32)  # `starved`, and the cycles without a head since the last firing
        late = None if actor.late is None else delayed(m, actor.late, 2)
        with m.If(fired):
            m.d.sync += [firing.eq(firing + 1), starved.eq(waiting)]
            if late is not None:
                with m.If(late):  # All of the wait was for memory.
                    m.d.sync += [
                        other.eq(other + waiting - starved),
                        starved.eq(starved),
                        waiting.eq(starved),
                    ]
        with m.Elif(~there):
            m.d.sync += waiting.eq(waiting + 1)
        with m.Elif(~room):
            m.d.sync += blocked.eq(blocked + 1)
        with m.Else():
            m.d.sync += other.eq(other + 1)
        # After its last firing, and until the next start, an actor waits for nothing.
        with m.If(begin):
            m.d.sync += waiting.eq(starved)
        with m.If(self.counts.clear):
            m.d.sync += [counter.eq(0) for counter in (*counters, waiting)]
        return list(counters)


class _Elaborated(Elaboratable):
    """What is a fragment already."""

    def __init__(self, fragment: Fragment):
        self._fragment = fragment

    def elaborate(self, platform: object) -> Fragment:
        return self._fragment
