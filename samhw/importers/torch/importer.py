"""What importers of operators work with: the program in the making, and values that conditions leave out."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import torch
from torch import Tensor

from samhw.importers.core import (
    GREATEST_MASKED,
    NO_HINTS,
    Arguments,
    Build,
    Hints,
    HostArray,
    Makers,
    Operations,
    Tensors,
    UnsupportedError,
    Value,
    rows_of,
    scaled,
)
from samhw.importers.torch import host
from samhw.importers.torch.host import is_finite_number
from samhw.importers.torch.operands import Operand, Operands
from samhw.importers.torch.registry import DECOMPOSED, OPERATORS
from samhw.importers.torch.value import Host, Known
from samhw.lang.expr import Access, Expr, Literal
from samhw.lang.functions import eq

__all__ = ["Importer", "Masks"]


# Conditions, and values that are -inf where a condition does not hold.


@dataclass
class Masks:
    """Makes masks of conditions.

    Attributes:
        greatest: what is no greater than this counts as -inf.
        took_number: a finite number has counted so.
    """

    operands: Operands
    tensors: Tensors
    operations: Operations
    greatest: float = GREATEST_MASKED
    took_number: bool = False

    def is_condition(self, x: Operand) -> bool:
        """Whether it has the values of conditions."""
        if isinstance(x, Value):
            return x.condition
        return isinstance(x, Known | Host) and bool(x.example.dtype == torch.bool)

    def condition(self, x: Operand) -> Operand:
        """The operand, if it has the values of conditions."""
        if not self.is_condition(x):
            raise UnsupportedError("goes through the bits of numbers", "use it on conditions, such as x > 0")
        return x

    def negated(self, condition: Operand) -> Operand:
        """The opposite of a condition."""
        if isinstance(condition, Known | Host):
            return host.mapped(condition, lambda tensor: ~tensor.bool())
        return self.operations.elementwise(lambda c: eq(c, 0), self.operands.value(condition), condition=True)

    def masked(self, x: Operand, condition: Operand) -> Value:
        """The value where a condition holds, -inf elsewhere."""
        if isinstance(condition, Known | Host):
            condition = self._mask_input(condition)
        if isinstance(condition, Value) and isinstance(condition.expr, Literal):
            if condition.expr.value:
                return self.operations.elementwise(lambda e, _: e, self.operands.value(x), condition)
            raise UnsupportedError("masks everything", "leave some points of each row")
        mask = self.tensors.materialized(self.operands.value(condition))
        modes, (expr, access), before = self.operations.broadcast([self.operands.value(x), mask])
        assert isinstance(access, Access)
        both = self.operations.mask_product([m for m in (before, access) if m is not None])
        return Value(modes, expr, both)

    def _mask_input(self, condition: Known | Host) -> Value:
        """A mask as a sparse input."""
        key = ("mask", condition.key)
        if isinstance(condition, Known):
            tensor = condition.dense().bool().float()
            if (number := host.uniform(tensor)) is not None:
                return self.operands.build.literal(number, tensor.shape)
            hints = Hints(rows_of(tensor.shape))
            return self.operands.input(key, condition.name, tensor, lambda _: tensor, hints)
        held = host.mapped(condition, lambda tensor: tensor.bool().float())
        hints = Hints(rows_of(held.example.shape))
        return self.operands.input(key, condition.name, held.example, held.fetch, hints)

    def unmasked_sum(self, a: Operand, b: Operand) -> tuple[Operand, Operand]:
        """Two summands; where one is a tensor that is -inf at places, the other one under a mask, and the
        rest."""
        for x, other in ((a, b), (b, a)):
            if not isinstance(x, Known | Host) or self.is_condition(x):
                continue
            example = x.example
            if not example.is_floating_point() or not bool((example <= self.greatest).any()):
                continue
            self.took_number |= bool(((example <= self.greatest) & example.isfinite()).any())
            keep = host.mapped(x, lambda tensor: tensor > self.greatest)
            rest = host.mapped(x, lambda tensor: torch.where(tensor > self.greatest, tensor, 0.0))
            return self.masked(other, keep), rest
        return a, b

    def apart(self, x: Operand) -> tuple[Operand, Operand]:
        """A value without its mask, and where it is not -inf: a condition in its shape."""
        if not isinstance(x, Value) or x.mask is None:
            return x, Known(torch.ones(()).expand(self.operands.shape(x)), "shown")
        x = self.operands.build.resolve(x)
        assert x.mask is not None
        shown = Value(x.modes, x.mask, condition=True)
        return Value(x.modes, x.expr, condition=x.condition), shown

    def is_minus_infinity(self, x: Operand) -> bool:
        """Whether it is so small that its exponential is zero beside any other."""
        number: object = x
        if isinstance(x, Known) and x.held is None:
            number = host.uniform(x.dense())
        if not isinstance(number, int | float) or not number <= self.greatest:  # Nor is NaN any.
            return False
        self.took_number |= isfinite(number)
        return True


class Importer(Makers):
    """Importers of operators get this first, and the operator's arguments after it.

    A tensor is a `Value` that the hardware computes, a `Known` or a `Host`; `value` makes a `Value` of any.

    Attributes:
        operands: tensors of PyTorch and numbers, as values.
        masks: conditions, and what they mask.
        operator: the name of the operator at hand: `aten.linear`.
    """

    def __init__(
        self,
        build: Build,
        sparsify: float | None = None,
        inlined: Callable[..., Any] | None = None,
        *,
        is_exact: bool = False,
    ) -> None:
        """
        Args:
            inlined: makes what a function in PyTorch says of operands.
            is_exact: finite numbers never count as -inf.
        """
        super().__init__(build)
        self.operands = Operands(build, sparsify)
        self.masks = Masks(
            self.operands, self.tensors, self.operations, -inf if is_exact else GREATEST_MASKED
        )
        self.inlined = inlined
        self.operator = ""

    def value(self, x: Operand) -> Value:
        """Any operand as a value."""
        return self.operands.value(x)

    def integers(self, x: Operand) -> Value:
        """An operand of integers, which keep their type; any other one as a value."""
        if not isinstance(x, Known | Host) or x.example.is_floating_point() or x.example.dtype == torch.bool:
            return self.value(x)
        fetch = x.fetch

        def fetch_array(arguments: Arguments) -> HostArray:
            return host.array_of(fetch(arguments))

        hints = Hints(host.format_of(x.example, x.annotation, self.operands.sparsify))
        return self.quantised.integers(
            x.key, x.name, host.array_of(x.example), fetch_array, hints, constant=isinstance(x, Known)
        )

    def real(self, x: Value) -> Value:
        """Integers of a type of their own as real numbers, and any other value as it is."""
        form = scaled(self.build, self.build.resolve(x).expr)
        return x if form is None or form.is_real else self.quantised.dequantise(x, 1)

    def shape(self, x: Operand) -> list[int]:
        """As in PyTorch."""
        return self.operands.shape(x)

    def constant(self, held: Tensor, name: str, hints: Hints = NO_HINTS) -> Value:
        """An input that has the same data in every run."""
        return self.operands.constant(held, name, hints)

    def materialized(self, x: Operand) -> Value:
        """A value that is a tensor or a number by itself, and may be used several times."""
        return self.tensors.materialized(self.value(x))

    def elementwise(self, make: Callable[..., Expr], *operands: Operand, condition: bool = False) -> Value:
        """What `make` makes of the operands' expressions, broadcast as PyTorch does; finite numbers stay
        numbers.

        Args:
            condition: the result has the values 0 and 1 only.
        """
        given = [x if is_finite_number(x) else self.value(x) for x in operands]
        return self.operations.elementwise(make, *given, condition=condition)

    def add(self, a: Operand, b: Operand, factor: float = 1) -> Value:
        """The sum, the second operand times a number."""
        if isinstance(b, Known) and b.held is None and host.uniform(b.dense()) == 0:
            one, other = self.shape(a), self.shape(b)
            rank = max(len(one), len(other))
            padded = [[1] * (rank - len(sizes)) + sizes for sizes in (one, other)]
            return self.views.expand(self.value(a), [max(x, y) for x, y in zip(*padded, strict=True)])
        return self.elementwise(lambda x, y: x + (y if factor == 1 else y * factor), a, b)

    def add_to_sum(self, x: Value, term: Operand, factor: float = 1) -> Value:
        """A sum of products and another term, in the statement of the sum if nobody has read that."""
        return self.operations.fused_term(x, self.add(x, term, factor))

    def call(self, name: str, *operands: object) -> Any:
        """What another operator of PyTorch gives, by its name in `torch.ops.aten`.

        Raises:
            UnsupportedError: for one that has no importer of its own.
        """
        if (handler := OPERATORS.get(f"aten.{name}")) is not None:
            return handler(self, *operands)
        if (function := DECOMPOSED.get(f"aten.{name}")) is None or self.inlined is None:
            raise UnsupportedError(f"calls '{name}', which no importer knows as a whole", "call its parts")
        like = torch.utils._pytree.tree_map(self._like, operands)
        return self.inlined(function, (like, {}), (operands, {}))

    def _like(self, x: object) -> object:
        """A tensor of its shape that takes no room, for a tensor."""
        if isinstance(x, Known | Host):
            return torch.zeros((), dtype=x.example.dtype).expand(x.example.shape)
        return torch.zeros(()).expand(self.shape(x)) if isinstance(x, Value) else x

    @property
    def places_of_extremes(self) -> UnsupportedError:
        """Those of the greatest or the least elements, which nothing in the hardware finds yet."""
        return self.missing("the places of extremes", "look for them after the run")

    def missing(self, what: str, way_out: str) -> UnsupportedError:
        """A result that is not there, but may be asked for."""
        return UnsupportedError(f"gives {what}, for which there is no hardware yet", way_out)
