"""Index tensors as matrices with a one for each index: what gathers and scatters are products with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from samhw.errors import InputError
from samhw.importers.core import Hints, UnsupportedError, Value
from samhw.importers.torch import host
from samhw.importers.torch.computed_indices import ComputedIndices
from samhw.importers.torch.operands import Operand, Operands
from samhw.importers.torch.value import Host, Known

__all__ = ["IndexMatrices"]

_COMPUTED = ("takes indices that the module computes", "give it indices that are inputs")


@dataclass
class IndexMatrices:
    """Makes inputs of index tensors, and values of those that the hardware computes."""

    operands: Operands
    computed: ComputedIndices

    def one_hot(self, ids: Operand, size: int, *, ignored: int | None = None) -> Value:
        """A matrix with a one in each row, at the place that an index tensor names; with none for an index
        that is ignored."""
        if isinstance(ids, Value) and ignored is None:
            return self.computed.one_hot_of([_no_condition(ids)], [size])
        ids = _known_indices(ids)
        hot = host.one_hot(ids, size, ignored=ignored)
        if ignored is not None:
            return self._input("hot", [ids], (size, ignored), hot)
        return self._one_each(("hot", ids.key, size), ids.name, hot, 1)

    def one_hot_of(self, ids: Sequence[Operand], sizes: Sequence[int]) -> Value:
        """The matrix of `host.one_hot_of`."""
        if any(isinstance(index, Value) for index in ids):
            return self.computed.one_hot_of(list(map(_no_condition, ids)), sizes)
        given = list(map(_known_indices, ids))
        hot = host.one_hot_of(given, sizes)
        key = ("hots", *(index.key for index in given), *sizes)
        return self._one_each(key, given[0].name, hot, len(sizes))

    def _one_each(self, key: tuple[object, ...], name: str, hot: Host, places: int) -> Value:
        """A matrix with a point in each row, which so many last modes name."""
        rows = hot.example.dim() - places
        levels = [*["dense"] * rows, *["singleton"] * places]
        hints = Hints(f"({', '.join(levels)})" if rows else "csf" if places > 1 else "dense")
        return self.operands.input(key, f"{name}_hot", hot.example, hot.fetch, hints)

    def placing(self, ids: Operand, dim: int, size: int, *, once: bool = False) -> Value:
        """The matrix of `host.placing`."""
        if isinstance(ids, Value):
            return self.computed.placing(_no_condition(ids), dim, size, once=once)
        ids = _known_indices(ids)
        return self._input("placing", [ids], (dim, size, once), host.placing(ids, dim, size, once=once))

    def placing_of(self, ids: Sequence[Operand], sizes: Sequence[int], *, once: bool = False) -> Value:
        """The matrix of `host.placing_of`."""
        if any(isinstance(index, Value) for index in ids):
            return self.computed.placing_of(list(map(_no_condition, ids)), sizes, once=once)
        given = list(map(_known_indices, ids))
        made = host.placing_of(given, sizes, once=once)
        return self._input("placings", given, (*sizes, once), made, made.example.dim() - len(sizes))

    def _input(
        self, kind: str, ids: Sequence[Known | Host], how: tuple[int, ...], made: Host, compressed: int = 1
    ) -> Value:
        """A matrix that is made of indices, with so many last levels compressed."""
        key = (kind, *(index.key for index in ids), *how)
        hints = Hints(host.rows_of(made.example, compressed))
        return self.operands.input(key, f"{ids[0].name}_hot", made.example, made.fetch, hints)

    def counts(self, ids: Operand, dim: int, size: int) -> Value:
        """For each place along a dimension how many indices name it."""
        if isinstance(ids, Value):
            return self.computed.counts(ids, dim, size)
        ids = _known_indices(ids)
        found = host.counts(ids, dim, size)
        key = ("counts", ids.key, dim, size)
        return self.operands.input(key, f"{ids.name}_counts", found.example, found.fetch)

    def counts_of(self, ids: Sequence[Operand], sizes: Sequence[int]) -> Value:
        """How many places of several index tensors name each of the coordinates."""
        if any(isinstance(index, Value) for index in ids):
            return self.computed.counts_of(ids, sizes)
        given = list(map(_known_indices, ids))
        found = host.counts_of(given, sizes)
        key = ("counts", *(index.key for index in given), *sizes)
        return self.operands.input(key, f"{given[0].name}_counts", found.example, found.fetch)

    def bags(self, ids: Operand, offsets: Operand, size: int, *, mean: bool) -> Value:
        """A matrix with how often each bag names each row of a table, or with the shares."""
        ids, offsets = _known_indices(ids), _known_indices(offsets)
        made = host.bags(ids, offsets, size, mean=mean)
        key = ("bags", ids.key, offsets.key, size, mean)
        return self.operands.input(key, f"{ids.name}_bags", made.example, made.fetch, Hints("csr"))

    def bagging(self, offsets: Operand, count: int, *, mean: bool) -> Value:
        """A matrix with which of so many elements each bag has, or with the shares."""
        offsets = _known_indices(offsets)
        made = host.bagging(offsets, count, mean=mean)
        key = ("bagging", offsets.key, count, mean)
        return self.operands.input(key, f"{offsets.name}_bags", made.example, made.fetch, Hints("csr"))

    def repeated_line(self, ids: Operand, dim: int) -> Operand | None:
        """The list of indices that an index tensor repeats along all dimensions but one."""
        if isinstance(ids, Value):
            return self.computed.repeated_line(ids, dim)
        ids = _known_indices(ids)
        example = ids.example
        others = [d for d in range(example.dim()) if d != dim and example.shape[d] > 1]
        if any(example.stride(d) for d in others):
            return None

        def line(tensor: Tensor) -> Tensor:
            rows = tensor.movedim(dim, 0).reshape(tensor.shape[dim], -1)
            if bool((rows != rows[:, :1]).any()):
                raise InputError(
                    "an index tensor repeats one list of indices in the example arguments, and others now; "
                    "give an example without expand()"
                )
            return rows[:, 0]

        return host.mapped(ids, line)


def _known_indices(ids: Operand) -> Known | Host:
    """An index tensor. Raises `UnsupportedError` for one that the hardware would have to compute."""
    if not isinstance(ids, Known | Host):
        raise UnsupportedError(*_COMPUTED)
    return _no_condition(ids)


T = TypeVar("T", bound=Operand)


def _no_condition(ids: T) -> T:
    """Indices. Raises `UnsupportedError` for conditions."""
    is_condition = (
        ids.condition
        if isinstance(ids, Value)
        else isinstance(ids, Known | Host) and ids.example.dtype == torch.bool
    )
    if is_condition:
        raise UnsupportedError("takes conditions as indices", "give it a tensor of integers")
    return ids
