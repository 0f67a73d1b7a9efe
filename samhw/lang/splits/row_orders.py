"""Orders of a tensor's rows, in words: `by length`, `even(4)`, `reverse Cuthill-McKee`, and
`file.py:function`."""

import re
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.lang.splits.partition import Coordinates
from samhw.lang.splits.rule_text import check_by_tensor
from samhw.lang.splits.rules import evenly_shared
from samhw.lang.splits.written_rule import RuleFunction

__all__ = ["RowOrder", "Rows", "check_permute_rows", "parse_row_order"]

Rows = NDArray[np.int64]
"""Of shape (rows,): the rows of a tensor in an order."""

_ORDERS = "by length, even(n), reverse Cuthill-McKee or file.py:function"


@dataclass(frozen=True, eq=False)
class RowOrder:
    """Base of the orders of rows. `text` is what a schedule says. Equal ones put rows into the same order."""

    text: str

    @property
    def name(self) -> str:
        """What it is, in words."""
        return self.text

    def modes(self, rank: int) -> tuple[int, ...]:
        """The modes of a tensor that have the order: of most only the first one.

        Raises:
            InputError: for a tensor of a rank that it has no order for.
        """
        return (0,)

    def rows(self, coords: Coordinates, shape: tuple[int, ...]) -> Rows:
        """The rows in their order, each once.

        Args:
            coords: of the tensor's entries, of shape (rank, entries).

        Raises:
            InputError: for a tensor that has none.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class ByLength(RowOrder):
    """The rows that have most entries first, equal ones as they were."""

    @property
    def name(self) -> str:
        return "by length, the longest first"

    def rows(self, coords: Coordinates, shape: tuple[int, ...]) -> Rows:
        return np.argsort(-np.bincount(coords[0], minlength=shape[0]), kind="stable")


@dataclass(frozen=True)
class EvenlyDealt(RowOrder):
    """An order in which lanes to which rows are dealt in turn have about equally many entries, and each its
    longest rows first (`evenly_shared`)."""

    lanes: int

    @property
    def name(self) -> str:
        return f"so that {self.lanes} lanes, to which they are dealt in turn, have about equally many entries"

    def rows(self, coords: Coordinates, shape: tuple[int, ...]) -> Rows:
        room = [len(range(lane, shape[0], self.lanes)) for lane in range(self.lanes)]
        found = np.empty(shape[0], np.int64)
        for lane, rows in enumerate(
            evenly_shared(np.bincount(coords[0], minlength=shape[0]), self.lanes, room)
        ):
            found[lane :: self.lanes] = rows
        return found


@dataclass(frozen=True)
class ReverseCuthillMcKee(RowOrder):
    """Rows and columns of a square matrix in one order, which brings entries near to the diagonal (Cuthill
    and McKee, Reducing the bandwidth of sparse symmetric matrices, 1969; SciPy's)."""

    def modes(self, rank: int) -> tuple[int, ...]:
        if rank != 2:
            raise InputError(f"'{self.text}' is an order of matrices, and this has rank {rank}")
        return (0, 1)

    def rows(self, coords: Coordinates, shape: tuple[int, ...]) -> Rows:
        if shape[0] != shape[1]:
            raise InputError(f"'{self.text}' is an order of square matrices, and this one is {shape}")
        matrix = scipy.sparse.coo_array((np.ones(coords.shape[1]), tuple(coords)), shape=shape).tocsr()
        rows: Rows = scipy.sparse.csgraph.reverse_cuthill_mckee(matrix).astype(np.int64)
        return rows


@dataclass(frozen=True, eq=False)  # Another reading of the file may be another order.
class WrittenOrder(RowOrder):
    """A function of the coordinates, of shape (rank, entries), and the shape of a tensor. It gives the
    numbers of all rows in their order: an array of whole numbers of shape (rows,)."""

    function: RuleFunction

    def rows(self, coords: Coordinates, shape: tuple[int, ...]) -> Rows:
        given = np.asarray(self.function(coords, shape))
        if given.shape != (shape[0],) or given.dtype.kind not in "iu":
            raise InputError(
                f"the order '{self.text}' is an array of {given.dtype} and shape {given.shape}; give the "
                f"numbers of {shape[0]} rows"
            )
        rows: Rows = given.astype(np.int64)
        if not np.array_equal(np.sort(rows), np.arange(shape[0])):
            raise InputError(
                f"the order '{self.text}' is no order of {shape[0]} rows; give each number from 0 to "
                f"{shape[0] - 1} once"
            )
        return rows


def check_permute_rows(orders: object) -> dict[str, str]:
    """Orders by tensor, as a schedule keeps them.

    Raises:
        InputError: for what is not a table of orders.
    """
    return check_by_tensor(
        "permute_rows", orders, parse_row_order, what="an order", several="orders", example="by length"
    )


def parse_row_order(text: str) -> RowOrder:
    """The order of a text. Of a user's file nothing is read until the order is asked for its rows.

    Raises:
        InputError: for a text that is not an order.
    """
    text = text.strip()
    if (function := RuleFunction.of(text)) is not None:
        return WrittenOrder(text, function)
    words = " ".join(text.lower().split())
    if words == "by length":
        return ByLength(text)
    if words == "reverse cuthill-mckee":
        return ReverseCuthillMcKee(text)
    even = re.fullmatch(r"even\(\s*([1-9][0-9]{0,3})\s*\)", words)
    if even is not None:
        return EvenlyDealt(text, int(even[1]))
    raise InputError(f"there is no order '{text}'; the orders are {_ORDERS}")
