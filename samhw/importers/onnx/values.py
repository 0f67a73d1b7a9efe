"""Tensors of a network: what the host holds, and what hardware computes, with their types in ONNX."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper

from samhw.errors import InputError
from samhw.importers.core import Arguments, Value

__all__ = [
    "Array",
    "Held",
    "NodeCall",
    "Operand",
    "Typed",
    "is_bool",
    "is_float",
    "is_short",
    "is_whole",
    "kind_name",
    "kind_of",
    "limits",
]

Array = npt.NDArray[Any]

_FLOATS = frozenset(
    {
        *(TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16),
        *(TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2, TensorProto.FLOAT4E2M1),
        *(TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2FNUZ),
    }
)
_WHOLE = frozenset(
    {
        *(TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64),
        *(TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64),
        *(TensorProto.INT2, TensorProto.UINT2, TensorProto.INT4, TensorProto.UINT4),
    }
)


def is_float(kind: int) -> bool:
    """Whether it is a type of floating point that a program can hold."""
    return kind in _FLOATS


def is_whole(kind: int) -> bool:
    """Whether it is a type of integers."""
    return kind in _WHOLE


def is_short(kind: int) -> bool:
    """Whether it is a type of integers of at most 16 bits, which are data; longer ones are places and
    sizes."""
    return is_whole(kind) and limits(kind).bits <= 16


def limits(kind: int) -> Any:
    """The least and the greatest number of a type of integers, and its bits."""
    return ml_dtypes.iinfo(helper.tensor_dtype_to_np_dtype(kind))  # type: ignore[no-untyped-call]


def is_bool(kind: int) -> bool:
    """Whether it is the type of conditions."""
    return kind == TensorProto.BOOL


def kind_name(kind: int) -> str:
    """A type's name in sentences: `float16`."""
    return TensorProto.DataType.Name(kind).lower() if kind else "no tensor"


@dataclass(frozen=True, eq=False)
class Held:
    """A tensor that the host holds: a constant, an argument, or what is computed of these before a run.

    Attributes:
        array: what it is for the example data.
        name: what an input of it is called after.
        fetch: gives it for the data of a run; None if it is the same in every run.
        sources: the arguments that it depends on.
        is_sparse: a constant that the model stores by its nonzeros.
    """

    array: Array
    name: str
    fetch: Callable[[Arguments], Array] | None = None
    sources: frozenset[str] = frozenset()
    is_sparse: bool = False

    @property
    def kind(self) -> int:
        """Its type in ONNX."""
        if self.array.dtype.kind in "OSU":
            return int(TensorProto.STRING)
        return int(helper.np_dtype_to_tensor_dtype(self.array.dtype))

    def of(self, arguments: Arguments) -> Array:
        """It for the data of a run."""
        return self.array if self.fetch is None else self.fetch(arguments)


@dataclass(frozen=True)
class Typed(Value):
    """A value that hardware computes, with its type in ONNX."""

    kind: int = int(TensorProto.FLOAT)


Operand = Value | Held
"""What a node takes."""


def kind_of(x: Operand | None) -> int:
    """An operand's type in ONNX; of a value within an operator, that of floating point."""
    if x is None:
        return 0
    return x.kind if isinstance(x, Held | Typed) else int(TensorProto.FLOAT)


@dataclass
class NodeCall:
    """A node at hand.

    Attributes:
        operator: its name, with its domain if that is not ONNX's own.
        version: of the operator set.
        attributes: as Python has them.
        wanted: of each output, whether it has a name.
        sums: of each operand, whether it is a sum of products that nothing else reads.
    """

    operator: str
    version: int = 0
    attributes: dict[str, Any] = field(default_factory=dict)
    wanted: Sequence[bool] = (True,)
    sums: Sequence[bool] = ()

    @property
    def outputs(self) -> int:
        """How many there are."""
        return len(self.wanted)

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        return self.attributes.get(name, default)


def as_numbers(array: Array, name: str = "") -> Array:
    """An array in a type that is loaded: floating point as f32, and conditions as numbers.

    Raises:
        InputError: for numbers that f32 does not hold.
    """
    if array.dtype == np.float64:
        with np.errstate(over="ignore"):
            found = array.astype(np.float32)
        if not np.array_equal(np.isinf(found), np.isinf(array)):
            raise InputError(f"'{name}' has numbers beyond those of f32; scale them.")
        return found
    kind = int(helper.np_dtype_to_tensor_dtype(array.dtype))
    if is_float(kind):
        return array.astype(np.float32)
    if array.dtype == np.uint64 and array.size and int(array.max()) >= 1 << 63:
        raise InputError(f"'{name}' has integers of 64 bits without a sign; give smaller ones.")
    return array.astype(np.int64) if is_whole(kind) or is_bool(kind) else array
