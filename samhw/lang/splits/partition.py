"""A tensor in its parts, for any data."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from samhw.errors import InputError
from samhw.lang.splits.rule import SplitRule, TensorPart, rows_of
from samhw.tensors import Tensor

__all__ = ["PartSize", "TensorSplit"]


_last_cut: "WeakKeyDictionary[Tensor, tuple[object, tuple[Tensor, ...]]]" = WeakKeyDictionary()
"""The parts that were last made of a tensor, after what they were made by: capacities, statistics and the
run each ask for them, under one schedule after another."""


@dataclass(frozen=True)
class PartSize:
    """How much a part holds of some data.

    Attributes:
        rows: those that have entries; in a bucket the pieces into which they are cut.
        stored: its entries.
        cells: of a bucket, its entries and its padding; of diagonals, the places that they take; elsewhere
            the entries.
    """

    rows: int
    stored: int
    cells: int

    @property
    def padding(self) -> int:
        """The cells without an entry. Those of a bucket are neither stored nor computed."""
        return self.cells - self.stored


@dataclass(frozen=True, eq=False)
class TensorSplit:
    """How a tensor is split.

    Attributes:
        tensor: the one that is split.
        parts: by the names of their tensors.
    """

    tensor: str
    rule: SplitRule
    parts: dict[str, TensorPart]

    def cut(self, tensor: Tensor) -> dict[str, Tensor]:
        """The parts of some data, by name. Each entry is in one of them, and zeros that a compressed level
        stores are entries too.

        Raises:
            InputError: for an entry that the rule puts into no part, or into several.
        """
        made_by = self.rule, tuple(part.format for part in self.parts.values())
        known = _last_cut.get(tensor)
        if known is None or known[0] != made_by:
            coords, vals = tensor.to_coo(drop_zeros=tensor.format.stores_fill)
            try:
                places = self.rule.places(coords, tensor.shape)
            except InputError as error:
                raise InputError(f"'{self.tensor}' cannot be split: {error}.") from None
            parts = tuple(
                Tensor.from_coo(coords[:, places == n], vals[places == n], tensor.shape, part.format)
                for n, part in enumerate(self.parts.values())
            )
            known = _last_cut[tensor] = made_by, parts
        return dict(zip(self.parts, known[1], strict=True))

    def sizes(self, tensor: Tensor) -> dict[str, PartSize]:
        """How much each part holds of some data, by name; raises as `cut`."""
        return {name: _size(part, self.parts[name].width) for name, part in self.cut(tensor).items()}


def _size(part: Tensor, width: int | None) -> PartSize:
    coords, _ = part.to_coo(drop_zeros=part.format.stores_fill)
    stored = coords.shape[1]
    _, lengths = np.unique(rows_of(coords, part.shape), return_counts=True)
    if width is None:
        cells = stored if all(level.is_compact for level in part.format.levels) else part.nnz
        return PartSize(len(lengths), stored, cells)
    pieces = int(np.sum(-(-lengths // width)))
    return PartSize(pieces, stored, pieces * width)
