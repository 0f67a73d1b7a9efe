"""Operations of arith and math on single elements, as expressions."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from samhw.importers.core import UnsupportedError
from samhw.importers.mlir.arithmetic import ROUNDINGS, WITHOUT_DIVISION, ElementArithmetic, negation
from samhw.importers.mlir.attributes import is_float
from samhw.importers.mlir.idioms import (
    ERF,
    call,
    difference,
    number_of,
    product,
    quotient,
    selected,
    sum_of,
)
from samhw.importers.mlir.number_system import NumberSystem
from samhw.importers.mlir.operation import MlirOperation
from samhw.importers.mlir.operation_forms import PREDICATES
from samhw.importers.mlir.types import element_type
from samhw.importers.mlir.whole_numbers import BITS, DIVISIONS, SHIFTS, check_operands, whole_operation
from samhw.lang.expr import Expr, Literal

__all__ = ["ELEMENT_OPERATIONS", "cast_element", "element_operation"]

_GREATEST_POWER = 16
_NOTHING_LOST = 2**24
"""1 more or less is not seen from there on."""


def _extreme(kind: str, of: ElementArithmetic, a: Expr, b: Expr, *, signed: bool = True) -> Expr:
    return of.extreme(kind, a, b, signed=signed)


def _number_of_two(kind: str, of: ElementArithmetic, a: Expr, b: Expr) -> Expr:
    return of.number_of_two(kind, a, b)


def _expm1(x: Expr) -> Expr:
    """e^x - 1, with all its digits next to zero."""
    return product(call("tanh", product(x, Literal(0.5))), sum_of(call("exp", x), Literal(1)))


def _log1p(x: Expr) -> Expr:
    """ln(1 + x), with all its digits next to zero: what 1 + x has lost of x is added again."""
    whole = sum_of(x, Literal(1))
    lost = difference(x, difference(whole, Literal(1)))
    found = call("log", whole)
    return selected(call("lt", x, Literal(_NOTHING_LOST)), sum_of(found, quotient(lost, whole)), found)


_UNARY: Mapping[str, Callable[[Expr], Expr]] = {
    "math.absf": lambda x: call("abs", x),
    "math.exp": lambda x: call("exp", x),
    "math.exp2": lambda x: call("exp", product(x, Literal(math.log(2)))),
    "math.expm1": _expm1,
    "math.log": lambda x: call("log", x),
    "math.log1p": _log1p,
    "math.log2": lambda x: product(call("log", x), Literal(1 / math.log(2))),
    "math.log10": lambda x: product(call("log", x), Literal(1 / math.log(10))),
    "math.sqrt": lambda x: call("sqrt", x),
    "math.rsqrt": lambda x: call("rsqrt", x),
    "math.tanh": lambda x: call("tanh", x),
    "math.sin": lambda x: call("sin", x),
    "math.cos": lambda x: call("cos", x),
    "math.tan": lambda x: quotient(call("sin", x), call("cos", x)),
    "math.erf": lambda x: call(ERF, x),
    **ROUNDINGS,
}
"""Of floating point."""
_TYPED: Mapping[str, Callable[..., Expr]] = {
    "arith.negf": ElementArithmetic.negative,
    "math.absi": ElementArithmetic.size,
    **dict.fromkeys(("arith.addf", "arith.addi"), ElementArithmetic.add),
    **dict.fromkeys(("arith.subf", "arith.subi"), ElementArithmetic.subtract),
    **dict.fromkeys(("arith.mulf", "arith.muli"), ElementArithmetic.multiply),
    "arith.divf": ElementArithmetic.divide,
    **{f"arith.{k}{kind}": partial(_extreme, k) for k in ("max", "min") for kind in ("imumf", "f", "si")},
    **{f"arith.{k}ui": partial(_extreme, k, signed=False) for k in ("max", "min")},
    **{f"arith.{k}numf": partial(_number_of_two, k) for k in ("max", "min")},
    "arith.select": ElementArithmetic.chosen,
}
"""What an operation makes of its operands, by the arithmetic of its result."""
_KEEPING: Mapping[str, Callable[..., Expr]] = {"arith.muli": product, "arith.subi": difference}
"""What need not take the lowest bits of its result, where what takes that does."""
_EXTENDING = {
    **dict.fromkeys(("arith.extsi", "arith.sitofp", "arith.index_cast"), True),
    **dict.fromkeys(("arith.extui", "arith.uitofp", "arith.index_castui"), False),
    "arith.trunci": True,
}
"""Casts of whole numbers, and whether they take them with their signs."""
_OF_CONDITIONS: Mapping[str, Callable[[ElementArithmetic, Expr, Expr], Expr]] = {
    "arith.andi": ElementArithmetic.both,
    "arith.ori": ElementArithmetic.either,
    "arith.xori": ElementArithmetic.differ,
}
_WITHOUT_HARDWARE = (*BITS, *SHIFTS, *DIVISIONS)
"""Operations of whole numbers that have to be known."""
_NARROW_FLOATS = {"f8E4M3FN": "f8e4m3", "f8E5M2": "f8e5m2"}
"""Types of eight bits that a function rounds to, and the function."""
_AS_F32 = ("bf16", "f16", "f32", "f64", "tf32")
"""Types of floating point that are computed in the program's own."""

ELEMENT_OPERATIONS: Mapping[str, int] = {
    **dict.fromkeys(_UNARY, 1),
    **dict.fromkeys(_TYPED, 2),
    **dict.fromkeys(("arith.negf", "math.absi"), 1),
    **dict.fromkeys((*PREDICATES, *_WITHOUT_HARDWARE), 2),
    **dict.fromkeys((*_EXTENDING, "arith.fptosi", "arith.fptoui"), 1),
    **dict.fromkeys(("arith.extf", "arith.truncf", "arith.bitcast"), 1),
    **dict.fromkeys(("math.powf", "math.fpowi", "math.ipowi", "math.copysign"), 2),
    **dict.fromkeys(("arith.select", "math.fma"), 3),
}
"""How many operands an operation of arith or math has that is imported."""


def element_operation(system: NumberSystem, op: MlirOperation, given: Sequence[Expr]) -> Expr:
    """What an operation of arith or math gives for these operands.

    Raises:
        UnsupportedError: for one that has no meaning in a program.
    """
    name = op.name
    if len(given) != ELEMENT_OPERATIONS.get(name) or not op.types or not op.gives:
        raise UnsupportedError("has no meaning in a program here", "compute it before the run")
    taken, gives = element_type(op.types[0]), element_type(op.gives[0])
    check_operands(name, taken)
    if name in PREDICATES:
        return _compared(op, ElementArithmetic(taken, system), *given)
    if name in _UNARY:
        return _UNARY[name](given[0])
    if name in _KEEPING and "keeps_bits" in op.attributes:
        return _KEEPING[name](*given)
    if name in _TYPED:
        return _TYPED[name](ElementArithmetic(gives, system), *given)
    if name in _OF_CONDITIONS and taken == "i1":
        return _OF_CONDITIONS[name](ElementArithmetic(taken, system), *given)
    if name in _WITHOUT_HARDWARE:
        return _folded(name, taken, given)
    if name in _EXTENDING or name in ("arith.fptosi", "arith.fptoui"):
        return _cast(op, ElementArithmetic(taken, system), gives, given[0])
    if name in ("arith.extf", "arith.truncf"):
        return _rounded(given[0], gives)
    if name == "arith.bitcast":
        if taken == gives:
            return given[0]
        raise UnsupportedError(f"takes the bits of {taken} as {gives}", "compute it before the run")
    if name in ("math.powf", "math.fpowi", "math.ipowi"):
        return _power(ElementArithmetic(taken, system), *given)
    if name == "math.copysign":
        size = call("abs", given[0])
        return selected(call("lt", given[1], Literal(0)), difference(Literal(0), size), size)
    return sum_of(product(given[0], given[1]), given[2])


def cast_element(system: NumberSystem, x: Expr, taken: str, gives: str) -> Expr:
    """A number as an element of another type, where it has its sign."""
    of = ElementArithmetic(taken, system)
    if of.width is None:
        return of.truncated(x, gives, signed=True)
    return of.signed(x) if is_float(gives) else ElementArithmetic(gives, system).word(of.signed(x), None)


def _cast(op: MlirOperation, of: ElementArithmetic, gives: str, x: Expr) -> Expr:
    """A number of another type."""
    if of.width is None:
        return of.truncated(x, gives, signed=op.name == "arith.fptosi")
    if is_float(gives):
        _rounded(x, gives)
    signed = _EXTENDING[op.name]
    if op.name == "arith.trunci" and gives != "i1":
        return ElementArithmetic(gives, of.system).word(x, None)
    number = of.signed(x) if signed else x if op.attributes.get("nneg") else of.unsigned(x)
    return number if is_float(gives) else ElementArithmetic(gives, of.system).word(number, None)


def _compared(op: MlirOperation, of: ElementArithmetic, a: Expr, b: Expr) -> Expr:
    name = op.attributes.get("predicate")
    if name not in PREDICATES[op.name]:
        raise UnsupportedError("has no known predicate", "give one such as ogt")
    floating = op.name == "arith.cmpf"
    return _float_compared(of, name, a, b) if floating else _compared_words(of, name, a, b)


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


def _compared_words(of: ElementArithmetic, name: str, a: Expr, b: Expr) -> Expr:
    if name in ("eq", "ne"):
        equal = of.equal(a, b)
        return equal if name == "eq" else negation(equal)
    if name[1:] in ("gt", "ge"):
        a, b = b, a
    return of.less(a, b, or_equal=name.endswith("e"), signed=name[0] == "s")


def _rounded(x: Expr, element: str) -> Expr:
    """A number as an element of a type of floating point."""
    if element in _NARROW_FLOATS:
        return call(_NARROW_FLOATS[element], x)
    if element not in _AS_F32:
        raise UnsupportedError(
            f"rounds to {element}, for which there is no hardware", f"use {' or '.join(_NARROW_FLOATS)}"
        )
    return x


def _folded(name: str, element: str, given: Sequence[Expr]) -> Expr:
    """An operation that has no hardware, of known numbers."""
    numbers = [number for expr in given if isinstance(number := number_of(expr), int)]
    if len(numbers) != len(given):
        if name in DIVISIONS:
            raise WITHOUT_DIVISION
        raise UnsupportedError("works on the bits of integers", "compute it before the run")
    if name in DIVISIONS and not numbers[1]:
        raise UnsupportedError("divides by zero", "mend the divisor")
    return Literal(int(whole_operation(name, element, *numbers)))


def _power(of: ElementArithmetic, x: Expr, exponent: Expr) -> Expr:
    n = number_of(exponent)
    if n is not None and n < 0 and of.width is not None:
        raise WITHOUT_DIVISION
    if n is not None:
        size, result = abs(n), None
        whole = int(size)
        if size <= _GREATEST_POWER and size in (whole, whole + 0.5):
            factors = [x] * whole + ([call("sqrt", x)] if size != whole else [])
            if n == -0.5:
                return call("rsqrt", x)
            result = Literal(1) if not factors else factors[0]
            for factor in factors[1:]:
                result = of.multiply(result, factor)
            return quotient(Literal(1), result) if n < 0 else result
    raise UnsupportedError(
        "raises to a power that is no half or whole number up to 16", "write it with exp and log"
    )
