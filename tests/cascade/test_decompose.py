"""The test of decomposability, on the cases of RedFuser's paper and on what does not pass it."""

import random

import numpy as np
import pytest
import sympy

from samhw.lang import Access, parse
from samhw.lang.cascade.decompose import Decomposed, FiniteRank, decompose
from samhw.lang.cascade.symbols import from_symbols, symbol, to_symbols

x, m, v, w, total, y = map(symbol, ("x", "m", "v", "w", "l", "y"))
exp = sympy.exp


@pytest.mark.parametrize(
    ("expr", "reduction", "result", "elements", "h"),
    [
        (exp(x - m), "sum", m, exp(x), exp(-m)),
        (exp(x - m) * v, "sum", m, v * exp(x), exp(-m)),
        (exp(x - m) / total * v, "sum", total, v * exp(x - m), 1 / total),
        (448 * x / m * w, "sum", m, 448 * w * x, 1 / m),
        (x + m, "max", m, x, m),
        (x - 2 * m, "min", m, x, -2 * m),
        (v / y, "sum", y, v, 1 / y),
    ],
)
def test_what_comes_apart(expr, reduction, result, elements, h) -> None:
    found = decompose(expr, reduction, sorted(expr.free_symbols - {result}, key=str), result)
    assert isinstance(found, Decomposed)
    assert sympy.simplify(found.elements - elements) == 0
    assert sympy.simplify(found.results - h) == 0
    assert found.is_deferred == (not h.has(exp))


@pytest.mark.parametrize(
    ("expr", "terms"),
    [
        ((x - m) ** 2, {(x**2, 1), (x, -2 * m), (1, m**2)}),
        (w * (x - m) ** 2, {(w * x**2, 1), (w * x, -2 * m), (w, m**2)}),
    ],
)
def test_what_is_several_sums(expr, terms) -> None:
    found = decompose(expr, "sum", sorted(expr.free_symbols - {m}, key=str), m)
    assert isinstance(found, FiniteRank)
    assert {tuple(map(sympy.sympify, term)) for term in found.terms} == {
        tuple(map(sympy.sympify, term)) for term in terms
    }


@pytest.mark.parametrize(
    ("expr", "reduction"),
    [(exp(x * m), "sum"), (exp(x - m) / total, "max"), (x * m, "max"), (sympy.Function("f")(x - m), "sum")],
)
def test_what_does_not(expr, reduction) -> None:
    assert decompose(expr, reduction, sorted(expr.free_symbols - {m}, key=str), m) is None


def test_what_the_test_says_is_so() -> None:
    """F = G ⊗ H in numbers, for random expressions; and the test is not blind."""
    rng = random.Random(0)
    parts = [x, v, exp(x), exp(-m), exp(x - m), 1 / m, m + 2, x * m, x + m, x - m]
    came_apart = 0
    for _ in range(80):
        expr = sympy.Mul(*rng.choices(parts, k=rng.choice((1, 2, 2, 3))))
        if not {x, m} <= expr.free_symbols:
            continue
        found = decompose(expr, "sum", [x, v], m)
        numbers = {s: rng.uniform(0.5, 2) for s in (x, v, m)}
        whole = float(expr.subs(numbers))
        if isinstance(found, Decomposed):
            came_apart += 1
            product = found.elements * found.results
            assert float(product.subs(numbers)) == pytest.approx(whole)
        elif isinstance(found, FiniteRank):
            total = sympy.Add(*(a * b for a, b in found.terms))
            assert float(total.subs(numbers)) == pytest.approx(whole)
        else:
            # It surely does not: the cross ratio is not 1.
            a, b = ({**numbers, m: 0.7}, {**numbers, m: 1.9})
            c, d = ({**a, x: 0.6}, {**b, x: 0.6})
            f = [float(expr.subs(point)) for point in (a, b, c, d)]
            assert not np.isclose(f[0] * f[3], f[1] * f[2])
    assert came_apart > 15


@pytest.mark.parametrize(
    "text",
    ["exp(b[i] - m[i])", "y[i] / l[i]", "y[i] * m[i] / l[i]", "y[i] + 2 * m[i]", "-y[i]", "log(y[i]) + 0.5"],
)
def test_there_and_back(text: str) -> None:
    """What SymPy has is a program's again, of the same value."""
    names = sorted({c for c in "ybml" if f"{c}[" in text})
    program = parse("".join(f"tensor {n}[i]\n" for n in names) + f"out[i] = {text}\n")
    read = {f"{n}[i]": Access.of(n, "i") for n in names}
    expr = to_symbols(program.statements[0].rhs, lambda a: symbol(str(a)))
    back = from_symbols(expr, read)
    assert back is not None
    assert sympy.simplify(to_symbols(back, lambda a: symbol(str(a))) - expr) == 0


def test_what_no_program_can_say() -> None:
    """A sum is not said without one of its terms."""
    unknown = sympy.Function("sigmoid", real=True)(0)
    for expr in (unknown - m, m - unknown, unknown + m, -unknown):
        assert from_symbols(expr, {"m": Access.of("m")}) is None


def test_what_is_large_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer does not wait for SymPy: what differs in numbers is simplified by nobody, nor what is large,
    whether it comes apart or not."""

    def simplify(expr: sympy.Expr) -> sympy.Expr:
        assert sympy.count_ops(expr) <= 100
        return expr

    def expand(expr: sympy.Expr) -> sympy.Expr:
        assert not expr.has(sympy.Symbol("far", real=True))
        return expr

    monkeypatch.setattr(sympy, "simplify", simplify)
    quotient = total**2 + v * x / (1 + exp(-sympy.Function("lt", real=True)(w, exp(x - m) / total)))
    assert not isinstance(decompose(quotient, "sum", [v, x, w, m], total), Decomposed)
    far = symbol("far")
    many = sympy.Mul(*((x + v + w + n) * (far + m + n) for n in range(1, 12)))
    monkeypatch.setattr(sympy, "expand", expand)
    assert decompose(many, "sum", [x, v, w, far], m) is None
