"""What a program means: the reference that every backend is checked against.

`evaluate_program` and `evaluate_with_bounds` take and give dense arrays; `results` takes tensors, and costs
what they store. A statement is computed at the points where its terms may be anything but zero, which come
from the coordinates of its operands; along indices that no operand has coordinates for, NumPy computes whole
arrays.
"""

from samhw.lang.reference.bounds import Rounding, difference
from samhw.lang.reference.elimination import sum_next
from samhw.lang.reference.meaning import (
    Bounded,
    bounds,
    evaluate,
    evaluate_program,
    evaluate_with_bounds,
    results,
)
from samhw.lang.reference.pieces import side_by_side
from samhw.lang.reference.relation import Points, Relation

__all__ = [
    "Bounded",
    "Points",
    "Relation",
    "Rounding",
    "bounds",
    "difference",
    "evaluate",
    "evaluate_program",
    "evaluate_with_bounds",
    "results",
    "side_by_side",
    "sum_next",
]
