"""Pools: the memories on the chip of a design. Arrays that a port reaches in different runs lie in one, each
from a base of its own (docs/host_port.md, "Shared fabrics")."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from samhw.graph.design import Design, block_rams
from samhw.graph.ir import Memory, MemoryRole, Node
from samhw.graph.shared_nodes import regions_of, users_by_first
from samhw.precedence import reached

__all__ = ["Pool", "pools_of"]

_INDEX_BITS = 32
"""Those of an index, where what an array takes is compared."""


@dataclass(frozen=True)
class Pool:
    """A memory.

    Attributes:
        bases: where each of its arrays begins, in places, by the array's name. The first one gives its name
            to the pool. A base is a multiple of the least power of two that is no less than the array, and so
            is joined to an address without an addition.
        capacity: in places.
    """

    bases: Mapping[str, int]
    capacity: int

    @property
    def name(self) -> str:
        """That of its first array."""
        return next(iter(self.bases))


def pools_of(design: Design, apart: Collection[str] = ()) -> tuple[Pool, ...]:
    """The pools of a design, in the order of its memories.

    No region, and no two side by side, use two arrays of one pool, so that each read and each write has a
    port, and none is read while it is written. What the host writes lies apart from what regions write.

    Args:
        apart: the arrays that do not lie on the chip.
    """
    return _Pools(design, apart).found()


class _Pools:
    def __init__(self, design: Design, apart: Collection[str]):
        self._design = design
        self._apart = frozenset(apart)
        self._joined: dict[str, set[str]] = defaultdict(set)
        """By array those that a port reaches in other regions, if they could lie in one memory,"""
        self._by_fabrics: dict[str, set[str]] = defaultdict(set)
        """and those of them that a port of a fabric reaches by itself."""
        for users in users_by_first(design).values():
            self._join([*regions_of(design, users).values()], self._joined)
            for fabric, name in users:
                self._join(design.bound[fabric][name], self._by_fabrics)

    def found(self) -> tuple[Pool, ...]:
        memories = [memory for memory in self._design.memories if memory.name not in self._apart]
        order = {memory.name: place for place, memory in enumerate(memories)}
        done: set[str] = set()
        pools: list[Pool] = []
        for memory in memories:
            if memory.name not in done:
                together = reached([memory.name], lambda name: self._joined[name])
                done |= together
                pools += self._coloured([m for m in memories if m.name in together])
        return tuple(sorted(pools, key=lambda pool: order[pool.name]))

    def _join(self, nodes: Sequence[Node], joined: dict[str, set[str]]) -> None:
        """Joins what ports of corresponding nodes of several regions reach."""
        for param in nodes[0].memories if len(nodes) > 1 else ():
            names = {node.memories[param] for node in nodes} - self._apart
            for inputs in (True, False):
                own = {n for n in names if (self._design.memory[n].role is MemoryRole.INPUT) == inputs}
                for name in own:
                    joined[name] |= own - {name}

    @cached_property
    def _regions(self) -> Mapping[str, set[int]]:
        """The regions that use each array."""
        found: dict[str, set[int]] = defaultdict(set)
        for number, node in self._design.nodes:
            for name in node.memories.values():
                found[name].add(number)
        return found

    def _coloured(self, memories: Sequence[Memory]) -> list[Pool]:
        """Memories in as few pools as come of taking one after the other, by the region that uses it first:
        each into the pool with the most that a port reaches as well as it, of those that it may join."""
        groups: list[list[Memory]] = []
        for memory in sorted(memories, key=lambda memory: min(self._regions[memory.name], default=0)):
            free = [group for group in groups if self._may_join(memory, group)]
            near = [sum(other.name in self._joined[memory.name] for other in group) for group in free]
            nearest = max(near, default=0)
            if nearest:
                free[near.index(nearest)].append(memory)
            else:
                groups.append([memory])
        pools = ({memory.name for memory in group} for group in groups)
        return [_packed([memory for memory in memories if memory.name in pool]) for pool in pools]

    def _may_join(self, memory: Memory, group: Sequence[Memory]) -> bool:
        """None of its regions uses the group; and what no port of a fabric reaches by itself as well as
        something there takes no block RAM more for it."""
        own = self._regions[memory.name] | self._design.beside_any(self._regions[memory.name])
        if not all(own.isdisjoint(self._regions[other.name]) for other in group):
            return False
        if any(other.name in self._by_fabrics[memory.name] for other in group):
            return True
        return self._blocks([*group, memory]) <= self._blocks(group) + self._blocks([memory])

    def _blocks(self, memories: Sequence[Memory]) -> int:
        """The block RAMs of memories in one pool."""
        width = max(self._design.stored(memory).width(_INDEX_BITS) for memory in memories)
        copies = max(self._design.copies[memory.name] for memory in memories)
        return block_rams(_packed(memories).capacity, width, copies)


def _packed(memories: Sequence[Memory]) -> Pool:
    """The pool of some memories, in their order: the largest lies first, which leaves the fewest places
    between them."""
    bases: dict[str, int] = {}
    end = 0
    for memory in sorted(memories, key=lambda memory: -memory.capacity):
        size = 1 << max(memory.capacity - 1, 0).bit_length()
        bases[memory.name] = -(-end // size) * size
        end = bases[memory.name] + memory.capacity
    return Pool({memory.name: bases[memory.name] for memory in memories}, end)
