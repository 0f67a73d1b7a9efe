"""Elements while a function is traced: NumPy's operators and functions on them become operations."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from samhw.nested.dataflow import ElementRead, Loop
from samhw.nested.operations import ELEMENTWISE, ElementOperation
from samhw.nested.place import user_error

__all__ = ["TracedElement"]

Record = Callable[[ElementOperation, Sequence[Any]], "TracedElement"]


class TracedElement:
    """An element that a traced function has got, or computes. It takes ``+ - * / @``, ``-x``, ``x.T``,
    ``x.sum()``, ``x.max()``, ``x.min()``, and of NumPy's functions those in `ELEMENTWISE`.

    Attributes:
        read: where it is.
        shape: of the element.
        scope: the loops around it.
    """

    def __init__(
        self, read: ElementRead, shape: tuple[int, ...], scope: tuple[Loop, ...], record: Record
    ) -> None:
        self.read = read
        self.shape = shape
        self.scope = scope
        self._record = record

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    def _apply(self, name: str, *arguments: Any) -> "TracedElement":
        return self._record(ElementOperation(name), arguments)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> "TracedElement":
        known = ufunc.__name__ in ELEMENTWISE or ufunc.__name__ == "matmul"
        if method != "__call__" or options or not known:
            functions = ", ".join(sorted(ELEMENTWISE))
            raise user_error(
                f"NumPy's {ufunc.__name__} of an element is no operation that can be traced; there are "
                f"{functions}"
            )
        return self._apply(ufunc.__name__, *inputs)

    def __add__(self, other: Any) -> "TracedElement":
        return self._apply("add", self, other)

    def __radd__(self, other: Any) -> "TracedElement":
        return self._apply("add", other, self)

    def __sub__(self, other: Any) -> "TracedElement":
        return self._apply("subtract", self, other)

    def __rsub__(self, other: Any) -> "TracedElement":
        return self._apply("subtract", other, self)

    def __mul__(self, other: Any) -> "TracedElement":
        return self._apply("multiply", self, other)

    def __rmul__(self, other: Any) -> "TracedElement":
        return self._apply("multiply", other, self)

    def __truediv__(self, other: Any) -> "TracedElement":
        return self._apply("divide", self, other)

    def __rtruediv__(self, other: Any) -> "TracedElement":
        return self._apply("divide", other, self)

    def __matmul__(self, other: Any) -> "TracedElement":
        return self._apply("matmul", self, other)

    def __rmatmul__(self, other: Any) -> "TracedElement":
        return self._apply("matmul", other, self)

    def __neg__(self) -> "TracedElement":
        return self._apply("negative", self)

    @property
    def T(self) -> "TracedElement":
        """Its axes in reverse."""
        return self._apply("transpose", self)

    def sigmoid(self) -> "TracedElement":
        """``1 / (1 + exp(-x))``."""
        return self._apply("sigmoid", self)

    def sum(self, axis: int | None = None, out: None = None, keepdims: bool = False) -> "TracedElement":
        """The sum along an axis, or of all."""
        return self._reduced("sum", axis, keepdims)

    def max(self, axis: int | None = None, out: None = None, keepdims: bool = False) -> "TracedElement":
        """The greatest along an axis, or of all."""
        return self._reduced("max", axis, keepdims)

    def min(self, axis: int | None = None, out: None = None, keepdims: bool = False) -> "TracedElement":
        """The least along an axis, or of all."""
        return self._reduced("min", axis, keepdims)

    def _reduced(self, name: str, axis: int | None, keepdims: bool) -> "TracedElement":
        if axis is not None and not -self.ndim <= axis < self.ndim:
            raise user_error(f"an element of shape {list(self.shape)} has no axis {axis}")
        front = axis if axis is None else axis % self.ndim
        return self._record(ElementOperation(name, front, keepdims), (self,))

    def __bool__(self) -> bool:
        raise user_error("what a function computes is not known while it is traced; use np.maximum or a fold")

    def __iter__(self) -> Any:
        raise user_error("an element is not taken apart; make its axis one of a list")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise user_error(
            "an element is no array while its function is traced; compute with it as it is, by NumPy's ufuncs"
        )


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an element, of an array or of a number."""
    return value.shape if isinstance(value, TracedElement) else np.shape(value)
