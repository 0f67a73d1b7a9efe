"""What the lowering of a region has to know of the program around it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from samhw.compiler.memories import memories_of
from samhw.decision import Iteration
from samhw.frontend import Region
from samhw.fusion import FusedRegion, block_sizes, stored_format
from samhw.graph import Arch, Graph, Memory, MemoryRole, TensorBinding
from samhw.numerics import ValueType
from samhw.passes import Lowerable

__all__ = ["Scope"]


class Scope:
    """A program whose regions are lowered.

    Args:
        lowerable: the program, with the tensors that its regions store.
        value: the type of its values.
        iteration: as a decision has it.
        recomputed: the intermediates that each use computes for itself.
    """

    def __init__(
        self,
        lowerable: Lowerable,
        value: ValueType,
        arch: Arch,
        iteration: Iteration = "factored",
        recomputed: frozenset[str] = frozenset(),
    ):
        self.lowerable = lowerable
        self.program = lowerable.program
        self.value = value
        self.arch = arch
        self.iteration = iteration
        self.recomputed = recomputed
        self.dimensions = self.program.dimensions
        self.block_sizes = block_sizes(self.program)
        self.block_counts = {d: self.dimensions.fresh(f"{d}_blocks") for d in self.block_sizes}
        """For each dimension in blocks, the one that counts them: the rows of its indices."""
        counts = {self.block_counts[d]: -(-lowerable.extents[d] // n) for d, n in self.block_sizes.items()}
        self.extents = lowerable.extents | counts

    def of(self, lowerable: Lowerable) -> "Scope":
        """The same for another program."""
        return Scope(lowerable, self.value, self.arch, self.iteration, self.recomputed)

    @cached_property
    def once(self) -> str:
        """A dimension of extent 1, which all copies share."""
        return self.dimensions.fresh("once")

    def rows(self, dimension: Mapping[str, str]) -> dict[str, str]:
        """The dimensions of indices as those of the rows that they have: of blocks, where there are some."""
        return {index: self.block_counts.get(d, d) for index, d in dimension.items()}

    def name(self, number: int) -> str:
        """Of a region in the design."""
        return (
            self.program.name if len(self._numbers) == 1 else f"{self.program.name}_{self._numbers[number]}"
        )

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """The number in the design of each region that has something to do."""
        working = (n for n in range(len(self.program.regions)) if not self.is_idle(n))
        return {number: place for place, number in enumerate(working)}

    def is_idle(self, number: int) -> bool:
        """Whether a region has nothing to do: what its statement makes is an alias, or is put together by the
        host."""
        made = self.program.regions[number].statements[0].lhs.tensor
        return made in self.lowerable.aliases or made in self.lowerable.joined

    @cached_property
    def segmented(self) -> dict[str, str]:
        """By index that counts segments of a cascade, its dimension."""
        known = {
            i: place for i, place in self.lowerable.segmented.items() if place[0] in self.program.tensors
        }
        return {index: self.dimensions.of_tensor(tensor)[mode] for index, (tensor, mode) in known.items()}

    # What is stored

    def divisible(self, graph: Graph) -> frozenset[str]:
        """The tensors of a graph that may lie in shards: what no region reads is for the host alone."""
        joined = self.lowerable.joined
        names = (tensor.name for tensor in graph.tensors)
        return frozenset(name for name in names if self.program.readers(name) <= joined.keys())

    def in_shards(self, graph: Graph) -> tuple[Memory, ...]:
        """The memories of a region with lanes, with those of shards as large as these may become."""
        memories = {memory.name: memory for memory in graph.memories}
        for tensor in graph.tensors:
            if tensor.shards > 1:
                shape = self.dimensions.shape(tensor.name, self.extents)
                shards = memories_of(
                    self.program, tensor.name, tensor.role, shape, self.lowerable.capacity, tensor.shards
                )
                known = {shard.name: memories[shard.name] for shard in shards if shard.name in memories}
                memories |= {s.name: replace(s, block=known[s.name].block) for s in shards if s.name in known}
        return tuple(memories.values())

    def points(self, region: Region) -> dict[str, int]:
        """The most values of each result of a region."""
        names = region.written
        return {name: self.lowerable.stored_values(name) for name in names}

    def stores(self, fused: FusedRegion) -> tuple[list[Memory], list[TensorBinding]]:
        """The memories and tensors of a region."""
        outputs = {output.tensor for output in fused.outputs}
        names = dict.fromkeys(use.tensor for use in fused.stored_uses() if use.tensor not in outputs)
        used = (*names, *(output.tensor for output in fused.outputs))
        memories: dict[str, Memory] = {}
        tensors = []
        for name, stored in self._with_views(used).items():
            role = MemoryRole.OUTPUT if stored in outputs else MemoryRole.INPUT
            shape = self.dimensions.shape(name, self.extents)
            capacity = self.lowerable.capacity
            for memory in memories_of(self.program, name, role, shape, capacity, stored=stored):
                # The extents of aliases are rounded up each for itself.
                known = memories.get(memory.name, memory)
                memories[memory.name] = max(known, memory, key=lambda m: m.capacity)
            fmt = str(stored_format(self.program.tensors[name].format))
            dimensions = self.dimensions.of_tensor(name)
            alias_of = None if stored == name else stored
            counts = tuple(self.block_counts.get(d, "") for d in dimensions)
            tensors.append(
                TensorBinding(
                    name,
                    role,
                    fmt,
                    dimensions,
                    shape,
                    alias_of=alias_of,
                    block_counts=counts if any(counts) else (),
                )
            )
        return list(memories.values()), tensors

    def _with_views(self, tensors: Sequence[str]) -> Mapping[str, str]:
        """Tensors, and all that lie in the same memories; each with the one whose memories these are."""
        aliases = self.lowerable.aliases
        found: dict[str, str] = {}
        for name in tensors:
            stored = aliases.get(name, name)
            same = [stored, *(alias for alias, source in aliases.items() if source == stored)]
            found |= dict.fromkeys(same, stored)
        return found
