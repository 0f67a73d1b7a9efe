"""The parameters of a kind: what each must be, and what it names.

A parameter that names a memory says which array that is and how it is used, so that nobody has to tell it
from the parameter's own name.
"""

from collections.abc import Callable, Mapping
from enum import Enum, StrEnum
from typing import Any, NamedTuple

from samhw.errors import InputError
from samhw.graph.numerics import ValueType, value_type

__all__ = [
    "EXTENT",
    "REPEAT",
    "RESULT",
    "SHAPE",
    "SIZE",
    "VALUE",
    "Each",
    "MemoryUse",
    "Param",
    "Params",
    "Role",
    "StoredArray",
    "are_axes",
    "are_sizes",
    "choice",
    "parameters",
    "read",
    "written",
]

Params = Mapping[str, Any]
"""A node's parameters by name: JSON values, but for value types, of which JSON has the names."""


class StoredArray(StrEnum):
    """An array of a tensor's storage."""

    POS = "pos"
    CRD = "crd"
    CNT = "cnt"
    OFF = "off"
    VALS = "vals"


class Each(Enum):
    """What a node reads words for."""

    TAKEN = "each VAL that it takes from its first input"
    GIVEN = "each VAL that it gives; its outputs are in lockstep"
    HELD = "nothing off chip: these are a few words, which stay on chip wherever the tensor lies"


class MemoryUse(NamedTuple):
    """What a node does with a memory."""

    array: StoredArray
    """Which array the memory is."""
    reads: int = 0
    """Words that it reads at a time; 0 if it writes the memory, word by word."""
    each: Each | None = None
    """When it reads them."""

    @property
    def written(self) -> bool:
        """The node writes the memory."""
        return self.reads == 0

    @property
    def may_lie_off_chip(self) -> bool:
        """It is more than a few words."""
        return self.each is not Each.HELD


class Role(Enum):
    """What a parameter is for, where others than the kind itself have to know."""

    EXTENT = "names an index whose extent the node needs"
    REPEAT = "names a repeat of the sequence whose step the node needs"
    OPERAND = "is the type of the values that come in"
    RESULT = "is the type of the values that go out"
    BANKS = "is the number of banks of its accumulators"
    SHAPE = "is the shape of its blocks of values"
    IMMEDIATES = "has the numbers that stand in the place of streams, by operand"
    WIDTHS = "has the widths of its accumulators' coordinates"


class Param(NamedTuple):
    """One parameter of a kind: what it must be, in words and as a test."""

    expected: str
    accepts: Callable[[object], bool]
    optional: bool = False
    role: MemoryUse | Role | None = None

    def read(self, given: Any) -> Any:
        """What a node has for what a caller or a JSON text gives: a value type for its name, a list for a
        tuple."""
        if self.role in (Role.OPERAND, Role.RESULT) and not isinstance(given, ValueType):
            return value_type(given)
        return list(given) if isinstance(given, tuple) else given


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_value_type(value: object) -> bool:
    try:
        return isinstance(value, ValueType) or (isinstance(value, str) and bool(value_type(value)))
    except InputError:
        return False


_A_TYPE = "a value type, such as 'i32', 'fixed<16,8>' or 'f32'"

EXTENT = Param("a name", _is_name, role=Role.EXTENT)
"""The index whose extent a node needs."""

REPEAT = Param("a name", _is_name, role=Role.REPEAT)
"""The repeat whose step a node needs."""

VALUE = Param(_A_TYPE, _is_value_type, optional=True, role=Role.OPERAND)
"""The type of a node's values, if it is not the graph's."""

RESULT = Param(_A_TYPE, _is_value_type, optional=True, role=Role.RESULT)
"""The type of the values that a node gives, if it is not that of those which it takes."""


def are_sizes(sizes: object) -> bool:
    """A list of sizes, which may be empty."""
    return isinstance(sizes, list | tuple) and all(type(size) is int and size >= 1 for size in sizes)


def are_axes(axes: object) -> bool:
    """A list of numbers of axes, each at most once."""
    if not isinstance(axes, list | tuple):
        return False
    return all(type(axis) is int and axis >= 0 for axis in axes) and len({*axes}) == len(axes)


SHAPE = Param("a list of sizes of 1 or more", are_sizes, optional=True, role=Role.SHAPE)
"""The shape of a node's payloads, if they are blocks of several values."""


def read(array: StoredArray, words: int, each: Each) -> Param:
    """A memory that a node reads: this many words at a time."""
    return Param("a name", _is_name, role=MemoryUse(array, words, each))


def written(array: StoredArray) -> Param:
    """A memory that a node writes."""
    return Param("a name", _is_name, role=MemoryUse(array))


SIZE = Param("a whole number of 1 or more", lambda value: type(value) is int and value >= 1)
"""A size that is fixed when a design is made."""


def choice(*names: str) -> Param:
    """A parameter that is one of the names."""
    return Param(f"one of {', '.join(names)}", lambda value: value in names)


def parameters(**params: Param) -> Mapping[str, Param]:
    """The parameters of a kind, by name."""
    return params
