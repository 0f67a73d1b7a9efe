"""gather, of three lanes."""

from collections.abc import Callable
from functools import partial

from amaranth.hdl import Array, Mux, Signal, Value

from docs.rules import rows
from samhw.primitives.gather.component import Gather
from samhw.rtl.logic import all_of
from samhw.rtl.token import CONTROL, TokenKind, stop_hi, stop_lo
from tests.formal.actors.words import always
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Looks
from tests.formal.rules import Head, Meaning

__all__ = ["ACTORS"]

_LANES = 3


def _gather(m: int) -> Callable[[Bench], Meaning]:
    """Of rows of m levels."""

    def read(at: Bench) -> Meaning:
        names = [f"ref{lane}" for lane in range(_LANES)]
        heads = [at.heads[name] for name in names]
        turn, p, over = Signal(range(_LANES)), Signal(range(_LANES)), Signal(_LANES)
        head = Signal(CONTROL)
        at.m.d.comb += [
            p.eq(Mux(turn == _LANES - 1, 0, turn + 1)),
            head.as_value().eq(Array([each.as_value() for each in heads])[turn]),
        ]
        stop = [each.kind == TokenKind.STOP for each in heads]
        is_over = [over[n] | (stop[n] & (stop_lo(each) >= m)) for n, each in enumerate(heads)]

        def above(each: Value) -> Value:
            """max(lo, m)"""
            return Mux(each > m, each, m)

        def all_stop(lo: Value, hi: Value) -> Looks:
            agree = all_of(
                stop[n] & (stop_hi(each) == hi) & (above(stop_lo(each)) == lo) for n, each in enumerate(heads)
            )
            return Looks(agree, always(names))

        def other_is_over(lane: Value) -> Looks:
            return Looks(Array(is_over)[lane], {n: (lane == i) & ~over[i] for i, n in enumerate(names)})

        known = {
            "m": m,
            "turn": turn,
            "p": p,
            "over": over,
            "is_over": other_is_over,
            "all_stop": all_stop,
            "others_over": lambda lane: all_of(is_over[n] | (lane == n) for n in range(_LANES)),
            "all_done": lambda: Looks(all_of(each.kind == TokenKind.DONE for each in heads), always(names)),
        }
        return Meaning(
            at,
            known,
            columns={"head": Head(head, {name: turn == n for n, name in enumerate(names)})},
            every=_LANES,
            same=(at.state["turn"] == turn) & (turn < _LANES) & (at.state["over"] == over),
        )

    return read


ACTORS = tuple(
    Actor(
        f"gather, {what}",
        rows("gather"),
        partial(Gather, arch=SHORT, lanes=_LANES, levels=levels, payload_width=8),
        _gather(levels),
    )
    for what, levels in (("payloads", 0), ("rows", 1), ("rows of two levels", 2))
)
