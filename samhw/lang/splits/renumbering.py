"""Programs whose data have their rows in another order: the same design, on renumbered coordinates."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

import numpy as np
import scipy
from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.lang import Concat, Indirect, Name, Program, Recurrence, Reshape, RunningReduction, Statement
from samhw.lang.splits.partition import Coordinates
from samhw.lang.splits.rule_text import RuleFunction, check_by_tensor
from samhw.lang.splits.rules import evenly_shared
from samhw.tensors import Format, Tensor
from samhw.words import did_you_mean

__all__ = [
    "Renumbering",
    "RowOrder",
    "RowOrders",
    "Rows",
    "check_permute_rows",
    "order_rows",
    "parse_row_order",
    "renumbered",
]

# Orders of a tensor's rows, in words: `by length`, `even(4)`, `reverse Cuthill-McKee`, and
# `file.py:function`.


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
    meant = did_you_mean(text, ("by length", "even(n)", "reverse Cuthill-McKee"))
    raise InputError(f"there is no order '{text}'{meant}; the orders are {_ORDERS}")


_last_rows: "WeakKeyDictionary[Tensor, tuple[RowOrder, Rows]]" = WeakKeyDictionary()
"""The rows of a tensor in the order that was last asked for, after that."""

_last_stored: "WeakKeyDictionary[Tensor, tuple[dict[int, Rows], Tensor]]" = WeakKeyDictionary()
"""What a tensor was last renumbered to, after what by: capacities, statistics and the run each ask."""


@dataclass(frozen=True)
class Renumbering:
    """Coordinates in another order, for some data.

    Attributes:
        modes: by tensor, for each mode that is renumbered the tensor that has the order.
        rows: by the tensor that has the order, for each new coordinate the one that it was.
    """

    modes: Mapping[str, Mapping[int, str]]
    rows: Mapping[str, Rows]

    def there(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Tensors in the new order; those without such a mode as they are.

        Raises:
            InputError: for an extent that is another one than that of the order.
        """
        return {name: self._there(name, tensor) for name, tensor in tensors.items()}

    def back(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Tensors that are in the new order, as they were."""
        return {name: _moved(tensor, self.rows_of(name)) for name, tensor in tensors.items()}

    def _there(self, name: str, tensor: Tensor) -> Tensor:
        by = self.rows_of(name)
        if not by:
            return tensor
        for mode, rows in by.items():
            if tensor.shape[mode] != len(rows):
                raise InputError(
                    f"'{name}' has the extent {tensor.shape[mode]:,} along mode {mode}, and "
                    f"'{self.modes[name][mode]}', whose order it has, {len(rows):,}; give both the same."
                )
        known = _last_stored.get(tensor)
        if known is None or known[0].keys() != by.keys() or any(known[0][m] is not by[m] for m in by):
            new = {mode: np.argsort(rows) for mode, rows in by.items()}
            known = _last_stored[tensor] = by, _moved(tensor, new)
        return known[1]

    def rows_of(self, name: str) -> dict[int, Rows]:
        """For each mode of a tensor that is renumbered, the coordinates that the new ones were."""
        return {mode: self.rows[of] for mode, of in self.modes.get(name, {}).items()}


def renumbered(by: Mapping[int, Rows], modes: Iterable[int], coords: Iterable[Rows]) -> Rows:
    """Coordinates along some modes, of which those in `by` become what is listed at their places."""
    return np.stack([by[mode][row] if mode in by else row for mode, row in zip(modes, coords, strict=True)])


def _moved(tensor: Tensor, by: Mapping[int, Rows]) -> Tensor:
    """A tensor whose coordinates of some modes become those that are listed at their places."""
    if not by:
        return tensor
    fmt = tensor.format
    # Zeros that have places because of where the entries are stay after, as do those of blocks.
    coords, vals = tensor.to_coo(drop_zeros=fmt.is_by_place or fmt.block is not None)
    if fmt.is_by_place:
        fmt = Format.compressed(tensor.rank, fmt.mode_order)
    coords = renumbered(by, range(tensor.rank), coords)
    return Tensor.from_coo(coords, vals, tensor.shape, fmt)


@dataclass(frozen=True)
class RowOrders:
    """The orders that a program's data are to have. Each is that of a dimension: all tensors that have it are
    renumbered, and what is computed is put back.

    Attributes:
        orders: by the tensor whose entries decide.
        modes: by tensor, for each mode that is renumbered the tensor that decides.
    """

    orders: Mapping[str, RowOrder] = field(default_factory=dict)
    modes: Mapping[str, Mapping[int, str]] = field(default_factory=dict)

    def drawn(self, tensors: Mapping[str, Tensor]) -> Renumbering:
        """The orders of some data.

        Raises:
            InputError: for data that have none, and for a tensor that is missing.
        """
        for name in self.orders:
            if name not in tensors:
                raise InputError(
                    f"The tensor {name!r} is missing, whose rows are put in order; add it to the data."
                )
        return Renumbering(self.modes, {name: self._rows(name, tensors[name]) for name in self.orders})

    def _rows(self, name: str, tensor: Tensor) -> Rows:
        order = self.orders[name]
        known = _last_rows.get(tensor)
        if known is None or known[0] != order:
            coords, _ = tensor.to_coo(drop_zeros=tensor.format.stores_fill)
            try:
                known = _last_rows[tensor] = order, order.rows(coords, tensor.shape)
            except InputError as error:
                raise InputError(f"The rows of '{name}' cannot be put in order: {error}.") from None
        return known[1]

    def with_alike(self, like: Mapping[str, str]) -> "RowOrders":
        """With further tensors, each of the shape of another one."""
        found = {name: self.modes[of] for name, of in like.items() if of in self.modes}
        return replace(self, modes={**self.modes, **found}) if found else self

    def lines(self) -> list[str]:
        """For each order a line: what it is, and where the coordinates that it renumbers are."""
        found = []
        for name, order in self.orders.items():
            modes = [f"{t} (mode {m})" for t, by in self.modes.items() for m, of in by.items() if of == name]
            found.append(f"{name}: its rows {order.name}; so renumbered: {', '.join(modes)}")
        return found


def order_rows(program: Program, permute_rows: Mapping[str, str]) -> RowOrders:
    """The orders that a program's data are to have.

    Args:
        permute_rows: by input, its order in words.

    Raises:
        InputError: for a tensor that is not an input or has no such order, and for a dimension whose
            coordinates mean more than places of one another.
    """
    orders: dict[str, RowOrder] = {}
    deciding: dict[str, str] = {}
    for name, text in permute_rows.items():
        program.check_operand(name)
        order = parse_row_order(text)
        dimensions = program.dimensions.of_tensor(name)
        if not dimensions:
            raise InputError(f"'{name}' is a number, and has no rows to put in order.")
        try:
            modes = order.modes(len(dimensions))
        except InputError as error:
            raise InputError(f"The rows of '{name}' cannot be put in order: {error}.") from None
        extents = {program.tensors[name].shape[mode] for mode in modes} - {None}
        if len(extents) > 1:
            raise InputError(
                f"The rows of '{name}' cannot be put in order: '{text}' numbers modes of the extents "
                f"{' and '.join(map(str, extents))} alike."
            )
        orders[name] = order
        for dimension in dict.fromkeys(dimensions[mode] for mode in modes):
            if (other := deciding.setdefault(dimension, name)) != name:
                raise InputError(f"'{name}' and '{other}' both order {dimension}; give the order of one.")
            _check_free(program, dimension, name)
    found: dict[str, dict[int, str]] = {}
    for name in program.tensors:
        for mode, dimension in enumerate(program.dimensions.of_tensor(name)):
            if dimension in deciding:
                found.setdefault(name, {})[mode] = deciding[dimension]
    return RowOrders(orders, found)


def _check_free(program: Program, dimension: str, tensor: str) -> None:
    """Refuses a dimension that cannot be renumbered: where a coordinate is a number to compute with, is named
    by data or given as a result, or stands between others."""
    for statement in program.statements:
        why = _meant(program, statement, dimension)
        if why is not None:
            raise InputError(
                f"The rows of '{tensor}' cannot be put in another order: '{statement}' {why} {dimension}."
            )
    for decl in program.tensors.values():
        modes, dimensions = decl.format.mode_order, program.dimensions.of_tensor(decl.name)
        for depth, level in enumerate(decl.format.of_blocks.levels, 1):
            by_place = modes[depth - level.levels_by_place : depth]
            if dimension in (dimensions[mode] for mode in by_place):
                raise InputError(
                    f"The rows of '{tensor}' cannot be put in another order: '{decl.name}' is stored as "
                    f"{decl.format}, by the places of {dimension}; store it as csr."
                )


def _meant(program: Program, statement: Statement, dimension: str) -> str | None:
    """What a statement does with the coordinates of a dimension, beside telling them apart."""
    dimensions = program.dimensions
    of = dimensions.of_statement(statement)
    for access in statement.accesses:
        for mode, index in enumerate(access.indices):
            if not isinstance(index, Name) and (
                dimensions.of_tensor(access.tensor)[mode] == dimension
                or (not isinstance(index, Indirect) and dimension in {of.get(v) for v in index.variables})
            ):
                return "computes or looks up the coordinates of"
    match statement.rhs:
        case Reshape() | Concat():
            tensors = [access.tensor for access in statement.accesses]
            return "moves" if any(dimension in dimensions.of_tensor(t) for t in tensors) else None
        case RunningReduction(index=along) | Recurrence(index=along):
            return "runs along" if of[along] == dimension else None
    if statement.rank is not None and of[statement.rank] == dimension:
        return "counts the places of"
    if statement.reduction.startswith("arg") and dimension in {
        of[index] for index in statement.reduction_indices
    }:
        return "gives coordinates of"
    return None
