"""Records in a row, as Python sees them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.sim.machine_code.record import Record

__all__ = ["Table"]


class Table:
    """Some records of one kind, whose words are 0 at first.

    `table["x"]` are the words of that name, one of each record: an array that shares them.

    Attributes:
        addresses: those of the records.
    """

    def __init__(self, kind: type[Record], count: int):
        self._places = {name: place for place, name in enumerate(kind.FIELDS)}
        self._words = np.zeros((count, kind.WORDS), np.int64)
        self.addresses = self._words.ctypes.data + 8 * kind.WORDS * np.arange(count)

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        return self._words[:, self._places[name]]

    def put(self, **columns: ArrayLike) -> None:
        """Sets the words of some names: to one word, or to one for each record."""
        for name, column in columns.items():
            self[name][:] = column

    def rows(self, *names: str) -> list[list[int]]:
        """Of each record the words of those names."""
        rows: list[list[int]] = self._words[:, [self._places[name] for name in names]].tolist()
        return rows
