"""Which value beats which: arg and top_k."""

from collections.abc import Callable
from functools import partial

from amaranth.hdl import Array, Cat, Mux, Signal, Value

from docs.rules import rows
from samhw.graph.numerics import value_type
from samhw.primitives.arg.component import Arg
from samhw.primitives.top_k.component import TopK
from samhw.rtl.logic import all_of
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does
from tests.formal.rules import Meaning

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


def _arg(beats: Beats) -> Callable[[Bench], Meaning]:
    def read(at: Bench) -> Meaning:
        best, place, first, half = Signal(8), Signal(8), Signal(init=1), Signal()
        return Meaning(
            at,
            {"best": best, "at": place, "first": first, "half": half, "beats": beats},
            same=(at.state["first"] == first)
            & (at.state["half"] == half)
            & (at.state["at"] == place)
            & (first | (at.state["best"] == best)),
        )

    return read


def _top_k(beats: Beats, shows: str) -> Callable[[Bench], Meaning]:
    def read(at: Bench) -> Meaning:
        values, places = ([Signal(8, name=f"{of}{s}") for s in range(_SLOTS)] for of in ("value", "place"))
        filled = Signal(range(_SLOTS + 1))

        def insert(x: Value, c: Value) -> Does:
            # The first slot that x beats, or else the first not in use, is this one or lies before it.
            reached = Signal(_SLOTS)
            beaten = [(filled <= s) | beats(x, best) for s, best in enumerate(values)]
            at.m.d.comb += reached.eq(Cat(Cat(*beaten[: s + 1]).any() for s in range(_SLOTS)))
            moves = [
                slots[s].eq(Mux(reached[s], Mux(reached[s - 1], slots[s - 1], new) if s else new, slots[s]))
                for slots, new in ((values, x), (places, c))
                for s in range(_SLOTS)
            ]
            return Does(changes=[*moves, filled.eq(Mux(filled < _SLOTS, filled + 1, filled))])

        shown = Array(values if shows == "values" else places)
        in_order = all_of((filled <= s + 1) | ~beats(values[s + 1], values[s]) for s in range(_SLOTS - 1))
        registers = all_of(
            (at.state[f"used{s}"] == (filled > s))
            & ((filled <= s) | ((at.state[f"best{s}"] == values[s]) & (at.state[f"at{s}"] == places[s])))
            for s in range(_SLOTS)
        )
        names = {"filled": filled, "insert": insert, "slot": lambda n: shown[n]}
        return Meaning(at, names, same=registers & (filled <= _SLOTS) & in_order)

    return read


_TYPES = (("i8", "max", _greater_integer, "values"), ("f8e4m3", "min", _lesser_float, "places"))

ACTORS = (
    *(
        Actor(
            f"arg, {op} of {name}",
            rows("arg"),
            partial(Arg, arch=SHORT, value_type=value_type(name), op=op),
            _arg(beats),
        )
        for name, op, beats, _ in _TYPES
    ),
    *(
        Actor(
            f"top_k, {op} of {name}, {gives}",
            rows("top_k"),
            partial(TopK, arch=SHORT, value_type=value_type(name), op=op, gives=gives, k=_SLOTS),
            _top_k(beats, gives),
        )
        for name, op, beats, gives in _TYPES
    ),
)
