import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.lang import (
    Access,
    Add,
    Binary,
    Call,
    Concat,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Reshape,
    Span,
    Sub,
    accesses,
    free_indices,
    parse,
    rewritten,
    terms,
    walk,
)

A, B, C = (Access.of(name, ("i",)) for name in "ABC")

leaves = st.sampled_from([A, B, C]) | st.builds(
    Literal, st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False)
)


def _nodes(operands: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.builds(Neg, operands) | st.one_of(
        *(st.builds(node, operands, operands) for node in (Add, Sub, Mul, Div))
    )


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (A + B + C, "A[i] + B[i] + C[i]"),
        (A + (B + C), "A[i] + (B[i] + C[i])"),
        (A - (B - C), "A[i] - (B[i] - C[i])"),
        ((A + B) * C, "(A[i] + B[i]) * C[i]"),
        (A + B * C, "A[i] + B[i] * C[i]"),
        (A * (B * C), "A[i] * (B[i] * C[i])"),
        (-A * B, "-A[i] * B[i]"),
        (-(A * B), "-(A[i] * B[i])"),
        (Neg(-A), "--A[i]"),
        (Neg(Literal(2)) * A, "-(2) * A[i]"),
        (Literal(-2) * A, "-2 * A[i]"),
        (A - 0.5, "A[i] - 0.5"),
        (2 - A, "2 - A[i]"),
        (3 + A, "3 + A[i]"),
        (Call("max", (A + B, C)) * 1, "max(A[i] + B[i], C[i]) * 1"),
        (Access("alpha"), "alpha"),
        (A / B / C, "A[i] / B[i] / C[i]"),
        (A / (B / C), "A[i] / (B[i] / C[i])"),
        (A * (B / C), "A[i] * (B[i] / C[i])"),
        (A * B / (C + 1), "A[i] * B[i] / (C[i] + 1)"),
        (2 / -A, "2 / -A[i]"),
        (Reshape(A), "reshape(A[i])"),
        (Concat("i", (A, B)), "concat(i, A[i], B[i])"),
    ],
)
def test_text(expr, text):
    assert str(expr) == text


@given(st.recursive(leaves, _nodes, max_leaves=30))
def test_text_reads_back(expr):
    # One more term, so that the statement has the index of the left side.
    program = parse(f"tensor A[i]\ntensor B[i]\ntensor C[i]\nx[i] = A[i] * B[i] * C[i] - ({expr})")
    assert program.statements[0].rhs == A * B * C - expr


def test_numpy_scalars_become_plain_literals():
    tenth: Any = np.float64(0.1)
    three: Any = np.int32(3)
    half: Any = np.float32(0.5)
    assert tenth * A == Mul(Literal(0.1), A)
    assert str(three + A) == "3 + A[i]"
    _, literal = (A * half).children
    assert isinstance(literal, Literal)
    assert type(literal.value) is float


def test_operators_refuse_what_is_no_operand():
    text: Any = "B"
    numbers: Any = [1]
    array: Any = np.ones(3)
    with pytest.raises(TypeError):
        A + text
    with pytest.raises(TypeError):
        numbers * A
    with pytest.raises(TypeError):
        array * A
    with pytest.raises(TypeError):
        A / text
    with pytest.raises(TypeError):
        numbers / A


def test_spans_take_no_part_in_equality():
    assert Access.of("A", ("i",), span=Span(3, 7)) == A
    assert hash(Access.of("A", ("i",), span=Span(3, 7))) == hash(A)
    assert A + B != A - B


def test_walk_goes_left_to_right():
    matrix, vector = Access.of("M", ("k", "i")), Access.of("v", ("j",))
    expr = -matrix * (A - vector) + 2
    assert [type(node) for node in walk(expr)] == [Add, Mul, Neg, Access, Sub, Access, Access, Literal]
    assert list(accesses(expr)) == [matrix, A, vector]
    assert free_indices(expr) == ("k", "i", "j")


def test_terms():
    assert list(terms(A * (B + C) - (-B + 2) * A - -(A - C))) == [A * (B + C), (-B + 2) * A, -(A - C)]
    assert list(terms((A - B) + C)) == list(terms(A - B + C)) == [A, B, C]
    assert list(terms(A - (B + C))) == [A, B + C]
    assert list(terms(-(A + B))) == [-(A + B)]


@pytest.mark.parametrize(
    "expr", [A, Literal(2), -A, A - B, A / B, Call("max", (A, C)), Reshape(A), Concat("i", (A, B))]
)
def test_with_children_changes_nothing_but_the_operands(expr):
    assert expr.with_children(expr.children) == expr
    others = [Access.of("D", ("i",)) for _ in expr.children]
    other = expr.with_children(others)
    assert type(other) is type(expr)
    assert list(other.children) == others
    assert str(other) == re.sub(r"[ABC]\[", "D[", str(expr)) if others else other is expr


def test_with_children_takes_as_many_as_there_are():
    for expr in (A, Literal(2), -A, A + B, Reshape(A)):
        with pytest.raises(ValueError, match="unpack"):
            expr.with_children([*expr.children, C])


def test_every_node_has_with_children():
    kinds = set(Expr.__subclasses__()) | set(Binary.__subclasses__())
    for kind in kinds - {Binary}:
        own = {name for base in kind.__mro__[:-1] if base is not Expr for name in vars(base)}
        assert ("children" in own) == ("with_children" in own), kind.__name__


def test_what_is_moved_stays_a_tensor():
    with pytest.raises(TypeError, match="only whole tensors"):
        Reshape(A).with_children([A + B])
    with pytest.raises(TypeError, match="only whole tensors"):
        Concat("i", (A, B)).with_children([A, Literal(1)])


def test_rewritten_changes_operands_first_and_keeps_places():
    span = Span(3, 7)

    def change(node):
        seen.append(str(node))
        return replace(node, tensor="D") if node == B else node

    seen: list[str] = []
    found = rewritten(Add(Mul(A, B, span=span), Call("relu", (B,))), change)
    assert str(found) == "A[i] * D[i] + relu(D[i])"
    assert found.children[0].span == span
    assert seen == ["A[i]", "B[i]", "A[i] * D[i]", "B[i]", "relu(D[i])", "A[i] * D[i] + relu(D[i])"]
