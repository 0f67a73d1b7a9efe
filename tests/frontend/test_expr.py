import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.frontend import (
    Access,
    Add,
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
    terms,
    walk,
)

A, B, C = (Access(name, ("i",)) for name in "ABC")

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
    assert np.float64(0.1) * A == Mul(Literal(0.1), A)
    assert str(np.int32(3) + A) == "3 + A[i]"
    assert type((A * np.float32(0.5)).right.value) is float


def test_operators_refuse_what_is_no_operand():
    with pytest.raises(TypeError):
        A + "B"
    with pytest.raises(TypeError):
        [1] * A
    with pytest.raises(TypeError):
        np.ones(3) * A
    with pytest.raises(TypeError):
        A / "B"
    with pytest.raises(TypeError):
        [1] / A


def test_spans_take_no_part_in_equality():
    assert Access("A", ("i",), span=Span(3, 7)) == A
    assert hash(Access("A", ("i",), span=Span(3, 7))) == hash(A)
    assert A + B != A - B


def test_walk_goes_left_to_right():
    matrix, vector = Access("M", ("k", "i")), Access("v", ("j",))
    expr = -matrix * (A - vector) + 2
    assert [type(node) for node in walk(expr)] == [Add, Mul, Neg, Access, Sub, Access, Access, Literal]
    assert list(accesses(expr)) == [matrix, A, vector]
    assert free_indices(expr) == ("k", "i", "j")


def test_terms():
    assert list(terms(A * (B + C) - (-B + 2) * A - -(A - C))) == [A * (B + C), (-B + 2) * A, A, C]
