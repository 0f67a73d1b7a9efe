"""The operations on elements: what a function that is mapped or folded may compute."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from samhw.lang.nested.evaluated_lists import sigmoid

__all__ = ["ELEMENTWISE", "REDUCTIONS", "TRUTHS", "ElementOperation"]

TRUTHS = ("less", "less_equal", "equal")
"""Comparisons, which give 1 or 0."""

ELEMENTWISE: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("add", "subtract", "multiply", "divide", "negative")},
    **{name: getattr(np, name) for name in ("maximum", "minimum", "exp", "log", "sqrt", "tanh", "absolute")},
    **{name: getattr(np, name) for name in ("rint", "sin", "cos", *TRUTHS, "where")},
    "sigmoid": sigmoid,
}
"""What is computed of each number, or of several, which NumPy broadcasts."""

REDUCTIONS = ("sum", "max", "min")
"""Methods of arrays that reduce an axis, or all."""


@dataclass(frozen=True)
class ElementOperation:
    """An operation of NumPy.

    Attributes:
        name: one of `ELEMENTWISE` or `REDUCTIONS`, ``"matmul"`` or ``"transpose"``.
        axis: that a reduction takes, counted from the front; None for all.
        keepdims: whether the reduced axis stays, with extent 1.
    """

    name: str
    axis: int | None = None
    keepdims: bool = False

    def __call__(self, *arguments: Any) -> Any:
        """What it gives, by NumPy."""
        if self.name in ELEMENTWISE:
            return ELEMENTWISE[self.name](*arguments)
        if self.name == "matmul":
            return np.matmul(*arguments)
        if self.name == "transpose":
            return arguments[0].T
        return getattr(arguments[0], self.name)(axis=self.axis, keepdims=self.keepdims)

    def shape(self, *shapes: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of what it gives. Raises ValueError for operands that do not fit."""
        if self.name in ELEMENTWISE:
            return np.broadcast_shapes(*shapes)
        if self.name == "matmul":
            return _product_shape(*shapes)
        (shape,) = shapes
        if self.name == "transpose":
            return shape[::-1]
        if self.axis is None:
            return (1,) * len(shape) if self.keepdims else ()
        if self.axis >= len(shape):
            raise ValueError(f"{self.name} along axis {self.axis} of an element with {len(shape)} axes")
        kept = (1,) if self.keepdims else ()
        return (*shape[: self.axis], *kept, *shape[self.axis + 1 :])

    def __str__(self) -> str:
        if self.name not in REDUCTIONS or self.axis is None:
            return self.name
        return f"{self.name}[{self.axis}]"


def _product_shape(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    if not 1 <= len(one) <= 2 or not 1 <= len(other) <= 2 or one[-1] != other[0]:
        raise ValueError(f"a product of {list(one)} and {list(other)}, whose inner extents differ")
    return (*one[:-1], *other[1:])
