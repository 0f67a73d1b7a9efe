"""Operators that change the type of elements, or nothing."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

from samhw.graph.numerics import Float
from samhw.importers.core import UnsupportedError, Value
from samhw.importers.core.operators import clamp
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.operators.quotients import truncated, wrapped
from samhw.importers.onnx.registry import operator
from samhw.importers.onnx.values import (
    Held,
    NodeCall,
    Operand,
    is_bool,
    is_float,
    is_whole,
    kind_name,
    kind_of,
    limits,
)
from samhw.lang.expr import Expr, Literal
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import eq, f8e4m3, f8e5m2, le, lt, rint, select

__all__ = ["cast"]

Maker = Callable[..., Expr]


@operator("Identity", hosted=True)
def import_identity(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    return importer.value(x)


@operator("Dropout")
def import_dropout(importer: NodeImporter, call: NodeCall, x: Operand, *rest: Operand | None) -> list[Any]:
    training = rest[1] if len(rest) > 1 else None
    if training is not None and bool(importer.decided(training).any()):
        ratio = rest[0]
        if ratio is None or bool(importer.decided(ratio).any()):
            raise UnsupportedError("draws random numbers", "export it for inference")
    held = importer.value(x)
    shown = Held(np.ones(importer.build.shape(held), np.bool_), "mask")
    return [held, shown][: call.outputs]


@operator("Cast")
def import_cast(importer: NodeImporter, call: NodeCall, x: Operand) -> Operand:
    return cast(importer, x, int(call.get("to")), saturate=bool(call.get("saturate", 1)))


@operator("CastLike")
def import_cast_like(importer: NodeImporter, call: NodeCall, x: Operand, like: Operand) -> Operand:
    kind = kind_of(like)
    made = cast(importer, x, kind, saturate=bool(call.get("saturate", 1)))
    return replace(made, condition=is_bool(kind)) if isinstance(made, Value) else made


_EIGHT_BITS: dict[int, tuple[Maker, float]] = {
    TensorProto.FLOAT8E4M3FN: (f8e4m3, 448.0),
    TensorProto.FLOAT8E5M2: (f8e5m2, 57344.0),
}

_UNNAMED: dict[int, float] = {
    TensorProto.FLOAT8E4M3FNUZ: math.nan,
    TensorProto.FLOAT8E5M2FNUZ: math.nan,
    TensorProto.FLOAT4E2M1: 6.0,
}
"""Types that samhw rounds to in f32, with what becomes of numbers that are too large."""


def rounded_to(importer: NodeImporter, x: Operand, kind: int, *, saturate: bool) -> Value:
    """A number of f32 as one of fewer bits: a multiple of its unit, which halves of the exponents' range
    find."""
    type_ = ml_dtypes.finfo(helper.tensor_dtype_to_np_dtype(kind))  # type: ignore[no-untyped-call]
    most, low, digits = float(type_.max), int(type_.minexp), int(type_.nmant)
    held = importer.computed(lambda e: clamp(e, -4 * most, 4 * most), x)
    size = importer.elementwise(lambda e: abs_(e) * 2.0**-low, held)
    unit = importer.value(2.0 ** (low - digits))
    for step in reversed(range((math.frexp(most)[1] - low).bit_length())):
        power = 2.0 ** (1 << step)
        size = importer.materialized(size)
        unit = importer.elementwise(lambda s, u, p=power: u * select(le(p, s), p, 1.0), size, unit)
        size = importer.elementwise(lambda s, p=power: s * select(le(p, s), 1 / p, 1.0), size)
    made = importer.elementwise(lambda e, u: rint(e / u) * u, held, importer.materialized(unit))
    if saturate or kind == TensorProto.FLOAT4E2M1:
        return importer.elementwise(lambda e: clamp(e, -most, most), made)
    beyond = importer.value(Held(np.asarray(_UNNAMED[kind], np.float32), "beyond"))
    return importer.elementwise(
        lambda e, b: select(lt(most, abs_(e)), select(lt(e, 0), -b, b), e),
        importer.materialized(made),
        beyond,
    )


def cast(importer: NodeImporter, x: Operand, kind: int, *, saturate: bool = True) -> Operand:
    """In another type."""
    before = kind_of(x)
    if kind == before:
        return importer.value(x)
    if kind in _EIGHT_BITS:
        rounded, most = _EIGHT_BITS[kind]
        held = importer.materialized(x)
        return importer.elementwise(lambda e: rounded(clamp(e, -most, most) if saturate else e), held)
    if is_float(kind):
        if kind in (TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE):
            importer.note(f"What the model has in {kind_name(kind)} is computed in f32.")
        real = importer.as_real(x)
        if importer.real is None or before in _HELD_BY_SHORT or isinstance(real.expr, Literal):
            return real
        if kind in _UNNAMED:
            return rounded_to(importer, real, kind, saturate=saturate)
        if kind not in _SHORT:
            return real
        return importer.to(importer.real, importer.to(Float(_SHORT[kind]), real))
    if is_bool(kind):
        return importer.elementwise(lambda e: 1 - eq(e, 0), importer.value(x), condition=True)
    if not is_whole(kind):
        raise UnsupportedError(f"makes {kind_name(kind)} of {kind_name(before)}", "use a type that samhw has")
    if is_float(before):
        return importer.to(None, truncated(importer, x))
    if is_whole(before) and not _holds(kind, before):
        return wrapped(importer, x, kind)
    return importer.to(None, x) if is_bool(before) else importer.value(x)


_SHORT: dict[int, str] = {TensorProto.FLOAT16: "f16", TensorProto.BFLOAT16: "bf16"}

_HELD_BY_SHORT = frozenset(
    (TensorProto.BOOL, TensorProto.INT8, TensorProto.UINT8, TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2)
)
"""Types all of whose numbers float16 and bfloat16 have."""


def _holds(kind: int, before: int) -> bool:
    """Whether a type of integers has all numbers of another one."""
    one, other = (limits(k) for k in (kind, before))
    return bool(one.min <= other.min and one.max >= other.max)
