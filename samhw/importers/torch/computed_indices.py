"""Indices that the hardware computes, as matrices with a one for each index: comparisons with all places."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import torch

from samhw.importers.core import Operations, Tensors, Value, contract
from samhw.importers.torch.operands import Operand, Operands
from samhw.importers.torch.value import Known
from samhw.lang.functions import eq, lt, select
from samhw.lang.traverse import free_indices

__all__ = ["ComputedIndices"]


@dataclass
class ComputedIndices:
    """Makes values that are one where an index names a place, and zero elsewhere. An index that is out of
    range names nothing; a negative one counts from the end."""

    operands: Operands
    tensors: Tensors
    operations: Operations

    def one_hot_of(self, ids: Sequence[Operand], sizes: Sequence[int]) -> Value:
        """For each place a one at the coordinates that several index tensors name together."""
        named = [self._index(index, size) for index, size in zip(ids, sizes, strict=True)]
        rank = max(len(index.modes) for index in named)
        found = None
        for number, (index, size) in enumerate(zip(named, sizes, strict=True)):
            spread = replace(index, modes=(*index.modes, *[()] * len(sizes)))
            equal = self._equal(spread, size, behind=len(sizes) - number - 1)
            found = equal if found is None else self.operations.elementwise(lambda a, b: a * b, found, equal)
        assert found is not None
        made = self.tensors.materialized(found)
        assert len(made.modes) == rank + len(sizes)
        return made

    def placing_of(self, ids: Sequence[Operand], sizes: Sequence[int], *, once: bool = False) -> Value:
        """For the coordinates that several index tensors name together ones at the places that name them.

        Args:
            once: only at the last one of them.
        """
        hot = self.one_hot_of(ids, sizes)
        places = len(hot.modes) - len(sizes)
        made = replace(hot, modes=(*hot.modes[places:], *hot.modes[:places]))
        return self._once(made, places) if once else made

    def placing(self, ids: Value, dim: int, size: int, *, once: bool = False) -> Value:
        """For each place along a dimension ones at the indices that name it, which stand in a last dimension
        of their own.

        Args:
            once: only at the last one of them.
        """
        index = self._index(ids, size)
        along = index.modes[dim]
        spread = replace(index, modes=(*index.modes[:dim], (), *index.modes[dim + 1 :], along))
        made = self.tensors.materialized(self._equal(spread, size, behind=len(index.modes) - dim))
        return self._once(made, 1) if once else made

    def counts(self, ids: Value, dim: int, size: int) -> Value:
        """For each place along a dimension how many indices name it."""
        return self._reduced(self.placing(ids, dim, size), 1, "sum")

    def counts_of(self, ids: Sequence[Operand], sizes: Sequence[int]) -> Value:
        """How many places of several index tensors name each of the coordinates."""
        made = self.placing_of(ids, sizes)
        return self._reduced(made, len(made.modes) - len(sizes), "sum")

    def repeated_line(self, ids: Value, dim: int) -> Value | None:
        """The list of indices that an index tensor repeats along all dimensions but one."""
        index = self.tensors.build.resolve(ids)
        used = set(free_indices(index.expr))
        others = [mode for d, mode in enumerate(index.modes) if d != dim]
        return None if any(used & set(mode) for mode in others) else replace(index, modes=(index.modes[dim],))

    def _index(self, ids: Operand, size: int) -> Value:
        """An index tensor as numbers from 0 on."""
        index = self.tensors.materialized(self.operands.value(ids))
        counted = self.operations.elementwise(lambda i: select(lt(i, 0), i + size, i), index)
        return self.tensors.materialized(counted)

    def _equal(self, index: Value, count: int, *, behind: int) -> Value:
        """Which place of so many it names; the places stand in front of so many last dimensions."""
        places = self.operands.value(Known(torch.arange(count).float(), f"places_{count}"))
        along = replace(places, modes=(*places.modes, *[()] * behind))
        return self.operations.elementwise(eq, index, along, condition=True)

    def _once(self, hot: Value, places: int) -> Value:
        """With the last one alone of the ones along the last dimensions: that of the greatest number."""
        front, shape = len(hot.modes) - places, self.tensors.build.shape(hot)
        numbers = torch.arange(1, prod(shape[front:]) + 1).float().reshape(shape[front:])
        numbered = self.operands.value(Known(numbers, "numbers"))
        ranked = self.operations.elementwise(lambda h, n: h * n, hot, numbered)
        last = self._reduced(self.tensors.materialized(ranked), places, "max")
        spread = replace(last, modes=(*last.modes, *[()] * places))
        kept = self.operations.elementwise(lambda h, n, last: h * eq(n, last), hot, numbered, spread)
        return self.tensors.materialized(kept)

    def _reduced(self, made: Value, count: int, reduction: str) -> Value:
        """The sum or the greatest along the last dimensions."""
        rank = len(made.modes)
        letters = "".join(chr(ord("a") + n) for n in range(rank))
        full = self.tensors.expanded(made, range(rank - count, rank))
        return contract(self.tensors, f"{letters}->{letters[: rank - count]}", full, reduction=reduction)
