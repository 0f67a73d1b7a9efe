"""Addition and multiplication of single words, with branches: the models' most frequent operations.

About twice as fast as the straight line of the definitions. Like that, they hold integers only.
"""

from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.valuetype import ScalarOp

__all__ = ["adder", "multiplier", "subtracter"]


def adder(f: FloatFormat) -> ScalarOp:
    """a + b."""
    return _adder(f, 0)


def subtracter(f: FloatFormat) -> ScalarOp:
    """a - b."""
    return _adder(f, f.sign)


def _adder(f: FloatFormat, flip: int) -> ScalarOp:
    mantissa, hidden, infinity, nan, sign = f.mantissa, f.hidden, f.infinity, f.nan, f.sign
    magnitude, fraction, top = f.sign - 1, f.hidden - 1, f.width - 1
    far = mantissa + 3

    def add(a: int, b: int) -> int:
        b ^= flip
        x = a & magnitude
        y = b & magnitude
        if x < y:
            a, b, x, y = b, a, y, x
        if x >= infinity:
            if x > infinity or (y == infinity and a != b):
                return nan
            return a
        if y < hidden:
            if x >= hidden:
                return a
            return a & b & sign
        exponent = x >> mantissa
        shift = exponent - (y >> mantissa)
        # From `far` on the lesser is below a quarter of the greater one's last bit, and only its sign counts.
        if shift > far:
            shift = far
        # In units of 2**-shift of the greater one's last bit the sum is exact.
        total = (x & fraction | hidden) << shift
        lesser = y & fraction | hidden
        # `extra`: bits of the total below its last place. A sum may have one more; a difference may lose one,
        # and any number where the exponents are equal or neighbours, so that the total is exact.
        extra = shift
        if a >> top == b >> top:
            total += lesser
            if total >> extra >= 2 * hidden:
                extra += 1
        else:
            total -= lesser
            if total == 0:
                return 0
            if extra > 0 and total >> extra < hidden:
                extra -= 1
            while total < hidden:
                total <<= 1
                exponent -= 1
        exponent += extra - shift
        if extra > 0:
            total = total + (1 << extra - 1) - 1 + (total >> extra & 1) >> extra
        if exponent < 1:
            return a & sign
        word = (exponent << mantissa) + total - hidden
        return a & sign | (word if word < infinity else infinity)

    return add


def multiplier(f: FloatFormat) -> ScalarOp:
    """a * b; a zero if either is, whatever the other one is."""
    mantissa, hidden, infinity, nan, sign = f.mantissa, f.hidden, f.infinity, f.nan, f.sign
    magnitude, fraction = f.sign - 1, f.hidden - 1
    bias, double, ones = f.bias, 2 << 2 * f.mantissa, 2 * f.hidden - 1
    half = (1 << mantissa) - 1

    def mul(a: int, b: int) -> int:
        x = a & magnitude
        y = b & magnitude
        negative = (a ^ b) & sign
        if x < hidden or y < hidden:
            return negative if x <= infinity and y <= infinity else 0
        if x >= infinity or y >= infinity:
            if x > infinity or y > infinity:
                return nan
            return negative | infinity
        product = (x & fraction | hidden) * (y & fraction | hidden)
        exponent = (x >> mantissa) + (y >> mantissa) - bias
        if product < double:
            product <<= 1
        else:
            exponent += 1
        kept = product >> mantissa + 1
        if exponent < 1:
            return negative | hidden if exponent == 0 and kept == ones else negative
        word = (exponent << mantissa) + (product + half + (kept & 1) >> mantissa + 1) - hidden
        return negative | (word if word < infinity else infinity)

    return mul
