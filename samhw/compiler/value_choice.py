"""The value type of a program: the one asked for, that of its text, or what the program and its data need."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.graph.numerics import Float, Integer, ValueType, value_type
from samhw.lang import Call, Div, Literal, Program, walk
from samhw.lang.expr import TYPED
from samhw.words import split_words

__all__ = ["AUTO", "asked_text", "asked_type", "asked_types", "choose_value", "counts_to", "types_text"]

AUTO = "auto"
"""What a text says to ask for no type: then it is that of the program's text, or the first of the following
that will do. In memory this is None."""

_WHOLE, _ANY = Integer(32), Float("f32")


def asked_type(text: str) -> ValueType | None:
    """The type that a text asks for, None for `auto`; raises `InputError` for a type that there is not."""
    return None if text == AUTO else value_type(text)


def asked_text(asked: ValueType | None) -> str:
    """The inverse of `asked_type`."""
    return AUTO if asked is None else asked.name


def asked_types(text: str | None) -> dict[str, ValueType]:
    """The types that a text such as `W=i8,X=fixed<16,8>` gives tensors; none without one, or by `none`.

    Raises:
        InputError: for a type that there is not, and what is no name and a type.
    """
    types = {}
    for item in [] if text in (None, "", "none") else split_words(text):
        name, equals, kind = (part.strip() for part in item.partition("="))
        if not (name and equals):
            raise InputError(
                f"--types {text}: give tensors with their types, as in W=i8,X=i8, or none; --value is "
                "for all others."
            )
        types[name] = value_type(kind)
    return types


def types_text(types: Mapping[str, ValueType]) -> str:
    """Types of tensors as `asked_types` reads them."""
    return ",".join(f"{name}={kind}" for name, kind in types.items())


def choose_value(asked: ValueType | None, program: Program, data: Iterable[NDArray[Any]] = ()) -> ValueType:
    """The value type of a program.

    Args:
        asked: a type, which it is then, or None: the type that the program's text gives, or else f32 where a
            function, a number or the data need it, or else i32.
        data: the values of the inputs, as far as they are known.
    """
    if asked is not None:
        return asked
    if program.value is not None:
        return program.value
    needs_fractions = not _is_whole(program) or not all(map(_fits, data))
    return _ANY if needs_fractions else _WHOLE


def counts_to(value: ValueType, last: int) -> bool:
    """Whether a type has all whole numbers from 0 to `last`: the odd one of the last two is the first that a
    floating-point type lacks."""
    ends = np.array([max(0, last - 1), last])
    try:
        return bool((value.decode(value.encode(ends)) == ends).all())
    except InputError:
        return False


def _is_whole(program: Program) -> bool:
    """Whole numbers have every function of the program, and all of its numbers."""
    operations = _WHOLE.operations
    for statement in program.statements:
        for node in walk(statement.rhs):
            match node:
                case Div():
                    return False
                case Call() if node.function not in operations and node.function not in TYPED:
                    return False
                case Literal() if not _fits(np.asarray(node.value)):
                    return False
    return True


def _fits(values: NDArray[Any]) -> bool:
    """All are whole numbers, and none is too great."""
    if values.dtype.kind == "O":  # Python's integers beyond 64 bits.
        return False
    limit = 1 << _WHOLE.width - 1
    if values.dtype.kind not in "iub" and not np.array_equal(values, np.rint(values)):
        return False
    return not values.size or bool(-limit <= values.min().item() and values.max().item() < limit)
