"""Expressions of programs as SymPy's, and back."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import sympy

from samhw.lang import Access, Add, Call, Div, Expr, Literal, Mul, Neg, Sub

__all__ = ["Symbolic", "from_symbols", "symbol", "to_symbols"]

Symbolic: TypeAlias = Any
"""An expression of SymPy, which says nothing of its types."""

_FUNCTIONS: Mapping[str, Callable[..., Symbolic]] = {
    "exp": sympy.exp,
    "log": sympy.log,
    "sqrt": sympy.sqrt,
    "rsqrt": lambda x: 1 / sympy.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "abs": sympy.Abs,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tanh": sympy.tanh,
}
"""Those of which SymPy knows something. Of others it knows that equal arguments give equal results: so of
`sigmoid`, which in terms of `exp` would leave the range."""


def symbol(name: str) -> Symbolic:
    """A real number of that name."""
    return sympy.Symbol(name, real=True)


def to_symbols(expr: Expr, access: Callable[[Access], Symbolic]) -> Symbolic:
    """An expression without moves, in which `access` stands for what is read."""
    match expr:
        case Access():
            return access(expr)
        case Literal(value):
            return sympy.Integer(value) if isinstance(value, int) else sympy.Rational(value)
        case Neg(operand):
            return -to_symbols(operand, access)
        case Add(left, right):
            return to_symbols(left, access) + to_symbols(right, access)
        case Sub(left, right):
            return to_symbols(left, access) - to_symbols(right, access)
        case Mul(left, right):
            return to_symbols(left, access) * to_symbols(right, access)
        case Div(left, right):
            return to_symbols(left, access) / to_symbols(right, access)
        case Call(function, arguments):
            known = _FUNCTIONS.get(function) or sympy.Function(function, real=True)
            return known(*(to_symbols(argument, access) for argument in arguments))
    raise TypeError(f"'{expr}' moves elements")


def from_symbols(e: Symbolic, read: Mapping[str, Access]) -> Expr | None:
    """The expression of a program; None for what no program can say.

    Args:
        read: what each symbol stands for, by its name.
    """
    if e.is_Symbol:
        return read[e.name]
    if e.is_Integer:
        return Literal(int(e))
    if e.is_comparable:
        return Literal(float(e))
    if e.is_Add:
        positive = [term for term in e.args if not term.could_extract_minus_sign()]
        negative = [-term for term in e.args if term.could_extract_minus_sign()]
        if not positive or not negative:
            whole = _joined_all(Add, positive or negative, read)
            return Neg(whole) if whole is not None and negative else whole
        left, right = (_joined_all(Add, part, read) for part in (positive, negative))
        return None if left is None or right is None else Sub(left, right)
    if e.is_Mul or (e.is_Pow and e.exp.could_extract_minus_sign()):
        above, below = e.as_numer_denom()
        if below != 1:
            over = from_symbols(above, read)
            under = from_symbols(below, read)
            return None if over is None or under is None else Div(over, under)
        return _joined_all(Mul, e.args, read)
    if e.is_Pow and e.exp.is_Integer and 0 < e.exp <= 4:
        return _joined_all(Mul, [e.base] * int(e.exp), read)
    if e.is_Pow and e.exp == sympy.Rational(1, 2):
        argument = from_symbols(e.base, read)
        return None if argument is None else Call("sqrt", (argument,))
    names = {sympy.exp: "exp", sympy.log: "log", sympy.Abs: "abs"}
    if e.func in names:
        argument = from_symbols(e.args[0], read)
        return None if argument is None else Call(names[e.func], (argument,))
    return None


def _joined_all(node: type[Add] | type[Mul], parts: Any, read: Mapping[str, Access]) -> Expr | None:
    """All parts with one operator between them; None if one of them cannot be said."""
    found: Expr | None = None
    for part in sorted(parts, key=str):
        expr = from_symbols(part, read)
        if expr is None:
            return None
        found = expr if found is None else node(found, expr)
    return found
