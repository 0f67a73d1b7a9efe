"""What a rule is: it says which parts a tensor has, and to which of them each entry belongs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.tensors import Format

__all__ = ["Coordinates", "Places", "SplitRule", "TensorPart", "rows_of"]

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
