"""What makes a value of each payload: array, alu, matmul and fold."""

from collections.abc import Callable, Mapping

from amaranth.hdl import Cat, Value, ValueLike

from docs.rules import rows
from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.primitives.alu.component import Alu
from samhw.primitives.array.component import Array
from samhw.primitives.fold.component import Fold
from samhw.primitives.matmul.component import Matmul
from samhw.rtl.actor import Error
from samhw.rtl.logic import all_of
from samhw.rtl.token import TokenKind, is_payload
from tests.formal.actors.words import always, late, made, reports, stored
from tests.formal.cut import with_cut_units
from tests.formal.firings import Actor, Bench
from tests.formal.rules import Head, Meaning

__all__ = ["ACTORS"]

_PLACES = 16
"""Of the memory."""

_ARCH = Arch(index_bits=8, alu={"integer": {"select": 2, "mul": 1, "add": 1, "max": 1}})
_I8 = value_type("i8")


def _array(at: Bench) -> Meaning:
    head = at.heads["ref"]
    beyond = at.component.i.ref.valid & (head.kind == TokenKind.VAL) & (head.payload >= _PLACES)
    return Meaning(
        at,
        {"vals": stored(at, "vals")},
        promises=lambda happens: [reports(at, Error.RANGE) == late(at.m, beyond)],
    )


Result = tuple[ValueLike, Value, int]
"""The word, whether something that it is made of has left the range of its type, and how many cycles later
this is known."""


def _computing(computes: str, compute: Callable[[Bench], Result]) -> Callable[[Bench], Meaning]:
    """Of heads that are taken together. The text is that of the rule, a function of the heads."""

    def read(at: Bench) -> Meaning:
        heads = list(at.heads.values())
        word, overflow, cycles = compute(at)

        def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
            # Heads that do not agree may leave with the error; what is made of them means nothing.
            pushed = happens[f"push(VAL({computes}))"]
            told = reports(at, Error.OVERFLOW) == (late(at.m, pushed, cycles) & overflow)
            return [told | reports(at, Error.PROTOCOL)]

        names = {
            computes.partition("(")[0]: lambda *operands: word,
            "all_payload": all_of(map(is_payload, heads)),
            # A wider payload than that of a stop is zero after the levels.
            "equal": all_of(head.as_value() == heads[0].as_value() for head in heads),
        }
        return Meaning(at, names, columns={"heads": Head(heads[0], always(at.heads))}, promises=promises)

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
        rows("array"),
        lambda: Array(arch=_ARCH, stored_width=8, vals_capacity=_PLACES),
        _array,
        latency=2,
    ),
    Actor(
        "alu",
        rows("alu"),
        with_cut_units("alu", lambda: Alu(arch=_ARCH, value_type=_I8, op="select"), "a b c"),
        _computing(
            "op(a, b, c)",
            _operation,
        ),
        latency=2,
    ),
    Actor(
        "matmul",
        rows("matmul"),
        with_cut_units(
            "matmul",
            lambda: Matmul(arch=_ARCH, value_type=_I8, shape=[1, 1], over=[3], a=[0, 2], b=[2, 1]),
        ),
        _computing(
            "product(a, b)",
            _product,
        ),
        latency=3,
    ),
    Actor(
        "fold",
        rows("fold"),
        with_cut_units("fold", lambda: Fold(arch=_ARCH, value_type=_I8, op="max", shape=[3], over=[0])),
        _computing(
            "fold(block)",
            _fold,
        ),
        latency=2,
    ),
)
