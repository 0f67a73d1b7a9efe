"""How large a build is: the greatest extents, and the most entries of what is sparse; and what a program's
tensors take at least, before any of it is taken."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil, prod

from samhw.errors import InputError
from samhw.lang.declaration import TensorDecl
from samhw.lang.program import Program
from samhw.limits import WORD, check_memory
from samhw.words import did_you_mean

__all__ = ["Capacity", "bank_room", "check_size", "greatest_extents", "rounded_entries", "rounded_extent"]

DEFAULT_ENTRIES = 1 << 12
"""Entries of a compressed level when nothing says more: 16 KiB of coordinates."""

WHOLE_BLOCK = 1 << 9
"""Places of a block RAM of an FPGA at its widest, 32 bits and more."""
_ROWS = 1 << 6
"""Likewise of an extent: a memory of as many words takes no block RAM."""
_STEPS = 64
"""Steps to a power of two: at most this share of a large memory is room that its data do not need."""


def rounded_entries(count: int) -> int:
    """Room for some entries: whole block RAMs, so that data with a few entries more need no other build. What
    fits half of one takes a power of two, which may be no block RAM at all."""
    return _rounded(count, WHOLE_BLOCK)


def rounded_extent(extent: int) -> int:
    """Room for an extent, likewise: a dense level has as many places as the product of extents."""
    return _rounded(extent, _ROWS)


def _rounded(count: int, least: int) -> int:
    power = 1 << max(count - 1, 0).bit_length()
    step = max(power // _STEPS, least)
    return power if power <= least else -(-count // step) * step


@dataclass(frozen=True)
class Capacity:
    """What a build must hold beyond what the program's text says.

    `extents` maps a dimension to its greatest extent, `entries` a tensor to the most entries that a
    compressed level of it may hold (its nonzeros). `banks` has both of what lies in ranges of rows, as
    `bank_room` names it.
    """

    extents: Mapping[str, int] = field(default_factory=dict)
    entries: Mapping[str, int] = field(default_factory=dict)
    banks: Mapping[str, int] = field(default_factory=dict)

    def __or__(self, other: "Capacity") -> "Capacity":
        """Room for what either has room for."""
        return Capacity(
            _greater(self.extents, other.extents),
            _greater(self.entries, other.entries),
            _greater(self.banks, other.banks),
        )

    def entries_of(self, tensor: str) -> int:
        """The most entries of a compressed level of a tensor."""
        return max(self.entries.get(tensor, DEFAULT_ENTRIES), 1)

    def bank(self, tensor: str, rows: int, count: int) -> tuple[int, int]:
        """The rows and entries of a tensor that each range has room for. Where nothing is known
        of data, that is a share of all, and an eighth more, and at least a block RAM.

        Args:
            rows: that the tensor has.
            count: how many ranges there are.
        """
        entries, share = self.entries_of(tensor), 9 / (8 * count)
        known = self.banks.get(f"{tensor} in {count}"), self.banks.get(f"{tensor} rows in {count}")
        most = max(rounded_entries(ceil(entries * share)), WHOLE_BLOCK)
        return min(known[1] or rounded_extent(ceil(rows * share)), rows), min(known[0] or most, entries)

    def with_entries(self, program: Program, entries: Mapping[str, int]) -> "Capacity":
        """Other entries for some tensors. Raises `InputError` for what has no level to hold them."""
        for tensor, count in entries.items():
            if tensor not in program.tensors:
                raise InputError(
                    f"'{program.name}' has no tensor '{tensor}' to give a "
                    f"capacity{did_you_mean(tensor, program.tensors)}; it has "
                    f"{', '.join(program.tensors)}."
                )
            if program.tensors[tensor].format.is_all_dense:
                raise InputError(_by_extents(program, tensor))
            if count < 1:
                raise InputError(f"'{tensor}' cannot have a capacity of {count}; give 1 or more.")
        return replace(self, entries={**self.entries, **entries})


def _by_extents(program: Program, tensor: str) -> str:
    """Why a dense tensor takes no entries, and what makes it larger."""
    of = dict.fromkeys(program.dimensions.of_tensor(tensor))
    if not of:
        return f"'{tensor}' is a scalar, which has no capacity; leave that out."
    option = ",".join(f"{name}=N" for name in of)
    return (
        f"'{tensor}' is dense, so that the greatest extents of its indices are its room; give these instead "
        f"of a capacity, as in '--extents {option}'."
    )


def bank_room(tensor: str, count: int, rows: int, entries: int) -> dict[str, int]:
    """In `Capacity.banks`, the room that each of `count` ranges of rows has."""
    return {
        f"{tensor} in {count}": rounded_entries(entries),
        f"{tensor} rows in {count}": rounded_extent(rows),
    }


def _greater(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    return {name: max(a.get(name, 0), b.get(name, 0)) for name in (*a, *b)}


def greatest_extents(program: Program, capacity: Capacity) -> dict[str, int]:
    """The greatest extent of each dimension; raises `InputError` for one that nothing fixes."""
    result = {}
    for dimension, declared in program.dimensions.extents.items():
        extent = capacity.extents.get(dimension, declared)
        if extent is None:
            raise InputError(
                f"Nothing gives the extent of index {dimension} in '{program.name}'; declare it, as in "
                f"'tensor A[{dimension}=64]' or 'index {dimension}=64', or give data."
            )
        result[dimension] = max(extent, declared or 0)
    return result


_COPIES = 5
"""Arrays of a tensor's size that a run has at once: the values, their words, what is made on the way, the
result and its reference. Measured with a dense vector."""


def check_size(program: Program) -> None:
    """Refuses a program whose tensors do not fit this machine whatever their data are.

    Raises:
        InputError: naming the largest tensor.
    """
    places = {decl.name: _least(decl) for decl in program.tensors.values()}
    largest = max(places, key=lambda name: places[name])
    shape = " x ".join(f"{extent or 1:,}" for extent in program.tensors[largest].shape) or "scalar"
    what = f"'{program.name}', whose largest tensor is {largest} ({shape}),"
    hint = "use smaller data, or a format that compresses it"
    check_memory(_COPIES * WORD * sum(places.values()), what, hint)


def _least(decl: TensorDecl) -> int:
    """What a tensor stores even if it is empty: the dense levels outside of all others."""
    sizes = decl.format.level_sizes(tuple(extent or 1 for extent in decl.shape))
    return prod(sizes[: decl.format.outer_dense])
