"""Value types: the one bit-true definition of every operation, which model, RTL and C++ must match."""

import re

from samhw.errors import InputError
from samhw.graph.numerics.float import FLOATS, Float
from samhw.graph.numerics.integer import INTEGERS, Fixed, Integer
from samhw.graph.numerics.operations import NARROWINGS, OPERATIONS, REDUCTIONS
from samhw.graph.numerics.reduction import neutral, recurrence_word, reduce_words, start_word
from samhw.graph.numerics.typed import (
    ALL_OPERATIONS,
    SCALE_MULTIPLIERS,
    SCALE_SHIFTS,
    WIDENING,
    Operation,
    convert,
    holds,
    operation,
    widens,
)
from samhw.graph.numerics.valuetype import (
    ARITY,
    BLOCK,
    OVERFLOW,
    RECURRENCE_BLOCK,
    ScalarOp,
    ValueType,
    Words,
)
from samhw.words import did_you_mean

__all__ = [
    "ALL_OPERATIONS",
    "ARITY",
    "BLOCK",
    "FLOATS",
    "INTEGERS",
    "NARROWINGS",
    "OPERATIONS",
    "OVERFLOW",
    "RECURRENCE_BLOCK",
    "REDUCTIONS",
    "SCALE_MULTIPLIERS",
    "SCALE_SHIFTS",
    "WIDENING",
    "Fixed",
    "Float",
    "Integer",
    "Operation",
    "ScalarOp",
    "ValueType",
    "Words",
    "convert",
    "holds",
    "neutral",
    "operation",
    "recurrence_word",
    "reduce_words",
    "start_word",
    "value_type",
    "widens",
]


def value_type(name: str) -> ValueType:
    """The value type of that name; raises `InputError` if there is none."""
    text = name.replace(" ", "")
    if text in INTEGERS:
        return INTEGERS[text]
    if match := re.fullmatch(r"fixed<(\d{1,9}),(\d{1,9})>", text):
        return Fixed(int(match[1]), int(match[2]))
    if text in FLOATS:
        return Float(text)
    meant = did_you_mean(text, (*INTEGERS, "fixed<16,8>", *FLOATS))
    raise InputError(
        f"Unknown value type {name!r}{meant}; the types are {', '.join((*INTEGERS, *FLOATS))} and "
        "fixed<W,F>, such as 'fixed<16,8>'."
    )
