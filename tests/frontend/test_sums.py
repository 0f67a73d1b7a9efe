"""Where sums are taken: over a term each, and in whatever is accepted it does not matter how much further or
less far, so that text, Python, the reference and the compiler cannot disagree."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import samhw
from samhw.errors import InputError
from samhw.lang import (
    Access,
    Add,
    Expr,
    Literal,
    Mul,
    Neg,
    Program,
    ProgramBuilder,
    Sub,
    free_indices,
    parse,
)
from samhw.lang.reference import evaluate_program

DECLARED = "tensor a[j=2]\ntensor b[i=3]\ntensor C[i=3, j=2]\ntensor alpha\n"
INDICES = {"a": ("j",), "b": ("i",), "C": ("i", "j"), "alpha": ()}
EXTENTS = {"i": 3, "j": 2}
USES_ALL = "a[j] + C[i, j] * b[i] * alpha"
ARRAYS = {
    "a": np.array([2, -3]),
    "b": np.array([5, 7, -4]),
    "C": np.array([[1, 0], [-6, 9], [8, 3]]),
    "alpha": np.array(-2),
}

leaves = st.sampled_from([Access.of(name, indices) for name, indices in INDICES.items()]) | st.builds(
    Literal, st.integers(-2, 2)
)
expressions = st.recursive(
    leaves,
    lambda operands: (
        st.builds(Neg, operands)
        | st.one_of(*(st.builds(node, operands, operands) for node in (Add, Sub, Mul)))
    ),
    max_leaves=7,
)


def in_text(rhs: Expr) -> Program | None:
    try:
        return parse(f"{DECLARED}tensor y[j=2]\ntensor z[j=2]\ny[j] = {rhs}\nz[j] = {USES_ALL}")
    except InputError:
        return None


def in_python(rhs: Expr) -> Program | None:
    p = ProgramBuilder()
    i, j = p.index("i", 3), p.index("j", 2)
    a, b, C, alpha = p.tensor("a", j), p.tensor("b", i), p.tensor("C", (i, j)), p.tensor("alpha")
    y, z = p.tensor("y", j), p.tensor("z", j)
    y[j] = rhs
    z[j] = a[j] + C[i, j] * b[i] * alpha
    try:
        return p.program()
    except InputError:
        return None


def at(expr: Expr, point: dict[str, int]) -> int:
    match expr:
        case Access(name):
            return int(ARRAYS[name][tuple(point[i] for i in expr.names)])
        case Literal(value):
            return int(value)
        case Neg(operand):
            return -at(operand, point)
        case Add(left, right):
            return at(left, point) + at(right, point)
        case Sub(left, right):
            return at(left, point) - at(right, point)
        case Mul(left, right):
            return at(left, point) * at(right, point)
    raise TypeError(expr)


def of_terms(expr: Expr, j: int) -> int:
    """An element of the result: each term summed as a whole."""
    if isinstance(expr, Add | Sub):
        right = of_terms_alone(expr.right, j)
        return of_terms(expr.left, j) + (right if isinstance(expr, Add) else -right)
    return of_terms_alone(expr, j)


def of_terms_alone(term: Expr, j: int) -> int:
    reduced = [index for index in free_indices(term) if index != "j"]
    points = product(*(range(EXTENTS[index]) for index in reduced))
    return sum(at(term, {"j": j, **dict(zip(reduced, point, strict=True))}) for point in points)


@settings(max_examples=300)
@given(expressions)
def test_a_sum_has_one_meaning(rhs: Expr) -> None:
    program = in_text(rhs)
    assert in_python(rhs) == program
    if program is not None:
        expected = [of_terms(program.statements[0].rhs, j) for j in range(2)]
        assert evaluate_program(program, ARRAYS)["y"].tolist() == expected
        assert parse(program.text) == program


@pytest.mark.parametrize(
    ("rhs", "gap"),
    [
        ("a[j] + (a[j] - b[i])", "a[j]"),
        ("a[j] - (b[i] + a[j])", "a[j]"),
        ("-(a[j] - b[i])", "a[j]"),
        ("1 * (a[j] - b[i])", "a[j]"),
        ("a[j] + (1 + C[i, j])", "1"),
        ("a[j] + --(C[i, j] - alpha)", "alpha"),
        ("a[j] + (b[i] + (C[i, j] - alpha))", "alpha"),
    ],
)
def test_refused(rhs: str, gap: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(f"{DECLARED}y[j] = {rhs} + alpha * b[i] * C[i, j]")
    sentence = str(caught.value).splitlines()[0]
    assert f"index 'i' is summed over, but '{gap}' in " in sentence
    assert sentence.endswith("lacks it; write the part that has it as a statement of its own")


@pytest.mark.parametrize(
    ("rhs", "expected"),
    [
        # The same expression as without parentheses, as + and - associate to the left.
        ("(a[j] - b[i]) + a[j]", lambda a, b, c: 2 * a - b.sum()),
        ("a[j] - b[i] + a[j]", lambda a, b, c: 2 * a - b.sum()),
        ("a[j] - (b[i] + C[i, j])", lambda a, b, c: a - b.sum() - c.sum(0)),
        ("-(b[i] - C[i, j])", lambda a, b, c: c.sum(0) - b.sum()),
        ("-a[j] - b[i]", lambda a, b, c: -a - b.sum()),
    ],
)
def test_accepted(rhs: str, expected) -> None:
    data = {name: array for name, array in ARRAYS.items() if name in rhs}
    found = samhw.compile(f"y[j] = {rhs}").run(data)
    found.check()
    np.testing.assert_array_equal(found["y"], expected(ARRAYS["a"], ARRAYS["b"], ARRAYS["C"]))
