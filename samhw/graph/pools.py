"""Pools: the memories on the chip of a design. Arrays that ports of a shared fabric reach in different runs
lie in one, each from a base of its own (docs/host_port.md, "Shared fabrics")."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from samhw.graph.design import Design
from samhw.graph.ir import Memory, MemoryRole
from samhw.precedence import reached

__all__ = ["Pool", "pools_of"]


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
    joined = _reached_alike(design, apart)
    regions = _regions(design)
    done: set[str] = set()
    groups: list[list[Memory]] = []
    for memory in design.memories:
        if memory.name in apart or memory.name in done:
            continue
        together = reached([memory.name], lambda name: joined[name])
        done |= together
        groups += _coloured(
            [m for m in design.memories if m.name in together], joined, regions, design.beside
        )
    order = {memory.name: place for place, memory in enumerate(design.memories)}
    pools = (_packed(group, order) for group in groups)
    return tuple(sorted(pools, key=lambda pool: order[pool.name]))


def _reached_alike(design: Design, apart: Collection[str]) -> Mapping[str, set[str]]:
    """By array those that a port of a fabric reaches in other regions, if they could lie in one memory."""
    found: dict[str, set[str]] = defaultdict(set)
    for group in design.fabrics:
        for nodes in zip(*(design.regions[number].nodes for number in group), strict=True):
            for param in nodes[0].memories:
                names = {node.memories[param] for node in nodes} - {*apart}
                for inputs in (True, False):
                    own = {n for n in names if (design.memory[n].role is MemoryRole.INPUT) == inputs}
                    for name in own:
                        found[name] |= own - {name}
    return found


def _regions(design: Design) -> Mapping[str, set[int]]:
    """The regions that use each array."""
    found: dict[str, set[int]] = defaultdict(set)
    for number, node in design.nodes:
        for name in node.memories.values():
            found[name].add(number)
    return found


def _coloured(
    memories: Iterable[Memory],
    joined: Mapping[str, set[str]],
    regions: Mapping[str, set[int]],
    beside: Mapping[int, frozenset[int]],
) -> list[list[Memory]]:
    """Memories in as few pools as come of taking one after the other, by the region that uses it first: each
    into the pool with the most that a port reaches as well as it, of those that its regions do not use."""
    pools: list[list[Memory]] = []
    for memory in sorted(memories, key=lambda memory: min(regions[memory.name], default=0)):
        own = regions[memory.name].union(*(beside[region] for region in regions[memory.name]))
        free = [pool for pool in pools if all(own.isdisjoint(regions[other.name]) for other in pool)]
        near = [sum(other.name in joined[memory.name] for other in pool) for pool in free]
        nearest = max(near, default=0)
        if nearest:
            free[near.index(nearest)].append(memory)
        else:
            pools.append([memory])
    return pools


def _packed(memories: list[Memory], order: Mapping[str, int]) -> Pool:
    """The pool of some memories: the largest first, which leaves the fewest places between them."""
    bases: dict[str, int] = {}
    end = 0
    for memory in sorted(memories, key=lambda memory: -memory.capacity):
        size = 1 << max(memory.capacity - 1, 0).bit_length()
        bases[memory.name] = -(-end // size) * size
        end = bases[memory.name] + memory.capacity
    return Pool({name: bases[name] for name in sorted(bases, key=order.__getitem__)}, end)
