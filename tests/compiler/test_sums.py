"""Where sums stand (docs/compiler.md): the rule, on products of a few factors."""

import pytest

from samhw.choices.iteration import Iteration
from samhw.compiler.einsum import MUL, Apply, Einsum, Number, Reduce, View
from samhw.compiler.sums import Sums
from samhw.names import Names
from samhw.tensors import Format


def factor(text: str) -> Einsum:
    """A view, such as `Aij`; compressed, but for the indices in capitals."""
    levels = Format.sparse_in(i.islower() for i in text[1:]).levels
    return View(text[0], text[0], tuple(text[1:].lower()), levels)


def text(e: Einsum) -> str:
    """An expression in brackets, such as `j(Aij*k(Bik))`: k is summed before j."""
    match e:
        case View():
            return e.name + "".join(e.indices)
        case Number():
            return str(e.value)
        case Reduce():
            return f"{e.index}({text(e.operand)})"
        case Apply():
            sign = {"mul": "*", "add": "+", "div": "/", "neg": "-"}.get(e.op, e.op)
            return sign + text(e.operands[0]) if len(e.operands) == 1 else sign.join(map(text, e.operands))
    raise AssertionError(e)


def product(factors: str) -> Einsum:
    return Apply(MUL, tuple(map(factor, factors.split("*"))))


def summed(factors: str, over: str, order: str, iteration: Iteration = "factored") -> str:
    return text(Sums(Names(), order, iteration).over(product(factors), list(over)))


@pytest.mark.parametrize(
    ("factors", "over", "order", "expected"),
    [
        # A factor without the index stays outside.
        ("Bij*Cik*Dkj", "k", "ijk", "Bij*k(Cik*Dkj)"),
        ("Ai*Bjk", "jk", "ijk", "Ai*j(k(Bjk))"),
        # The fewest indices first.
        ("Ail*Xlm*Wmj", "lm", "ilmj", "m(l(Ail*Xlm)*Wmj)"),
        # Among equals the one that keeps the fewest levels inside, here none.
        ("Ai*Bij", "ij", "ijk", "i(Ai*j(Bij))"),
        # Among equals the outermost.
        ("Aijk*Bjl", "ijkl", "ijkl", "j(i(k(Aijk))*l(Bjl))"),
        # Bj lies between k and l, which the sum keeps, and cannot be located there.
        ("Akl*Bj", "k", "kjl", "k(Akl*Bj)"),
        ("Akjl*Bj", "k", "kjl", "k(Akjl*Bj)"),
        # What is drawn in may draw in more.
        ("Akj*Bim*Cl", "k", "kijlm", "k(Akj*Bim*Cl)"),
        # A dense level of an index that the sum keeps is located.
        ("Akjl*BJ", "k", "kjl", "k(Akjl)*Bj"),
    ],
)
def test_where_a_sum_stands(factors: str, over: str, order: str, expected: str) -> None:
    assert summed(factors, over, order) == expected


def test_global_sums_take_in_all_factors() -> None:
    assert summed("Bij*Cik*Dkj", "k", "ijk", "global") == "k(Bij*Cik*Dkj)"


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (Apply("neg", (factor("Aij"),)), "-j(Aij)"),
        (Apply("add", (factor("Aij"), factor("Bi"))), "j(Aij)+Bi"),
        (Apply("div", (factor("Aij"), factor("Bi"))), "j(Aij)/Bi"),
        (Apply("div", (factor("Ai"), factor("Bij"))), "j(Ai/Bij)"),
        (Apply("exp", (factor("Aij"),)), "j(expAij)"),
    ],
)
def test_what_a_sum_goes_through(e: Einsum, expected: str) -> None:
    assert text(Sums(Names(), "ij", "factored").over(e, ["j"])) == expected


def test_one_index_after_another() -> None:
    sums = Sums(Names(), "ij", "factored")
    assert text(sums.one_by_one(factor("Aij"), "ij", "max")) == "i(j(Aij))"
    assert text(sums.one_by_one(factor("Aij"), "ij", "max", outermost_first=True)) == "j(i(Aij))"
