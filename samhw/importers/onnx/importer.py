"""What importers of operators work with."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import helper

from samhw.importers.core import (
    NO_HINTS,
    Arguments,
    Build,
    Hints,
    HostArray,
    Makers,
    UnsupportedError,
    Value,
    contract,
    rows_of,
)
from samhw.importers.onnx.registry import OPERATORS
from samhw.importers.onnx.values import Array, Held, NodeCall, Operand, as_numbers, is_bool, is_whole, kind_of
from samhw.lang.expr import Expr

__all__ = ["FractionError", "NodeImporter"]


class FractionError(UnsupportedError):
    """What integers alone cannot compute: the network is imported in floating point instead."""


class NodeImporter(Makers):
    """Importers of operators get this first.

    Attributes:
        integer: the program computes with integers alone.
        of_integers: the model does, whatever the program computes it with.
        fixed: the arguments that decide what is computed, by name, and so are constants.
        notes: what is done in another way than the model says, in sentences.
        version: of the operator set of the node at hand.
    """

    def __init__(
        self, build: Build, *, integer: bool, of_integers: bool = False, sparsify: float | None = None
    ) -> None:
        super().__init__(build)
        self.integer, self.of_integers = integer, of_integers
        self.fixed: dict[str, None] = {}
        self.notes: dict[str, None] = {}
        self.version = 0
        self._sparsify = sparsify

    # Operands

    def value(self, x: Operand | float | UnsupportedError | None) -> Value:
        """Any operand as a value."""
        if isinstance(x, Held):
            return self._held(x)
        if isinstance(x, Value):
            return self.build.resolve(x)
        if isinstance(x, int | float):
            return self.build.literal(float(x))
        if isinstance(x, UnsupportedError):
            raise x
        raise UnsupportedError("lacks an operand", "mend the model")

    def _held(self, x: Held) -> Value:
        array, condition = as_numbers(x.array, x.name), is_bool(x.kind)
        if not array.size:
            raise UnsupportedError(
                f"takes a tensor without elements, of the shape {x.array.shape}", "leave it out"
            )
        if not self.integer and is_whole(x.kind) and bool((np.abs(array) > 1 << 24).any()):
            self.note(f"Integers of '{x.name}' beyond 2^24 are rounded to f32.")
        if x.fetch is None:
            if (number := uniform(array)) is not None:
                made = self.build.literal(number, array.shape)
            else:
                hints = self._hints(array, x.is_sparse)
                held = HostArray.dense(array)
                made = self.build.input(("constant", x), x.name, held, lambda _: held, hints, constant=True)
        else:
            fetch = x.fetch

            def fetch_array(arguments: Arguments) -> HostArray:
                return HostArray.dense(as_numbers(fetch(arguments), x.name))

            made = self.build.input(("held", x), x.name, HostArray.dense(array), fetch_array)
        return Value(made.modes, made.expr, condition=condition)

    def _hints(self, array: Array, is_sparse: bool) -> Hints:
        """A constant with this share of zeros is stored by its nonzeros."""
        zeros = 1 - np.count_nonzero(array) / max(1, array.size)
        if array.ndim > 1 and (is_sparse or (self._sparsify is not None and zeros >= self._sparsify)):
            return Hints(rows_of(array.shape))
        return NO_HINTS

    def constant(self, array: Array, name: str, hints: Hints = NO_HINTS) -> Value:
        """An input that has the same data in every run."""
        return self.build.constant(HostArray.dense(array), name, hints)

    def shape(self, x: Operand) -> tuple[int, ...]:
        """An operand's shape."""
        return x.array.shape if isinstance(x, Held) else self.build.shape(x)

    def decided(self, x: Operand | None, what: str = "numbers") -> Array:
        """What an operand is, where that decides what is computed; an argument is fixed by that.

        Raises:
            UnsupportedError: for what hardware computes.
        """
        if not isinstance(x, Held):
            raise UnsupportedError(
                f"takes {what} that the network computes", "make it a constant, or an input of its own"
            )
        if x.array.size:
            self.fixed.update(dict.fromkeys(sorted(x.sources)))
        return x.array

    def ints(self, x: Operand | None, what: str = "sizes or axes") -> list[int]:
        """Whole numbers that decide what is computed."""
        return [int(n) for n in self.decided(x, what).reshape(-1)]

    def number(self, x: Operand | None) -> float | None:
        """The number that a constant is all over; None for anything else."""
        return uniform(as_numbers(x.array)) if isinstance(x, Held) and x.fetch is None else None

    # Values

    def materialized(self, x: Operand | float) -> Value:
        """A value that is a tensor or a number by itself, and may be used several times."""
        return self.tensors.materialized(self.value(x))

    def elementwise(
        self, make: Callable[..., Expr], *operands: Operand | float, condition: bool = False
    ) -> Value:
        """What `make` makes of the operands' expressions, broadcast as ONNX does; Python's numbers stay
        numbers."""
        given = [x if isinstance(x, int | float) else self.value(x) for x in operands]
        return self.operations.elementwise(make, *given, condition=condition)

    def contract(
        self, equation: str, *operands: Operand, reduction: str = "sum", by_first: bool = False
    ) -> Value:
        """An einsum."""
        values = [self.value(x) for x in operands]
        return contract(self.tensors, equation, *values, reduction=reduction, by_first=by_first)

    def call(self, name: str, *operands: Operand | None, **attributes: Any) -> Any:
        """What another operator gives, in the newest version that is read."""
        return OPERATORS[name](self, NodeCall(name, self.version, attributes), *operands)

    def empty(self, shape: Sequence[int], like: Operand) -> Held:
        """A tensor without elements."""
        dtype = helper.tensor_dtype_to_np_dtype(kind_of(like))
        return Held(np.zeros(tuple(shape), dtype), "empty")

    def note(self, sentence: str) -> None:
        """Says what is done in another way than the model says."""
        self.notes.setdefault(sentence)

    def need_fractions(self, *operands: Operand | None) -> None:
        """Raises `FractionError` in a program of integers alone."""
        if self.integer:
            raise FractionError("computes with fractions", "give it floating-point data")


def uniform(array: Array) -> float | None:
    """The number that all elements are."""
    if not array.size:
        return None
    first = array.reshape(-1)[0]
    return float(first) if array.size == 1 or bool((array == first).all()) else None
