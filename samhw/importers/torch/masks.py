"""Conditions, and values that are -inf where a condition does not hold."""

from dataclasses import dataclass

import torch

from samhw.importers.core import GREATEST_MASKED, Hints, Operations, Tensors, UnsupportedError, Value, rows_of
from samhw.importers.torch import host
from samhw.importers.torch.operands import Operand, Operands
from samhw.importers.torch.value import Host, Known
from samhw.lang.expr import Access, Literal
from samhw.lang.functions import eq

__all__ = ["Masks"]


@dataclass
class Masks:
    """Makes masks of conditions."""

    operands: Operands
    tensors: Tensors
    operations: Operations

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
            if not example.is_floating_point() or not bool((example <= GREATEST_MASKED).any()):
                continue
            keep = host.mapped(x, lambda tensor: tensor > GREATEST_MASKED)
            rest = host.mapped(x, lambda tensor: torch.where(tensor > GREATEST_MASKED, tensor, 0.0))
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
        if isinstance(x, int | float):
            return x <= GREATEST_MASKED
        if isinstance(x, Known) and x.held is None:
            number = host.uniform(x.dense())
            return number is not None and number <= GREATEST_MASKED
        return False
