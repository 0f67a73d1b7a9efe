"""What operations of arith and math make of elements, computed with NumPy.

Whole numbers are computed modulo the words of their type, numbers of floating point in float64.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.special

from samhw.importers.core import UnsupportedError
from samhw.importers.mlir.operation import PREDICATES, MlirOperation
from samhw.importers.mlir.types import element_type
from samhw.importers.mlir.whole_numbers import (
    WHOLE,
    as_signed,
    as_unsigned,
    as_word,
    check_operands,
    whole_operation,
    width_of,
)

__all__ = ["FOLDS", "INTERPRETED", "cast", "element", "interpreted_element", "words"]

_EXACT = 2**53
"""Whole numbers in float64 are exact below."""
_END = 2.0**63
"""What the ends of i64 are in float64."""


def _away_from_zero(x: Any) -> Any:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


_FLOATING: Mapping[str, Callable[..., Any]] = {
    "arith.negf": np.negative,
    "math.absf": np.abs,
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.log": np.log,
    "math.log1p": np.log1p,
    "math.log2": np.log2,
    "math.log10": np.log10,
    "math.sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1 / np.sqrt(x),
    "math.tanh": np.tanh,
    "math.sin": np.sin,
    "math.cos": np.cos,
    "math.tan": np.tan,
    "math.erf": scipy.special.erf,
    "math.powf": np.power,
    "math.fpowi": np.power,
    "math.copysign": np.copysign,
    "math.fma": lambda a, b, c: a * b + c,
    "math.trunc": np.trunc,
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.round": _away_from_zero,
    "math.roundeven": np.rint,
    "arith.select": lambda c, a, b: np.where(c != 0, a, b),
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    **dict.fromkeys(("arith.maximumf", "arith.maxf"), np.maximum),
    **dict.fromkeys(("arith.minimumf", "arith.minf"), np.minimum),
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.extf": lambda x: x,
}
_SIGNED_CASTS = ("arith.extsi", "arith.sitofp", "arith.index_cast", "arith.trunci")
_UNSIGNED_CASTS = ("arith.extui", "arith.uitofp", "arith.index_castui")
_NARROW_FLOATS = {
    "f8E4M3FN": (4, 3, 448.0, np.nan),
    "f8E5M2": (5, 2, 57344.0, np.inf),
    "f16": (5, 10, 65504.0, np.inf),
    "bf16": (8, 7, 2.0**128 - 2.0**120, np.inf),
}
"""By type: the bits of its exponent and mantissa, its greatest number, and what is beyond."""
_COMPARED: Mapping[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
INTERPRETED = frozenset(
    {
        *(*_FLOATING, *WHOLE, *PREDICATES, *_SIGNED_CASTS, *_UNSIGNED_CASTS),
        *("arith.fptosi", "arith.fptoui", "arith.truncf", "arith.bitcast", "math.absi"),
    }
)
"""The operations that `element` has."""

FOLDS: Mapping[str, np.ufunc] = {
    **dict.fromkeys(("addf", "addi"), np.add),
    **dict.fromkeys(("mulf", "muli"), np.multiply),
    **dict.fromkeys(("maximumf", "maxf", "maxsi"), np.maximum),
    **dict.fromkeys(("minimumf", "minf", "minsi"), np.minimum),
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
}
"""What folds elements, by the names of operations that do not take conditions."""


def whole(x: Any) -> npt.NDArray[np.int64]:
    """Whole numbers; raises `UnsupportedError` for those of which float64 does not have all neighbours, but
    the ends of i64."""
    held = np.asarray(x)
    if held.dtype.kind != "f":
        return held.astype(np.int64)
    least, most = held <= -_END, held >= _END
    if not (least | most | (np.abs(held) < _EXACT)).all():
        raise UnsupportedError("computes with whole numbers beyond 2^53", "keep them below")
    found = np.where(least | most, 0, held).astype(np.int64)
    ends = np.iinfo(np.int64)
    return np.where(least, ends.min, np.where(most, ends.max, found))


def words(x: Any, kind: str) -> npt.NDArray[np.float64]:
    """Numbers as elements of a type: the lowest bits of whole ones."""
    if width_of(kind) is None:
        return np.asarray(x, np.float64)
    found = np.asarray(as_word(whole(x), kind), np.float64)
    whole(found)
    return found


def interpreted_element(op: MlirOperation, given: Sequence[Any]) -> Any:
    """What an operation makes of elements, as float64."""
    return np.asarray(element(op, given), np.float64)


def element(op: MlirOperation, given: Sequence[Any]) -> Any:
    """What an operation of arith or math makes of elements."""
    name, taken, gives = op.name, element_type(op.types[0]), element_type(op.gives[0])
    check_operands(name, taken)
    if name in _FLOATING:
        return _FLOATING[name](*given)
    if name in WHOLE:
        return words(whole_operation(name, taken, whole(given[0]), whole(given[1])), taken)
    if name == "math.absi":
        return words(np.abs(as_signed(whole(given[0]), taken)), taken)
    if name in PREDICATES:
        return _compared(op, taken, given)
    if name in _SIGNED_CASTS or name in _UNSIGNED_CASTS:
        return cast(given[0], taken, gives, signed=name in _SIGNED_CASTS)
    if name in ("arith.fptosi", "arith.fptoui"):
        return cast(given[0], taken, gives, signed=name == "arith.fptosi")
    if name == "arith.truncf":
        return _narrowed(given[0], *_NARROW_FLOATS[gives]) if gives in _NARROW_FLOATS else given[0]
    if name == "arith.bitcast" and taken == gives:
        return given[0]
    raise UnsupportedError("has no meaning here", "compute it before the run")


def cast(x: Any, taken: str, gives: str, *, signed: bool) -> Any:
    """Elements of one type as those of another one."""
    if width_of(taken) is not None:
        number = as_signed(whole(x), taken) if signed else as_unsigned(whole(x), taken)
        return words(number, gives)
    if width_of(gives) is None:
        return x
    number = np.trunc(np.nan_to_num(x, nan=0, posinf=0, neginf=0))  # These have no meaning.
    return words(np.where(np.abs(number) < _EXACT, number, 0), gives)


def _narrowed(x: Any, exponent_bits: int, mantissa: int, greatest: float, beyond: float) -> Any:
    """Numbers rounded to a narrow type, to the nearest, ties to even."""
    _, exponent = np.frexp(np.asarray(x, np.float64))
    lowest = 3 - (1 << exponent_bits - 1)
    unit = np.ldexp(1.0, np.maximum(exponent, lowest) - 1 - mantissa)
    found = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
    return np.where(np.abs(found) > greatest, np.copysign(beyond, x), found)


def _compared(op: MlirOperation, taken: str, given: Sequence[Any]) -> Any:
    name, (a, b) = op.attributes["predicate"], given
    if op.name == "arith.cmpi":
        view = as_unsigned if name[0] == "u" else as_signed
        return _COMPARED[name[-2:]](view(whole(a), taken), view(whole(b), taken))
    unordered = np.isnan(a) | np.isnan(b)
    match name:
        case "true" | "false":
            return np.full(np.shape(unordered), name == "true")
        case "ord":
            return ~unordered
        case "uno":
            return unordered
    holds = _COMPARED[name[1:]](a, b)
    return holds | unordered if name[0] == "u" else holds & ~unordered
