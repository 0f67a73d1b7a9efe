"""How large a build is: the greatest extents and the words of each memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from samhw.compiler.dimensions import Dimensions
from samhw.compiler.einsum import stored_format
from samhw.errors import InputError
from samhw.frontend import Program
from samhw.graph import Memory, MemoryRole
from samhw.tensors import LevelType

__all__ = ["Capacity", "greatest_extents", "memories_of"]

DEFAULT_ENTRIES = 1 << 12
"""Entries of a compressed level when nothing says more: 16 KiB of coordinates."""


@dataclass(frozen=True)
class Capacity:
    """What a build must hold beyond what the program's text says.

    `extents` maps a dimension to its greatest extent, `entries` a tensor to the most entries that a
    compressed level of it may hold (its nonzeros).
    """

    extents: Mapping[str, int] = field(default_factory=dict)
    entries: Mapping[str, int] = field(default_factory=dict)

    def __or__(self, other: "Capacity") -> "Capacity":
        """Room for what either has room for."""
        return Capacity(_greater(self.extents, other.extents), _greater(self.entries, other.entries))

    def with_entries(self, program: Program, entries: Mapping[str, int]) -> "Capacity":
        """Other entries for some tensors. Raises `InputError` for what has no level to hold them."""
        for tensor, count in entries.items():
            if tensor not in program.tensors:
                raise InputError(
                    f"'{program.name}' has no tensor '{tensor}' to give a capacity; it has "
                    f"{', '.join(program.tensors)}."
                )
            if program.tensors[tensor].format.is_all_dense:
                raise InputError(
                    f"'{tensor}' is dense, so that its extents say how much it holds; leave out its capacity."
                )
            if count < 1:
                raise InputError(f"'{tensor}' cannot have a capacity of {count}; give 1 or more.")
        return replace(self, entries={**self.entries, **entries})


def _greater(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    return {name: max(a.get(name, 0), b.get(name, 0)) for name in (*a, *b)}


def greatest_extents(program: Program, dimensions: Dimensions, capacity: Capacity) -> dict[str, int]:
    """The greatest extent of each dimension; raises `InputError` for one that nothing fixes."""
    result = {}
    for dimension, declared in dimensions.extents().items():
        extent = capacity.extents.get(dimension, declared)
        if extent is None:
            raise InputError(
                f"Nothing gives the extent of index {dimension} in '{program.name}'; declare it, as in "
                f"'tensor A[{dimension}=64]', or give data."
            )
        result[dimension] = max(extent, declared or 0)
    return result


def memories_of(
    program: Program, tensor: str, role: MemoryRole, shape: tuple[int, ...], capacity: Capacity
) -> list[Memory]:
    """The memories of a tensor's storage, sized for its greatest shape and number of entries."""
    fmt = stored_format(program.tensors[tensor].format)
    bound = capacity.entries.get(tensor, DEFAULT_ENTRIES)
    memories = []
    fibers = 1
    for level, (kind, mode) in enumerate(zip(fmt.levels, fmt.mode_order, strict=True)):
        if kind is LevelType.dense:
            fibers *= shape[mode]
            continue
        entries = min(fibers * shape[mode], max(bound, 1))
        memories.append(Memory(f"{tensor}.pos{level}", tensor, f"pos{level}", role, fibers + 1))
        memories.append(Memory(f"{tensor}.crd{level}", tensor, f"crd{level}", role, entries))
        fibers = entries
    memories.append(Memory(f"{tensor}.vals", tensor, "vals", role, fibers))
    return memories
