"""The memories of tensors."""

from samhw.frontend import Capacity, Program
from samhw.fusion import greatest_sizes, stored_format
from samhw.graph import Memory, MemoryRole
from samhw.tensors import LevelType

__all__ = ["memories_of"]


def memories_of(
    program: Program, tensor: str, role: MemoryRole, shape: tuple[int, ...], capacity: Capacity
) -> list[Memory]:
    """The memories of a tensor's storage, sized for its greatest shape and number of entries."""
    fmt = stored_format(program.tensors[tensor].format)
    memories = []
    fibers = 1
    for level, size in enumerate(greatest_sizes(fmt, shape, capacity.entries_of(tensor))):
        if fmt.levels[level] is not LevelType.dense:
            memories.append(Memory(f"{tensor}.pos{level}", tensor, f"pos{level}", role, fibers + 1))
            memories.append(Memory(f"{tensor}.crd{level}", tensor, f"crd{level}", role, size))
        fibers = size
    memories.append(Memory(f"{tensor}.vals", tensor, "vals", role, fibers))
    return memories
