"""From the rows of an actor's firing table to its handshakes: the elastic rule of docs/timing.md."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from amaranth.hdl import Const, Elaboratable, Module, Signal, Value, ValueLike
from amaranth.lib.wiring import PureInterface

from samhw.rtl.logic import all_of, any_of, chosen

__all__ = ["FiringTable", "Watched", "watch", "watched"]

_NONE: Mapping[PureInterface, ValueLike] = MappingProxyType({})
_watchers: "ContextVar[list[Watched] | None]" = ContextVar("watchers", default=None)


class Watched(NamedTuple):
    """What an actor does in a cycle.

    Attributes:
        fired: a firing happens.
        there: the heads of the next firing are there,
        room: and its slots are, too.
        late: if the next firing is in the next cycle, what came last was from memory off the chip.
    """

    fired: Value
    there: Value
    room: Value
    late: Value | None = None


@dataclass(frozen=True)
class _Row:
    here: Signal
    """The row's condition holds."""
    agree: Value | None
    """The heads are what the row needs, where it needs anything of them."""
    go: Signal
    """Its firing happens in this cycle."""
    needs: Iterable[PureInterface]
    takes: Mapping[PureInterface, Value]
    pushes: Mapping[PureInterface, Value]
    tokens: Mapping[PureInterface, Value]
    slots: Iterable[Value]

    @property
    def there(self) -> Value:
        """Its condition holds, and its heads are available."""
        needed = self.here & all_of(head.valid for head in self.needs)
        return needed & all_of(head.valid | ~condition for head, condition in self.takes.items())

    @property
    def room(self) -> Value:
        """Its outputs have free slots."""
        ports = [port.ready | ~condition for port, condition in self.pushes.items()]
        return all_of([*ports, *self.slots])

    @property
    def open(self) -> Value:
        """Its condition holds, of heads that agree."""
        return self.here if self.agree is None else self.here & self.agree


class FiringTable(Elaboratable):
    """One actor's firings. Open each row where its condition on state and heads holds:

        with m.Case(Kind.DONE), table.row(takes=[self.i.ref], pushes={crd.i: make_token(Kind.DONE)}):
            m.d.sync += open.eq(0)

    A condition may look at heads that are not there yet, as long as the row, and every row after it, names
    them in `needs` or `takes`. Rows exclude each other, so that each handshake is one flat disjunction,
    whatever the nesting of conditions.

    What a row needs of its heads beyond that, as equal levels of two stops, goes to `agree`. It is checked
    beside the handshakes and not on the way to them: heads that do not agree leave with the error.

    Args:
        m: where the actor's logic goes; the table becomes a submodule.
        heads: every input that the conditions look at. All available and no row open is the `protocol` error.
        stall: no firing in this cycle.
        slots: what the next firing needs beside the slots of the outputs that it pushes to is there.
        actor: what docs/primitives.md calls it, if there are several in `m`. Its rows count in the order in
            which they are opened: `<actor>_row0` is the row's condition, `<actor>_fires0` its firing.

    Attributes:
        fired: a firing happens in this cycle.
        protocol: a combination of heads that no row covers, or that do not agree in the row that does.
    """

    def __init__(
        self,
        m: Module,
        heads: Iterable[PureInterface],
        *,
        stall: ValueLike = 0,
        slots: Iterable[Value] = (),
        actor: str = "actor",
    ):
        self.fired = Signal()
        self.protocol = Signal()
        self._m = m
        self._heads = tuple(heads)
        self._stall = Value.cast(stall)
        self._slots = tuple(slots)
        self._rows: list[_Row] = []
        self._actor = actor
        m.submodules[f"{actor}_firings"] = self

    def row(
        self,
        *,
        agree: Value | None = None,
        needs: Iterable[PureInterface] = (),
        takes: Iterable[PureInterface] = (),
        takes_if: Mapping[PureInterface, ValueLike] = _NONE,
        pushes: Mapping[PureInterface, ValueLike] = _NONE,
        pushes_if: Mapping[PureInterface, ValueLike] = _NONE,
    ) -> AbstractContextManager[None]:
        """A row of the table. State that changes with the firing is assigned in the context that it returns.

        Args:
            agree: what has to hold of the heads, or else it is the `protocol` error.
            needs: inputs whose heads the conditions up to this row look at (those taken need not be
                repeated).
            takes: inputs that lose their head.
            takes_if: inputs that lose their head when a condition holds; needed only then.
            pushes: the token for each output that gets one.
            pushes_if: outputs among `pushes` that get it only when a condition holds.
        """
        taken = dict.fromkeys(takes, Const(1)) | dict(takes_if)
        pushed = dict.fromkeys(pushes, Const(1)) | dict(pushes_if)
        number = len(self._rows)
        here, fires = (Signal(name=f"{self._actor}_{what}{number}") for what in ("row", "fires"))
        row = _Row(here, agree, fires, tuple(needs), taken, pushed, pushes, self._slots)
        self._rows.append(row)
        self._m.d.comb += row.here.eq(1)
        opened: AbstractContextManager[None] = self._m.If(row.go)
        return opened

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        takes: dict[PureInterface, list[Value]] = {}
        pushes: dict[PureInterface, list[Value]] = {}
        tokens: dict[PureInterface, list[tuple[Signal, Value]]] = {}
        for row in self._rows:
            m.d.comb += row.go.eq(row.there & row.room & ~self._stall)
            for head, condition in row.takes.items():
                takes.setdefault(head, []).append(row.go & condition)
            for port, condition in row.pushes.items():
                pushes.setdefault(port, []).append(row.go & condition)
            for port, token in row.tokens.items():
                tokens.setdefault(port, []).append((row.here, token))
        m.d.comb += [head.ready.eq(any_of(terms)) for head, terms in takes.items()]
        m.d.comb += [port.push.eq(any_of(terms)) for port, terms in pushes.items()]
        m.d.comb += [port.token.eq(_select(choices)) for port, choices in tokens.items()]
        m.d.comb += [
            self.fired.eq(any_of(row.go for row in self._rows)),
            self.protocol.eq(
                all_of(head.valid for head in self._heads) & ~any_of(row.open for row in self._rows)
            ),
        ]
        there = any_of(row.there for row in self._rows)
        watch(m, Watched(self.fired, there, any_of(row.there & row.room for row in self._rows)))
        return m


def watch(m: Module, actor: Watched) -> None:
    """Shows an actor to the one who watches what is elaborated, if there is one."""
    if (actors := _watchers.get()) is None:
        return
    shown = [None if value is None else Signal(name=name) for name, value in actor._asdict().items()]
    m.d.comb += [signal.eq(value) for signal, value in zip(shown, actor, strict=True) if signal is not None]
    actors.append(Watched(*shown))


@contextmanager
def watched() -> Iterator[list[Watched]]:
    """The actors that are elaborated meanwhile."""
    actors: list[Watched] = []
    token = _watchers.set(actors)
    try:
        yield actors
    finally:
        _watchers.reset(token)


def _select(choices: list[tuple[Signal, Value]]) -> Value:
    """The token of the row that is open; one that all rows share need not wait for their conditions."""
    if len({id(token) for _, token in choices}) == 1:
        return choices[0][1]
    return chosen(choices)
