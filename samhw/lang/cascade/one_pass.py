"""A program whose cascades are one pass, and what is known of them: what segments and tiles go by."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from samhw.lang import Access, Call, Expr, Literal, Program, Statement
from samhw.lang.cascade.decompose import Decomposed

__all__ = ["LEAST", "OnePass", "Rescaling", "begun"]

LEAST = -(2.0**100)
"""What a running maximum begins with, instead of minus infinity: so a score of minus infinity has the weight
exp(-inf - LEAST) = 0, and not NaN. Both floating-point types have it."""


@dataclass(frozen=True)
class Rescaling:
    """What rescales a sum: an earlier result, the statement that gives it, and how the sum depends on it."""

    result: Access
    writer: Statement
    part: Decomposed


@dataclass(frozen=True)
class OnePass:
    """A program whose cascades are one pass.

    Attributes:
        program: with the statements that nobody reads any more.
        rescaled: by tensor, what rescales a sum.
        reduced: the reductions of cascades by tensor, each with the index that it goes over.
        running: by tensor, the earlier result of which it has the value up to each coordinate, or before it.
        added: the tensors that the cascades have brought.
        outputs: the tensors that are read after the program.
    """

    program: Program
    rescaled: Mapping[str, tuple[Rescaling, ...]]
    reduced: Mapping[str, str]
    running: Mapping[str, Access]
    added: Collection[str]
    outputs: Collection[str]


def begun(reduction: str, operand: Expr) -> Expr:
    """What a running reduction takes, so that an extreme begins with `LEAST`, or -`LEAST`."""
    if reduction not in ("max", "min"):
        return operand
    return Call(reduction, (operand, Literal(LEAST if reduction == "max" else -LEAST)))
