"""A tensor in its parts, for any data.

What a rule is: it says which parts a tensor has, and to which of them each entry belongs.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.lang import (
    Access,
    Add,
    Div,
    Expr,
    Mul,
    Neg,
    Recurrence,
    RunningReduction,
    Statement,
    TensorDecl,
    accesses,
    terms,
    with_accesses,
)
from samhw.names import Names
from samhw.tensors import Format, Tensor

__all__ = [
    "Apart",
    "Coordinates",
    "PartSize",
    "Places",
    "SplitRule",
    "TensorPart",
    "TensorSplit",
    "factors",
    "put_apart",
    "rows_of",
]

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


# Results whose rows lie in one part each: every part computes its own rows, under indices of its own, and the
# host puts them together.
#
# What makes a term zero.


@dataclass(frozen=True)
class Apart:
    """A result that is computed part by part.

    Attributes:
        tensor: the one whose parts these are.
        rows: for each index of the statement that tells the part, the mode of `tensor` that it stands for.
        results: for each part the tensor with its rows of the result.
        indices: for each part the name that each index of the statement has in it.
        statements: what computes each of `results`.
        whole: the sum of them: no two have an entry in one place.
    """

    tensor: str
    rows: Mapping[str, int]
    results: Mapping[str, str]
    indices: Mapping[str, Mapping[str, str]]
    statements: tuple[Statement, ...]
    whole: Statement

    @property
    def result(self) -> str:
        """What is put together."""
        return self.whole.lhs.tensor

    def part_result(self, decl: TensorDecl, name: str) -> TensorDecl:
        """The declaration of a part's rows of the result: it has some coordinates of what tells the part."""
        fmt = decl.format
        for mode, index in enumerate(self.whole.lhs.names):
            if index in self.rows:
                fmt = fmt.compressed_in(mode)
        return replace(decl, name=name, format=fmt, span=None)


def put_apart(
    given: Statement,
    decl: TensorDecl,
    partitions: Mapping[str, TensorSplit],
    tensors: Names,
    indices: Names,
) -> Apart | None:
    """A statement as one for each part of a factor; None for one whose rows lie in several parts.

    Args:
        decl: of its result, which no statement reads.
        tensors: the names of all tensors, to which those of the results of parts are added.
        indices: those of all index variables, likewise.
    """
    if given.reduction != "sum" or given.mask is not None or given.scan is not None:
        return None
    if isinstance(given.rhs, RunningReduction | Recurrence) or not given.lhs.is_plain:
        return None
    found = next(_telling(given, partitions), None)
    if found is None:
        return None
    tensor, rows = found
    results: dict[str, str] = {}
    renamed: dict[str, dict[str, str]] = {}
    statements = []
    for name, part in partitions[tensor].parts.items():
        results[name] = tensors.fresh(f"{decl.name}_{part.name}")
        renamed[name] = {index: indices.fresh(f"{index}_{part.name}") for index in given.indices}
        made = replace(
            given,
            lhs=replace(given.lhs, tensor=results[name]),
            rhs=with_accesses(given.rhs, _instead(tensor, name)),
        )
        statements.append(made.renamed(renamed[name]))
    sums: list[Expr] = [replace(given.lhs, tensor=result) for result in results.values()]
    return Apart(tensor, rows, results, renamed, tuple(statements), Statement(given.lhs, reduce(Add, sums)))


def _telling(given: Statement, partitions: Mapping[str, TensorSplit]) -> Iterator[tuple[str, dict[str, int]]]:
    """Each split tensor that is a factor of all terms, and whose coordinates on the left tell the part of
    what is summed, with the indices that stand for these."""
    found = [{access.tensor for access in factors(term)} for term in terms(given.rhs)]
    for access in accesses(given.rhs):
        partition = partitions.get(access.tensor)
        if partition is None or not all(access.tensor in present for present in found):
            continue
        modes = partition.rule.telling_modes(len(access.indices))
        told = {access.indices[mode]: mode for mode in modes}
        same = all(
            other.indices[mode] == access.indices[mode]
            for other in accesses(given.rhs)
            if other.tensor == access.tensor
            for mode in modes
        )
        # An index that is more than a name is none of the left side's, and tells no part of it.
        if told and same and told.keys() <= set(given.lhs.indices):
            yield access.tensor, {name: mode for index, mode in told.items() for name in index.variables}


def _instead(tensor: str, part: str) -> Callable[[Access], Access]:
    """Puts a part in the place of the tensor."""

    def change(access: Access) -> Access:
        return replace(access, tensor=part) if access.tensor == tensor else access

    return change


def factors(e: Expr) -> Iterator[Access]:
    """The tensors of which a term is zero wherever one of them is."""
    match e:
        case Access():
            yield e
        case Mul(left, right):
            yield from factors(left)
            yield from factors(right)
        case Div(left, _):
            yield from factors(left)
        case Neg(operand):
            yield from factors(operand)
