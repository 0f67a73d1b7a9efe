"""What the lowering of a region has to know of the program around it, its memories among it."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any

from samhw.compiler.einsum import StepPlace
from samhw.compiler.passes import Lowerable
from samhw.graph import Arch, Graph, Memory, MemoryRole, Repeat, TensorBinding, memory_name
from samhw.graph.numerics import ValueType
from samhw.graph.spec import StoredArray
from samhw.lang import Access, Capacity, Program, Region, Scan, block_sizes
from samhw.lang.fusion import FusedRegion
from samhw.lang.typed import types_of
from samhw.tensors import Format

__all__ = ["Lowerings", "OutOfStepsError", "Scope"]


def memories_of(
    program: Program,
    tensor: str,
    role: MemoryRole,
    shape: tuple[int, ...],
    capacity: Capacity,
    shards: int = 1,
    *,
    stored: str | None = None,
    value: ValueType | None = None,
) -> list[Memory]:
    """The memories of a tensor's storage, sized for its greatest shape and number of entries, of which one
    shard may hold all.

    Args:
        stored: the tensor whose memories they are, if it has none of its own.
        value: the type of its values, if it is not the design's.
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
        Memory(
            *(memory_name(owner, array, shard), owner, array, role, places),
            value=value if array == StoredArray.VALS else None,
            shard=shard,
        )
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


class OutOfStepsError(Exception):
    """A search has taken the steps that it may; no error of its user."""


class Lowerings(dict[Hashable, Any]):
    """What regions have been lowered to under one `Arch`, by all that this follows from (`Scope.causes`): a
    search asks for the same region again and again.

    Attributes:
        steps: what this has taken, as nodes of graphs that were made or gone through: on every machine the
            same.
        most: how many it may take.
    """

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.most = inf

    def take(self, steps: int) -> None:
        """Counts more steps. Raises `OutOfStepsError` where there are no more."""
        self.steps += steps
        if self.steps > self.most:
            raise OutOfStepsError

    @contextmanager
    def limited(self, part: float, least: float) -> Iterator[None]:
        """A block that may take such a part of the steps that are left.

        Raises:
            OutOfStepsError: if these are less than the least that it takes, too.
        """
        most = self.most
        self.most = self.steps + part * (most - self.steps)
        try:
            if self.most - self.steps < least:
                raise OutOfStepsError
            yield
        finally:
            self.most = most


class Scope:
    """A program whose regions are lowered.

    Args:
        lowerable: the program, with the tensors that its regions store.
        value: the type of its values.
        lowerings: what has been lowered already, under the same `arch`.
    """

    def __init__(
        self, lowerable: Lowerable, value: ValueType, arch: Arch, lowerings: Lowerings | None = None
    ):
        self.lowerable = lowerable
        self.program = lowerable.program
        self.value = value
        self.arch = arch
        self.lowerings = Lowerings() if lowerings is None else lowerings
        self.iteration = lowerable.schedule.iteration
        self.recomputed = lowerable.schedule.recomputed
        self.dimensions = self.program.dimensions
        self.block_sizes = block_sizes(self.program)
        self.block_counts = {d: self.dimensions.fresh(f"{d}_blocks") for d in self.block_sizes}
        """For each dimension in blocks, the one that counts them: the rows of its indices."""
        counts = {self.block_counts[d]: -(-lowerable.extents[d] // n) for d, n in self.block_sizes.items()}
        self.extents = lowerable.extents | counts

    def of(self, lowerable: Lowerable) -> "Scope":
        """The same for another program; itself for its own, since most regions need no copies."""
        return (
            self if lowerable is self.lowerable else Scope(lowerable, self.value, self.arch, self.lowerings)
        )

    @cached_property
    def has_plain_regions(self) -> bool:
        """Whether all that a region is lowered by are its statements, and what is known of the tensors, the
        indices and the dimensions that they name."""
        lowerable, schedule = self.lowerable, self.lowerable.schedule
        if lowerable.slices or lowerable.joined or lowerable.segmented or self.block_sizes:
            return False
        indices = {index for statement in self.program.statements for index in statement.indices}
        return not (schedule.deal or schedule.queues or schedule.lanes.keys() - indices)

    @cached_property
    def given(self) -> frozenset[str]:
        """The program's inputs."""
        return frozenset(decl.name for decl in self.program.inputs)

    @cached_property
    def places_of_dimensions(self) -> dict[str, int]:
        """The place of each dimension among all extents."""
        return {dimension: place for place, dimension in enumerate(self.extents)}

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
        statement = self.program.regions[number].statements[0]
        made, slices = statement.lhs.tensor, self.lowerable.slices
        if made in self.lowerable.aliases or made in self.lowerable.joined:
            return True
        if statement.lhs.step is not None and isinstance(statement.rhs, Access):
            return statement.rhs.tensor in slices and slices[statement.rhs.tensor].tensor == made
        return made in slices and not slices[made].is_written

    def repeat(self, region: Region) -> Repeat | None:
        """What repeats a region, without the body."""
        if region.scan is None:
            return None
        counter = next(s.counter for s in self.lowerable.slices.values() if s.scan == region.scan)
        return Repeat(counter, self._steps_of(region.scan), ())

    def _steps_of(self, scan: Scan) -> str:
        """The dimension of the steps of a scan."""
        statement = next(s for s in self.program.statements if s.scan == scan)
        return self.dimensions.of_statement(statement)[scan.index]

    @cached_property
    def steps(self) -> dict[str, dict[str, StepPlace]]:
        """For each tensor that is a step of others, the tensors that may have it, and where."""
        found: dict[str, dict[str, StepPlace]] = {}
        for name, piece in self.lowerable.slices.items():
            tensor = self.program.tensors[piece.tensor]
            mode = tensor.format.mode_order[0]
            down = self._steps_of(piece.scan) if piece.scan.down else None
            extent = self.dimensions.of_tensor(piece.tensor)[mode]
            found[name] = {name: StepPlace(piece.counter, piece.offset, extent, down)}
            found[name] |= {start: StepPlace(piece.counter, -steps) for start, steps in piece.starts}
        return found

    @cached_property
    def segmented(self) -> dict[str, str]:
        """By index that counts segments of a cascade, its dimension."""
        known = {
            i: place for i, place in self.lowerable.segmented.items() if place[0] in self.program.tensors
        }
        return {index: self.dimensions.of_tensor(tensor)[mode] for index, (tensor, mode) in known.items()}

    def causes(self, number: int, fused: FusedRegion) -> Hashable:
        """All that a region is lowered by, beside the order of its indices and its name in the design."""
        lowerable, program = self.lowerable, self.program
        statements = program.regions[number].statements
        read = dict.fromkeys(access.tensor for s in statements for access in (s.lhs, *s.needs))
        # Steps of tensors lead to other statements.
        views = self.with_views(program.tensors if lowerable.slices else read)
        modes = {name: self.dimensions.of_tensor(name) for name in views}
        dimensions = set(fused.dimension.values()).union(*modes.values())
        extents = self.extents if lowerable.slices else {d: self.extents[d] for d in sorted(dimensions)}
        blocks = {
            d: (count, self.extents[count]) for d, count in self.block_counts.items() if d in dimensions
        }
        # Columns are named after the tensors, and reductions t0, t1, ...
        taken = frozenset(name for name in program.tensors if name.startswith(("t", *views)))
        return (
            *(statements, tuple(output.tensor for output in fused.outputs), tuple(fused.dimension.items())),
            *(fused.sharing, fused.recomputed, self.iteration, self.value, taken),
            *(tuple(views.items()), tuple(modes.items()), tuple(extents.items()), tuple(blocks.items())),
            *((program.tensors[name], lowerable.capacity.entries_of(name)) for name in views),
            *(decl.name for decl in program.inputs if decl.name in views),
            *(self.types[name] for name in (*views, *read)),
            *((tuple(lowerable.slices.items()), program.statements) if lowerable.slices else ()),
        )

    # What is stored

    @cached_property
    def types(self) -> dict[str, ValueType]:
        """The type of each tensor."""
        return types_of(self.program, self.value)

    def own_type(self, tensor: str) -> ValueType | None:
        """The type of a tensor, if it is not the program's."""
        return self.types[tensor] if self.types[tensor] != self.value else None

    def divisible(self, graph: Graph) -> frozenset[str]:
        """The tensors of a graph that may lie in shards: what no region reads is for the host alone."""
        joined = self.lowerable.joined
        names = (tensor.name for tensor in graph.tensors)
        stepped = {name for s, piece in self.lowerable.slices.items() for name in (s, piece.tensor)}
        return frozenset(
            name for name in names if self.program.readers(name) <= joined.keys() and name not in stepped
        )

    def in_shards(self, graph: Graph) -> tuple[Memory, ...]:
        """The memories of a region with lanes, with those of shards as large as these may become."""
        memories = {memory.name: memory for memory in graph.memories}
        for tensor in graph.tensors:
            if tensor.shards > 1:
                shape = self.dimensions.shape(tensor.name, self.extents)
                shards = memories_of(
                    *(self.program, tensor.name, tensor.role, shape, self.lowerable.capacity, tensor.shards),
                    value=self.own_type(tensor.name),
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
        written = [output.tensor for output in fused.outputs]
        outputs = {self._stored_in(tensor) for tensor in written}
        names = dict.fromkeys(use.tensor for use in fused.stored_uses() if use.tensor not in written)
        used = (*names, *written)
        memories: dict[str, Memory] = {}
        tensors = []
        for name, stored in self.with_views(used).items():
            role = MemoryRole.OUTPUT if stored in outputs else MemoryRole.INPUT
            shape = self.dimensions.shape(name, self.extents)
            capacity = self.lowerable.capacity
            is_step = name in self.lowerable.slices
            value = self.own_type(name)
            for memory in (
                ()
                if is_step
                else memories_of(self.program, name, role, shape, capacity, stored=stored, value=value)
            ):
                # The extents of aliases are rounded up each for itself.
                known = memories.get(memory.name, memory)
                memories[memory.name] = max(known, memory, key=lambda m: m.capacity)
            fmt = str(self.program.tensors[name].format.loaded)
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
                    is_step=is_step,
                    block_counts=counts if any(counts) else (),
                )
            )
        return list(memories.values()), tensors

    def with_views(self, tensors: Iterable[str]) -> Mapping[str, str]:
        """Tensors, and all that lie in the same memories; each with the one whose memories these are."""
        aliases, slices = self.lowerable.aliases, self.lowerable.slices
        found: dict[str, str] = {}
        for name in tensors:
            stored = self._stored_in(name)
            same = [stored, *(alias for alias, source in aliases.items() if source == stored)]
            found |= dict.fromkeys(same, stored)
            if name in slices:
                found[name] = stored
                found |= self.with_views([start for start, _ in slices[name].starts])
        return found

    def _stored_in(self, tensor: str) -> str:
        """The tensor in whose memories one lies."""
        piece = self.lowerable.slices.get(tensor)
        whole = tensor if piece is None else piece.tensor
        return self.lowerable.aliases.get(whole, whole)
