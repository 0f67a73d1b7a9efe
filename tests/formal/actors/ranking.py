"""Which value beats which: arg and top_k."""

from collections.abc import Callable
from functools import partial

from amaranth.hdl import Array, Cat, Mux, Signal, Value

from samhw.graph.numerics import value_type
from samhw.primitives.arg.component import Arg
from samhw.primitives.top_k.component import TopK
from samhw.rtl.logic import all_of
from samhw.rtl.token import TokenKind, is_payload, stop_hi, stop_lo
from tests.formal.actors.words import DONE, always, below, changes, push, take, value
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does, Looks, Reading
from tests.formal.page import table

__all__ = ["ACTORS"]

_SLOTS = 3

Beats = Callable[[Value, Value], Value]
"""Whether a word beats another one."""


def _greater_integer(x: Value, y: Value) -> Value:
    """`max` of i8."""
    return ~(x.as_signed() <= y.as_signed())


def _lesser_float(x: Value, y: Value) -> Value:
    """`min` of f8e4m3, which has a NaN of each sign, and no infinity."""
    numbers = [Mux(word[7], -word[:7], word[:7]) for word in (x, y)]
    x_is_nan, y_is_nan = (word[:7].all() for word in (x, y))
    return ~y_is_nan & (x_is_nan | ~(numbers[1] <= numbers[0]))


def _arg(beats: Beats) -> Callable[[Bench], Reading]:
    def read(at: Bench) -> Reading:
        crd, val = at.heads["crd"], at.heads["val"]
        best, place, first, half = Signal(8), Signal(8), Signal(init=1), Signal()
        same = crd.as_value() == val.as_value()
        stops = same & (crd.kind == TokenKind.STOP)
        lo, hi = stop_lo(crd), stop_hi(crd)
        heads = {
            "VAL(c), payload x": (crd.kind == TokenKind.VAL) & is_payload(val),
            "both STOP(0, 0)": stops & (lo == 0) & (hi == 0),
            "both STOP(0, hi), hi ≥ 1": stops & (lo == 0) & (hi >= 1),
            "both STOP(lo, hi)": stops,
            "both DONE": same & (crd.kind == TokenKind.DONE),
        }
        wins = first | beats(val.payload, best)
        return Reading(
            columns=[
                (["crd", "val"], heads),
                ([], {"": 1, "`first`, or x beats best": wins, "not `half`": ~half}),
            ],
            firings={
                "take both": take("crd", "val"),
                "best := x": changes(best.eq(val.payload)),
                "at := c": changes(place.eq(crd.payload)),
                "at := 0": changes(place.eq(0)),
                "first := true": changes(first.eq(1)),
                "first := false": changes(first.eq(0)),
                "half := true": changes(half.eq(1)),
                "half := false": changes(half.eq(0)),
                "push VAL(at)": push(val=value(place)),
                "push STOP(max(lo, 1)−1, hi−1)": push(val=below(crd)),
                "push DONE": push(val=DONE),
            },
            same=(at.state["first"] == first)
            & (at.state["half"] == half)
            & (at.state["at"] == place)
            & (first | (at.state["best"] == best)),
        )

    return read


def _top_k(beats: Beats, shows: str) -> Callable[[Bench], Reading]:
    def read(at: Bench) -> Reading:
        crd, val, rank = (at.heads[name] for name in ("crd", "val", "rank"))
        x, n = val.payload, rank.payload
        values, places = ([Signal(8, name=f"{of}{s}") for s in range(_SLOTS)] for of in ("value", "place"))
        filled = Signal(range(_SLOTS + 1))
        # The first slot that x beats, or else the first that is not in use, is this one or lies before it.
        reached = Signal(_SLOTS)
        beaten = [(filled <= s) | beats(x, best) for s, best in enumerate(values)]
        at.m.d.comb += reached.eq(Cat(Cat(*beaten[: s + 1]).any() for s in range(_SLOTS)))
        insert = [
            slots[s].eq(Mux(reached[s], Mux(reached[s - 1], slots[s - 1], new) if s else new, slots[s]))
            for slots, new in ((values, x), (places, crd.payload))
            for s in range(_SLOTS)
        ]
        both = crd.as_value() == val.as_value()
        same = both & (crd.as_value() == rank.as_value())
        stop = crd.kind == TokenKind.STOP
        gives = both & stop & (stop_lo(crd) == 0) & (rank.kind == TokenKind.VAL)
        all_ = always(at.heads)
        heads = {
            "`crd` VAL(c), `val` payload x": Looks(
                (crd.kind == TokenKind.VAL) & is_payload(val), always(["crd", "val"])
            ),
            "`crd`, `val` both STOP(0, hi), `rank` VAL(n)": Looks(gives, all_),
            "all three the same STOP": Looks(same & stop, all_),
            "all three DONE": Looks(same & (crd.kind == TokenKind.DONE), all_),
        }
        shown = Array(values if shows == "values" else places)
        in_order = all_of((filled <= s + 1) | ~beats(values[s + 1], values[s]) for s in range(_SLOTS - 1))
        registers = all_of(
            (at.state[f"used{s}"] == (filled > s))
            & ((filled <= s) | ((at.state[f"best{s}"] == values[s]) & (at.state[f"at{s}"] == places[s])))
            for s in range(_SLOTS)
        )
        return Reading(
            columns=[([], heads), ([], {"": 1, "n < filled": n < filled})],
            firings={
                "take both": take("crd", "val"),
                "insert (x, c)": changes(*insert, filled.eq(Mux(filled < _SLOTS, filled + 1, filled))),
                "take `rank`": take("rank"),
                "push what slot n has": push(val=value(shown[n])),
                "push VAL(0)": push(val=value(0)),
                "take all": Does(takes=all_),
                "push it": push(val=crd.as_value()),
                "filled := 0": changes(filled.eq(0)),
                "push DONE": Does(pushes={"val": (1, DONE)}, changes=[filled.eq(0)]),
            },
            same=registers & (filled <= _SLOTS) & in_order,
        )

    return read


_TYPES = (("i8", "max", _greater_integer, "values"), ("f8e4m3", "min", _lesser_float, "places"))

ACTORS = (
    *(
        Actor(
            f"arg, {op} of {name}",
            table("arg"),
            partial(Arg, arch=SHORT, value_type=value_type(name), op=op),
            _arg(beats),
        )
        for name, op, beats, _ in _TYPES
    ),
    *(
        Actor(
            f"top_k, {op} of {name}, {gives}",
            table("top_k"),
            partial(TopK, arch=SHORT, value_type=value_type(name), op=op, gives=gives, k=_SLOTS),
            _top_k(beats, gives),
        )
        for name, op, beats, gives in _TYPES
    ),
)
