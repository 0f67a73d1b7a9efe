"""QONNX: numbers of a few bits, as Brevitas and QKeras export them.

A quantised tensor is integers, in the narrowest type that has them, times a scale.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from samhw.importers.core import UnsupportedError, Value, letters
from samhw.importers.core.element_types import narrowest
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.operators.indices import hot
from samhw.importers.onnx.operators.quotients import ceiled, floored, truncated
from samhw.importers.onnx.qonnx_evaluator import ends_of, rounded
from samhw.importers.onnx.registry import operator
from samhw.importers.onnx.values import Array, Held, NodeCall, Operand
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import le, lt, rint, select
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_

__all__: list[str] = []

MOST_EXPONENTS = 64
"""Of a floating-point type of a few bits."""


def _towards(importer: NodeImporter, x: Value, mode: str) -> Value:
    """A value rounded in one of QONNX's ways."""
    mode = mode.upper()
    if mode in ("ROUND", "HALF_EVEN"):
        return importer.elementwise(rint, x)
    simple: dict[str, Callable[[NodeImporter, Operand], Value]] = {
        "FLOOR": floored,
        "CEIL": ceiled,
        "DOWN": truncated,
    }
    if mode in simple:
        return simple[mode](importer, x)
    ways: dict[str, tuple[Callable[[NodeImporter, Operand], Value], float]] = {
        "UP": (ceiled, 0),
        "HALF_UP": (floored, 0.5),
        "HALF_DOWN": (ceiled, -0.5),
    }
    if mode not in ways:
        raise UnsupportedError(f"rounds in an unknown way ('{mode}')", "use ROUND, CEIL or FLOOR")
    way, more = ways[mode]
    held = importer.materialized(x)
    size = importer.materialized(way(importer, importer.elementwise(lambda e: abs_(e) + more, held)))
    return importer.elementwise(lambda e, s: select(lt(e, 0), -s, s), held, size)


def _clipped(importer: NodeImporter, x: Value, ends: tuple[Array, Array]) -> Value:
    """A value within the ends of a type; those that f32 has no neighbours of are never reached."""
    for function, end in zip((max_, min_), ends, strict=True):
        x = importer.elementwise(function, x, Held(end.astype(np.float32), "end"))
    return x


def _integers(importer: NodeImporter, x: Value, ends: tuple[Array, Array]) -> Value:
    """Whole numbers as a tensor of integers."""
    kind = narrowest(float(ends[0].min()), float(ends[1].max()))
    if kind is None or importer.real is None or max(abs(end).max() for end in ends) > 1 << 24:
        return importer.materialized(x)
    return importer.integers(importer.elementwise(lambda e: e, x), kind)


def _times_scale(importer: NodeImporter, whole: Operand, zero: Operand, factor: Operand) -> Value:
    """Integers less their zero point, times their scale."""
    number = importer.number(zero)
    if number is None:
        made = importer.elementwise(lambda e, z: e - z, importer.to(importer.real, whole), zero)
    else:
        made = importer.to(
            importer.real, importer.elementwise(lambda e: e - int(number) if number else e, whole)
        )
    return importer.elementwise(lambda e, s: e * s, made, factor)


def _divided(importer: NodeImporter, x: Operand, factor: Operand) -> Value:
    """A number by its scale; by one that is a power of two without a divider, to the same bits."""
    number = importer.number(factor)
    if number is not None and math.frexp(number)[0] == 0.5 and abs(math.log2(number)) < 100:
        return importer.elementwise(lambda e: e * (1 / number), x)
    return importer.elementwise(lambda e, s: e / s, x, factor)


def _constant(x: Operand | None) -> Array | None:
    return x.array if isinstance(x, Held) and x.fetch is None else None


@operator("qonnx.Quant", "qonnx.IntQuant")
def import_quant(
    importer: NodeImporter, call: NodeCall, x: Operand, factor: Operand, zero: Operand, bits: Operand
) -> Value:
    width = importer.decided(bits, "bit widths")
    signed, mode = bool(call.get("signed", 1)), call.get("rounding_mode", "ROUND")
    if signed and bool((width == 1).all()):
        return import_bipolar(importer, call, x, factor, zero, scaled=True)
    ends = ends_of(signed, bool(call.get("narrow", 1)), width)
    known = [_constant(each) for each in (x, factor, zero)]
    whole: Operand
    if all(each is not None for each in known) and importer.real is not None:
        # A weight is stored as integers.
        data, scale, offset = (np.asarray(each, np.float32) for each in known)
        found = rounded(np.clip(data / scale + offset, *(end.astype(np.float32) for end in ends)), mode)
        whole = Held(found.astype(np.int64), getattr(x, "name", "weight"))
    else:
        made = _divided(importer, x, factor)
        if importer.number(zero) != 0:
            made = importer.elementwise(lambda e, z: e + z, made, zero)
        made = _towards(importer, _clipped(importer, made, ends), mode)
        whole = _integers(importer, made, ends)
    return _times_scale(importer, whole, zero, factor)


@operator("qonnx.BipolarQuant")
def import_bipolar(
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    factor: Operand,
    zero: Operand | None = None,
    *,
    scaled: bool = False,
) -> Value:
    """1 or -1, by the sign: of a number less its zero point, where it is `scaled`."""
    data, whole = _constant(x), importer.value(Held(np.asarray(0, np.int64), "zero"))
    if scaled:
        x = importer.materialized(importer.elementwise(lambda e, s, z: e / s + z, x, factor, zero or whole))
        data = None
    if data is not None and importer.real is not None:
        made: Operand = Held(np.where(data >= 0, 1, -1), getattr(x, "name", "weight"))
    else:
        sign = importer.elementwise(lambda e: select(le(0, e), 1.0, -1.0), x)
        made = _integers(importer, sign, (np.asarray(-1), np.asarray(1)))
    return _times_scale(importer, made, Held(np.asarray(0), "zero") if zero is None else zero, factor)


@operator("qonnx.Trunc")
def import_trunc(
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    factor: Operand,
    zero: Operand,
    bits: Operand,
    *rest: Operand,
) -> Value:
    """Of version 1 with the number of bits that are left; of version 2 with their scale before it."""
    made = importer.elementwise(lambda e, s, z: e / s + z, x, factor, zero)
    whole = importer.materialized(importer.elementwise(rint, made))
    width, mode = importer.decided(rest[-1], "bit widths"), call.get("rounding_mode", "FLOOR")
    if len(rest) == 1:
        share = np.asarray(2.0 ** (importer.decided(bits, "bit widths") - width), np.float32)
        out, offset = factor, zero
    else:
        one, other = (importer.decided(each, "scales") for each in (factor, rest[0]))
        share = np.asarray(2.0 ** np.round(np.log2(other / one)), np.float32)
        out = rest[0]
        offset = Held(np.asarray(importer.decided(zero, "zero points") / share, np.float32), "zero")
    made = importer.elementwise(lambda e, t: e / t, whole, Held(share, "share"))
    if len(rest) > 1:
        ends = ends_of(bool(call.get("signed", 1)), bool(call.get("narrow", 0)), width)
        made = _clipped(importer, made, ends)
    made = _towards(importer, made, mode)
    return importer.elementwise(lambda e, z, s: (e - z) * s, made, offset, out)


@operator("qonnx.FloatQuant")
def import_float_quant(
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    factor: Operand,
    exponents: Operand,
    mantissas: Operand,
    bias: Operand,
    most: Operand,
) -> Value:
    """Multiples of a power of two, which is found by comparing with all that there are."""
    given = [importer.decided(each, "bit widths") for each in (exponents, mantissas, bias, most)]
    if any(each.size != 1 for each in given):
        raise UnsupportedError("has types that differ from place to place", "use one type")
    exponent, mantissa, middle, greatest = (float(each.reshape(-1)[0]) for each in given)
    if not call.get("saturation", 1):
        raise UnsupportedError("makes infinities or NaN of what is too large", "let it saturate")
    low, high = 1 - middle, 2.0**exponent - 1 - middle
    if high - low >= MOST_EXPONENTS or low - mantissa < -120 or high > 120:
        raise UnsupportedError(f"has {exponent:g} bits of exponents", "use fewer")
    held = importer.materialized(importer.elementwise(lambda e, s: e / s, x, factor))
    unit: Operand = Held(np.asarray(2.0 ** (low - mantissa), np.float32), "unit")
    if high > low:
        powers = importer.value(Held((2.0 ** np.arange(low + 1, high + 1)).astype(np.float32), "powers"))
        apart = replace(held, modes=(*held.modes, ()))
        steps = importer.materialized(importer.elementwise(lambda p, e: 1 + le(p, abs_(e)), powers, apart))
        steps = importer.tensors.expanded(steps)
        found = importer.materialized(importer.reductions.reduced(steps, -1, kind="prod"))
        unit = importer.materialized(importer.elementwise(lambda u, f: u * f, unit, found))
    made = importer.elementwise(lambda e, u: e / u, held, unit)
    made = _towards(importer, made, call.get("rounding_mode", "ROUND"))
    limit = min(greatest, (2 - 2.0**-mantissa) * 2.0**high)
    made = importer.elementwise(lambda e, u: max_(min_(e * u, limit), -limit), made, unit)
    return importer.elementwise(lambda e, s: e * s, made, factor)


@operator("qonnx.MultiThreshold")
def import_multi_threshold(importer: NodeImporter, call: NodeCall, x: Operand, thresholds: Operand) -> Value:
    """The number of thresholds of a channel that are not above an element."""
    held = importer.materialized(x)
    rank, layout = len(held.modes), call.get("data_layout", "")
    layout = layout or {2: "NC", 3: "NWC", 4: "NCHW"}.get(rank, "")
    channel = layout.index("C") if "C" in layout else 1
    rows, channels = importer.shape(thresholds)[0], importer.build.shape(held)[channel]
    if rows not in (1, channels):
        raise UnsupportedError(
            f"has thresholds for {rows} channels, and {channels} of data", "mend the model"
        )
    table = _constant(thresholds)
    if table is not None and _is_searched(table):
        made = _searched(importer, held, channel, table, getattr(thresholds, "name", "thresholds"))
    else:
        made = _counted(importer, held, _beside(importer.value(thresholds), rank - channel - 1))
    factor, more = float(call.get("out_scale", 1.0)), float(call.get("out_bias", 0.0))
    if (factor, more) == (1, 0):
        return made
    return importer.elementwise(lambda e: e * factor + more, made)


def _beside(table: Value, behind: int) -> Value:
    """A table of channels and places: with modes for the dimensions after that of the channels between."""
    return replace(table, modes=(table.modes[0], *[()] * behind, *table.modes[1:]))


def _counted(importer: NodeImporter, x: Value, limits: Value) -> Value:
    """How many of the last mode of `limits` are not above an element."""
    apart = replace(x, modes=(*x.modes, ()))
    steps = importer.materialized(importer.elementwise(le, limits, apart))
    return importer.materialized(importer.reductions.reduced(importer.tensors.expanded(steps), -1))


FEWEST_SEARCHED = 60
"""Thresholds that are looked for in two steps, in four times the area and at most half the cycles."""


def _is_searched(table: Array) -> bool:
    """Whether thresholds ascend, so that those that are not above a number are the first ones."""
    return table.shape[1] >= FEWEST_SEARCHED and bool((np.diff(table) >= 0).all())


def _searched(importer: NodeImporter, x: Value, channel: int, table: Array, name: str) -> Value:
    """By two counts: of every n-th threshold, which names a group, and of those of this group.

    It compares with some 2 sqrt(n) of n thresholds.
    """
    channels, count = table.shape
    width = 1 << ((count.bit_length() + 1) // 2)
    groups = -(-(count + 1) // width)
    # What is left of the last group repeats the last threshold, and counts for nothing.
    whole = np.pad(table, ((0, 0), (0, groups * width - 1 - count)), mode="edge")
    rank, behind = len(x.modes), len(x.modes) - channel - 1
    first = Held(np.ascontiguousarray(whole[:, width - 1 :: width]), f"{name}_first")
    coarse = _counted(importer, x, _beside(importer.value(first), behind))
    # The group of each element, as a one at its place, takes the thresholds of the group from the table.
    padded = np.pad(whole, ((0, 0), (0, 1)), mode="edge").reshape(channels, groups, width)
    rest = Held(np.ascontiguousarray(padded[:, :, : width - 1]), f"{name}_groups")
    ones, places = hot(importer, [coarse], [groups]), letters(rank)
    own = places[channel] if channels > 1 else "Y"
    limits = importer.contract(f"{places}G,{own}GZ->{places}Z", ones, rest, by_first=True)
    fine = importer.operations.elementwise(le, limits, replace(x, modes=(*x.modes, ())))
    steps = importer.tensors.expanded(importer.materialized(fine))
    within = importer.materialized(importer.reductions.reduced(steps, -1))
    made = importer.elementwise(lambda g, e: g * width + e, coarse, within)
    if groups * width - 1 > count:
        made = importer.elementwise(lambda e: min_(e, count), made)
    return importer.materialized(made)
