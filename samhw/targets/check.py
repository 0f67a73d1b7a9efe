"""Compares what a run has stored with NumPy."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.frontend import Program, Rounding, evaluate_program, evaluate_with_bounds
from samhw.numerics import Fixed, Float, ValueType, value_type
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
    """Compares everything that a run has stored with the dense NumPy evaluation on the same (encoded) values.

    Region by region, since the errors that a type may make grow with every statement behind them, until
    nothing could be told from a wrong result.
    """
    program, kind = compiled.schedule.apply(workload.program), value_type(compiled.value)
    known = {name: kind.decode(kind.encode(tensor.to_dense())) for name, tensor in workload.tensors.items()}
    reference = evaluate_program(program, known)
    results = {decl.name for decl in program.outputs}
    error, bound, good, unproved = 0.0, 0.0, True, 0
    for region in program.regions:
        used = {access.tensor for statement in region.statements for access in statement.accesses}
        tensors = {name: decl for name, decl in program.tensors.items() if name in used}
        alone = replace(program, tensors=tensors, regions=(region,))
        inputs = {decl.name: known[decl.name] for decl in alone.inputs}
        for name, (expected, limit) in _expected(alone, inputs, kind).items():
            if name not in outputs:  # It has not left the region.
                continue
            actual = outputs[name].to_dense()
            if actual.shape != expected.shape:
                raise RunError(
                    f"The result {name} has the shape {actual.shape}, but {expected.shape} was expected; "
                    "please report this as a bug."
                )
            difference = _difference(actual, expected)
            # No bound makes up for a NaN.
            right = (difference <= limit) & (np.isnan(actual) == np.isnan(expected))
            good = good and bool(np.all(right))
            unproved += int(np.count_nonzero(right & (difference > 0) & (limit >= _average(expected))))
            known[name] = actual
            if name in results:
                error = max(error, float(np.max(_difference(actual, reference[name]), initial=0)))
                bound = max(bound, float(np.max(limit, initial=0)))
    return Check(error, bound, good, unproved)


def _expected(
    program: Program, inputs: Mapping[str, NDArray[Any]], kind: ValueType
) -> dict[str, tuple[NDArray[Any], Any]]:
    """What each statement gives, and how far from it each element may be."""
    if isinstance(kind, Fixed):
        rounding = Rounding.fixed(kind.fraction)
    elif isinstance(kind, Float):
        rounding = Rounding.floating(kind.format.mantissa)
    else:
        return {name: (value, 0) for name, value in evaluate_program(program, inputs).items()}
    return {name: (b.value, b.bound) for name, b in evaluate_with_bounds(program, inputs, rounding).items()}


def _difference(actual: NDArray[Any], expected: NDArray[Any]) -> NDArray[Any]:
    """Of each element. None where both are the same infinity, or no number; an infinite one where one of them
    is no number."""
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        difference = np.abs(actual - expected)
    return np.where(same, 0.0, np.where(np.isnan(difference), np.inf, difference))


def _average(values: NDArray[Any]) -> float:
    """The mean magnitude of the finite elements."""
    finite = np.abs(values[np.isfinite(values)])
    return float(np.mean(finite)) if finite.size else np.inf
