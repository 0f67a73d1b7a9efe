"""How large a build is: the greatest extents and the words of each memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from samhw.compiler.einsum import stored_format
from samhw.errors import InputError
from samhw.frontend import Program, Statement, TensorDecl
from samhw.graph import Memory, MemoryRole
from samhw.tensors import LevelType

__all__ = ["Capacity", "extents_of", "memories_of"]

DEFAULT_ENTRIES = 1 << 12
"""Entries of a compressed level when nothing says more: 16 KiB of coordinates."""


@dataclass(frozen=True)
class Capacity:
    """What a build must hold beyond what the program's text says.

    `extents` maps an index to its greatest extent, `entries` a tensor to the most entries that a compressed
    level of it may hold (its nonzeros).
    """

    extents: Mapping[str, int] = field(default_factory=dict)
    entries: Mapping[str, int] = field(default_factory=dict)

    def __or__(self, other: "Capacity") -> "Capacity":
        """Room for what either has room for."""
        return Capacity(_greater(self.extents, other.extents), _greater(self.entries, other.entries))


def _greater(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    return {name: max(a.get(name, 0), b.get(name, 0)) for name in (*a, *b)}


def extents_of(program: Program, statement: Statement, capacity: Capacity) -> dict[str, int]:
    """The greatest extent of each index of a statement; raises `InputError` for one that nothing fixes."""
    result = {}
    for index, declared in program.extents(statement).items():
        extent = capacity.extents.get(index, declared)
        if extent is None:
            raise InputError(
                f"Nothing gives the extent of index {index} in '{statement.lhs} = ..'; declare it, as in "
                f"'tensor A[{index}=64]', or give data."
            )
        result[index] = max(extent, declared or 0)
    return result


def memories_of(
    decl: TensorDecl,
    indices: tuple[str, ...],
    role: MemoryRole,
    extents: Mapping[str, int],
    capacity: Capacity,
) -> list[Memory]:
    """The memories of a tensor's storage, sized for its greatest shape and number of entries."""
    fmt = stored_format(decl.format)
    sizes = [extents[indices[mode]] for mode in fmt.mode_order]
    bound = capacity.entries.get(decl.name, DEFAULT_ENTRIES)
    memories = []
    fibers = 1
    for level, (kind, size) in enumerate(zip(fmt.levels, sizes, strict=True)):
        if kind is LevelType.dense:
            fibers *= size
            continue
        entries = min(fibers * size, max(bound, 1))
        memories.append(Memory(f"{decl.name}.pos{level}", decl.name, f"pos{level}", role, fibers + 1))
        memories.append(Memory(f"{decl.name}.crd{level}", decl.name, f"crd{level}", role, entries))
        fibers = entries
    memories.append(Memory(f"{decl.name}.vals", decl.name, "vals", role, fibers))
    return memories
