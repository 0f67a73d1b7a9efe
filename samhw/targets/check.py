"""Compares what a run has stored with NumPy."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.numerics import Fixed, Float, ValueType, value_type
from samhw.reference import Relation, Rounding, results, side_by_side
from samhw.tensors import Tensor
from samhw.workload import Workload

__all__ = ["Check", "check"]


@dataclass(frozen=True)
class Check:
    """The comparison with the reference.

    `max_abs_error` is the greatest difference of the program's results from NumPy's; a NaN where NumPy has a
    number is infinitely far from it. `good` if each element of what each region has stored is as close as the
    value type promises to what NumPy computes from the region's own inputs; `bound` is the greatest of those
    promises for a result (0 for integers). `unproved` counts the elements that differ and are good only
    because their bound is infinite, or no less than what the tensor's elements are on average: there, zero
    would have been as good.
    """

    max_abs_error: float
    bound: float
    good: bool
    unproved: int = 0


def check(workload: Workload, compiled: Compiled, outputs: Mapping[str, Tensor]) -> Check:
    """Compares everything that a run has stored with NumPy's evaluation on the same (encoded) values.

    Region by region, since the errors that a type may make grow with every statement behind them, until
    nothing could be told from a wrong result. Time and memory follow what is stored.
    """
    program, kind = compiled.schedule.apply(workload.program), value_type(compiled.value)
    known = {
        name: replace(tensor, vals=kind.decode(kind.encode(tensor.vals)))
        for name, tensor in workload.tensors.items()
    }
    results_of = {decl.name for decl in program.outputs}
    whole = results(program, known) if len(program.regions) > 1 else {}
    found = Check(0.0, 0.0, True)
    for region in program.regions:
        used = {access.tensor for statement in region.statements for access in statement.accesses}
        tensors = {name: decl for name, decl in program.tensors.items() if name in used}
        alone = replace(program, tensors=tensors, regions=(region,))
        inputs = {decl.name: known[decl.name] for decl in alone.inputs}
        for name, expected in results(alone, inputs, _rounding(kind)).items():
            if name not in outputs:  # It has not left the region.
                continue
            actual = known[name] = outputs[name]
            shape = tuple(expected.extents[str(mode)] for mode in range(len(expected.extents)))
            if actual.shape != shape:
                raise RunError(
                    f"The result {name} has the shape {actual.shape}, but {shape} was expected; "
                    "please report this as a bug."
                )
            seen = _compared(Relation.of(actual), expected, whole.get(name), isinstance(kind, Fixed | Float))
            found = Check(
                max(found.max_abs_error, seen.max_abs_error) if name in results_of else found.max_abs_error,
                max(found.bound, seen.bound) if name in results_of else found.bound,
                found.good and seen.good,
                found.unproved + seen.unproved,
            )
    return found


def _rounding(kind: ValueType) -> Rounding | None:
    """How the type rounds; None for integers, which do not."""
    if isinstance(kind, Fixed):
        return Rounding.fixed(kind.fraction)
    return Rounding.floating(kind.format.mantissa) if isinstance(kind, Float) else None


def _compared(actual: Relation, expected: Relation, whole: Relation | None, is_bounded: bool) -> Check:
    """One tensor, with what its region should have made of its inputs, and how far that may be off; and with
    what the whole program should have."""
    average = _average(expected) if is_bounded else np.inf
    error, bound, good, unproved = 0.0, 0.0, True, 0
    names = tuple(map(str, range(len(expected.extents))))
    for _, (stored, wanted, *exact) in side_by_side([actual, expected, *([whole] if whole else [])], names):
        value, limit = wanted[:2] if is_bounded else (wanted, np.zeros(()))
        difference = _difference(stored, value)
        # No bound makes up for a NaN.
        right = (difference <= limit) & (np.isnan(stored) == np.isnan(value))
        good = good and bool(np.all(right))
        unproved += int(np.count_nonzero(right & (difference > 0) & (limit >= average)))
        bound = max(bound, float(np.max(limit, initial=0)))
        last = _difference(stored, exact[0]) if exact else difference
        error = max(error, float(np.max(last, initial=0)))
    return Check(error, bound, good, unproved)


def _difference(actual: NDArray[Any], expected: NDArray[Any]) -> NDArray[Any]:
    """Of each element. None where both are the same infinity, or no number; an infinite one where one of them
    is no number."""
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        difference = np.abs(actual - expected)
    return np.where(same, 0.0, np.where(np.isnan(difference), np.inf, difference))


def _average(expected: Relation) -> float:
    """The mean magnitude of the finite elements."""
    total, count = 0.0, prod(expected.extents.values())
    for _, (piece,) in side_by_side([expected], tuple(map(str, range(len(expected.extents))))):
        values = np.abs(piece[0])
        is_finite = np.isfinite(values)
        total += float(np.sum(values, where=is_finite))
        count -= int(np.count_nonzero(~is_finite))
    return total / count if count else np.inf
