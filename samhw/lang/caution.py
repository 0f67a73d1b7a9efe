"""Programs that break no rule, and rarely mean what they say."""

from collections.abc import Iterator

from samhw.lang.expr import Call
from samhw.lang.program import Program
from samhw.lang.statement import Statement
from samhw.lang.traverse import accesses, factors_of, free_indices, terms, walk

__all__ = ["cautions"]


def cautions(program: Program) -> list[str]:
    """A sentence for each function of products that a sum adds up one by one.

    Who writes ``relu(A[i, k] * X[k, j])`` most often means the function of the sum.
    """
    return [
        f"'{call}' is added up over {', '.join(over)}, product by product; for {call.function} of the sum, "
        "give the sum a statement of its own."
        for statement in program.statements
        if statement.reduction == "sum"
        for call, over in _of_products(statement)
    ]


def _of_products(statement: Statement) -> Iterator[tuple[Call, list[str]]]:
    """The functions of a product of two tensors, with the indices of both that the statement sums over."""
    for call in walk(statement.rhs):
        if not isinstance(call, Call):
            continue
        for product in (term for argument in call.arguments for term in terms(argument)):
            factors = [set(free_indices(factor)) for factor in factors_of(product) if any(accesses(factor))]
            over = [
                index
                for index in free_indices(product)
                if index not in statement.lhs.variables and sum(index in factor for factor in factors) > 1
            ]
            if over:
                yield call, over
                break
