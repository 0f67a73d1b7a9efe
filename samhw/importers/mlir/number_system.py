"""What a program can say of whole numbers in its value type, and between which bounds its expressions are."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from samhw.graph.numerics import Float, ValueType
from samhw.importers.core import UnsupportedError
from samhw.importers.mlir.whole_numbers import least_and_greatest, signed_word, width_of
from samhw.lang.expr import Access, Add, Call, Expr, Literal, Mul, Neg, Sub

__all__ = ["MARKED_WORD", "Bounds", "NumberSystem"]

Bounds = tuple[float, float]

MARKED_WORD = "word"
"""The function that stands in expressions for the lowest bits of a whole number, until `resolved`."""

_ANY: Bounds = (-math.inf, math.inf)
_WIDEST = 32
"""Bits of a word that a program computes modulo its range; wider ones are as wide as its integers."""


def _nothing(note: str) -> None:
    pass


@dataclass(frozen=True)
class NumberSystem:
    """The value type of a program.

    Attributes:
        name: of the type.
        floating: it is one of floating point.
        exact: all whole numbers up to this one have a word of their own.
        note: is told what is computed in another way than the text says.
        types: by the name of an access, the type of its elements.
    """

    name: str
    floating: bool
    exact: float
    note: Callable[[str], None] = _nothing
    types: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, value: ValueType, note: Callable[[str], None] = _nothing) -> "NumberSystem":
        """That of a value type."""
        floating = value.unit_roundoff > 0
        return cls(value.name, floating, 1 / value.unit_roundoff if floating else math.inf, note)

    def is_wider_than(self, name: str) -> bool:
        """It is floating point that has numbers between those of a type of floating point."""
        return self.floating and self.exact > 1 / Float(name).unit_roundoff

    def bounds(self, expr: Expr) -> Bounds:
        """The least and the greatest number that an expression of whole numbers can be, as far as the types
        of its operands say."""
        match expr:
            case Literal(value):
                return value, value
            case Access():
                return self._of_access(expr.tensor)
            case Neg(operand):
                low, high = self.bounds(operand)
                return -high, -low
            case Add(x, Mul(Literal(value=more), Call("lt", (y, Literal(value=0))))) if x == y:
                low, high = self.bounds(x)
                return min(low + more, 0), max(high, more - 1)
            case Add(left, right):
                (a, b), (c, d) = self.bounds(left), self.bounds(right)
                return a + c, b + d
            case Sub(left, right):
                (a, b), (c, d) = self.bounds(left), self.bounds(right)
                return a - d, b - c
            case Mul(left, right):
                corners = [_times(x, y) for x in self.bounds(left) for y in self.bounds(right)]
                return min(corners), max(corners)
            case Call(function, arguments):
                return self._of_call(function, arguments)
        return _ANY

    def _of_access(self, tensor: str) -> Bounds:
        if tensor.startswith("%index"):
            return 0, math.inf
        width = width_of(self.types.get(tensor, ""))
        return _ANY if width is None or width > _WIDEST else least_and_greatest(self.types[tensor])

    def _of_call(self, function: str, arguments: tuple[Expr, ...]) -> Bounds:
        if function in ("lt", "le", "eq"):
            return 0, 1
        if function == MARKED_WORD:
            return least_and_greatest(f"i{_number(arguments[1])}")
        given = [self.bounds(argument) for argument in arguments]
        match function:
            case "maxui" | "minui":
                return min(low for low, _ in given[:2]), max(high for _, high in given[:2])
            case "max":
                return max(low for low, _ in given), max(high for _, high in given)
            case "min":
                return min(low for low, _ in given), min(high for _, high in given)
            case "select":
                return min(low for low, _ in given[1:]), max(high for _, high in given[1:])
            case "relu":
                return max(given[0][0], 0), max(given[0][1], 0)
            case "abs":
                low, high = given[0]
                return max(low, -high, 0), max(-low, high)
            case "rint":
                return given[0]
        return _ANY

    # The lowest bits

    def word(self, expr: Expr, element: str, what: str | None) -> Expr:
        """The lowest bits of a whole number, as an element of a type: marked, unless nothing needs to be
        done.

        Args:
            what: what the operation does, for a refusal, such as ``adds words``; None where it only cuts.

        Raises:
            UnsupportedError: where the program cannot have the number exactly.
        """
        width = width_of(element)
        low, high = self.bounds(expr)
        if width is None:
            return expr
        least, greatest = least_and_greatest(element)
        if least <= low and high <= greatest:
            self.check(expr, element)
            return expr
        if width >= _WIDEST:
            self.check(expr, element)
            return expr  # An integer that its type does not hold ends the run.
        if what is not None and self.floating and max(-low, high) > self.exact:
            raise UnsupportedError(
                f"{what} of {element}, of which {self.name} does not hold all results",
                "extend them to i32 before",
            )
        if element == "i1" and not self.floating:
            raise UnsupportedError(
                "takes the lowest bit of a number, for which integers have no hardware",
                "compare it with arith.cmpi",
            )
        self.check(expr, element)
        half = 1 << width - 1
        near = int(-3 * half <= low and high < 3 * half and element != "i1")
        return Call(MARKED_WORD, (expr, Literal(width), Literal(near)))

    def check(self, expr: Expr, element: str) -> None:
        """Says so where not all whole numbers of an expression have a word of their own."""
        low, high = self.bounds(expr)
        width = width_of(element)
        if self.floating and width is not None and max(-low, high) > self.exact:
            kind = element if width >= _WIDEST else "i32"
            self.note(
                f"Whole numbers of {kind} are computed in {self.name}, which holds all of them up to "
                f"{self.exact:,.0f}."
            )

    def resolved(self, expr: Expr) -> Expr:
        """The lowest bits of a number, made of what programs have.

        In floating point, a multiple of the range is taken off; nothing of that is rounded. Integers have no
        such function: where one range more or less is enough, comparisons find it. Elsewhere two sums leave
        the range of i32, and so end the run, for a number that does not fit.
        """
        if not isinstance(expr, Call) or expr.function != MARKED_WORD:
            return expr
        x, width, near = expr.arguments[0], _number(expr.arguments[1]), _number(expr.arguments[2])
        if isinstance(x, Literal):
            return Literal(signed_word(int(x.value), f"i{width}"))
        whole, half = 1 << width, 1 << width - 1
        if near:
            more = Mul(Literal(whole), Call("lt", (x, Literal(-half))))
            less = Mul(Literal(whole), Call("lt", (Literal(half - 1), x)))
            return Sub(Add(x, more), less)
        if self.floating:
            multiple = Mul(Literal(whole), Call("rint", (Mul(x, Literal(1 / whole)),)))
            rest = Sub(x, multiple)
            if width == 1:
                return Call("abs", (rest,))
            return Sub(rest, Mul(Literal(whole), Call("le", (Literal(half), rest))))
        room = Literal((1 << _WIDEST - 1) - half)
        return Add(Sub(Sub(Add(x, room), room), room), room)


def _number(expr: Expr) -> int:
    assert isinstance(expr, Literal)
    return int(expr.value)


def _times(a: float, b: float) -> float:
    return a * b if a and b else 0
