"""From the rows of an actor's firing table to its handshakes: the elastic rule of docs/timing.md."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType

from amaranth.hdl import Const, Module, Signal, Value, ValueLike
from amaranth.lib.wiring import PureInterface

from samhw.rtl.logic import all_of

__all__ = ["FiringTable"]

_NONE: Mapping[PureInterface, ValueLike] = MappingProxyType({})


class FiringTable:
    """One actor's firings. Open each row where its condition on state and heads holds:

        with m.Case(Kind.DONE), table.row(takes=[self.i.ref], pushes={crd.i: make_token(Kind.DONE)}):
            m.d.sync += open.eq(0)

    A condition may look at heads that are not there yet, as long as the row, and every row behind it, names them in
    `needs` or `takes`.

    Args:
        m: where the actor's logic goes.
        heads: every input that the conditions look at. All available and no row open is the `protocol` error.
        stall: no firing in this cycle.

    Attributes:
        fired: a firing happens in this cycle.
        protocol: a combination of heads that no row covers.
    """

    def __init__(self, m: Module, heads: Iterable[PureInterface], *, stall: ValueLike = 0):
        self.fired = Signal()
        self.protocol = Signal()
        self._m = m
        self._stall = Value.cast(stall)
        self._covered = Signal()
        m.d.comb += self.protocol.eq(all_of(head.valid for head in heads) & ~self._covered)

    def row(
        self,
        *,
        needs: Iterable[PureInterface] = (),
        takes: Iterable[PureInterface] = (),
        takes_if: Mapping[PureInterface, ValueLike] = _NONE,
        pushes: Mapping[PureInterface, ValueLike] = _NONE,
        pushes_if: Mapping[PureInterface, ValueLike] = _NONE,
    ) -> AbstractContextManager[None]:
        """A row of the table. State that changes with the firing is assigned in the context that it returns.

        Args:
            needs: inputs whose heads the conditions up to this row look at (those taken need not be repeated).
            takes: inputs that lose their head.
            takes_if: inputs that lose their head when a condition holds; needed only then.
            pushes: the token for each output that gets one.
            pushes_if: outputs among `pushes` that get it only when a condition holds.
        """
        m = self._m
        always = {id(head): head for head in (*needs, *takes)}.values()
        go = Signal()
        m.d.comb += [
            self._covered.eq(1),
            go.eq(
                all_of(head.valid for head in always)
                & all_of(head.valid | ~taken for head, taken in takes_if.items())
                & all_of(port.ready | ~pushes_if.get(port, Const(1)) for port in pushes)
                & ~self._stall
            ),
        ]
        m.d.comb += [port.token.eq(token) for port, token in pushes.items()]
        with m.If(go):
            m.d.comb += self.fired.eq(1)
            m.d.comb += [head.ready.eq(1) for head in takes]
            m.d.comb += [head.ready.eq(taken) for head, taken in takes_if.items()]
            m.d.comb += [port.push.eq(pushes_if.get(port, Const(1))) for port in pushes]
        return m.If(go)
