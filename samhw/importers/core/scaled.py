"""Real numbers that expressions say as integers times a scale, and the constants that stand in expressions.

No view knows of them: it changes expressions as a whole, so that integer and scale stay what they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.graph.numerics import Integer
from samhw.importers.core.draft import Build
from samhw.importers.core.host_array import HostArray
from samhw.importers.core.value import Value
from samhw.lang.expr import Access, Add, Call, Div, Expr, Literal, Mul, Neg, Sub
from samhw.lang.functions import to
from samhw.lang.traverse import free_indices
from samhw.lang.typed import REAL

__all__ = [
    "I8",
    "I16",
    "I32",
    "U8",
    "Scaled",
    "Terms",
    "as_constant",
    "is_scaled",
    "known",
    "moved_as_integers",
    "narrowest",
    "scaled",
    "terms_of",
]

I8, U8, I16, I32 = Integer(8), Integer(8, is_signed=False), Integer(16), Integer(32)

Array = npt.NDArray[Any]


def narrowest(least: float, greatest: float) -> Integer | None:
    """The narrowest type of integers from one to another; None for those that need more than 32 bits."""
    return next((kind for kind in (I8, I16, I32) if kind.least <= least and greatest <= kind.greatest), None)


@dataclass(frozen=True)
class Scaled:
    """(whole + shift) * scale.

    Attributes:
        whole: a tensor of integers.
        shift: integers that are added to it; None for 0.
        scale: real numbers; None for 1.
        is_real: it is a number of floating point, and not the integers themselves.
    """

    whole: Access
    shift: Expr | None = None
    scale: Expr | None = None
    is_real: bool = False

    def of(self, whole: Expr) -> Expr:
        """The same of another tensor."""
        made = whole if self.shift is None else whole + self.shift
        made = to(REAL, made) if self.is_real else made
        return made if self.scale is None else made * self.scale

    @property
    def is_increasing(self) -> bool:
        """Whether greater integers are greater numbers."""
        return self.scale is None or (isinstance(self.scale, Literal) and self.scale.value > 0)

    @property
    def is_even(self) -> bool:
        """Whether shift and scale are the same for all elements."""
        return not any(e is not None and free_indices(e) for e in (self.shift, self.scale))


def scaled(build: Build, expr: Expr) -> Scaled | None:
    """What an expression says of a tensor of integers; None for any other expression."""
    match expr:
        case Mul(left, right):
            for one, other in ((left, right), (right, left)):
                if (found := scaled(build, one)) is not None and found.is_real:
                    return replace(found, scale=_product(found.scale, other))
            return None
        case Call("to", (inner,), kind) if kind == REAL:
            found = _whole(build, inner)
            return None if found is None else replace(found, is_real=True)
        case Add(left, Literal(number)) | Sub(left, Literal(number)) if number == int(number):
            found = scaled(build, left)
            if found is not None and found.is_real and found.scale is None:
                moved = Literal(int(number) if isinstance(expr, Add) else -int(number))
                return replace(found, shift=_sum(found.shift, moved))
    return _whole(build, expr)


def moved_as_integers(build: Build, x: Value, change: Callable[[Value], Value]) -> Value | None:
    """What moves or compares the elements of a value, done to the integers that it is made of; None where
    they are none, or shift or scale differ."""
    x = build.resolve(x)
    form = None if x.mask is not None or isinstance(x.expr, Access) else scaled(build, x.expr)
    if form is None or not form.is_even or set(form.whole.names) != set(x.indices):
        return None
    made = build.resolve(change(Value(x.modes, form.whole)))
    assert isinstance(made.expr, Access)
    _declare_alike(build, made.expr, form.whole)
    return replace(made, expr=form.of(made.expr))


def _declare_alike(build: Build, access: Access, like: Access) -> None:
    """Gives a result the type of integers that it is made of."""
    stored, other = build.stored[access.tensor], build.stored[like.tensor]
    if stored.fetch is None and stored.kind is None:
        stored.kind, stored.most = other.kind, other.most


def _whole(build: Build, expr: Expr) -> Scaled | None:
    match expr:
        case Access(tensor=tensor) if isinstance(build.stored[tensor].kind, Integer):
            return Scaled(expr)
        case Add(left, right) | Sub(left, right):
            if (found := _whole(build, left)) is None:
                return None
            return replace(found, shift=_sum(found.shift, right if isinstance(expr, Add) else _minus(right)))
    return None


def is_scaled(build: Build, expr: Expr) -> bool:
    """Whether an expression is such a one, or what `Quantised.quantise` takes as a sum of some."""
    if scaled(build, expr) is not None:
        return True
    simple = isinstance(expr, Add | Sub | Mul | Neg) or (
        isinstance(expr, Call) and expr.function in ("relu", "max", "min")
    )
    parts = [child for child in expr.children if not isinstance(child, Access | Literal)]
    return simple and bool(parts) and all(is_scaled(build, child) for child in parts)


def _minus(expr: Expr) -> Expr:
    return Literal(-expr.value) if isinstance(expr, Literal) else Neg(expr)


def _sum(one: Expr | None, other: Expr) -> Expr | None:
    if isinstance(one, Literal | None) and isinstance(other, Literal):
        total = (0 if one is None else one.value) + other.value
        return Literal(total) if total else None
    return other if one is None else Add(one, other)


def _product(one: Expr | None, other: Expr) -> Expr | None:
    if isinstance(one, Literal | None) and isinstance(other, Literal):
        found = (1 if one is None else one.value) * other.value
        return None if found == 1 else Literal(found)
    return other if one is None else Mul(one, other)


# Constants


def known(build: Build, expr: Expr, indices: Sequence[str]) -> Array | None:
    """The numbers of an expression of constants, with a dimension for each of some indices: 1 for one that it
    lacks. None where a run decides them."""
    match expr:
        case Literal(value):
            return np.full((1,) * len(indices), value)
        case Access():
            return _data(build, expr, indices)
        case Neg(operand):
            found = known(build, operand, indices)
            return None if found is None else -found
        case Add(left, right) | Sub(left, right) | Mul(left, right) | Div(left, right):
            one, other = known(build, left, indices), known(build, right, indices)
            if one is None or other is None:
                return None
            with np.errstate(all="ignore"):
                return _CALCULATED[type(expr)](one, other)
    return None


_CALCULATED = {Add: np.add, Sub: np.subtract, Mul: np.multiply, Div: np.true_divide}


def _data(build: Build, access: Access, indices: Sequence[str]) -> Array | None:
    """The elements of a constant. Integers are exact, and products of two numbers of f32 too."""
    stored = build.stored[access.tensor]
    if not stored.is_constant or stored.example is None:
        return None
    names = build.axes.resolved(access.names)
    own = build.axes.resolved(stored.modes)
    held = stored.example.to_dense().reshape([build.axes.size([index]) for index in own])
    held = held.astype(np.float64 if held.dtype.kind == "f" else np.int64)
    order = [names.index(index) for index in indices if index in names]
    if len(order) < len(names):
        return None
    sizes = [build.axes.size([index]) if index in names else 1 for index in indices]
    return held.transpose(order).reshape(sizes)


def as_constant(
    build: Build, array: Array, indices: Sequence[str], label: str, kind: Integer | None = None
) -> Expr:
    """Numbers with a dimension for each of some indices, 1 where they are the same all along one: a number,
    or a tensor that is the same in every run, by default of the narrowest type that has them."""
    for place, size in enumerate(array.shape):
        first = array.take([0], place)
        if size > 1 and bool((array == first).all()):
            array = first
    if array.size == 1:
        return Literal(array.reshape(-1)[0].item())
    kept = [index for index, size in zip(indices, array.shape, strict=True) if size > 1]
    held = array.reshape([size for size in array.shape if size > 1])
    if held.dtype.kind in "iu":
        kind = kind or narrowest(held.min(), held.max())
        assert kind is not None
        held = held.astype(f"i{kind.width // 8}")
    made = build.constant(HostArray.dense(held), label, kind=kind)
    build.axes.align(kept, made.indices)
    assert isinstance(made.expr, Access)
    return Access.of(made.expr.tensor, kept)


# Sums of several


@dataclass(frozen=True)
class Terms:
    """A sum of integers, each times numbers, and of numbers, which have a dimension for each of `indices`."""

    indices: tuple[str, ...]
    parts: tuple[tuple[Scaled, Array], ...]
    rest: Array

    def times(self, factor: Array) -> "Terms":
        """All of it times numbers."""
        parts = tuple((whole, scale * factor) for whole, scale in self.parts)
        return replace(self, parts=parts, rest=self.rest * factor)

    def plus(self, other: "Terms") -> "Terms":
        """The sum of both."""
        return replace(self, parts=(*self.parts, *other.parts), rest=self.rest + other.rest)


def terms_of(build: Build, expr: Expr, indices: tuple[str, ...]) -> Terms | None:
    """The sum that an expression is, if all of it but integers is constant."""
    nothing = np.zeros((1,) * len(indices))
    if (rest := known(build, expr, indices)) is not None:
        return Terms(indices, (), rest.astype(np.float64))
    if isinstance(expr, Call) and (found := scaled(build, expr)) is not None:
        return Terms(indices, ((found, nothing + 1),), nothing)
    match expr:
        case Add(left, right) | Sub(left, right):
            one, other = terms_of(build, left, indices), terms_of(build, right, indices)
            if one is None or other is None:
                return None
            return one.plus(other if isinstance(expr, Add) else other.times(nothing - 1))
        case Neg(operand):
            one = terms_of(build, operand, indices)
            return None if one is None else one.times(nothing - 1)
        case Mul(left, right) | Div(left, right):
            for one_side, factor in ((left, right), (right, left)):
                number = known(build, factor, indices)
                if number is not None and (one := terms_of(build, one_side, indices)) is not None:
                    return one.times(number if isinstance(expr, Mul) else 1 / number)
                if isinstance(expr, Div):
                    break
    return None
