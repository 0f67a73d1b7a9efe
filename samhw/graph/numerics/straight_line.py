"""Definitions as straight-line code: the scalar forms, derived from the only text of each definition.

A definition on `Bits` has no branches that depend on a word. Run on `Term`s instead of words it leaves a
record of its steps. Written out as a Python function of ints, these are its scalar form: faster than the
definition, since it has no formats and calls any more, and in reach of `samhw.sim.machine_code`, since it
holds nothing but integers, comparisons, `sqrt` and tables."""

import linecache
from collections.abc import Callable
from itertools import count
from math import sqrt
from typing import Any, Literal, TypeAlias, Union

import numpy as np

__all__ = [
    "Bits",
    "ScalarOp",
    "Term",
    "bit_length",
    "clip",
    "lookup",
    "select",
    "shift_right",
    "shift_right_sticky",
    "smaller",
    "straight_line",
]

# Integer steps that read the same for one word, for an array of words, and for the name of a word.
#
# The definitions of operations are written once, on `Bits`: a Python int, an int64 array, or a `Term` whose
# steps are written down (straight_line.py). Every intermediate lies in int64, so all give the same result. A
# comparison gives a bool, an array of bools or a Term, which `&` and `|` combine.


Bits: TypeAlias = Any
"""An int, an int64 array or a Term; a condition: a bool, an array of bools or a Term."""


def select(condition: Bits, then: Bits, otherwise: Bits) -> Bits:
    """A multiplexer: `then` where the condition holds."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, then, otherwise)
    if isinstance(condition, Term):
        return condition.select(then, otherwise)
    return then if condition else otherwise


def smaller(a: Bits, b: Bits) -> Bits:
    """The lesser of two integers."""
    return select(a < b, a, b)


def clip(x: Bits, lowest: int, highest: int) -> Bits:
    """x, or the nearer end of the range lowest..highest."""
    if isinstance(x, np.ndarray):
        return np.clip(x, lowest, highest)
    return select(x < lowest, lowest, select(x > highest, highest, x))


def bit_length(x: Bits) -> Bits:
    """The number of bits of x, 0 <= x < 2**63, without leading zeros; 0 for 0."""
    if isinstance(x, np.ndarray):
        # The exponent of a float64. With the bit below the leading one cleared, rounding cannot reach the
        # next power of two.
        thinned = (x & ~(x >> 1)).astype(np.float64)
        return np.where(x > 0, (thinned.view(np.int64) >> 52) - 1022, 0)
    length = 0
    for step in (32, 16, 8, 4, 2, 1):
        more = select(x >= 1 << step, step, 0)
        length, x = length + more, x >> more
    return length + x


def shift_right(x: Bits, count: Bits) -> Bits:
    """x >> count for any count >= 0."""
    return x >> clip(count, 0, 63)


def shift_right_sticky(x: Bits, count: Bits) -> Bits:
    """x >> count for x, count >= 0, the bits lost ORed into the lowest bit of the result."""
    count = clip(count, 0, 63)
    kept = x >> count
    return kept | ((kept << count) != x)


def lookup(table: np.ndarray, index: Bits) -> Bits:
    """The entry of a table; a Python int if the index is one."""
    if isinstance(index, np.ndarray):
        return table[index]
    if isinstance(index, Term):
        return index.entry_of(table)
    return int(table[index])


ScalarOp: TypeAlias = Callable[..., int]
"""From operand words to the result word, or to `OVERFLOW`."""

Operand: TypeAlias = Union["Term", int]

_numbers = count()

_OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "floordiv": "//",
    "lshift": "<<",
    "rshift": ">>",
    "and": "&",
    "or": "|",
    "xor": "^",
}
_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


class _Record:
    """The steps so far, each an expression with the name of its result. No step is taken twice."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.tables: dict[str, np.ndarray] = {}

    def step(self, expression: str) -> "Term":
        return Term(self, self.names.setdefault(expression, f"t{len(self.names)}"))

    def table(self, table: np.ndarray) -> str:
        for name, known in self.tables.items():
            if known is table:
                return name
        name = f"table{len(self.tables)}"
        self.tables[name] = table
        return name


class Term:
    """What stands for a word, or for an integer made from words: the name of a step's result."""

    __slots__ = ("name", "record")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, record: _Record, name: str):
        self.record = record
        self.name = name

    def __str__(self) -> str:
        return self.name

    def __bool__(self) -> Literal[False]:
        raise TypeError("a definition must not branch on a word; use select")

    def __neg__(self) -> "Term":
        return self.record.step(f"-{self}")

    def __invert__(self) -> "Term":
        return self.record.step(f"~{self}")

    def select(self, then: Operand, otherwise: Operand) -> "Term":
        """`then` where this condition holds."""
        return self.record.step(f"{then} if {self} else {otherwise}")

    def entry_of(self, table: np.ndarray) -> "Term":
        """The entry of a table at this index."""
        return self.record.step(f"int({self.record.table(table)}[{self}])")

    def root(self) -> "Term":
        """The square root, cut to an integer, of a number below 2**52."""
        return self.record.step(f"int(sqrt({self}))")


def _binary(symbol: str, reflected: bool = False) -> Callable[[Term, Operand], Term]:
    def operator(self: Term, other: Operand) -> Term:
        left, right = (other, self) if reflected else (self, other)
        return self.record.step(f"{left} {symbol} {right}")

    return operator


for _name, _symbol in _OPERATORS.items():
    setattr(Term, f"__{_name}__", _binary(_symbol))
    setattr(Term, f"__r{_name}__", _binary(_symbol, reflected=True))
for _name, _symbol in _COMPARISONS.items():
    setattr(Term, f"__{_name}__", _binary(_symbol))


def straight_line(definition: Callable[..., object], arity: int) -> ScalarOp:
    """The scalar form of a definition of `arity` words: a function of ints that gives an int.

    Its source is where `inspect` and tracebacks look for it.
    """
    record = _Record()
    words = [Term(record, name) for name in "abc"[:arity]]
    result = definition(*words)
    steps = [f"    {name} = {expression}" for expression, name in record.names.items()]
    text = "\n".join([f"def scalar({', '.join(map(str, words))}):", *steps, f"    return {result}", ""])
    file = f"<straight line {next(_numbers)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope: dict[str, Any] = {"sqrt": sqrt, **record.tables}
    exec(compile(text, file, "exec"), scope)
    scalar: ScalarOp = scope["scalar"]
    return scalar
