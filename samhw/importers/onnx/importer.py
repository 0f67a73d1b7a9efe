"""What importers of operators work with."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import helper

from samhw.graph.numerics import Float, ValueType
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
from samhw.importers.core.element_types import WHOLE, narrowest
from samhw.importers.onnx.registry import OPERATORS
from samhw.importers.onnx.values import (
    Array,
    Held,
    NodeCall,
    Operand,
    as_numbers,
    is_bool,
    is_float,
    is_whole,
    kind_of,
    limits,
)
from samhw.lang.expr import Access, Expr, Literal
from samhw.lang.functions import to

__all__ = ["NodeImporter"]


class NodeImporter(Makers):
    """Importers of operators get this first.

    Attributes:
        real: the type of floating point; None for a program that computes all in one type, integers too.
        of_integers: the model has integers and conditions alone.
        fixed: the arguments that decide what is computed, by name, and so are constants.
        notes: what is done in another way than the model says, in sentences.
        version: of the operator set of the node at hand.
    """

    def __init__(
        self,
        build: Build,
        *,
        value: ValueType | None = None,
        of_integers: bool = False,
        sparsify: float | None = None,
    ) -> None:
        super().__init__(build)
        self.real = value or build.real if isinstance(value, Float | None) else None
        build.real = self.real or build.real
        self.of_integers = of_integers
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
        kind = self.type_of(x)
        if x.fetch is None:
            if (number := uniform(array)) is not None:
                made = self.build.literal(number, array.shape)
            else:
                hints = self._hints(array, x.is_sparse)
                held = HostArray.dense(array)
                made = self.build.input(
                    ("constant", x),
                    x.name,
                    held,
                    lambda _: held,
                    hints,
                    kind=kind,
                    constant=True,
                    is_free=condition,
                )
        else:
            fetch = x.fetch

            def fetch_array(arguments: Arguments) -> HostArray:
                return HostArray.dense(as_numbers(fetch(arguments), x.name))

            example = HostArray.dense(array)
            made = self.build.input(("held", x), x.name, example, fetch_array, kind=kind, is_free=condition)
        return Value(made.modes, made.expr, condition=condition)

    def type_of(self, x: Held) -> ValueType | None:
        """The type of an input: of a constant of integers the narrowest one that has them; None for that of
        floating point.

        Raises:
            UnsupportedError: for integers that no type has.
        """
        if self.real is None or not is_whole(x.kind):
            return None
        array, ends = as_numbers(x.array), limits(x.kind)
        found = narrowest(float(array.min()), float(array.max()))
        if found is None:
            raise UnsupportedError(f"takes integers of '{x.name}' beyond 32 bits", "give smaller ones")
        return found if x.fetch is None else narrowest(ends.min, ends.max) or WHOLE

    def to(self, kind: ValueType | None, x: Operand) -> Value:
        """A value in another type: None for integers of 32 bits."""
        held = self.value(x)
        if self.real is None or isinstance(held.expr, Literal):
            return held
        return self.elementwise(lambda e: to(kind or WHOLE, e), held)

    def integers(self, x: Value, kind: ValueType) -> Value:
        """Whole numbers as a tensor of integers."""
        held = self.materialized(self.to(kind, x))
        if self.real is not None and isinstance(held.expr, Access):
            self.build.stored[held.expr.tensor].kind = kind
        return held

    def as_real(self, x: Operand) -> Value:
        """A value in floating point."""
        return self.value(x) if is_float(kind_of(x)) else self.to(self.real, x)

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

    def computed(self, make: Callable[..., Expr], *operands: Operand | float) -> Value:
        """The same as a tensor of its own, which may be used several times."""
        return self.materialized(self.elementwise(make, *operands))

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


def uniform(array: Array) -> float | None:
    """The number that all elements are."""
    if not array.size:
        return None
    first = array.reshape(-1)[0]
    return float(first) if array.size == 1 or bool((array == first).all()) else None
