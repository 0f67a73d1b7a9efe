"""What makes a value of each payload: array, alu, matmul and fold."""

from collections.abc import Callable, Mapping

from amaranth.hdl import Cat, Value, ValueLike

from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.primitives.alu.component import Alu
from samhw.primitives.array.component import Array
from samhw.primitives.fold.component import Fold
from samhw.primitives.matmul.component import Matmul
from samhw.rtl.actor import Error
from samhw.rtl.logic import all_of
from samhw.rtl.token import TokenKind, is_payload
from tests.formal.actors.words import always, answered, late, made, reports, value
from tests.formal.cut import with_cut_units
from tests.formal.firings import Actor, Bench, Does, Reading, kinds
from tests.formal.page import prose

__all__ = ["ACTORS"]

_PLACES = 16
"""Of the memory."""

_ARCH = Arch(index_bits=8, alu={"integer": {"select": 2, "mul": 1, "add": 1, "max": 1}})
_I8 = value_type("i8")


def _array(at: Bench) -> Reading:
    head, memory = at.heads["ref"], at.component.mem_vals
    r = head.payload
    asked = memory.en & (memory.addr == r[: len(memory.addr)])
    beyond = at.component.i.ref.valid & (head.kind == TokenKind.VAL) & (r >= _PLACES)

    def pushed(token: ValueLike) -> Does:
        return Does(takes=always(["ref"]), pushes={"val": (1, token)})

    return Reading(
        columns=[(["ref"], kinds(head))],
        firings={
            "take, push VAL(vals[r])": pushed(value(answered(at.m, asked, memory.data, 1))),
            "take, push VAL(0)": pushed(value(0)),
            "take, push it": pushed(head.as_value()),
        },
        promises=lambda happens: [reports(at, Error.RANGE) == late(at.m, beyond)],
    )


Result = tuple[ValueLike, Value, int]
"""The word, whether something that it is made of has left the range of its type, and how many cycles later
this is known."""


def _computing(
    payloads: str, computes: str, ends: str, passes: str, compute: Callable[[Bench], Result]
) -> Callable[[Bench], Reading]:
    """Of heads that are taken together. The texts are those of the page, for two rows."""

    def read(at: Bench) -> Reading:
        heads = list(at.heads.values())
        word, overflow, cycles = compute(at)
        is_end = (heads[0].kind == TokenKind.STOP) | (heads[0].kind == TokenKind.DONE)
        # A wider payload than that of a stop is zero after the levels.
        same = all_of(head.as_value() == heads[0].as_value() for head in heads)

        def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
            # Heads that do not agree may leave with the error; what is made of them means nothing.
            told = reports(at, Error.OVERFLOW) == (late(at.m, happens[computes], cycles) & overflow)
            return [told | reports(at, Error.PROTOCOL)]

        takes = always(at.heads)
        return Reading(
            columns=[(list(at.heads), {payloads: all_of(map(is_payload, heads)), ends: is_end & same})],
            firings={
                computes: Does(takes=takes, pushes={"val": (1, value(word))}),
                passes: Does(takes=takes, pushes={"val": (1, heads[0].as_value())}),
            },
            promises=promises,
        )

    return read


def _operation(at: Bench) -> Result:
    """Of the three operands of `select`, as of any."""
    return (
        made(at, "unit", **{name: head.payload for name, head in at.heads.items()}),
        _overflow(at, "unit"),
        0,
    )


def _overflow(at: Bench, *units: str) -> Value:
    return Cat(at.given[f"{unit}.overflow"] for unit in units).any()


def _product(at: Bench) -> Result:
    """Of two vectors of three: the third product has no partner in the first round."""
    a, b = (at.heads[name].payload for name in "ab")
    products = [made(at, f"mul{n}", a=a.word_select(n, 8), b=b.word_select(n, 8)) for n in range(3)]
    pair = made(at, "add0_1_0", 1, a=products[0], b=products[1])
    all_ = made(at, "add0_0_0", 2, a=pair, b=products[2])
    overflow = (
        late(at.m, _overflow(at, "mul0", "mul1", "mul2"), 2)
        | late(at.m, _overflow(at, "add0_1_0"))
        | _overflow(at, "add0_0_0")
    )
    return all_, overflow, 2


def _fold(at: Bench) -> Result:
    """Of three elements: the third one has no partner in the first round."""
    x = [at.heads["block"].payload.word_select(n, 8) for n in range(3)]
    pair = made(at, "fold0_1_0", a=x[0], b=x[1])
    all_ = made(at, "fold0_0_0", 1, a=pair, b=x[2])
    return all_, late(at.m, _overflow(at, "fold0_1_0")) | _overflow(at, "fold0_0_0"), 1


ACTORS = (
    Actor(
        "array",
        prose("array"),
        lambda: Array(arch=_ARCH, stored_width=8, vals_capacity=_PLACES),
        _array,
        latency=2,
    ),
    Actor(
        "alu",
        prose("alu"),
        with_cut_units("alu", lambda: Alu(arch=_ARCH, value_type=_I8, op="select"), "a b c"),
        _computing(
            "All heads payloads",
            "take all, push VAL(op(a, b, c)), where EMPTY counts as zero",
            "All the same STOP, or all DONE",
            "take all, push it",
            _operation,
        ),
        latency=2,
    ),
    Actor(
        "matmul",
        prose("matmul"),
        with_cut_units(
            "matmul",
            lambda: Matmul(arch=_ARCH, value_type=_I8, shape=[1, 1], over=[3], a=[0, 2], b=[2, 1]),
        ),
        _computing(
            "Both heads payloads",
            "take both, push VAL(c)",
            "The same STOP on both, or DONE on both",
            "take both, push it",
            _product,
        ),
        latency=3,
    ),
    Actor(
        "fold",
        prose("fold"),
        with_cut_units("fold", lambda: Fold(arch=_ARCH, value_type=_I8, op="max", shape=[3], over=[0])),
        _computing(
            "Payload",
            "take, push VAL(r), where EMPTY counts as zeros",
            "STOP, DONE",
            "take, push it",
            _fold,
        ),
        latency=2,
    ),
)
