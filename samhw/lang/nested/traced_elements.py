"""Elements while a function is traced: NumPy's operators and functions on them become operations."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from samhw.lang.nested.dataflow import ElementRead, Loop
from samhw.lang.nested.traced_operations import ELEMENTWISE, TRUTHS, ElementOperation
from samhw.lang.nested.untraced import Untraced, user_error

__all__ = ["TracedCondition", "TracedElement", "shape_of"]

Record = Callable[[ElementOperation, Sequence[Any]], "TracedElement"]

_EXPONENTS = range(1, 17)
"""Of powers that are products."""


class TracedElement(Untraced):
    """An element that a traced function has got, or computes. It takes ``+ - * / @``, ``-x``, ``abs(x)``,
    ``x ** 2``, comparisons, ``x.T``, ``x.sum()``, ``x.mean()``, ``x.max()``, ``x.min()``, ``x.clip(a, b)``,
    and of NumPy's functions `np.where` and those in `ELEMENTWISE`.

    Attributes:
        read: where it is.
        shape: of the element.
        scope: the loops around it.
    """

    offered = (
        "elements have + - * / @, ** with a number, abs, comparisons for np.where, T, sum, mean, max, min, "
        "clip, and NumPy's functions such as np.maximum"
    )

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

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise user_error("an element that is one number has no length")
        return self.shape[0]

    def apply(self, name: str, *arguments: Any) -> "TracedElement":
        """What an operation of `ELEMENTWISE`, or a product, gives."""
        return self._record(ElementOperation(name), arguments)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        name = ".".join([ufunc.__name__, *([method] if method != "__call__" else []), *options])
        if name == ufunc.__name__:
            if name in _COMPARISONS:
                return _compared(name, *inputs)
            if name == "square":
                return self**2
            if name == "power" and inputs[0] is self:
                return self ** inputs[1]
            if name in _FUNCTIONS:
                return self.apply(name, *inputs)
        functions = ", ".join(sorted(_FUNCTIONS))
        raise user_error(
            f"NumPy's {name} of an element is no operation that can be traced; there are {functions}"
        )

    def __array_function__(
        self, function: Any, types: Any, inputs: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        if function is np.where and len(inputs) == 3:
            condition, *others = inputs
            return self.apply("where", _number_of(condition), *others)
        # As if this method were not there: NumPy's own functions call those of the element.
        return function.__wrapped__(*inputs, **options)

    def __add__(self, other: Any) -> "TracedElement":
        return self.apply("add", self, other)

    def __radd__(self, other: Any) -> "TracedElement":
        return self.apply("add", other, self)

    def __sub__(self, other: Any) -> "TracedElement":
        return self.apply("subtract", self, other)

    def __rsub__(self, other: Any) -> "TracedElement":
        return self.apply("subtract", other, self)

    def __mul__(self, other: Any) -> "TracedElement":
        return other * self if isinstance(other, TracedCondition) else self.apply("multiply", self, other)

    def __rmul__(self, other: Any) -> "TracedElement":
        return self.apply("multiply", other, self)

    def __truediv__(self, other: Any) -> "TracedElement":
        return self.apply("divide", self, other)

    def __rtruediv__(self, other: Any) -> "TracedElement":
        return self.apply("divide", other, self)

    def __matmul__(self, other: Any) -> "TracedElement":
        return self.apply("matmul", self, other)

    def __rmatmul__(self, other: Any) -> "TracedElement":
        return self.apply("matmul", other, self)

    def __pow__(self, exponent: Any) -> "TracedElement":
        """A product of this many factors; the root, for 0.5."""
        if isinstance(exponent, int | float | np.number):
            if exponent == 0.5:
                return self.apply("sqrt", self)
            if exponent in _EXPONENTS:
                return reduce(lambda one, other: one * other, [self] * int(exponent))
        raise user_error(
            f"the exponent of an element is a number, 0.5 or a whole one from 1 to {_EXPONENTS[-1]}; write "
            "any other power as np.exp(exponent * np.log(x))"
        )

    def __neg__(self) -> "TracedElement":
        return self.apply("negative", self)

    def __pos__(self) -> "TracedElement":
        return self

    def __abs__(self) -> "TracedElement":
        return self.apply("absolute", self)

    def __lt__(self, other: Any) -> "TracedCondition":
        return _compared("less", self, other)

    def __le__(self, other: Any) -> "TracedCondition":
        return _compared("less_equal", self, other)

    def __gt__(self, other: Any) -> "TracedCondition":
        return _compared("greater", self, other)

    def __ge__(self, other: Any) -> "TracedCondition":
        return _compared("greater_equal", self, other)

    def __eq__(self, other: Any) -> "TracedCondition":  # type: ignore[override]
        return _compared("equal", self, other)

    def __ne__(self, other: Any) -> "TracedCondition":  # type: ignore[override]
        return _compared("not_equal", self, other)

    __hash__ = Untraced.__hash__

    @property
    def T(self) -> "TracedElement":
        """Its axes in reverse."""
        return self.apply("transpose", self)

    def transpose(self, axes: None = None) -> "TracedElement":
        """Its axes in reverse."""
        return self.T if axes is None else self._refused()

    def round(self, decimals: int = 0, out: None = None) -> "TracedElement":
        """The nearest whole numbers; of two, the even ones."""
        return self._refused() if decimals else self.apply("rint", self)

    def sigmoid(self) -> "TracedElement":
        """``1 / (1 + exp(-x))``."""
        return self.apply("sigmoid", self)

    def clip(self, min: Any = None, max: Any = None, out: None = None) -> "TracedElement":
        """It between bounds, either of which may be None."""
        found = self if min is None else self.apply("maximum", self, min)
        return found if max is None else self.apply("minimum", found, max)

    def sum(self, axis: int | None = None, keepdims: bool = False, **others: Any) -> "TracedElement":
        """The sum along an axis, or of all."""
        return self._reduced("sum", axis, keepdims, others)

    def mean(self, axis: int | None = None, keepdims: bool = False, **others: Any) -> "TracedElement":
        """The mean along an axis, or of all."""
        total = self._reduced("sum", axis, keepdims, others)
        return total / (self.size if axis is None else self.shape[axis])

    def max(self, axis: int | None = None, keepdims: bool = False, **others: Any) -> "TracedElement":
        """The greatest along an axis, or of all."""
        return self._reduced("max", axis, keepdims, others)

    def min(self, axis: int | None = None, keepdims: bool = False, **others: Any) -> "TracedElement":
        """The least along an axis, or of all."""
        return self._reduced("min", axis, keepdims, others)

    def _reduced(
        self, name: str, axis: int | None, keepdims: bool, others: Mapping[str, Any]
    ) -> "TracedElement":
        if any(value is not None for value in others.values()):
            raise user_error(f"{name} of an element takes axis and keepdims, not {', '.join(others)}")
        if axis is not None and not (isinstance(axis, int) and -self.ndim <= axis < self.ndim):
            raise user_error(f"an element of shape {list(self.shape)} has no axis {axis}")
        front = axis if axis is None else axis % self.ndim
        return self._record(ElementOperation(name, front, keepdims), (self,))


class TracedCondition(Untraced):
    """A comparison of elements: what `np.where` chooses by, or a factor. ``& | ~`` join conditions. It is no
    number, since NumPy does not add truths up.

    Attributes:
        truth: 1 where it holds, else 0.
    """

    offered = "a comparison goes into np.where, & | ~, or a product; np.where(x > 0, 1, 0) is a number"

    def __init__(self, truth: TracedElement) -> None:
        self.truth = truth

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        name = ufunc.__name__
        if method == "__call__" and not options:
            if name in ("invert", "logical_not"):
                return ~self
            if name in _JOINED:
                one, other = inputs
                return self._joined(_JOINED[name], one, other)
            if name == "multiply":
                one, other = inputs
                return self * (other if one is self else one)
        return self._refused()

    def __array_function__(
        self, function: Any, types: Any, inputs: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        return self.truth.__array_function__(function, types, inputs, options)

    def __and__(self, other: Any) -> "TracedCondition":
        return self._joined("multiply", self, other)

    def __or__(self, other: Any) -> "TracedCondition":
        return self._joined("maximum", self, other)

    def __rand__(self, other: Any) -> "TracedCondition":
        return self._joined("multiply", other, self)

    def __ror__(self, other: Any) -> "TracedCondition":
        return self._joined("maximum", other, self)

    def __invert__(self) -> "TracedCondition":
        return TracedCondition(self.truth.apply("equal", self.truth, 0))

    def __mul__(self, other: Any) -> TracedElement:
        if _is_condition(other):
            raise user_error("two conditions are joined by &, as in (x > 0) & (x < 1)")
        return self.truth.apply("multiply", self.truth, other)

    __rmul__ = __mul__

    def _joined(self, name: str, one: Any, other: Any) -> "TracedCondition":
        for value in (one, other):
            if not _is_condition(value):
                self._refused()
        return TracedCondition(self.truth.apply(name, _number_of(one), _number_of(other)))


_COMPARISONS = {"less", "less_equal", "equal", "greater", "greater_equal", "not_equal"}

_JOINED = {
    **dict.fromkeys(("bitwise_and", "logical_and"), "multiply"),
    **dict.fromkeys(("bitwise_or", "logical_or"), "maximum"),
}
"""What joins conditions, by NumPy's function."""

_FUNCTIONS = {*ELEMENTWISE, "matmul"} - {*TRUTHS, "where", "sigmoid"}
"""NumPy's functions that become operations."""


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an element, of an array or of a number."""
    return value.shape if isinstance(value, TracedElement) else np.shape(value)


def _compared(name: str, one: Any, other: Any) -> TracedCondition:
    """A comparison by NumPy's name for it, of which one side at least is an element."""
    if name.startswith("greater"):
        return _compared(name.replace("greater", "less"), other, one)
    if name == "not_equal":
        return ~_compared("equal", one, other)
    element = one if isinstance(one, TracedElement) else other
    return TracedCondition(element.apply(name, one, other))


def _is_condition(value: Any) -> bool:
    return isinstance(value, TracedCondition | bool | np.bool_) or (
        isinstance(value, np.ndarray) and value.dtype == bool
    )


def _number_of(value: Any) -> Any:
    """The 1 or 0 of a condition; anything else as it is."""
    return value.truth if isinstance(value, TracedCondition) else value
