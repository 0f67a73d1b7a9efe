"""gather, of three lanes."""

from collections.abc import Callable
from functools import partial

from amaranth.hdl import Array, Mux, Signal, Value, ValueLike

from samhw.primitives.gather.component import Gather
from samhw.rtl.logic import all_of
from samhw.rtl.token import CONTROL, TokenKind, stop_hi, stop_lo, stop_token
from tests.formal.actors.words import DONE, always, changes, push, take
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does, Looks, Reading, kinds
from tests.formal.page import table

__all__ = ["ACTORS"]

_LANES = 3


def _gather(m: int) -> Callable[[Bench], Reading]:
    """Of rows of m levels."""

    def read(at: Bench) -> Reading:
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
        lo, hi = stop_lo(head), stop_hi(head)

        def above(each: Value) -> Value:
            """max(lo, m)"""
            return Mux(each > m, each, m)

        agree = all_of(
            stop[n] & (stop_hi(each) == hi) & (above(stop_lo(each)) == above(lo))
            for n, each in enumerate(heads)
        )
        others = all_of(is_over[n] | (turn == n) for n in range(_LANES))
        mine = {name: turn == n for n, name in enumerate(names)}
        next_ = {name: (p == n) & ~over[n] for n, name in enumerate(names)}
        ends = "hi ≥ m, all heads are STOPs with this hi and this max(lo, m), all other lanes are over"
        conditions: dict[str, ValueLike | Looks] = {
            "": 1,
            "hi < m − 1": hi < m - 1,
            "hi = m − 1": hi == m - 1,
            "lo < m ≤ hi, lane p is not over": Looks((lo < m) & (hi >= m) & ~Array(is_over)[p], next_),
            ends: Looks((hi >= m) & agree & others, always(names)),
            "all heads are DONE": Looks(all_of(each.kind == TokenKind.DONE for each in heads), always(names)),
        }
        return Reading(
            columns=[
                ([], {cell: Looks(holds, mine) for cell, holds in kinds(head).items()}),
                ([], conditions),
            ],
            firings={
                "take": Does(takes=mine),
                "take all": take(*names),
                "push it": push(ref=head.as_value()),
                "push STOP(lo, m−1), take nothing": push(ref=stop_token(lo, m - 1)),
                "push STOP(lo, hi)": push(ref=head.as_value()),
                # And is in its start state again.
                "push DONE": Does(pushes={"ref": (1, DONE)}, changes=[turn.eq(0), over.eq(0)]),
                "turn := p": changes(turn.eq(p)),
                "turn := p if m = 0": changes(turn.eq(p if m == 0 else turn)),
                "`turn` joins `over`": changes(over.bit_select(turn, 1).eq(1)),
                "turn := 0, `over` := {}": changes(turn.eq(0), over.eq(0)),
            },
            same=(at.state["turn"] == turn) & (turn < _LANES) & (at.state["over"] == over),
        )

    return read


ACTORS = tuple(
    Actor(
        f"gather, {rows}",
        table("gather"),
        partial(Gather, arch=SHORT, lanes=_LANES, levels=levels, payload_width=8),
        _gather(levels),
    )
    for rows, levels in (("payloads", 0), ("rows", 1), ("rows of two levels", 2))
)
