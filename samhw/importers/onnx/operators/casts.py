"""Operators that change the type of elements, or nothing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.core.formulas import (
    clamp,
)
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.operators.quotients import truncated
from samhw.importers.onnx.operators.whole import wrapped
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
)
from samhw.lang.expr import Expr
from samhw.lang.functions import (
    eq,
    f8e4m3,
    f8e5m2,
)

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
        return importer.as_real(x)
    if is_bool(kind):
        return importer.elementwise(lambda e: 1 - eq(e, 0), importer.value(x), condition=True)
    if not is_whole(kind):
        raise UnsupportedError(f"makes {kind_name(kind)} of {kind_name(before)}", "use a type that samhw has")
    if is_float(before):
        return importer.to(None, truncated(importer, x))
    if is_whole(before) and not _holds(kind, before):
        return wrapped(importer, x, kind)
    return importer.to(None, x) if is_bool(before) else importer.value(x)


def _holds(kind: int, before: int) -> bool:
    """Whether a type of integers has all numbers of another one."""
    one, other = (np.iinfo(helper.tensor_dtype_to_np_dtype(k)) for k in (kind, before))
    return bool(one.min <= other.min and one.max >= other.max)
