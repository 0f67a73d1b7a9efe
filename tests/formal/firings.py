"""An actor of the RTL beside the rows of its rule: it fires exactly when a row says
so, and does what the row says."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from amaranth.hdl import Assert, Assume, Const, Elaboratable, Fragment, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from docs.rules import Rows
from samhw.rtl.actor import Error
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.token import TokenKind, stop_hi, stop_lo
from tests.formal.inside import given, registers

__all__ = ["Actor", "Bench", "Does", "FiringContract", "Looks", "Reading"]


@dataclass(frozen=True)
class Does:
    """What a part of a firing does.

    Attributes:
        takes: by input, when it loses its head.
        pushes: by output, when it gets a token, and its bits.
        changes: assignments of the ideal state.
        waits: the firing may not happen in this cycle.
    """

    takes: Mapping[str, ValueLike] = field(default_factory=dict)
    pushes: Mapping[str, tuple[ValueLike, ValueLike]] = field(default_factory=dict)
    changes: Sequence[Any] = ()
    waits: ValueLike | None = None


@dataclass(frozen=True)
class Looks:
    """A condition that looks at heads.

    Attributes:
        holds: it does, of heads that are there.
        at: when it looks at which.
    """

    holds: ValueLike
    at: Mapping[str, ValueLike]


class Reading(Protocol):
    """What the rows of a rule mean."""

    @property
    def same(self) -> ValueLike:
        """The registers of the RTL are those of the ideal actor; what an induction has to know."""

    @property
    def promises(self) -> Callable[[Mapping[str, Value]], Sequence[ValueLike]]:
        """What else holds in every cycle, given which parts of firings happen, by their text."""

    def meant(self, cells: Sequence[str]) -> tuple[list[Looks], dict[str, Does]]:
        """The conditions of a row, and the parts of its firing, by their text."""


@dataclass(frozen=True)
class Bench:
    """What a reading may look at.

    Attributes:
        m: where the ideal state is.
        columns: of the rule.
        heads: the tokens at the inputs, by name.
        outputs: their names.
        component: the actor.
        state: its registers.
        given: what its parts give within a cycle.
    """

    m: Module
    columns: Sequence[str]
    heads: Mapping[str, data.View]
    outputs: Sequence[str]
    component: Any
    state: Mapping[str, Signal]
    given: Mapping[str, Signal]


@dataclass(frozen=True)
class Actor:
    """An actor, and where its rows stand.

    Attributes:
        name: unique.
        rule: its rows, cell by cell; the last cell is the firing.
        make: makes the component.
        read: what the words of the rows mean.
        latency: of its outputs.
        sooner: the latencies of those outputs that have a lesser one.
    """

    name: str
    rule: Rows
    make: Callable[[], wiring.Component]
    read: Callable[[Bench], Reading]
    latency: int = 1
    sooner: Mapping[str, int] = field(default_factory=dict)

    def contract(self, without: int | None = None) -> "FiringContract":
        """Of all rows but one."""
        return FiringContract(self, [row for n, row in enumerate(self.rule.rows) if n != without])


def _pushed(does: Iterable[Does]) -> dict[str, tuple[ValueLike, ValueLike]]:
    """Of the parts of a firing that may push on one output, at most one does."""
    found: dict[str, tuple[ValueLike, ValueLike]] = {}
    for each in does:
        for name, (when, token) in each.pushes.items():
            if name in found:
                before, other = found[name]
                found[name] = Value.cast(before) | when, Mux(when, token, other)
            else:
                found[name] = when, token
    return found


def _is_token(head: data.View) -> Value:
    """Heads are any tokens in any order, even where no stream has them."""
    stop = head.kind == TokenKind.STOP
    bare = (head.kind == TokenKind.DONE) | (head.kind == TokenKind.EMPTY)
    levels = (stop_lo(head) <= stop_hi(head)) & (head.payload[8:] == 0)
    return (~stop | levels) & (~bare | (head.payload == 0))


class FiringContract(wiring.Component):
    """The actor beside an ideal one, whose firings are rows of the rule. Heads and room are free in every
    cycle.

    Members:
        i_<port>: the heads. room_<port>: the output has a slot.
        o_<port>: what the ideal actor pushes. due: it fires.
        Those of the component that are neither: as they are.
    """

    def __init__(self, actor: Actor, rows: Sequence[Sequence[str]]):
        self.actor = actor
        self.table = rows
        self.component: Any = actor.make()
        members = self.component.signature.members
        self.inputs = {n: p.payload.shape() for n, p in self._ports("i", members).items()}
        self.outputs = {n: p.token.shape() for n, p in self._ports("o", members).items()}
        self.others = {
            name: member
            for name, member in members.items()
            if name not in ("i", "o", "error", "fired", "protocol", "overflow")
        }
        super().__init__(
            {f"i_{name}": In(stream.Signature(shape)) for name, shape in self.inputs.items()}
            | {f"room_{name}": In(1) for name in self.outputs}
            | {f"o_{name}": Out(shape) for name, shape in self.outputs.items()}
            | {**self.others, "fired": Out(1), "due": Out(1)}
        )

    def _ports(self, side: str, members: Any) -> dict[str, Any]:
        ports = getattr(self.component, side) if side in members else None
        return {name: getattr(ports, name) for name in ports.signature.members} if ports is not None else {}

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        component = self.component
        m.submodules.component = fragment = Fragment.get(component, None)
        for name, member in self.others.items():
            inner, outer = getattr(component, name), getattr(self, name)
            if not member.is_port:
                wiring.connect(m, inner, wiring.flipped(outer))
            else:
                m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
        heads = {}
        for name in self.inputs:
            outer = getattr(self, f"i_{name}")
            wiring.connect(m, wiring.flipped(outer), getattr(component.i, name))
            m.d.comb += Assume(_is_token(outer.payload))
            heads[name] = outer.payload
        for name in self.outputs:
            m.d.comb += getattr(component.o, name).ready.eq(getattr(self, f"room_{name}"))
        columns, outputs = self.actor.rule.columns, list(self.outputs)
        bench = Bench(m, columns, heads, outputs, component, registers(fragment), given(fragment))
        reading = self.actor.read(bench)
        self._promise(m, reading)
        return m

    def _promise(self, m: Module, reading: Reading) -> None:
        component = self.component
        takes: dict[str, list[Value]] = {name: [] for name in self.inputs}
        pushes: dict[str, list[Value]] = {name: [] for name in self.outputs}
        happens: dict[str, list[Value]] = {}
        examined: set[str] = set()
        covered: list[Value] = []
        goes: list[Value] = []
        for cells in self.table:
            looks, parts = reading.meant(cells)
            does = list(parts.values())
            examined |= {name for look in looks for name in look.at}
            taken = {name: Value.cast(when) for each in does for name, when in each.takes.items()}
            pushed = _pushed(does)
            # Signals, since a condition holds those of all rows above it.
            here, go = Signal(name="here"), Signal(name="go")
            met = all_of(Value.cast(look.holds) for look in looks) & ~any_of(covered)
            room = {name: Value.cast(when) for name, (when, _) in pushed.items()}
            waits = any_of(Value.cast(each.waits) for each in does if each.waits is not None)
            m.d.comb += [here.eq(met), go.eq(self._go(here & ~waits, looks, taken, room))]
            covered.append(here)
            goes.append(go)
            for part in parts:
                happens.setdefault(part, []).append(go)
            for name, when in taken.items():
                takes[name].append(go & when)
            with m.If(go):
                for name, (when, token) in pushed.items():
                    pushes[name].append(go & Value.cast(when))
                    m.d.comb += getattr(self, f"o_{name}").as_value().eq(token)
                m.d.sync += [change for each in does for change in each.changes]
        parts_that_happen = defaultdict(lambda: Const(0), {part: any_of(go) for part, go in happens.items()})
        # Heads that do not agree may leave with the error, and nothing is promised after it.
        disagreed, astray = self._protocol(), Signal()
        m.d.sync += astray.eq(astray | disagreed)
        m.d.comb += [
            self.due.eq(any_of(goes)),
            self.fired.eq(component.fired),
            Assume(~astray),
            Assert((component.fired == self.due) | disagreed),
            *(Assert((getattr(component.i, n).ready == any_of(w)) | disagreed) for n, w in takes.items()),
            *(Assert((getattr(component.o, n).push == any_of(w)) | disagreed) for n, w in pushes.items()),
            Assert(reading.same),
            *(Assert(p) for p in reading.promises(parts_that_happen)),
        ]
        for name, when in pushes.items():
            self._arrives(m, name, any_of(when), disagreed)
        if self.inputs:
            there = [getattr(self, f"i_{name}").valid for name in sorted(examined)]
            m.d.comb += Assert(self._protocol() == (all_of(there) & ~any_of(covered)))

    def _go(
        self, here: Value, looks: Iterable[Looks], taken: Mapping[str, Value], pushed: Mapping[str, Value]
    ) -> Value:
        """A row's firing happens in this cycle."""
        stalled = self.stall if "stall" in self.others else Const(0)
        return (
            here
            & ~stalled
            & all_of(
                getattr(self, f"i_{name}").valid | ~Value.cast(when)
                for look in looks
                for name, when in look.at.items()
            )
            & all_of(getattr(self, f"i_{name}").valid | ~when for name, when in taken.items())
            & all_of(getattr(self, f"room_{name}") | ~when for name, when in pushed.items())
        )

    def _protocol(self) -> Value:
        """The actor reports that its heads do not agree."""
        if hasattr(self.component, "protocol"):
            return Value.cast(self.component.protocol)
        return (self.component.error & Error.PROTOCOL).as_value().any()

    def _arrives(self, m: Module, name: str, pushed: Value, disagreed: Value) -> None:
        """What is pushed comes to the channel when it should."""
        port = getattr(self.component.o, name)
        strobe, token = pushed, getattr(self, f"o_{name}").as_value()
        for stage in range(self.actor.sooner.get(name, self.actor.latency) - 1):
            late, late_token = (
                Signal(name=f"{name}_late{stage}"),
                Signal(len(token), name=f"{name}_is{stage}"),
            )
            m.d.sync += [late.eq(strobe), late_token.eq(token)]
            strobe, token = late, late_token
        m.d.comb += Assert((port.strobe == strobe) | disagreed)
        with m.If(strobe):
            m.d.comb += Assert(port.token.as_value() == token)
