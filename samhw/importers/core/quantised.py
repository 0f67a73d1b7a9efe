"""Quantised numbers: integers q that stand for (q - zero) * scale.

`dequantise` says what integers stand for, and computes nothing. What is summed of products of such
(`contract`) is a sum of integers, and `quantise` makes one `scale` of that and of what follows it: constants
that are added, such as a bias, and relu and its kin. docs/numerics.md has the bits, and docs/pytorch.md how
near PyTorch's own results are.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.graph.numerics import Integer
from samhw.importers.core.draft import Build
from samhw.importers.core.element_expressions import Operations
from samhw.importers.core.host_array import HostArray
from samhw.importers.core.integer_products import most_of
from samhw.importers.core.scaled import I32, U8, Scaled, Terms, as_constant, known, narrowest, terms_of
from samhw.importers.core.tensors import Tensors, tensors_in
from samhw.importers.core.value import (
    NO_HINTS,
    Arguments,
    Fetch,
    Hints,
    UnsupportedError,
    Value,
    check_unmasked,
)
from samhw.lang.expr import Access, Call, Expr, Literal, Mul, Neg
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_
from samhw.lang.functions import rint, scale, to
from samhw.lang.traverse import free_indices
from samhw.lang.typed import REAL

__all__ = ["Numbers", "Quantised"]

Array = npt.NDArray[Any]

Numbers = float | Array | Value
"""A scale or a zero point: one number, one for each coordinate of an axis, or what hardware computes."""

_FINEST = 2.0**-7
"""How far a sum of several may be off, in half steps of what it is quantised to, before it is rounded."""


@dataclass
class Quantised:
    """Makes integers of numbers, and says what integers stand for."""

    build: Build
    tensors: Tensors
    operations: Operations

    # What integers there are

    def integers(
        self,
        key: object,
        label: str,
        example: HostArray,
        fetch: Fetch,
        hints: Hints = NO_HINTS,
        *,
        constant: bool,
    ) -> Value:
        """An input of integers, as `Build.input` makes one, in 8, 16 or 32 bits. Those without a sign are
        stored less half their range, unless a constant fits the type with a sign, or half are zeros."""
        ends = np.iinfo(example.values.dtype)
        least, greatest = int(ends.min), int(ends.max)
        if constant:
            held = example.values
            least, greatest = (int(held.min()), int(held.max())) if held.size else (0, 0)
        kind, moved = _stored(least, greatest)
        if moved and (example.coords is not None or hints.format is not None or _has_zeros(example.values)):
            kind, moved = _kept(least, greatest)

        def as_stored(held: HostArray) -> HostArray:
            wide = held.values.astype(np.int64) - moved
            return HostArray(held.shape, wide if kind == I32 else wide.astype(_words(kind)), held.coords)

        def fetch_stored(arguments: Arguments) -> HostArray:
            return as_stored(fetch(arguments))

        made = self.build.input(
            ("integers", key), label, as_stored(example), fetch_stored, hints, kind=kind, constant=constant
        )
        return made if not moved else replace(made, expr=made.expr + moved)

    # Numbers of integers

    def dequantise(self, x: Value, scale: Numbers, zero: Numbers = 0, axis: int | None = None) -> Value:
        """(x - zero) * scale. Of integers of a type of their own nothing is computed until somebody asks for
        the numbers.

        Args:
            axis: of x, along which scale and zero point have a number for each coordinate; None for one
                number.
        """
        check_unmasked(x)
        given = [self.numbers(n, x, axis) for n in (zero, scale)]

        def made(e: Expr, *more: Expr) -> Expr:
            left = iter(more)
            zero, factor = (next(left) if isinstance(n, Value) else n for n in given)
            moved = e if zero == 0 else e + (-zero if isinstance(zero, int | float) else Neg(zero))
            real = to(REAL, moved)
            return real if factor == 1 else real * factor

        return self.operations.elementwise(made, x, *(n for n in given if isinstance(n, Value)))

    def numbers(self, n: Numbers, x: Value, axis: int | None) -> Value | float:
        """A scale or a zero point: a number, or what has a mode for each of x."""
        if isinstance(n, Value):
            return n if axis is None else self._along(n, x, axis)
        held = np.asarray(n)
        if held.size == 1 or bool((held == held.reshape(-1)[0]).all()):
            number = held.reshape(-1)[0].item()
            return int(number) if number == int(number) else float(number)
        if held.dtype.kind in "iu":
            kind = narrowest(held.min(), held.max()) or I32
            made = self.build.constant(
                HostArray.dense(held.astype(f"i{kind.width // 8}")), "zeros", kind=kind
            )
        else:
            made = self.build.constant(HostArray.dense(held.astype(np.float32)), "scales")
        assert axis is not None
        return self._along(made, x, axis)

    def _along(self, n: Value, x: Value, axis: int) -> Value:
        if len(n.modes) != 1:
            return n
        return replace(n, modes=(n.modes[0], *[()] * (len(x.modes) - axis % len(x.modes) - 1)))

    # Integers of numbers

    def quantise(
        self,
        x: Value,
        scale: Numbers,
        zero: Numbers,
        least: int,
        greatest: int,
        axis: int | None = None,
        host: Callable[[Array], Array] | None = None,
        *,
        divides: bool = False,
    ) -> Value:
        """The integer nearest to x / scale, ties to even, plus zero, from `least` to `greatest`: a tensor of
        the narrowest type, to which 128 is added for 0 to 255.

        A sum of integers times constants, and of constants, becomes one `scale`. What is none is computed in
        floating point.

        Args:
            axis: as for `dequantise`.
            host: how an argument is quantised as it is loaded; without it hardware does that.
            divides: in floating point it divides by the scale, and does not multiply by 1 / scale.
        """
        check_unmasked(x)
        x = self.build.resolve(x)
        kind, moved = _stored(least, greatest)
        if host is not None:
            numbers = (np.asarray(n).tobytes() for n in (scale, zero))
            key = (*numbers, least, greatest, axis)
            if (loaded := self._loaded(x, host, kind, moved, key)) is not None:
                return loaded
        given = [self.numbers(n, x, axis) for n in (scale, zero)]
        range_ = _Range(kind, least - moved, greatest - moved)
        found = self._rescaled(x, given, moved, range_)
        if found is None:
            found = self._rounded(x, given, moved, range_, divides)
        made, build = found.expr, self.build
        is_there = isinstance(made, Access) and build.stored[made.tensor].kind == kind
        if not is_there and tensors_in(made):
            lhs = [index for index in found.indices if index in free_indices(made)]
            made = build.statement(lhs, made, kind=kind)
        return replace(found, expr=made + moved if moved else made)

    def _loaded(
        self, x: Value, host: Callable[[Array], Array], kind: Integer, moved: int, numbers: object
    ) -> Value | None:
        """An argument whose integers the host makes as it loads them."""
        build, access = self.build, x.expr
        if not isinstance(access, Access) or (stored := build.stored[access.tensor]).fetch is None:
            return None
        if stored.kind is not None or stored.hints.format is not None or stored.example is None:
            return None
        fetch = stored.fetch
        sizes = [build.axes.size([index]) for index in build.axes.resolved(stored.modes)]
        if moved and _has_zeros(host(stored.example.to_dense())):
            kind, moved = _kept(int(kind.least) + moved, int(kind.greatest) + moved)

        def integers(held: HostArray) -> HostArray:
            found = host(held.to_dense()).astype(np.int64) - moved
            return HostArray.dense(found.astype(_words(kind))).reshaped(sizes)

        key = ("quantised", stored.name, *sizes, numbers)
        made = build.input(
            key,
            f"{stored.name}_q",
            integers(stored.example),
            lambda arguments: integers(fetch(arguments)),
            kind=kind,
            constant=stored.is_constant,
        )
        names = build.axes.resolved(access.names)
        kept = [name for name in names if build.axes.size([name]) > 1]
        build.axes.align(kept, made.indices)
        assert isinstance(made.expr, Access)
        found: Expr = Access.of(made.expr.tensor, kept)
        return replace(x, expr=found + moved if moved else found)

    def _rescaled(self, x: Value, given: "list[Value | float]", moved: int, ends: "_Range") -> Value | None:
        """By a `scale` of integers; None for what is no sum of such, or would leave i32."""
        clamps, expr = _clamps(x.expr)
        steps, zero = given
        if isinstance(zero, Value) or not np.isfinite([number for _, number in clamps]).all():
            return None
        step: Expr = Literal(1)
        if isinstance(steps, Value):
            modes, (expr, step), _ = self.operations.broadcast([replace(x, expr=expr), steps])
            x = replace(x, modes=modes)
        else:
            step = Literal(steps)
        indices = tuple(dict.fromkeys((*free_indices(expr), *free_indices(step))))
        size, terms = known(self.build, step, indices), terms_of(self.build, expr, indices)
        if size is None or terms is None or not terms.parts or (clamps and size.size > 1):
            return None
        own = ends.within(clamps, float(size.reshape(-1)[0]), int(zero) - moved)
        with np.errstate(all="ignore"):
            made = self._scale(terms.times(1 / size), int(zero) - moved, own)
        return None if made is None else replace(x, expr=made)

    def _scale(self, terms: Terms, zero: int, ends: "_Range") -> Expr | None:
        """The integers nearest to a sum, plus a zero point, between two ends."""
        build, indices = self.build, terms.indices
        if len(terms.parts) == 1:
            ((part, factor),) = terms.parts
            sign = -1 if bool((factor < 0).all()) else 1
            if (found := _multipliers(factor * sign)) is None:
                return None
            multiplier, shift = found
            added = np.rint(np.divide(terms.rest, factor)).astype(np.float64)
            if bool((multiplier == 1).all() and (shift == 0).all()):
                # Nothing is rounded.
                added, zero = added + sign * zero, 0
            factors: list[Array | None] = [None]
            wholes = [part]
        else:
            count = self._bits(terms)
            if count is None:
                return None
            sign, multiplier, shift = 1, np.ones((), np.int64), np.asarray(count)
            added = np.rint(terms.rest * 2.0**count)
            factors = [np.rint(factor * 2.0**count).astype(np.int64) for _, factor in terms.parts]
            wholes = [part for part, _ in terms.parts]
        most = np.abs(added).max()
        total: Expr | None = None
        for part, own in zip(wholes, factors, strict=True):
            more = np.zeros(()) if part.shift is None else known(build, part.shift, indices)
            whole: Expr = part.whole
            if more is None:
                assert part.shift is not None
                whole = whole + part.shift
            else:
                added = added + more * (1 if own is None else own)
            if own is not None:
                whole = Mul(whole, as_constant(build, own, indices, f"{build.result_name}_factor"))
            most += self._most(part) * (1 if own is None else np.abs(own).max())
            total = whole if total is None else total + whole
        if not np.isfinite(most) or most > I32.greatest:
            return None
        assert total is not None
        if added.any():
            total = total + as_constant(build, added.astype(np.int64), indices, f"{build.result_name}_bias")
        total = Neg(total) if sign < 0 else total
        return self._cut(total, multiplier, shift, zero, ends, indices)

    def _cut(
        self,
        total: Expr,
        multiplier: Array,
        shift: Array,
        zero: int,
        ends: "_Range",
        indices: tuple[str, ...],
    ) -> Expr:
        build = self.build
        kind = build.stored[total.tensor].kind if isinstance(total, Access) else None
        if kind == ends.kind and zero == 0 and bool((multiplier == 1).all() and (shift == 0).all()):
            return ends.cut(total)
        m = as_constant(build, multiplier, indices, f"{build.result_name}_multiplier", I32)
        s = as_constant(build, shift, indices, f"{build.result_name}_bits")
        return ends.cut(to(ends.kind, scale(total, m, s, zero) if zero else scale(total, m, s)))

    def _most(self, part: Scaled) -> int:
        """A bound of the magnitude of integers, with what is added to them: that of a run is within the bound
        of the sum that it belongs to."""
        added = 0 if part.shift is None else known(self.build, part.shift, free_indices(part.shift))
        most = most_of(self.build, part.whole)
        return 2 * most if added is None else most + int(np.abs(added).max())

    def _bits(self, terms: Terms) -> int | None:
        """With how many bits after the point a sum of several is computed, so that its greatest factor has
        20; None where that is not fine enough."""
        greatest = max(np.abs(factor).max() for _, factor in terms.parts)
        if not np.isfinite(greatest):
            return None
        count = 20 - int(np.frexp(greatest)[1])
        most = sum(self._most(part) for part, _ in terms.parts)
        return count if 0 <= count <= 62 and most * 2.0**-count <= _FINEST else None

    def _rounded(
        self, x: Value, given: "list[Value | float]", moved: int, ends: "_Range", divides: bool
    ) -> Value:
        """In floating point."""
        steps, zero = given
        if not isinstance(steps, Value) and not np.isfinite(
            float(np.float32(1 / steps)) if steps else np.inf
        ):
            raise UnsupportedError(f"has the scale {steps:g}", "use another one")

        def made(e: Expr, *more: Expr) -> Expr:
            left = iter(more)
            factor: Expr = next(left) if isinstance(steps, Value) else Literal(steps)
            if divides:
                real = rint(e / factor)
            elif isinstance(steps, Value):
                real = rint(e * (Literal(1) / factor))
            else:
                inverse = float(np.float32(1 / steps))
                real = rint(e if inverse == 1 else e * inverse)
            added = next(left) if isinstance(zero, Value) else zero - moved
            shifted: Expr
            if isinstance(zero, Value) and moved:
                shifted = real + added - moved
            else:
                shifted = real if isinstance(added, int | float) and not added else real + added
            return to(ends.kind, min_(max_(shifted, ends.least), ends.greatest))

        found = self.operations.elementwise(made, x, *(n for n in (steps, zero) if isinstance(n, Value)))
        if isinstance(found.expr, Access):
            # A long expression has become a statement.
            self.build.stored[found.expr.tensor].kind = ends.kind
        return found


@dataclass(frozen=True)
class _Range:
    """A type of integers, and from where to where they go."""

    kind: Integer
    least: int
    greatest: int

    def within(self, clamps: "list[tuple[str, float]]", step: float, zero: int) -> "_Range":
        """The ends that are left by functions of real numbers which cut these off, from the inside out."""
        lowest, highest = int(self.kind.least), int(self.kind.greatest)
        found = [(f, int(np.clip(np.rint(n / step) + zero, lowest, highest))) for f, n in clamps]
        least, greatest = lowest, highest
        for function, end in (*found, ("max", self.least), ("min", self.greatest)):
            cut = max if function == "max" else min
            least, greatest = cut(least, end), cut(greatest, end)
        return _Range(self.kind, least, greatest)

    def cut(self, expr: Expr) -> Expr:
        """Integers of the type that are cut off there."""
        expr = expr if self.least == self.kind.least else max_(expr, self.least)
        return expr if self.greatest == self.kind.greatest else min_(expr, self.greatest)


def _stored(least: int, greatest: int) -> tuple[Integer, int]:
    """The type in which integers of a range are stored, and how much less than they are."""
    kind = narrowest(least, greatest)
    for narrow in (Integer(8), Integer(16), Integer(32)):
        if kind == narrow:
            break
        if greatest - least < 1 << narrow.width:
            return narrow, least - int(narrow.least)
    # Beyond 32 bits the run says so.
    return kind or I32, 0


def _kept(least: int, greatest: int) -> tuple[Integer, int]:
    """The same where zeros are to stay zeros."""
    kind = narrowest(least, greatest)
    return (U8 if kind is not None and U8.least <= least and greatest <= U8.greatest else kind or I32), 0


def _has_zeros(array: Array) -> bool:
    """Whether at least half of it are zeros."""
    return array.size > 1 and bool(2 * np.count_nonzero(array) <= array.size)


def _words(kind: Integer) -> str:
    """The words of a type, for NumPy."""
    return f"{'i' if kind.is_signed else 'u'}{kind.width // 8}"


def _clamps(expr: Expr) -> tuple[list[tuple[str, float]], Expr]:
    """The functions that cut off an expression, from the inside out, and what they cut off."""
    found: list[tuple[str, float]] = []
    while isinstance(expr, Call):
        match expr:
            case Call("relu", (inner,)):
                found.append(("max", 0.0))
            case Call("max" | "min" as function, (inner, Literal(number)) | (Literal(number), inner)):
                found.append((function, float(number)))
            case _:
                break
        expr = inner
    return found[::-1], expr


def _multipliers(factor: Array) -> tuple[Array, Array] | None:
    """m and s of each factor, m / 2**s: of the greatest one m has 31 bits, and so have all if one s would
    leave some fewer than 24. None for negative ones, and ones that are too great."""
    if not np.isfinite(factor).all() or (factor < 0).any() or factor.max(initial=0) >= 2**31:
        return None
    _, exponent = np.frexp(factor)
    shift = np.clip(31 - exponent, 0, 62)
    if (least := factor[factor > 0]).size and least.max() / least.min() <= 2**7:
        shift = np.full_like(shift, shift[factor > 0].min())
    shift = np.where(np.rint(np.ldexp(factor, shift)) >= 2**31, shift - 1, shift)
    if (shift < 0).any():
        return None
    multiplier = np.rint(np.ldexp(factor, shift)).astype(np.int64)
    even = np.bitwise_or.reduce(multiplier.reshape(-1))
    zeros = int(even & -even).bit_length() - 1 if even else int(shift.max())
    less = min(zeros, int(shift.min()))
    return multiplier >> less, shift - less
