"""Sparse tensors in the trace of a module. A dense stand-in that takes no room answers as they would: for its
layout at once, for its indices and values with those of the example, which are fixed by that."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from samhw.importers.torch.own_operators import contract, stored

__all__ = [
    "KEPT",
    "LAYOUT",
    "MAKERS",
    "ON_PATTERN",
    "PARTS",
    "PRODUCTS",
    "SAME",
    "SparseLayouts",
    "Stood",
    "asked_for",
]


@dataclass(frozen=True)
class Stood:
    """What a stand-in stands for.

    Attributes:
        held: a sparse tensor.
        sources: the arguments that it is made of, by their places among all leaves.
        is_computed: hardware computes its values, and `held` has others at the same places.
        entries: its indices and its values, as the module has put them together.
    """

    held: Tensor
    sources: frozenset[int]
    is_computed: bool = False
    entries: tuple[Tensor, Tensor] | None = None

    def times(self, x: Tensor) -> Tensor:
        """A product of the matrix of such entries with a matrix or a vector: entry by entry."""
        assert self.entries is not None
        (rows, columns), values = self.entries
        terms = x[columns] * values.reshape(-1, *[1] * (x.dim() - 1))
        return terms.new_zeros(self.held.shape[0], *x.shape[1:]).index_add(0, rows, terms)


class SparseLayouts:
    """The stand-ins of a trace.

    Attributes:
        made: those of sparse tensors that the module makes of what is known, with the tensors.
    """

    def __init__(self) -> None:
        self._stood: WeakIdKeyDictionary = WeakIdKeyDictionary()
        self.made: list[tuple[Tensor, Tensor]] = []

    def __contains__(self, tensor: Tensor) -> bool:
        return tensor in self._stood

    def __getitem__(self, tensor: Tensor) -> Stood:
        found: Stood = self._stood[tensor]
        return found

    def add(
        self,
        stand_in: Tensor,
        held: Tensor,
        sources: Collection[int] = (),
        is_computed: bool = False,
        entries: tuple[Tensor, Tensor] | None = None,
    ) -> None:
        """Says what a tensor of the trace stands for."""
        self._stood[stand_in] = Stood(held, frozenset(sources), is_computed, entries)

    def constant(self, held: Tensor, sources: Collection[int]) -> Tensor:
        """A stand-in of a sparse tensor that is known."""
        stand_in = torch.zeros((), dtype=held.dtype).expand(held.shape)
        self.add(stand_in, held, sources)
        self.made.append((stand_in, held))
        return stand_in


def softmax(x: Tensor, pattern: Tensor, dim: int, dtype: object = None) -> Tensor:
    """Of what is stored alone."""
    return torch.where(pattern, x, -torch.inf).softmax(dim)


def log_softmax(x: Tensor, pattern: Tensor, dim: int, dtype: object = None) -> Tensor:
    return torch.where(pattern, torch.where(pattern, x, -torch.inf).log_softmax(dim), 0)


def sampled_addmm(
    x: Tensor, pattern: Tensor, one: Tensor, other: Tensor, *, beta: float = 1, alpha: float = 1
) -> Any:
    """A product of two matrices at the places that are stored, and nowhere else."""
    found = contract("ij,ik,kj->ij", stored(pattern.to(x.dtype), "csr"), one, other) * alpha
    return found + x * beta if beta else found


ON_PATTERN: dict[str, Callable[..., Tensor]] = {
    "_sparse_softmax": softmax,
    "_sparse_log_softmax": log_softmax,
    "sparse_sampled_addmm": sampled_addmm,
}
"""What depends on which places are stored, and stores something at the same ones."""


def asked_for(function: Callable[..., Any]) -> str:
    """The name of a function, or of the attribute that it gets."""
    name = getattr(function, "__name__", "")
    return getattr(function.__self__, "__name__", "") if name == "__get__" else name  # type: ignore[attr-defined]


LAYOUT = frozenset(("layout", "is_sparse", "is_sparse_csr"))
"""What depends on the layout alone."""

SAME = frozenset(("coalesce", "_coalesced_", "to_sparse", "to_sparse_coo", "to_sparse_csr", "to_sparse_csc"))
"""What gives the same tensor, in another layout."""

KEPT = frozenset(("detach", "clone", "contiguous", "to", "float", "double", "requires_grad_", "alias"))
"""What gives the same tensor, and is traced."""

PARTS = frozenset(
    (
        *("indices", "_indices", "values", "_values", "_nnz", "is_coalesced"),
        *("crow_indices", "col_indices", "ccol_indices", "row_indices"),
    )
)
"""What takes a sparse tensor apart."""

PRODUCTS = frozenset(("mm", "_sparse_mm", "spmm", "matmul", "__matmul__", "mv"))
"""What gives a product of a matrix with what comes after it."""

MAKERS = frozenset(
    ("sparse_coo_tensor", "sparse_csr_tensor", "sparse_csc_tensor", "sparse_compressed_tensor")
)
"""What makes one of its parts."""
