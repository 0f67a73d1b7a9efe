"""What makes a term zero."""

from collections.abc import Iterator

from samhw.lang import Access, Div, Expr, Mul, Neg

__all__ = ["factors"]


def factors(e: Expr) -> Iterator[Access]:
    """The tensors of which a term is zero wherever one of them is."""
    match e:
        case Access():
            yield e
        case Mul(left, right):
            yield from factors(left)
            yield from factors(right)
        case Div(left, _):
            yield from factors(left)
        case Neg(operand):
            yield from factors(operand)
