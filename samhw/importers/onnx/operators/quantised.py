"""Integers that stand for numbers: quantised in floating point, which holds all integers of up to 16 bits."""

from dataclasses import replace

import numpy as np
from onnx import TensorProto, helper

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.operators.casts import cast
from samhw.importers.onnx.operators.products import with_bias
from samhw.importers.onnx.operators.quotients import floored
from samhw.importers.onnx.registry import operator
from samhw.importers.onnx.values import Held, NodeCall, Operand, is_float, is_whole, kind_name, kind_of
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_
from samhw.lang.functions import rint

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


@operator("DequantizeLinear")
def import_dequantize(
    importer: NodeImporter, call: NodeCall, x: Operand, scale: Operand, zero: Operand | None = None
) -> Value:
    importer.need_fractions()
    shape = importer.shape(x)
    made: Operand = x
    if zero is not None and importer.number(zero) != 0:
        made = importer.elementwise(lambda e, z: e - z, made, spread(importer, call, zero, shape))
    return importer.elementwise(lambda e, s: e * s, made, spread(importer, call, scale, shape))


@operator("QuantizeLinear")
def import_quantize(
    importer: NodeImporter, call: NodeCall, x: Operand, scale: Operand, zero: Operand | None = None
) -> Operand:
    """The quotient rounded to the nearest integer, ties to even, then the zero point, then clipped."""
    importer.need_fractions()
    kind = kind_of(zero) if zero is not None else call.get("output_dtype", 0) or TensorProto.UINT8
    shape = importer.shape(x)
    made = importer.elementwise(lambda e, s: e / s, x, spread(importer, call, scale, shape))
    if is_float(kind):
        return cast(importer, importer.materialized(made), kind, saturate=bool(call.get("saturate", 1)))
    if not is_whole(kind) or np.iinfo(helper.tensor_dtype_to_np_dtype(kind)).bits > 16:
        raise UnsupportedError(f"quantises to {kind_name(kind)}", "use integers of 8 or 16 bits")
    ends = np.iinfo(helper.tensor_dtype_to_np_dtype(kind))
    made = importer.elementwise(rint, made)
    if zero is not None and importer.number(zero) != 0:
        made = importer.elementwise(lambda e, z: e + z, made, spread(importer, call, zero, shape))
    return importer.elementwise(lambda e: min_(max_(e, float(ends.min)), float(ends.max)), made)


# Products of quantised integers


def _shifted(importer: NodeImporter, x: Operand, zero: Operand | None, axis: int) -> Value:
    """Integers less their zero point, which may differ along an axis."""
    if zero is None or importer.number(zero) == 0:
        return importer.value(x)
    call = NodeCall("DequantizeLinear", attributes={"axis": axis})
    apart = spread(importer, call, zero, importer.shape(x))
    return importer.materialized(importer.elementwise(lambda e, z: e - z, x, apart))


def _note_sums(importer: NodeImporter) -> None:
    importer.note("Sums of quantised products are computed in f32, which holds integers up to 2^24.")


@operator("MatMulInteger")
def import_matmul_integer(
    importer: NodeImporter,
    call: NodeCall,
    a: Operand,
    b: Operand,
    a_zero: Operand | None = None,
    b_zero: Operand | None = None,
) -> Operand:
    if not importer.integer:
        _note_sums(importer)
    rows = len(importer.shape(a)) - 2
    left, right = _shifted(importer, a, a_zero, rows), _shifted(importer, b, b_zero, -1)
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
    if not importer.integer:
        _note_sums(importer)
    data, weights = _shifted(importer, x, x_zero, 1), _shifted(importer, weight, weight_zero, 0)
    made: Operand = importer.call("Conv", data, weights, **call.attributes)
    return made


def _requantised(
    importer: NodeImporter, x: Value, scales: list[Operand], axis: int, zero: Operand
) -> Operand:
    """A sum of products in units of the first two scales, in those of the third one."""
    call = NodeCall("QuantizeLinear", attributes={"axis": axis})
    shape = importer.build.shape(x)
    one, other, own = (spread(importer, call, scale, shape) for scale in scales)
    factor = importer.elementwise(lambda a, b, c: a * b / c, one, other, own)
    made = importer.materialized(importer.elementwise(lambda e, f: e * f, x, factor))
    number = importer.value(Held(np.asarray(1, np.float32), "one"))
    return import_quantize(importer, call, made, number, zero)


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
    scale: Operand,
    zero: Operand,
) -> Operand:
    made = import_matmul_integer(importer, call, a, b, a_zero, b_zero)
    return _requantised(importer, importer.value(made), [a_scale, b_scale, scale], -1, zero)


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
    scale: Operand,
    zero: Operand,
    bias: Operand | None = None,
) -> Operand:
    made = importer.value(import_conv_integer(importer, call, x, weight, x_zero, weight_zero))
    if bias is not None:
        made = with_bias(importer, made, bias)
    return _requantised(importer, made, [x_scale, weight_scale, scale], 1, zero)


# Bits of integers, as products


@operator("BitShift")
def import_shift(importer: NodeImporter, call: NodeCall, x: Operand, by: Operand) -> Value:
    """By numbers of bits that are known: products with powers of two, rounded down."""
    width = np.iinfo(helper.tensor_dtype_to_np_dtype(kind_of(x))).bits
    bits = importer.decided(by, "numbers of bits").astype(np.int64)
    inside = (bits >= 0) & (bits < width)
    if call.get("direction") == "LEFT":
        importer.note("What a shift gives is taken to fit its type.")
        powers = np.where(inside, np.left_shift(1, np.where(inside, bits, 0)), 0)
        return importer.elementwise(lambda e, f: e * f, x, Held(powers, "factor"))
    importer.need_fractions()
    factors = Held((0.5 ** np.where(inside, bits, width)).astype(np.float32), "factor")
    return floored(importer, importer.elementwise(lambda e, f: e * f, x, factors))


@operator("BitwiseNot")
def import_not(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    ends = np.iinfo(helper.tensor_dtype_to_np_dtype(kind_of(x)))
    most = -1 if ends.min < 0 else int(ends.max)
    if most >= 2**31 or (most > 2**24 and not importer.integer):
        raise UnsupportedError(f"inverts {ends.bits} bits without a sign", "use fewer bits")
    return importer.elementwise(lambda e: most - e, x)
