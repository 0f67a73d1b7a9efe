"""Quantised tensors: integers that stand for numbers, exact where they are added and multiplied."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from onnx import TensorProto

from samhw.graph.numerics import ValueType
from samhw.importers.core import UnsupportedError, Value
from samhw.importers.core.element_types import WHOLE, narrowest
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.operators.casts import cast
from samhw.importers.onnx.operators.products import with_bias
from samhw.importers.onnx.operators.quotients import low_bits, shifted, wrapped
from samhw.importers.onnx.registry import operator
from samhw.importers.onnx.values import (
    Array,
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
from samhw.lang.expr import Expr
from samhw.lang.functions import eq, rint, scale
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_

__all__: list[str] = []


def spread(importer: NodeImporter, call: NodeCall, x: Operand, shape: tuple[int, ...]) -> Value:
    """A scale or a zero point under the modes of the data: one number, one for each coordinate of an axis, or
    one for each block along it."""
    held, axis, block = importer.value(x), call.get("axis", 1), call.get("block_size", 0)
    axis %= max(1, len(shape))
    if block:
        if shape[axis] % block:
            raise UnsupportedError("has a last block that is not full", "pad it")
        return importer.views.repeat_interleave(held, axis, block)
    if len(held.modes) == 1:
        if importer.build.shape(held) == (1,):
            return replace(held, modes=())
        return replace(held, modes=(held.modes[0], *[()] * (len(shape) - axis - 1)))
    return held


def _type(kind: int) -> ValueType:
    """The type of integers of a type of ONNX."""
    ends = limits(kind)
    return narrowest(ends.min, ends.max) or WHOLE


@operator("DequantizeLinear")
def import_dequantize(
    importer: NodeImporter, call: NodeCall, x: Operand, factor: Operand, zero: Operand | None = None
) -> Value:
    shape, made = importer.shape(x), x
    if isinstance(x, Held) and x.fetch is None and not call.get("block_size", 0):
        made = _shifted(importer, x, zero, call.get("axis", 1))
    elif zero is not None and importer.number(zero) != 0:
        made = importer.elementwise(lambda e, z: e - z, made, spread(importer, call, zero, shape))
    if is_whole(kind_of(x)):
        made = importer.to(importer.real, made)
    return importer.elementwise(lambda e, s: e * s, made, spread(importer, call, factor, shape))


@operator("QuantizeLinear")
def import_quantize(
    importer: NodeImporter, call: NodeCall, x: Operand, factor: Operand, zero: Operand | None = None
) -> Operand:
    """The quotient rounded to the nearest integer, ties to even, then the zero point, then clipped."""
    kind = kind_of(zero) if zero is not None else call.get("output_dtype", 0) or TensorProto.UINT8
    made = importer.elementwise(
        lambda e, s: e / s, importer.as_real(x), spread(importer, call, factor, importer.shape(x))
    )
    if is_float(kind):
        return cast(importer, importer.materialized(made), kind, saturate=bool(call.get("saturate", 1)))
    return _rounded(importer, call, made, kind, zero)


def _rounded(importer: NodeImporter, call: NodeCall, x: Value, kind: int, zero: Operand | None) -> Operand:
    """Numbers in units of their scale, as integers."""
    if not is_whole(kind) or limits(kind).bits > 16:
        raise UnsupportedError(f"quantises to {kind_name(kind)}", "use integers of at most 16 bits")
    ends = limits(kind)
    made = importer.elementwise(rint, x)
    if zero is not None and importer.number(zero) != 0:
        apart = importer.as_real(spread(importer, call, zero, importer.build.shape(x)))
        made = importer.elementwise(lambda e, z: e + z, made, apart)
    made = importer.elementwise(lambda e: min_(max_(e, float(ends.min)), float(ends.max)), made)
    return importer.integers(made, _type(kind))


# Products of quantised integers


def _along(array: Array, axis: int, rank: int) -> Array:
    """Numbers of one axis under the modes of the data."""
    if array.size == 1:
        return array.reshape(())
    return array if array.ndim != 1 else array.reshape(-1, *[1] * (rank - axis % rank - 1))


def _shifted(importer: NodeImporter, x: Operand, zero: Operand | None, axis: int) -> Operand:
    """Integers less their zero point, which may differ along an axis."""
    if zero is None or importer.number(zero) == 0:
        return x
    rank = len(importer.shape(x))
    if isinstance(x, Held) and isinstance(zero, Held) and x.fetch is None and zero.fetch is None:
        less = x.array.astype(np.int64) - _along(zero.array.astype(np.int64), axis, rank)
        return Held(less, x.name)
    call = NodeCall("DequantizeLinear", attributes={"axis": axis})
    apart = spread(importer, call, zero, importer.shape(x))
    made = importer.elementwise(lambda e, z: e - z, x, apart)
    bits = limits(kind_of(x)).bits
    # The difference of integers of 8 bits has 9.
    return importer.materialized(importer.to(_type(TensorProto.INT16) if bits == 8 else None, made))


@operator("MatMulInteger")
def import_matmul_integer(
    importer: NodeImporter,
    call: NodeCall,
    a: Operand,
    b: Operand,
    a_zero: Operand | None = None,
    b_zero: Operand | None = None,
) -> Operand:
    left, right = _shifted(importer, a, a_zero, -2), _shifted(importer, b, b_zero, -1)
    made: Operand = importer.call("MatMul", left, right)
    return made


@operator("ConvInteger")
def import_conv_integer(
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    weight: Operand,
    x_zero: Operand | None = None,
    weight_zero: Operand | None = None,
) -> Operand:
    data, weights = _shifted(importer, x, x_zero, 1), _shifted(importer, weight, weight_zero, 0)
    made: Operand = importer.call("Conv", data, weights, **call.attributes)
    return made


def _multiplier(factor: Array) -> tuple[Array, Array] | None:
    """The integers m and s of factor = m / 2^s; None where there are none that `scale` takes."""
    fraction, exponent = np.frexp(factor.astype(np.float64))
    m, s = (fraction * (1 << 24)).astype(np.int64), 24 - exponent.astype(np.int64)
    if (factor <= 0).any() or not np.isfinite(factor).all() or (s < -6).any():
        return None
    m, s = np.where(s < 0, m << np.maximum(-s, 0), m), np.maximum(s, 0)
    # The product of an integer of 32 bits with less than 2^-38 rounds to zero.
    m, s = np.where(s > 62, 0, m), np.where(s > 62, 0, s)
    for _ in range(24):
        even = (m & 1 == 0) & (s > 0)
        m, s = np.where(even, m >> 1, m), np.where(even, s - 1, s)
    return m, s


def _requantised(
    importer: NodeImporter, x: Value, scales: list[tuple[Operand, int]], zero: tuple[Operand, int]
) -> Operand:
    """A sum of products in units of the first two scales, in those of the third one: rounded once, where the
    scales are constants.

    Args:
        scales, zero: each with the axis that it has a number for each coordinate of.
    """
    (held_zero, zero_axis), rank, kind = zero, len(x.modes), kind_of(zero[0])
    constants = [
        _along(each.array, axis, rank)
        for each, axis in (*scales, zero)
        if isinstance(each, Held) and each.fetch is None
    ]
    if len(constants) == 4:
        one, other, own, added = constants
        known = np.asarray(one * other / own, np.float32)
        if importer.real is not None and (found := _multiplier(known)) is not None:
            return _scaled(importer, x, *found, added.astype(np.int64), kind)
        factor = importer.value(Held(known, "factor"))
    else:
        parts = [
            spread(importer, NodeCall("", attributes={"axis": axis}), each, importer.build.shape(x))
            for each, axis in scales
        ]
        factor = importer.elementwise(lambda a, b, c: a * b / c, *parts)
    made = importer.materialized(
        importer.elementwise(lambda e, f: e * f, importer.to(importer.real, x), factor)
    )
    return _rounded(importer, NodeCall("", attributes={"axis": zero_axis}), made, kind, held_zero)


def _scaled(importer: NodeImporter, x: Value, m: Array, s: Array, zero: Array, kind: int) -> Value:
    """x m / 2^s rounded to an integer, and a zero point, as far as the type has numbers."""
    ends = limits(kind)
    low, high = ends.min - zero, ends.max - zero

    def made(e: Expr, m: Expr, s: Expr, low: Expr, high: Expr, z: Expr) -> Expr:
        return min_(max_(scale(e, m, s), low), high) + z

    numbers = [Held(np.asarray(n), "units") for n in (m, s, low, high, zero)]
    return importer.integers(importer.elementwise(made, importer.materialized(x), *numbers), _type(kind))


@operator("QLinearMatMul")
def import_qlinear_matmul(
    importer: NodeImporter,
    call: NodeCall,
    a: Operand,
    a_scale: Operand,
    a_zero: Operand,
    b: Operand,
    b_scale: Operand,
    b_zero: Operand,
    y_scale: Operand,
    zero: Operand,
) -> Operand:
    made = importer.value(import_matmul_integer(importer, call, a, b, a_zero, b_zero))
    return _requantised(importer, made, [(a_scale, -2), (b_scale, -1), (y_scale, -2)], (zero, -2))


@operator("QLinearConv")
def import_qlinear_conv(
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    x_scale: Operand,
    x_zero: Operand,
    weight: Operand,
    weight_scale: Operand,
    weight_zero: Operand,
    y_scale: Operand,
    zero: Operand,
    bias: Operand | None = None,
) -> Operand:
    made = importer.value(import_conv_integer(importer, call, x, weight, x_zero, weight_zero))
    if bias is not None:
        made = with_bias(importer, made, bias)
    return _requantised(importer, made, [(x_scale, 1), (weight_scale, 1), (y_scale, 1)], (zero, 1))


# Bits of integers


@operator("BitShift")
def import_shift(importer: NodeImporter, call: NodeCall, x: Operand, by: Operand) -> Value:
    """By numbers of bits that are known: products with powers of two, or quotients rounded down."""
    kind = kind_of(x)
    width = limits(kind).bits
    bits = importer.decided(by, "numbers of bits").astype(np.int64)
    bits = np.where((bits >= 0) & (bits < width), bits, 64)
    if call.get("direction") != "LEFT":
        return shifted(importer, x, bits)
    if kind == TensorProto.INT32:
        x = low_bits(importer, x, 32 - bits)
    # In two steps, since i32 has no 2^31.
    factors = [np.where(bits < 32, 1 << np.minimum(part, 30), 0) for part in (bits // 2, bits - bits // 2)]
    made = importer.elementwise(lambda e, f, g: e * f * g, x, *(Held(f, "factor") for f in factors))
    return wrapped(importer, made, kind)


@operator("BitCast")
def import_bit_cast(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    """Between integers of one length."""
    before, kind = kind_of(x), int(call.get("to"))
    if is_bool(before):
        return importer.to(None, x)
    if not is_whole(before) or not is_whole(kind) or limits(kind).bits > 16:
        raise UnsupportedError(f"takes {kind_name(before)} for {kind_name(kind)}", "cast it")
    return wrapped(importer, x, kind)


@operator("BitwiseNot")
def import_not(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    ends = limits(kind_of(x))
    most = -1 if ends.min < 0 else int(ends.max)
    if most >= 2**31:
        raise UnsupportedError(f"inverts {ends.bits} bits without a sign", "use fewer bits")
    return importer.elementwise(lambda e: most - e, x)


def import_bits(
    make: Callable[..., Expr], importer: NodeImporter, call: NodeCall, a: Operand, b: Operand
) -> Value:
    """Bit by bit, along a last mode."""
    kind = kind_of(a)
    ends = limits(kind)
    count = min(ends.bits, 32)
    weights = 1 << np.arange(count)
    if ends.min < 0 or count == 32:
        weights[-1] = -weights[-1]

    def bits_of(x: Operand) -> Value:
        held = importer.materialized(x)
        apart = importer.materialized(replace(held, modes=(*held.modes, ())))
        low = importer.materialized(shifted(importer, apart, np.arange(count)))
        high = shifted(importer, apart, np.arange(1, count + 1))
        return importer.materialized(importer.elementwise(lambda e, f: e - f * 2, low, high))

    made = importer.elementwise(make, bits_of(a), bits_of(b))
    made = importer.materialized(importer.elementwise(lambda e, w: e * w, made, Held(weights, "weights")))
    return importer.reductions.reduced(made, -1)


for _name, _make in (
    ("BitwiseAnd", lambda x, y: x * y),
    ("BitwiseOr", max_),
    ("BitwiseXor", lambda x, y: 1 - eq(x, y)),
):
    operator(_name)(partial(import_bits, _make))
