"""What a program means: its statements evaluated densely with NumPy, and how far a value type may be off.

This is the reference that every backend is checked against. It knows nothing of formats, orders or streams.
"""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.frontend.expr import Access, Add, Expr, Literal, Mul, Neg, Sub, free_indices
from samhw.frontend.program import Statement

__all__ = ["error_bound", "evaluate"]

Array = NDArray[Any]


def evaluate(
    statement: Statement, tensors: Mapping[str, Array], extents: Mapping[str, int], *, pattern: bool = False
) -> Array:
    """The dense result of a statement, modes in the order of its left side.

    Args:
        tensors: a dense array for each tensor on the right. Integers are summed in int64, everything else in
            float64.
        extents: the extent of every index.
        pattern: count differences as sums and numbers as one: nonzero where any term has a value to give.
    """
    kept = statement.lhs.indices
    total = np.zeros(tuple(extents[i] for i in kept), dtype=np.int64)
    for sign, factors in _terms(statement.rhs):
        arrays: list[Array] = []
        subscripts: list[list[int]] = []
        number = {index: n for n, index in enumerate(extents)}
        scale: int | float = 1 if pattern else sign
        for factor in factors:
            if isinstance(factor, Literal):
                scale *= 1 if pattern else factor.value
            else:
                array = np.asarray(tensors[factor.tensor])
                arrays.append(array.astype(np.int64 if array.dtype.kind in "iub" else np.float64))
                subscripts.append([number[i] for i in factor.indices])
        used = {i for factor in factors if isinstance(factor, Access) for i in factor.indices}
        present = [i for i in kept if i in used]
        operands = [x for pair in zip(arrays, subscripts, strict=True) for x in pair]
        value = (
            np.einsum(*operands, [number[i] for i in present], optimize=True) if operands else np.asarray(1)
        )
        shape = tuple(extents[i] if i in used else 1 for i in kept)
        total = total + scale * value.reshape(shape)
    return np.broadcast_to(total, tuple(extents[i] for i in kept))


def error_bound(
    statement: Statement, tensors: Mapping[str, Array], extents: Mapping[str, int], rounding: float
) -> float:
    """How far a result may be from `evaluate` if every multiplication errs by at most `rounding` and sums are
    exact.

    A bound from the greatest magnitudes, whatever the order in which factors and sums are taken; a number of
    the program's text counts as rounded too.
    """
    bound = 0.0
    for _, factors in _terms(statement.rhs):
        scale = 1.0
        used: set[str] = set()
        for factor in factors:
            if isinstance(factor, Literal):
                greatest = abs(factor.value)
            else:
                greatest = float(np.max(np.abs(tensors[factor.tensor]), initial=0))
                used |= set(factor.indices)
            scale *= max(1.0, greatest)
        summands = prod(extents[i] for i in used - set(statement.lhs.indices))
        bound += rounding * len(factors) * scale * summands
    return bound


def _terms(e: Expr, sign: int = 1) -> list[tuple[int, list[Access | Literal]]]:
    """The sum of products that e is, multiplied out."""
    match e:
        case Access() | Literal():
            return [(sign, [e])]
        case Neg():
            return _terms(e.operand, -sign)
        case Add():
            return _terms(e.left, sign) + _terms(e.right, sign)
        case Sub():
            return _terms(e.left, sign) + _terms(e.right, -sign)
        case Mul():
            return [(s * t, f + g) for s, f in _terms(e.left, sign) for t, g in _terms(e.right)]
        case _:
            raise TypeError(f"no meaning for {e} with indices {free_indices(e)}")
