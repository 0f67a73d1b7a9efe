"""A tensor in its parts, for any data.

What a rule is: it says which parts a tensor has, and to which of them each entry belongs.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.tensors import Format, Tensor

__all__ = ["Coordinates", "PartSize", "Places", "SplitRule", "TensorPart", "TensorSplit", "rows_of"]

Coordinates = NDArray[np.int64]
"""Of shape (rank, entries): a column for each entry of a tensor."""
Places = NDArray[np.int64]
"""Of shape (entries,): a number for each entry."""


@dataclass(frozen=True)
class TensorPart:
    """One of the parts of a tensor.

    Attributes:
        name: what is put after the tensor's name.
        format: how it is stored.
        text: which entries it has, in words.
        width: of a bucket, how many cells a row of it has; None for a part without padding.
    """

    name: str
    format: Format
    text: str
    width: int | None = None


@dataclass(frozen=True, eq=False)
class SplitRule:
    """Base of the rules. `text` is what a schedule says. Equal rules put each entry into the same part."""

    text: str

    def parts(self, fmt: Format) -> tuple[TensorPart, ...]:
        """The parts of a tensor in that format. They do not depend on data, so that a build takes any.

        Raises:
            InputError: for a tensor that the rule cannot split.
        """
        raise NotImplementedError

    def places(self, coords: Coordinates, shape: tuple[int, ...]) -> Places:
        """The number of the part of each entry, of shape (entries,).

        Raises:
            InputError: for an entry that is in no part, or in several.
        """
        raise NotImplementedError

    def telling_modes(self, rank: int) -> tuple[int, ...]:
        """The modes of a tensor of that rank whose coordinates tell the part: entries that agree in these are
        in one part. None where all of an entry's coordinates count, or more than those."""
        return ()

    def need_rank(self, fmt: Format, least: int, most: int | None = None) -> None:
        """Raises `InputError` for a tensor of another rank."""
        if fmt.rank < least or (most is not None and fmt.rank > most):
            wanted = f"rank {least}" if most == least else f"rank {least} or more"
            raise InputError(f"the rule '{self.text}' splits tensors of {wanted}, and this has {fmt.rank}")


def rows_of(coords: Coordinates, shape: tuple[int, ...]) -> Places:
    """The row of each entry, of shape (entries,): all its coordinates but the last, in one number."""
    row = np.zeros(coords.shape[1], np.int64)
    for coord, extent in zip(coords[:-1], shape[:-1], strict=True):
        row = row * extent + coord
    return row


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
