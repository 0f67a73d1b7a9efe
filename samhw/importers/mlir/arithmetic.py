"""Operations on elements of one type, as expressions.

Whole numbers have no sign of their own in MLIR: an operation says how it takes them. A program has the signed
number of each word, and 0 or 1 for a condition, so that here every operation gives what its word stands for.
"""

from collections.abc import Callable, Mapping

from samhw.importers.core import UnsupportedError
from samhw.importers.mlir.idioms import call, difference, number_of, product, quotient, selected, sum_of
from samhw.importers.mlir.lowered_functions import NUMBERS_ONLY, UNSIGNED, less_unsigned
from samhw.importers.mlir.number_system import NumberSystem
from samhw.importers.mlir.whole_numbers import signed_word, width_of
from samhw.lang.expr import Call, Expr, Literal, Neg, Sub

__all__ = ["ROUNDINGS", "WITHOUT_DIVISION", "ElementArithmetic", "negation"]

_WIDEST_UNSIGNED = 32
"""Words of this many bits are beyond the integers here, as numbers from 0 on."""
WITHOUT_DIVISION = UnsupportedError(
    "divides integers, for which there is no hardware", "divide before the run, or in floating point"
)


def negation(condition: Expr) -> Expr:
    """1 where a condition is 0, and 0 where it is 1."""
    match condition:
        case Sub(Literal(value=1), inner):
            return inner
    return difference(Literal(1), condition)


class ElementArithmetic:
    """The arithmetic of a type of elements.

    Args:
        element: the type.
        system: the numbers of the program.

    Raises:
        UnsupportedError: for a type that the operations of arith do not take.
    """

    def __init__(self, element: str, system: NumberSystem) -> None:
        if element.startswith(("ui", "si")):
            raise UnsupportedError(
                f"computes with {element}, which arith does not have", f"take the words as {element[1:]}"
            )
        self.element = element
        self.system = system
        self.width = width_of(element)

    @property
    def is_condition(self) -> bool:
        """Whether elements are 0 or 1, of which 1 is -1 to what takes signs."""
        return self.element == "i1"

    def add(self, a: Expr, b: Expr) -> Expr:
        if self.is_condition:
            return self.differ(a, b)
        return self.word(sum_of(a, b), "adds words")

    def subtract(self, a: Expr, b: Expr) -> Expr:
        if self.is_condition:
            return self.differ(a, b)
        return self.word(difference(a, b), "subtracts words")

    def multiply(self, a: Expr, b: Expr) -> Expr:
        return self.word(product(a, b), "multiplies words")

    def divide(self, a: Expr, b: Expr) -> Expr:
        """The quotient of numbers of floating point.

        Raises:
            UnsupportedError: for whole numbers.
        """
        if self.width is not None:
            raise WITHOUT_DIVISION
        return quotient(a, b)

    def negative(self, x: Expr) -> Expr:
        if self.is_condition:
            return x
        return self.word(difference(Literal(0), x), "subtracts words")

    def size(self, x: Expr) -> Expr:
        """The absolute value; that of the least word is that word."""
        return x if self.is_condition else self.word(call("abs", x), "takes the absolute value of words")

    def word(self, expr: Expr, what: str | None) -> Expr:
        """What the type has of a result: its lowest bits."""
        value = number_of(expr)
        if self.width is not None and isinstance(value, int):
            return Literal(signed_word(value, self.element))
        return self.system.word(expr, self.element, what)

    # Conditions

    def both(self, a: Expr, b: Expr) -> Expr:
        return product(a, b)

    def either(self, a: Expr, b: Expr) -> Expr:
        return call("max", a, b)

    def differ(self, a: Expr, b: Expr) -> Expr:
        for one, other in ((a, b), (b, a)):
            if (known := number_of(other)) is not None:
                return negation(one) if known else one
        return negation(call("eq", a, b))

    # Order

    def less(self, a: Expr, b: Expr, *, or_equal: bool = False, signed: bool = True) -> Expr:
        """A condition: whether a is less than b; of floating point, 0 for NaN."""
        name = "le" if or_equal else "lt"
        if self.width is None:
            return call(name, a, b)
        self.system.check(a, self.element)
        self.system.check(b, self.element)
        if self.is_condition:
            return call(name, b, a) if signed else call(name, a, b)
        if signed:
            return call(name, a, b)
        return less_unsigned(name, a, b, lambda x: self.system.bounds(x)[0])

    def equal(self, a: Expr, b: Expr) -> Expr:
        """A condition: whether a and b are equal; of floating point, 0 for NaN."""
        self.system.check(a, self.element)
        self.system.check(b, self.element)
        return call("eq", a, b)

    def extreme(self, a: Expr, b: Expr, *, kind: str, signed: bool = True) -> Expr:
        """The greater or the lesser of two, `max` or `min`; of floating point, NaN if either is."""
        if self.is_condition:
            return self.either(a, b) if (kind == "max") != signed else self.both(a, b)
        if self.width is None or signed or min(self.system.bounds(x)[0] for x in (a, b)) >= 0:
            return call(kind, a, b)
        self.system.check(a, self.element)
        self.system.check(b, self.element)
        return Call(UNSIGNED[kind], (a, b, Literal(min(self.width, _WIDEST_UNSIGNED))))

    def number_of_two(self, a: Expr, b: Expr, *, kind: str) -> Expr:
        """The greater or the lesser of two numbers, `max` or `min`, where NaN is none."""
        return Call(NUMBERS_ONLY[kind], (a, b))

    def chosen(self, condition: Expr, a: Expr, b: Expr) -> Expr:
        """a where a condition holds, else b."""
        match condition:
            case Sub(Literal(value=1), inner):
                condition, a, b = inner, b, a
        return selected(condition, a, b, has_nan=self.width is None)

    # Casts

    def signed(self, x: Expr) -> Expr:
        """The number of a word with its sign."""
        return difference(Literal(0), x) if self.is_condition else x

    def unsigned(self, x: Expr) -> Expr:
        """The number of a word from 0 on.

        Raises:
            UnsupportedError: where the program has no such number.
        """
        assert self.width is not None
        if self.system.bounds(x)[0] >= 0:
            return x
        if isinstance(value := number_of(x), int):
            return Literal(value % (1 << self.width))
        if self.width >= _WIDEST_UNSIGNED:
            raise UnsupportedError(
                f"takes words of {self.element} without their sign, and some are beyond the integers here",
                "take them with their sign, or say nneg",
            )
        return sum_of(x, product(Literal(1 << self.width), call("lt", x, Literal(0))))

    def truncated(self, x: Expr, to: str, *, signed: bool) -> Expr:
        """A number of floating point without its fraction, as a whole number. One that the type does not
        have may become anything."""
        if to == "i1" and signed:
            raise UnsupportedError("makes conditions of numbers", "compare them with zero by arith.cmpf")
        whole = toward_zero(x)
        width = width_of(to)
        if signed or width is None or to == "i1":
            return whole
        if width >= _WIDEST_UNSIGNED:
            raise UnsupportedError(
                f"makes words of {to} without their sign, and some are beyond the integers here",
                "use arith.fptosi",
            )
        half, more = Literal((1 << width - 1) - 1), Literal(1 << width)
        return difference(whole, product(more, call("lt", half, whole)))


def floor(x: Expr) -> Expr:
    """The greatest whole number that is not above x."""
    nearest = call("rint", x)
    return difference(nearest, call("lt", x, nearest))


def ceiling(x: Expr) -> Expr:
    """The least whole number that is not below x."""
    nearest = call("rint", x)
    return sum_of(nearest, call("lt", nearest, x))


def toward_zero(x: Expr) -> Expr:
    """x without its fraction."""
    return selected(call("lt", x, Literal(0)), ceiling(x), floor(x))


def away_from_zero(x: Expr) -> Expr:
    """The whole number nearest to x; of two, the one farther from zero."""
    size = call("abs", x)
    whole = floor(size)
    nearest = sum_of(whole, call("le", Literal(0.5), difference(size, whole)))
    return selected(call("lt", x, Literal(0)), Neg(nearest), nearest)


ROUNDINGS: Mapping[str, Callable[[Expr], Expr]] = {
    "math.roundeven": lambda x: call("rint", x),
    "math.floor": floor,
    "math.ceil": ceiling,
    "math.trunc": toward_zero,
    "math.round": away_from_zero,
}
"""Of floating point, by the names of operations."""
