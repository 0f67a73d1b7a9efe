"""The two ends of every floating-point unit: a word taken apart, and a result rounded into a word."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data

from samhw.graph.numerics.float_format import FloatFormat
from samhw.rtl.logic import lowest_bit
from samhw.rtl.units.unit import delayed

__all__ = ["canonical", "choose", "round_integer", "round_significand", "shift_right_sticky", "unpack"]


def unpack(m: Module, f: FloatFormat, word: Value) -> data.View:
    """`sign`, biased `exponent`, `significand` with its leading one, and the class: `zero` (a subnormal is
    one, but in a format that has them), `infinite`, `nan`. A normalised subnormal has an exponent below 1."""
    parts = Signal(
        data.StructLayout(
            {
                "sign": 1,
                "exponent": signed(f.exponent_bits + 1) if f.subnormals else f.exponent_bits,
                "significand": f.mantissa + 1,
                "zero": 1,
                "infinite": 1,
                "nan": 1,
            }
        )
    )
    mantissa, exponent = word[: f.mantissa], word[f.mantissa : -1]
    own, significand = exponent, Cat(mantissa, Const(1, 1))
    if f.subnormals:
        # By values and not by cases: of a constant word these would be processes that wait for nothing.
        zeros = lowest_bit(mantissa[::-1])
        own = Mux(exponent.any(), exponent, -zeros)
        shifted = (Cat(Const(0, 1), mantissa) << zeros)[: f.mantissa + 1]
        significand = Mux(exponent.any(), significand, shifted)
    m.d.comb += [
        parts.sign.eq(word[-1]),
        parts.exponent.eq(own),
        parts.significand.eq(significand),
        parts.zero.eq(~(word[:-1] if f.subnormals else exponent).any()),
        parts.infinite.eq(exponent.all() & ~mantissa.any() & f.infinities),
        parts.nan.eq(_is_nan(f, word)),
    ]
    return parts


def _is_nan(f: FloatFormat, word: Value) -> Value:
    mantissa, exponent = word[: f.mantissa], word[f.mantissa : -1]
    return exponent.all() & (mantissa.any() if f.infinities else mantissa.all())


def canonical(f: FloatFormat, word: Value) -> Value:
    """The same value as results give it: zero for what counts as one, the one NaN for every NaN."""
    mantissa, exponent, sign = word[: f.mantissa], word[f.mantissa : -1], word[-1]
    flushed = word if f.subnormals else Cat(Mux(exponent.any(), mantissa, 0), exponent, sign)
    return Mux(_is_nan(f, word), Const(f.nan, f.width), flushed)


def choose(
    f: FloatFormat,
    word: Value,
    *,
    sign: Value,
    zero: Value | int = 0,
    infinite: Value | int = 0,
    nan: Value | int = 0,
) -> Value:
    """The result: that for ordinary operands, or NaN, or else infinity, or else zero, of the given sign.
    Without infinities it is NaN instead of one."""
    if not f.infinities:
        infinite, nan = 0, nan | infinite
    magnitude = Mux(zero, Const(0, f.width - 1), word[:-1])
    magnitude = Mux(infinite, Const(f.infinity, f.width - 1), magnitude)
    return Mux(nan, Const(f.nan, f.width), Cat(magnitude, Mux(zero | infinite, sign, word[-1])))


def round_significand(
    m: Module,
    f: FloatFormat,
    *,
    sign: Value,
    exponent: Value,
    significand: Value,
    extra: int,
    cut: int = 0,
) -> Value:
    """The word of `significand` with its lowest `extra` bits rounded away: `round` in docs/numerics.md.

    Args:
        exponent: biased, signed, of any width.
        significand: its leading one at bit `mantissa + extra`, or next to it where docs/numerics.md says so.
        extra: at least 1.
        cut: between the decision which way to round and the addition.
    """
    if f.subnormals:
        exponent, significand, extra = _share_exponent(m, f, exponent, significand, extra)
    kept = significand[extra:]
    magnitude = Signal(signed(f.mantissa + max(len(exponent), f.exponent_bits + 1) + 1))
    normal = Signal()
    reaches_normal = Signal()
    up = Signal()
    m.d.comb += [
        # The leading one adds to the exponent; bits above it, or none at its place, are right as well.
        magnitude.eq(Cat(kept[: f.mantissa], exponent - 1 + kept[f.mantissa :])),
        normal.eq(f.subnormals | (exponent > 0)),
        reaches_normal.eq((exponent == 0) & (kept == 2 * f.hidden - 1)),
        up.eq(significand[extra - 1] & (significand[: extra - 1].any() | kept[0])),
    ]
    sign, magnitude, normal, reaches_normal, up = (
        delayed(m, value, cut) for value in (sign, magnitude, normal, reaches_normal, up)
    )
    # So does the carry of rounding.
    rounded = Signal(magnitude.shape())
    m.d.comb += rounded.eq(magnitude + up)
    last = rounded[f.mantissa if f.infinities else 0 : f.width - 1].all()
    too_large = last | rounded[f.width - 1 :].any()
    return Cat(
        Mux(
            normal,
            Mux(too_large, Const(f.infinity, f.width - 1), rounded[: f.width - 1]),
            Mux(reaches_normal, Const(f.hidden, f.width - 1), 0),
        ),
        sign if f.infinities else sign & ~too_large,
    )


def _share_exponent(
    m: Module, f: FloatFormat, exponent: Value, significand: Value, extra: int
) -> tuple[Value, Value, int]:
    """The operands of `round_significand` with a subnormal result's significand at the exponent 1 of all
    subnormals, and with two more bits: one to round by, and one that stands for all that is lost."""
    beyond = f.mantissa + 3
    shift = Signal(range(beyond + 1))
    shared = Signal(exponent.shape())
    m.d.comb += shared.eq(exponent)
    with m.If(exponent < 1):
        m.d.comb += [shared.eq(1), shift.eq(Mux(exponent < 1 - beyond, beyond, 1 - exponent))]
    shifted = shift_right_sticky(m, Cat(Const(0, 2), significand), shift)
    return shared, shifted, extra + 2


def round_integer(
    m: Module,
    f: FloatFormat,
    *,
    sign: Value,
    value: Value,
    exponent: Value,
    cuts: tuple[int, int, int] = (1, 1, 0),
) -> Value:
    """The word of `value` * 2**`exponent`; a zero of the given sign for 0.

    Args:
        value: unsigned, more than `mantissa + 1` bits, not normalised.
        exponent: of its lowest bit, signed, not biased.
        cuts: after the count of leading zeros, after the shift, and in `round_significand`.
    """
    counted, shifted, decided = cuts
    width = len(value)
    top = Signal(signed(max(len(exponent), len(Const(width + f.bias)) + 1) + 1))
    zeros = Signal(range(width))
    m.d.comb += [zeros.eq(lowest_bit(value[::-1])), top.eq(exponent + (width - 1 + f.bias))]
    sign, value, zeros, top = (delayed(m, part, counted) for part in (sign, value, zeros, top))
    significand = Signal(width)
    biased = Signal(top.shape())
    m.d.comb += [significand.eq(value << zeros), biased.eq(top - zeros)]
    sign, significand, biased = (delayed(m, part, shifted) for part in (sign, significand, biased))
    word = round_significand(
        m,
        f,
        sign=sign,
        exponent=biased,
        significand=significand,
        extra=width - 1 - f.mantissa,
        cut=decided,
    )
    return Mux(
        delayed(m, significand[-1], decided), word, Cat(Const(0, f.width - 1), delayed(m, sign, decided))
    )


def shift_right_sticky(m: Module, value: Value, count: Value) -> Value:
    """`value` >> `count`, unsigned or signed; the bits lost are ORed into the lowest bit of the result."""
    levels = min((len(value) - 1).bit_length(), len(count))
    far = count[levels:].any()
    nothing_left, anything = value[-1] & value.shape().signed, value.any()
    lost: Value | None = None
    # From the longest shift down: the bits it may lose are many, but known first.
    for level in reversed(range(levels)):
        shift = 1 << level
        shifted = Signal(value.shape())
        lost_here = Signal()
        here = count[level] & value[:shift].any()
        m.d.comb += [
            shifted.eq(Mux(count[level], value.shift_right(shift), value)),
            lost_here.eq(here if lost is None else here | lost),
        ]
        value, lost = shifted, lost_here
    result = Signal(value.shape())
    m.d.comb += result.eq(
        Mux(
            far,
            Cat(nothing_left | anything, nothing_left.replicate(len(value) - 1)),
            Cat(value[0] | lost, value[1:]),
        )
    )
    return result
