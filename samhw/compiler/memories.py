"""The memories of tensors."""

from collections.abc import Iterator, Sequence

from samhw.graph import Memory, MemoryRole, memory_name
from samhw.graph.spec import StoredArray
from samhw.lang import Capacity, Program
from samhw.tensors import Format

__all__ = ["memories_of"]


def memories_of(
    program: Program,
    tensor: str,
    role: MemoryRole,
    shape: tuple[int, ...],
    capacity: Capacity,
    shards: int = 1,
    *,
    stored: str | None = None,
) -> list[Memory]:
    """The memories of a tensor's storage, sized for its greatest shape and number of entries, of which one
    shard may hold all.

    Args:
        stored: the tensor whose memories they are, if it has none of its own.
    """
    owner = stored or tensor
    stored_as = program.tensors[tensor].format.loaded
    fmt = stored_as.of_blocks
    shape = tuple(-(-size // stored_as.block_of(mode)) for mode, size in enumerate(shape))
    numbers = [None] if shards == 1 else range(shards)
    outermost = fmt.mode_order[:1]
    distributed = [-(-size // shards) if mode in outermost else size for mode, size in enumerate(shape)]
    sizes = fmt.greatest_sizes(distributed, capacity.entries_of(tensor))
    return [
        Memory(memory_name(owner, array, shard), owner, array, role, places, shard=shard)
        for array, places in _arrays(fmt, distributed, sizes)
        for shard in numbers
    ]


def _arrays(fmt: Format, shape: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[str, int]]:
    """The arrays of a tensor's storage, with the places of each."""
    fibers = 1
    for depth, (level, mode, size) in enumerate(zip(fmt.levels, fmt.mode_order, sizes, strict=True)):
        for array, places in level.capacities(fibers, shape[mode], size).items():
            yield f"{array}{depth}", places
        fibers = size
    yield StoredArray.VALS, fibers
