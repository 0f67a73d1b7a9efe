"""What a program means: its statements evaluated densely with NumPy.

This is the reference that every backend is checked against. It knows nothing of formats, orders or streams.
"""

from collections.abc import Callable, Mapping, Sequence

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtr

from samhw.errors import InputError
from samhw.lang.program import Program
from samhw.lang.statement import Statement
from tests.support.dense.walk import Array, Domain, sum_of_products, walk_statement

__all__ = ["VALUES", "Values", "as_values", "bind_to", "evaluate", "evaluate_program"]


def evaluate(statement: Statement, tensors: Mapping[str, Array], extents: Mapping[str, int]) -> Array:
    """The dense result of a statement, modes in the order of its left side.

    Args:
        tensors: a dense array for each tensor that the statement reads. Integers are computed in int64, as
            far as the operations give integers, everything else in float64.
        extents: the extent of every index.
    """
    return walk_statement(VALUES, statement, {n: as_values(t) for n, t in tensors.items()}, extents)


def evaluate_program(program: Program, tensors: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """The dense result of every statement of a program, by the name of the tensor that it writes.

    Args:
        tensors: a dense array for each input of the program.

    Raises:
        InputError: when an input is missing, or shapes do not agree or leave an extent open.
    """
    known = {name: np.asarray(array) for name, array in tensors.items()}
    program = bind_to(program, known)
    results: dict[str, Array] = {}
    for statement in program.statements:
        extents = {
            index: extent for index, extent in program.extents(statement).items() if extent is not None
        }
        result = evaluate(statement, known, extents)
        known[statement.lhs.tensor] = results[statement.lhs.tensor] = result
    return results


def bind_to(program: Program, tensors: Mapping[str, Array]) -> Program:
    """The program with the extents of its inputs' arrays. Raises InputError as `evaluate_program` does."""
    for decl in program.inputs:
        if decl.name not in tensors:
            raise InputError(f"program '{program.name}' has no data for '{decl.name}'; give it an array")
    bound = program.bind({decl.name: tensors[decl.name].shape for decl in program.inputs})
    for decl in bound.tensors.values():
        if None in decl.shape:
            index = decl.indices[decl.shape.index(None)]
            raise InputError(
                f"nothing fixes the extent of '{index}' in tensor '{decl.name}'; declare it, as in {index}=16"
            )
    return bound


def as_values(array: ArrayLike) -> Array:
    """The array as int64 or float64."""
    array = np.asarray(array)
    return array.astype(np.int64 if array.dtype.kind in "iub" else np.float64)


class Values(Domain):
    """Plain numbers."""

    def number(self, value: int | float) -> Array:
        return as_values(value)

    def add(self, a: Array, b: Array) -> Array:
        return a + b

    def negate(self, a: Array) -> Array:
        return -a

    def contract(
        self, factors: Sequence[Array], divisors: Sequence[Array], mask: Array | None, axes: tuple[int, ...]
    ) -> Array:
        if mask is not None:
            factors = [*factors, (mask != 0).astype(np.int64)]
        result = sum_of_products(factors, axes)
        for divisor in divisors:
            # Zero divided by anything is zero.
            result = np.where(result == 0, 0, result / divisor)
        return result

    def call(self, function: str, arguments: Sequence[Array]) -> Array:
        return _FUNCTIONS[function](*arguments)

    def extreme(self, reduction: str, a: Array, mask: Array | None, axes: tuple[int, ...]) -> Array:
        least = reduction == "max"
        reduce = np.max if least else np.min
        if mask is None:
            return reduce(a, axes, keepdims=True)
        a, mask = np.broadcast_arrays(a, mask != 0)
        if a.dtype.kind == "i":
            limits = np.iinfo(np.int64)
            neutral: float = limits.min if least else limits.max
        else:
            neutral = -np.inf if least else np.inf
        found = reduce(a, axes, keepdims=True, where=mask, initial=neutral)
        return np.where(mask.any(axes, keepdims=True), found, 0)


VALUES = Values()


def _leaky_relu(x: Array, slope: Array) -> Array:
    return np.where((x > 0) | np.isnan(x), x, VALUES.contract([slope, x], [], None, ()))


def _select(condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition != 0, a, b)


def _integer(comparison: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: comparison(a, b).astype(np.int64)


_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "abs": np.abs,
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": _leaky_relu,
    # At minus infinity the limit is 0, but the product would be NaN.
    "gelu": lambda x: np.where(x == -np.inf, 0.0, x * ndtr(x)),
    "silu": lambda x: np.where(x == -np.inf, 0.0, x * expit(x)),
    "sigmoid": expit,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "rint": np.rint,
    "f8e4m3": lambda x: np.asarray(x, np.float64).astype(ml_dtypes.float8_e4m3fn).astype(np.float64),
    "f8e5m2": lambda x: np.asarray(x, np.float64).astype(ml_dtypes.float8_e5m2).astype(np.float64),
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "max": np.maximum,
    "min": np.minimum,
    "lt": _integer(np.less),
    "le": _integer(np.less_equal),
    "eq": _integer(np.equal),
    "select": _select,
}
