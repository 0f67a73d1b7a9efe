"""The tables and constants of the floating-point functions, as the C++ library holds them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samhw.graph.numerics import Float
from samhw.graph.numerics.circular import circle_table, window_table
from samhw.graph.numerics.exponential import LN_2, LOG2_E, exp2_table, tanh_table
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.gaussian import tail_table
from samhw.graph.numerics.logarithm import log_table
from samhw.graph.numerics.piecewise import Piecewise, constant, stored_width, working
from samhw.graph.numerics.reciprocal import reciprocal_table, root_table
from samhw.hls.cpp import value_class

__all__ = ["FUNCTIONS", "FormatTables", "WordTables", "format_tables", "word_tables"]

_PER_LINE = 8

_READS = {
    "reciprocal": ("reciprocal",),
    "rsqrt": ("root",),
    "exp": ("exp2",),
    "log": ("log",),
    "sigmoid": ("exp2", "reciprocal"),
    "tanh": ("tanh",),
    "silu": ("exp2", "reciprocal"),
    "gelu": ("exp2", "tail"),
    "sin": ("circle", "window"),
    "cos": ("circle", "window"),
}
"""The tables of each function."""

FUNCTIONS = tuple(_READS)
"""The operations that read tables."""

_TABLES: Sequence[tuple[str, str, Callable[[FloatFormat], Piecewise]]] = (
    ("exp2", "2^x on [0, 1)", exp2_table),
    ("reciprocal", "1/x on [1, 2)", reciprocal_table),
    ("root", "1/sqrt(x), group 0 on [1, 2), group 1 on [2, 4)", root_table),
    ("log", "ln(s)/(s - 1), s = x below 1.5 and x/2 from there on, on [1, 2)", log_table),
    ("tanh", "tanh(x)/x on [0, 16), with P + 2 fraction bits", tanh_table),
    ("tail", "Phi(-x) * exp(x^2/2) on [0, 16), with P + 2 fraction bits", tail_table),
    ("circle", "sin(x pi/2)/(2 x) in group 0, cos(x pi/2) in group 1, of half the position", circle_table),
)


@dataclass(frozen=True)
class Column:
    """The coefficients of one degree."""

    type: str
    values: tuple[int, ...]

    @property
    def lines(self) -> list[str]:
        """The values as text, a few on a line."""
        return [
            ", ".join(map(str, self.values[n : n + _PER_LINE])) for n in range(0, len(self.values), _PER_LINE)
        ]


@dataclass(frozen=True)
class Function:
    """A table: polynomials of one degree on groups of 2**index_bits segments."""

    name: str
    title: str
    groups: int
    index_bits: int
    columns: tuple[Column, ...]

    @property
    def degree(self) -> int:
        """That of the polynomials."""
        return len(self.columns) - 1


@dataclass(frozen=True)
class Constant:
    """An unsigned number of that many bits."""

    name: str
    title: str
    value: int

    @property
    def bits(self) -> int:
        """Its width."""
        return self.value.bit_length()


@dataclass(frozen=True)
class FormatTables:
    """What the functions of one floating-point format read."""

    mantissa: int
    working: int
    functions: tuple[Function, ...]
    windows: tuple[Column, ...]
    """The pieces of the windows of 2/pi, from the top; none if no function reads them."""
    constants: tuple[Constant, ...]


@dataclass(frozen=True)
class WordTable:
    """A function that is one table: its name, and its results by operand word."""

    name: str
    column: Column


@dataclass(frozen=True)
class WordTables:
    """The functions of a type of eight bits, by the name of its class."""

    type: str
    functions: tuple[WordTable, ...]


def word_tables(value: Float, functions: Iterable[str]) -> WordTables:
    """The tables of a type's functions."""
    return WordTables(value_class(value), tuple(WordTable(op, _column(value.table(op))) for op in functions))


def format_tables(f: FloatFormat, functions: Iterable[str] = FUNCTIONS) -> FormatTables:
    """The tables of a format that some functions read."""
    wanted = {table for function in functions for table in _READS[function]}
    fraction = working(f)
    return FormatTables(
        f.mantissa,
        fraction,
        tuple(_function(name, title, table(f)) for name, title, table in _TABLES if name in wanted),
        tuple(map(_column, window_table(f))) if "window" in wanted else (),
        (
            Constant("log2_e", "log2(e) with P + 5 fraction bits", constant(LOG2_E, fraction + 5)),
            Constant("half_log2_e", "log2(e)/2 with P + 6 fraction bits", constant(LOG2_E / 2, fraction + 6)),
            Constant("ln_2", "ln(2) with P + 4 fraction bits", constant(LN_2, fraction + 4)),
        ),
    )


def _function(name: str, title: str, table: Piecewise) -> Function:
    columns = tuple(map(_column, table.columns))
    return Function(name, title, len(columns[0].values) >> table.index_bits, table.index_bits, columns)


def _column(values: NDArray[np.int64]) -> Column:
    kind = "ap_int" if values.min() < 0 else "ap_uint"
    return Column(f"{kind}<{stored_width(values)}>", tuple(values.tolist()))
