"""What the readings have in common: what a step computes, what a memory answers, and when."""

from collections.abc import Callable, Iterable
from typing import Any

from amaranth.hdl import Assume, Const, Module, Signal, Value, ValueLike
from amaranth.hdl._ast import AnySeq
from amaranth.lib import data

from samhw.rtl.actor import Error
from samhw.rtl.logic import all_of
from samhw.rtl.token import TokenKind, make_token
from tests.formal.firings import Bench

__all__ = [
    "always",
    "answered",
    "computed",
    "inside_block",
    "joined",
    "late",
    "looped_alone",
    "made",
    "reports",
    "stable",
    "stays",
    "stored",
    "value",
]


def value(word: ValueLike) -> Value:
    """VAL."""
    return make_token(TokenKind.VAL, word)


def always(names: Iterable[str]) -> dict[str, ValueLike]:
    """Ports that are served whatever else holds."""
    return dict.fromkeys(names, Const(1))


def computed(m: Module, step: Any, result: str, **operands: ValueLike) -> Value:
    """What a step of the RTL makes of operands: any word, and its own one if it has the same operands. So it
    stands for every function."""
    word = Signal.like(getattr(step, result), name=f"word_{result}")
    same = ~step.alone
    for name, operand in operands.items():
        same &= getattr(step, name) == operand
    m.d.comb += [word.eq(AnySeq(len(word))), Assume(~same | (word == getattr(step, result)))]
    return word


def joined(at: Bench, operands: str = "a b", result: str = "result") -> Callable[..., Value]:
    """What the step of the RTL makes of its operands, by their names there."""

    def word(*given: Any) -> Value:
        words = (each.payload if isinstance(each, data.View) else each for each in given)
        return computed(at.m, at.component.step, result, **dict(zip(operands.split(), words, strict=True)))

    return word


def reports(at: Bench, error: Error) -> Value:
    """The component reports this error in this cycle."""
    return at.component.error.as_value()[error.value.bit_length() - 1]


def late(m: Module, value: ValueLike, cycles: int = 1) -> Value:
    """What a value has been this many cycles ago."""
    value = Value.cast(value)
    for _ in range(cycles):
        before = Signal.like(value, name="before")
        m.d.sync += before.eq(value)
        value = before
    return value


def stable(m: Module, value: Value) -> Value:
    """It is the same in all cycles; given back for the sake of the reader."""
    some = Signal()
    m.d.sync += some.eq(1)
    m.d.comb += Assume(~some | (value == late(m, value)))
    return value


def stays(at: Bench, name: str) -> None:
    """A head that is not taken stays, as the proof of the channel says."""
    port = getattr(at.component.i, name)
    waits = late(at.m, port.valid & ~port.ready)
    same = late(at.m, port.payload.as_value()) == port.payload.as_value()
    at.m.d.comb += Assume(~waits | (port.valid & same))


def answered(m: Module, asked: ValueLike, answer: Value, cycles: int) -> Value:
    """What comes back this many cycles later: any word, and the one that the RTL gets if it has asked the
    same. So it stands for every content of a memory."""
    word = Signal(len(answer), name="word")
    m.d.comb += [
        word.eq(AnySeq(len(word))),
        Assume(~late(m, asked, cycles) | (late(m, word, cycles) == answer)),
    ]
    return word


def stored(at: Bench, memory: str) -> Callable[[ValueLike], Value]:
    """What a memory has at a place, whichever of its ports the RTL asks for it: `memory[place]` of a rule."""
    ports = [getattr(at.component, f"mem_{name}", None) for name in (memory, f"{memory}_next")]

    def word(place: ValueLike) -> Value:
        words = [
            answered(at.m, port.en & (port.addr == Value.cast(place)[: len(port.addr)]), port.data, 1)
            for port in ports
            if port is not None
        ]
        at.m.d.comb += [Assume(other == words[0]) for other in words[1:]]
        return words[0]

    return word


def made(at: Bench, unit: str, cycles: int = 0, **operands: ValueLike) -> Value:
    """What a unit that is cut out makes of operands that come to it this many cycles later: any word, and
    that of the RTL if it gets the same operands."""
    word = Signal.like(at.given[f"{unit}.result"], name=f"word_{unit}")
    same = all_of(
        at.given[f"{unit}.asked_{name}"] == late(at.m, operand, cycles) for name, operand in operands.items()
    )
    right = late(at.m, word, cycles) == at.given[f"{unit}.result"]
    at.m.d.comb += [word.eq(AnySeq(len(word))), Assume(~same | right)]
    return word


def looped_alone(at: Bench, looped: Signal, z: Signal) -> Value:
    """The channel *loop* holds z, and nothing else; with a latency of 1 it is there in the next cycle."""
    registers = ("valid", "front", "full", "taken", "places", "tail")
    partial = {name: at.state[f"partial.{name}"] for name in registers}
    return (
        (at.state["looped"] == looped)
        & (partial["valid"] == looped)
        & (partial["taken"] == looped)
        & ~partial["full"]
        & (partial["tail"] == partial["places"][:-1])
        & (~looped | (partial["front"] == value(z)))
    )


def inside_block(at: Bench, n: Signal, behind: Signal, z: Signal) -> Value:
    """The place n in a block, whether another one lies before it, and, from the second place on, what that
    one has given."""
    return (
        (at.state["place"] == n)
        & (at.state["behind"] == behind)
        & (~behind | (n == 0) | (at.state["kept"] == z))
    )
