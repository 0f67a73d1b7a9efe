"""The scalar forms of definitions: what they may be made of, and that a compiler for integers takes them."""

import inspect
from types import CodeType
from typing import Any

import numpy as np
import pytest

from samhw.graph.numerics import Fixed, Float, Integer, Operation, operation
from samhw.graph.numerics.straight_line import bit_length, lookup, select, straight_line
from tests.support.compiled import on_rows

TYPES = [Integer(8), Integer(32), Fixed(24, 12), Fixed(32, 31), Float("bf16"), Float("f32"), Float("f8e4m3")]
OPERATIONS = [
    *(operation(op, kind) for kind in TYPES for op in kind.operations),
    *(operation("convert", source, target) for source in TYPES for target in TYPES),
    *(operation(op, Integer(8), Integer(32)) for op in ("add", "sub", "mul")),
    *(operation(op, Float("bf16"), Float("f32")) for op in ("add", "sub", "mul")),
    operation("scale", Integer(32), Integer(8)),
]


def label(op: Operation) -> str:
    return f"{op.op}-{op.source}-{op.target}"


def operands(op: Operation, count: int) -> list[list[int]]:
    """Rows of words: ends of the range, and any."""
    width = op.source.width
    rng = np.random.default_rng(width)
    edges = [0, 1, (1 << width - 1) - 1, 1 << width - 1, (1 << width) - 1]
    columns = [[*np.roll(edges, k), *rng.integers(0, 1 << width, count)] for k in range(op.arity)]
    if op.op == "scale":
        columns[1:] = [[x % (1 << 31) for x in columns[1]], [x % 63 for x in columns[2]]]
    return [[int(word) for word in row] for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("op", OPERATIONS, ids=label)
def test_equals_its_definition(op: Operation) -> None:
    rows = operands(op, 200)
    scalar = op.scalar()
    got = [scalar(*row) for row in rows]
    assert got == op.apply(*np.array(rows).T).tolist()
    assert {type(word) for word in got} == {int}


@pytest.mark.nightly(but=50)
@pytest.mark.parametrize("op", OPERATIONS, ids=label)
def test_is_the_same_in_machine_code(op: Operation) -> None:
    """Over int64, without overflow."""
    rows = operands(op, 200)
    assert on_rows(op.scalar(), rows) == [op.scalar()(*row) for row in rows]


def test_constants_are_folded_in() -> None:
    scale = operation("scale", Integer(32), Integer(8)).scalar({1: 3, 2: 1})
    assert [scale(word) for word in (5, 3, 300, 0xFFFFFFFF)] == [8, 4, 127, 254]
    assert len(inspect.signature(scale).parameters) == 1
    division = operation("div", Float("f32")).scalar({0: 0x3F800000})
    assert division(0x40000000) == 0x3F000000


def test_one_function_for_one_operation() -> None:
    """So that what is compiled once is found again."""
    for kind in TYPES:
        assert kind.scalar("add") is kind.scalar("add")
        assert kind.scalar("select") is operation("select", kind).scalar()
    convert = operation("convert", Float("f32"), Integer(8))
    assert convert.scalar() is operation("convert", Float("f32"), Integer(8)).scalar()
    assert operation("mul", Integer(8)).scalar({1: 3}) is operation("mul", Integer(8)).scalar({1: 3})
    assert operation("mul", Integer(8)).scalar({1: 3}) is not operation("mul", Integer(8)).scalar({1: 4})


def test_no_step_is_taken_twice() -> None:
    twice = straight_line(lambda a, b: (a + b) * (a + b), 2)
    assert twice(3, 4) == 49
    code: CodeType = twice.__code__
    assert code.co_nlocals == 4  # a, b, the sum, the product


def test_has_a_source() -> None:
    add, sub = straight_line(lambda a, b: a + b, 2), straight_line(lambda a, b: a - b, 2)
    assert inspect.getsource(add) == "def scalar(a, b):\n    t0 = a + b\n    return t0\n"
    assert "t0 = a - b" in inspect.getsource(sub)


def test_every_operator() -> None:
    def definition(a: Any, b: Any) -> Any:
        """Of terms and of integers."""
        conditions = (a < b) & (a <= 7) | (b > 9) ^ (a >= b)
        mixed = 100 - a + 3 * b - (1 << (b & 3)) + (a // 2 >> 1) + (~a & -b | 0x40 ^ b)
        return select(conditions, mixed, select(a == b, 1, select(a != 5, 2, 3)))

    scalar = straight_line(definition, 2)
    for a in range(-3, 12):
        for b in range(-3, 12):
            assert scalar(a, b) == definition(a, b)


def test_tables_and_bit_lengths() -> None:
    table = np.array([5, 7, 11])
    scalar = straight_line(lambda a: lookup(table, a) + 100 * bit_length(a), 1)
    assert [scalar(a) for a in range(3)] == [5, 107, 211]


def test_a_definition_must_not_branch() -> None:
    with pytest.raises(TypeError, match="must not branch on a word; use select"):
        straight_line(lambda a: 1 if a < 3 else 2, 1)
