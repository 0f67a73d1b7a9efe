"""Operators that give whole numbers of others: all by the nearest one, and what that is too far."""

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import operator
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import eq, lt, rint, select

__all__ = ["quotient", "trunc"]


def _beside_nearest(importer: Importer, x: Operand) -> tuple[Value, Value]:
    """A value and the whole numbers nearest to it, both to be read several times."""
    held = importer.materialized(x)
    return held, importer.materialized(importer.elementwise(rint, held))


def floor(importer: Importer, x: Operand) -> Value:
    """The greatest whole numbers that are not above."""
    return importer.elementwise(lambda e, n: n - lt(e, n), *_beside_nearest(importer, x))


def trunc(importer: Importer, x: Operand) -> Value:
    """Without what is behind the point."""
    held = importer.materialized(x)
    size = importer.materialized(floor(importer, importer.elementwise(abs_, held)))
    return importer.elementwise(lambda e, n: select(lt(e, 0), -n, n), held, size)


@operator("round")
def import_round(importer: Importer, x: Operand, *, decimals: int = 0) -> Value:
    if not decimals:
        return importer.elementwise(rint, x)
    scale = 10.0**decimals
    return importer.elementwise(lambda e: rint(e * scale) / scale, x)


@operator("floor")
def import_floor(importer: Importer, x: Operand) -> Value:
    return floor(importer, x)


@operator("ceil")
def import_ceil(importer: Importer, x: Operand) -> Value:
    return importer.elementwise(lambda e, n: n + lt(n, e), *_beside_nearest(importer, x))


@operator("trunc", "fix")
def import_trunc(importer: Importer, x: Operand) -> Value:
    return trunc(importer, x)


@operator("floor_divide")
def import_floor_divide(importer: Importer, a: Operand, b: Operand) -> Value:
    return quotient(importer, a, b, "floor")


@operator("remainder")
def import_remainder(importer: Importer, a: Operand, b: Operand) -> Value:
    """With the sign of the divisor."""
    return _rest(importer, a, b, "floor")


@operator("fmod")
def import_fmod(importer: Importer, a: Operand, b: Operand) -> Value:
    """With the sign of what is divided."""
    return _rest(importer, a, b, "trunc")


@operator("histc")
def import_histc(importer: Importer, x: Operand, bins: int, min: float, max: float) -> Value:
    """How many elements are in each of some bins of equal width, the last of which has its upper end too."""
    if min >= max:
        raise UnsupportedError("takes the bins from the data", "say where they begin and end")
    row = importer.materialized(importer.views.view(importer.materialized(x), [-1]))
    number = floor(importer, importer.elementwise(lambda e: (e - min) * (bins / (max - min)), row))
    # Out of range there is no bin.
    inside = importer.elementwise(
        lambda n, e: select(lt(n, 0), bins, select(eq(e, max), bins - 1, n)), number, row
    )
    return importer.indices.counts_of([inside], [bins])


def quotient(importer: Importer, a: Operand, b: Operand, mode: str) -> Value:
    """A quotient as a whole number: `floor` or `trunc`."""
    rounded = {"floor": floor, "trunc": trunc}.get(mode)
    if rounded is None:
        raise UnsupportedError(f"rounds a quotient ({mode})", "use the modes 'floor' and 'trunc'")
    return rounded(importer, importer.elementwise(lambda x, y: x / y, a, b))


def _rest(importer: Importer, a: Operand, b: Operand, mode: str) -> Value:
    a, b = importer.materialized(a), importer.materialized(b)
    return importer.elementwise(lambda x, y, n: x - y * n, a, b, quotient(importer, a, b, mode))
