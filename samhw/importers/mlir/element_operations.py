"""Operations of arith and math on single elements, as expressions."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from samhw.importers.core import UnsupportedError
from samhw.importers.mlir.arithmetic import ROUNDINGS, WITHOUT_DIVISION, ElementArithmetic, negation
from samhw.importers.mlir.idioms import ERF, call, difference, number_of, product, quotient, selected, sum_of
from samhw.importers.mlir.number_system import NumberSystem
from samhw.importers.mlir.operation import PREDICATES, MlirOperation
from samhw.importers.mlir.types import element_type
from samhw.importers.mlir.whole_numbers import DIVISIONS, SHIFTS, check_operands, is_float, whole_operation
from samhw.lang.expr import Expr, Literal
from samhw.lang.functions import to

__all__ = ["ELEMENT_OPERATIONS", "cast_element", "element_operation"]

_GREATEST_POWER = 16
_NOTHING_LOST = 2**24
"""1 more or less is not seen from there on."""
_NARROW_FLOATS = {"f8E4M3FN": "f8e4m3", "f8E5M2": "f8e5m2"}
"""Types of eight bits that a function rounds to, and the function."""
_SHORT_FLOATS = ("bf16", "f16")
"""Types of sixteen bits, to which a program converts."""
_AS_F32 = (*_SHORT_FLOATS, "f32", "f64", "tf32")
"""Types of floating point that are computed in the program's own."""


def _expm1(x: Expr) -> Expr:
    """e^x - 1, with all its digits next to zero."""
    return product(call("tanh", product(x, Literal(0.5))), sum_of(call("exp", x), Literal(1)))


def _log1p(x: Expr) -> Expr:
    """ln(1 + x), with all its digits next to zero: what 1 + x has lost of x is added again."""
    whole = sum_of(x, Literal(1))
    lost = difference(x, difference(whole, Literal(1)))
    found = call("log", whole)
    return selected(call("lt", x, Literal(_NOTHING_LOST)), sum_of(found, quotient(lost, whole)), found)


@dataclass(frozen=True)
class _Typed:
    """An operation with its types.

    Attributes:
        taken: the type of what it takes first.
        gives: the type of what it gives.
    """

    op: MlirOperation
    system: NumberSystem
    taken: str
    gives: str

    @property
    def of(self) -> ElementArithmetic:
        """The arithmetic of what it takes."""
        return ElementArithmetic(self.taken, self.system)

    @property
    def result(self) -> ElementArithmetic:
        """The arithmetic of what it gives."""
        return ElementArithmetic(self.gives, self.system)


_Make = Callable[..., Expr]
"""Makes the expression of a `_Typed` and of its operands."""


def _plain(make: Callable[..., Expr]) -> _Make:
    """What depends on no type."""
    return lambda it, *given: make(*given)


def _by_result(make: Callable[..., Expr], **more: Any) -> _Make:
    """By the arithmetic of what the operation gives."""
    return lambda it, *given: make(it.result, *given, **more)


def _keeping(make: Callable[..., Expr], plain: Callable[..., Expr]) -> _Make:
    """An operation that need not take the lowest bits of its result, where what takes that does."""
    typed = _by_result(make)
    return lambda it, *given: plain(*given) if "keeps_bits" in it.op.attributes else typed(it, *given)


def _of_bits(make: Callable[[ElementArithmetic, Expr, Expr], Expr]) -> _Make:
    """Of conditions, and of known numbers."""
    return lambda it, a, b: make(it.of, a, b) if it.taken == "i1" else _folded(it, a, b)


def _bitcast(it: _Typed, x: Expr) -> Expr:
    if it.taken == it.gives:
        return x
    raise UnsupportedError(f"takes the bits of {it.taken} as {it.gives}", "compute it before the run")


def _copysign(it: _Typed, x: Expr, sign: Expr) -> Expr:
    size = call("abs", x)
    return selected(call("lt", sign, Literal(0)), difference(Literal(0), size), size)


def _cast(it: _Typed, x: Expr, *, signed: bool) -> Expr:
    """A whole number as a number of another type, taken with its sign or without."""
    if is_float(it.gives):
        _rounded(it, x)
    number = it.of.signed(x) if signed or it.op.attributes.get("nneg") else it.of.unsigned(x)
    return number if is_float(it.gives) else it.result.word(number, None)


def _truncated(it: _Typed, x: Expr, *, signed: bool) -> Expr:
    return it.of.truncated(x, it.gives, signed=signed)


def _rounded(it: _Typed, x: Expr) -> Expr:
    """A number as an element of a type of floating point."""
    if it.gives in _NARROW_FLOATS:
        return call(_NARROW_FLOATS[it.gives], x)
    if it.op.name == "arith.truncf" and it.gives in _SHORT_FLOATS and it.system.is_wider_than(it.gives):
        return to(it.system.name, to(it.gives, x))
    if it.gives not in _AS_F32:
        ways = " or ".join(_NARROW_FLOATS)
        raise UnsupportedError(f"rounds to {it.gives}, for which there is no hardware", f"use {ways}")
    return x


def _folded(it: _Typed, *given: Expr) -> Expr:
    """An operation that has no hardware, of known numbers."""
    divides = it.op.name in DIVISIONS
    numbers = [number for expr in given if isinstance(number := number_of(expr), int)]
    if len(numbers) != len(given):
        if divides:
            raise WITHOUT_DIVISION
        raise UnsupportedError("works on the bits of integers", "compute it before the run")
    if divides and not numbers[1]:
        raise UnsupportedError("divides by zero", "mend the divisor")
    return Literal(int(whole_operation(it.op.name, it.taken, *numbers)))


def _power(it: _Typed, x: Expr, exponent: Expr) -> Expr:
    n, of = number_of(exponent), it.of
    if n is not None and n < 0 and of.width is not None:
        raise WITHOUT_DIVISION
    if n is None or abs(n) > _GREATEST_POWER or 2 * n % 1:
        raise UnsupportedError(
            "raises to a power that is no half or whole number up to 16", "write it with exp and log"
        )
    if n == -0.5:
        return call("rsqrt", x)
    factors = [x] * int(abs(n)) + ([call("sqrt", x)] if n % 1 else [])
    result = reduce(of.multiply, factors) if factors else Literal(1)
    return quotient(Literal(1), result) if n < 0 else result


def _compared(it: _Typed, a: Expr, b: Expr) -> Expr:
    name, of = it.op.attributes.get("predicate"), it.of
    if not isinstance(name, str) or name not in PREDICATES[it.op.name]:
        raise UnsupportedError("has no known predicate", "give one such as ogt")
    if it.op.name == "arith.cmpf":
        return _float_compared(of, name, a, b)
    if name in ("eq", "ne"):
        equal = of.equal(a, b)
        return equal if name == "eq" else negation(equal)
    if name[1:] in ("gt", "ge"):
        a, b = b, a
    return of.less(a, b, or_equal=name.endswith("e"), signed=name[0] == "s")


def _float_compared(of: ElementArithmetic, name: str, a: Expr, b: Expr) -> Expr:
    """A comparison, ordered (0 for NaN) or unordered (1 for NaN)."""
    match name:
        case "true" | "false":
            return Literal(int(name == "true"))
        case "ord":
            return product(call("eq", a, a), call("eq", b, b))
        case "uno":
            return negation(_float_compared(of, "ord", a, b))
        case "oeq":
            return of.equal(a, b)
        case "one":
            return sum_of(of.less(a, b), of.less(b, a))
        case "une":
            return negation(of.equal(a, b))
        case "ueq":
            return sum_of(of.equal(a, b), _float_compared(of, "uno", a, b))
    if name[1:] in ("gt", "ge"):
        a, b = b, a
    strict = name[1:] in ("lt", "gt")
    if name[0] == "o":
        return of.less(a, b, or_equal=not strict)
    return negation(of.less(b, a, or_equal=strict))


_FUNCTIONS: Mapping[str, Callable[[Expr], Expr]] = {
    **{f"math.{name}": partial(call, name) for name in ["exp", "log", "sqrt", "rsqrt", "tanh", "sin", "cos"]},
    "math.absf": partial(call, "abs"),
    "math.erf": partial(call, ERF),
    "math.exp2": lambda x: call("exp", product(x, Literal(math.log(2)))),
    "math.expm1": _expm1,
    "math.log1p": _log1p,
    "math.log2": lambda x: product(call("log", x), Literal(1 / math.log(2))),
    "math.log10": lambda x: product(call("log", x), Literal(1 / math.log(10))),
    "math.tan": lambda x: quotient(call("sin", x), call("cos", x)),
    **ROUNDINGS,
}
"""Of floating point."""
_ONE: Mapping[str, _Make] = {
    **{name: _plain(make) for name, make in _FUNCTIONS.items()},
    "arith.negf": _by_result(ElementArithmetic.negative),
    "math.absi": _by_result(ElementArithmetic.size),
    **{f"arith.{name}": partial(_cast, signed=True) for name in ("extsi", "sitofp", "index_cast")},
    **{f"arith.{name}": partial(_cast, signed=False) for name in ("extui", "uitofp", "index_castui")},
    "arith.trunci": lambda it, x: it.result.word(x, None),
    "arith.fptosi": partial(_truncated, signed=True),
    "arith.fptoui": partial(_truncated, signed=False),
    **dict.fromkeys(("arith.extf", "arith.truncf"), _rounded),
    "arith.bitcast": _bitcast,
}
_TWO: Mapping[str, _Make] = {
    **dict.fromkeys(("arith.addf", "arith.addi"), _by_result(ElementArithmetic.add)),
    **dict.fromkeys(("arith.subf", "arith.subi"), _keeping(ElementArithmetic.subtract, difference)),
    **dict.fromkeys(("arith.mulf", "arith.muli"), _keeping(ElementArithmetic.multiply, product)),
    "arith.divf": _by_result(ElementArithmetic.divide),
    **{
        f"arith.{kind}{how}": _by_result(ElementArithmetic.extreme, kind=kind, signed=how != "ui")
        for kind in ("max", "min")
        for how in ("imumf", "f", "si", "ui")
    },
    **{
        f"arith.{kind}numf": _by_result(ElementArithmetic.number_of_two, kind=kind) for kind in ("max", "min")
    },
    **dict.fromkeys((*SHIFTS, *DIVISIONS), _folded),
    "arith.andi": _of_bits(ElementArithmetic.both),
    "arith.ori": _of_bits(ElementArithmetic.either),
    "arith.xori": _of_bits(ElementArithmetic.differ),
    **dict.fromkeys(PREDICATES, _compared),
    **dict.fromkeys(("math.powf", "math.fpowi", "math.ipowi"), _power),
    "math.copysign": _copysign,
}
_THREE: Mapping[str, _Make] = {
    "arith.select": _by_result(ElementArithmetic.chosen),
    "math.fma": _plain(lambda a, b, c: sum_of(product(a, b), c)),
}

ELEMENT_OPERATIONS: Mapping[str, tuple[int, _Make]] = {
    name: (count, make) for count, table in enumerate((_ONE, _TWO, _THREE), 1) for name, make in table.items()
}
"""How many operands an operation of arith or math has that is imported, and what it makes of them."""


def element_operation(system: NumberSystem, op: MlirOperation, given: Sequence[Expr]) -> Expr:
    """What an operation of arith or math gives for these operands.

    Raises:
        UnsupportedError: for one that has no meaning in a program.
    """
    count, make = ELEMENT_OPERATIONS.get(op.name, (0, None))
    if make is None or len(given) != count or not op.types or not op.gives:
        raise UnsupportedError("has no meaning in a program here", "compute it before the run")
    typed = _Typed(op, system, element_type(op.types[0]), element_type(op.gives[0]))
    check_operands(op.name, typed.taken)
    return make(typed, *given)


def cast_element(system: NumberSystem, x: Expr, taken: str, gives: str) -> Expr:
    """A number as an element of another type, where it has its sign."""
    of = ElementArithmetic(taken, system)
    if of.width is None:
        return of.truncated(x, gives, signed=True)
    return of.signed(x) if is_float(gives) else ElementArithmetic(gives, system).word(of.signed(x), None)
