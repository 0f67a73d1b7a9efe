"""What the compiler gives: the graphs of the regions, what they share, and the sequence in which they run."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias, TypeVar

from samhw.errors import InputError
from samhw.graph.fabrics import built_graph
from samhw.graph.ir import Channel, Graph, Memory, MemoryRole, Node, TensorBinding
from samhw.graph.numerics import ValueType
from samhw.graph.sequence import Run, Steps, beside, in_turn, most_at_a_time
from samhw.graph.spec import Payload
from samhw.words import counted

__all__ = ["LUT_PLACES", "Design", "Users", "block_rams", "reads_of_a_copy"]

T = TypeVar("T")

Users: TypeAlias = Mapping[int, str]
"""Nodes of different fabrics: by the number of a fabric, the name of its node."""

LUT_PLACES = 32
"""Places of a memory that synthesis still makes of LUTs."""

_SHAPES = ((36, 1 << 9), (18, 1 << 10), (9, 1 << 11), (4, 1 << 12), (2, 1 << 13), (1, 1 << 14))
"""Bits of a word and words of a block RAM of 18 Kb. In the first shape one port reads and one writes; in the
others both may do both."""


def block_rams(places: int, width: int, reads: int = 1, banks: int = 0) -> int:
    """The block RAMs of 18 Kb that memories of that many places take, from which as many words are read at a
    time, each of which may have a copy of its own or share one with another (`reads_of_a_copy`); or those of
    as many banks, whatever is read."""
    if banks:
        return banks * _blocks(-(-places // banks), width, shared=True)
    each = reads_of_a_copy(places, width, reads)
    copies, left = divmod(reads, each)
    return copies * _blocks(places, width, shared=each > 1) + left * _blocks(places, width, shared=False)


def reads_of_a_copy(places: int, width: int, reads: int) -> int:
    """How many words are read from each copy of a memory at a time: two where that takes fewer block RAMs."""
    shared, alone = (_blocks(places, width, shared=is_shared) for is_shared in (True, False))
    return 2 if reads > 1 and places > LUT_PLACES and shared < 2 * alone else 1


def _blocks(places: int, width: int, *, shared: bool) -> int:
    shapes = _SHAPES[1:] if shared else _SHAPES
    return min(-(-width // bits) * -(-places // words) for bits, words in shapes)


@dataclass(frozen=True)
class Design:
    """A whole program as hardware (docs/timing.md, "Regions"). Use `of` or `assemble`.

    Attributes:
        value: the value type of all regions.
        regions: their graphs. Each has the memories, tensors and extents that it uses, as they are here but
            for the role: INPUT or OUTPUT.
        memories: of all regions. Between runs they keep what they hold, so a region finds in a buffer what
            an earlier one has left there.
        tensors: of all regions.
        extents: the greatest extent of each index.
        sequence: the steps of a run. Each region has a place there.
        fabrics: the numbers of regions that share a fabric, a tuple for each fabric with several
            (`samhw.graph.fabrics`); nodes and channels of these correspond place by place.
        shared_nodes: those that are one in hardware (`samhw.graph.shared_nodes`). The first fabric gives the
            hardware its name.
        fixed: the indices whose extent is the greatest in every run, which hardware has as constants.
    """

    name: str
    value: ValueType
    regions: tuple[Graph, ...]
    memories: tuple[Memory, ...]
    tensors: tuple[TensorBinding, ...]
    extents: Mapping[str, int] = field(default_factory=dict)
    sequence: Steps = (Run(0),)
    fabrics: tuple[tuple[int, ...], ...] = ()
    shared_nodes: tuple[Users, ...] = ()
    fixed: tuple[str, ...] = ()

    @classmethod
    def of(cls, graph: Graph) -> "Design":
        """The design that runs one graph."""
        return cls(graph.name, graph.value, (graph,), graph.memories, graph.tensors, graph.extents)

    @classmethod
    def assemble(
        cls,
        name: str,
        graphs: Sequence[Graph],
        sequence: Steps | None = None,
        results: Collection[str] = (),
        fabrics: tuple[tuple[int, ...], ...] = (),
        *,
        shared_nodes: tuple[Users, ...] = (),
    ) -> "Design":
        """The design that runs graphs in a sequence, or one after another.

        Memories, tensors and extents of one name are one, as large as the largest. A tensor that one graph
        writes and a later one reads becomes a buffer between them, unless it is among the results. Graphs
        are named after the design, with their numbers if there are several.

        Raises:
            InputError: for graphs of different value types.
        """
        sequence = sequence or tuple(map(Run, range(len(graphs))))
        if len(graphs) == 1:
            return replace(cls.of(replace(graphs[0], name=name)), sequence=sequence)
        if len({graph.value for graph in graphs}) > 1:
            raise InputError(f"The regions of {name} have different value types; give them one.")
        roles = _roles(graphs, results)
        memories, tensors, extents = _Whole[Memory](), _Whole[TensorBinding](), _Whole[int]()
        for graph in graphs:
            for memory in graph.memories:
                known = memories.get(memory.name, memory)
                capacity = max(memory.capacity, known.capacity)
                memories[memory.name] = replace(memory, role=roles[memory.tensor], capacity=capacity)
            for tensor in graph.tensors:
                tensors[tensor.name] = _in_role(tensor, roles[tensor.name])
            for index, extent in graph.extents.items():
                extents[index] = max(extent, extents.get(index, 0))
        return cls(
            name,
            graphs[0].value,
            tuple(
                _region(f"{name}_{number}", graph, memories, tensors, extents)
                for number, graph in enumerate(graphs)
            ),
            tuple(memories.values()),
            tuple(tensors.values()),
            extents,
            sequence,
            fabrics,
            shared_nodes,
        )

    @property
    def with_fixed_extents(self) -> "Design":
        """The same with all extents fixed, but for those of ranges of rows, which follow from the data."""
        rows = {row for tensor in self.tensors for row in tensor.rows}
        return replace(self, fixed=tuple(index for index in self.extents if index not in rows))

    def check_extents(self, extents: Mapping[str, int]) -> None:
        """Raises `InputError` for extents that no run of its hardware can have."""
        for index, greatest in self.extents.items():
            if index not in extents:
                raise InputError(f"The extent of index {index} is missing; give one up to {greatest:,}.")
            if not 0 <= extents[index] <= greatest:
                raise InputError(
                    f"Index {index} has extent {extents[index]:,}, but this build takes {greatest:,}; "
                    "rebuild with a larger shape."
                )
            if index in self.fixed and extents[index] != greatest:
                raise InputError(
                    f"Index {index} has extent {extents[index]:,}, but this build has {greatest:,} fixed; "
                    "rebuild for these data, or without --fixed-extents."
                )

    @property
    def summary(self) -> str:
        """Its size in a few words."""
        parts = (counted(len(self.built_nodes), "node"), counted(len(self.built_channels), "channel"))
        regions = counted(len(self.regions), "region")
        on = f" on {counted(len(self.groups), 'fabric')}" if self.fabrics else ""
        return f"{regions}{on} with {' and '.join(parts)}"

    def __repr__(self) -> str:
        return f"<Design {self.name}: {self.value}, {self.summary}>"

    @cached_property
    def memory(self) -> dict[str, Memory]:
        """Memories by name."""
        return {m.name: m for m in self.memories}

    @cached_property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the regions in the order in which they first run, each once."""
        return tuple(in_turn(self.sequence))

    @cached_property
    def beside(self) -> dict[int, frozenset[int]]:
        """For each region those that run side by side with it."""
        return beside(self.sequence)

    def beside_any(self, regions: Iterable[int]) -> frozenset[int]:
        """Those that run side by side with one of some regions."""
        return frozenset[int]().union(*(self.beside[region] for region in regions))

    @property
    def is_parallel(self) -> bool:
        """Whether some regions run side by side."""
        return any(self.beside.values())

    @cached_property
    def runs(self) -> tuple[Graph, ...]:
        """The graphs of the regions, in the order of `turns`."""
        return tuple(self.regions[number] for number in self.turns)

    @cached_property
    def nodes(self) -> tuple[tuple[int, Node], ...]:
        """The nodes of all regions, each with the number of its region."""
        return tuple((number, node) for number, graph in enumerate(self.regions) for node in graph.nodes)

    @cached_property
    def channels(self) -> tuple[tuple[int, Channel], ...]:
        """The channels of all regions, each with the number of its region."""
        return tuple(
            (number, channel) for number, graph in enumerate(self.regions) for channel in graph.channels
        )

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """For each fabric the numbers of its regions, in ascending order; fabrics come by their first one."""
        shared = {group[0]: group for group in self.fabrics}
        others = {number for group in self.fabrics for number in group[1:]}
        return tuple(shared.get(n, (n,)) for n in range(len(self.regions)) if n not in others)

    @cached_property
    def built(self) -> tuple[Graph, ...]:
        """The graph of each fabric, as large as its regions need it."""
        return tuple(built_graph([self.regions[number] for number in group]) for group in self.groups)

    @cached_property
    def bound(self) -> tuple[Mapping[str, tuple[Node, ...]], ...]:
        """For each fabric, by the name of its node, the node of each of its regions."""
        return tuple(
            {nodes[0].name: nodes for nodes in zip(*(self.regions[n].nodes for n in group), strict=True)}
            for group in self.groups
        )

    @cached_property
    def built_nodes(self) -> tuple[tuple[int, Node], ...]:
        """The nodes of all fabrics, each with the number of that, as ERROR_NODE counts them
        (docs/host_port.md)."""
        return tuple((number, node) for number, graph in enumerate(self.built) for node in graph.nodes)

    @cached_property
    def built_channels(self) -> tuple[tuple[int, Channel], ...]:
        """The channels of all fabrics, each with the number of its fabric, in the order of their states."""
        return tuple(
            (number, channel) for number, graph in enumerate(self.built) for channel in graph.channels
        )

    @cached_property
    def copies(self) -> dict[str, int]:
        """By memory, how many copies of it are on chip: one for each word that the nodes of a region, and of
        those beside it, read at a time (docs/host_port.md); of one in banks a single one."""
        read: dict[int, Counter[str]] = {}
        for number, graph in enumerate(self.regions):
            words = read[number] = Counter[str]()
            for node in graph.nodes:
                words.update({name: node.spec.memories[param].reads for param, name in node.memories.items()})
        needed = Counter(dict.fromkeys(self.memory, 1)) | most_at_a_time(self.sequence, read)
        return dict(needed) | {memory.name: 1 for memory in self.memories if memory.banks}

    def label(self, region: int, name: str) -> str:
        """What a node or a channel of a region is called where those of all regions meet."""
        return f"{self.regions[region].name}.{name}" if len(self.regions) > 1 else name

    def built_label(self, fabric: int, name: str) -> str:
        """What a node or a channel of a fabric is called: as in the first of its regions."""
        return self.label(self.groups[fabric][0], name)

    def stored(self, memory: Memory) -> Payload:
        """What lies at one place of a memory."""
        return memory.payload(self.value)


def _roles(graphs: Iterable[Graph], results: Collection[str]) -> Mapping[str, MemoryRole]:
    """The role of each tensor in the whole: of an alias, that of the tensor in whose memories it lies."""
    found: dict[str, set[MemoryRole]] = {}
    tensors = [tensor for graph in graphs for tensor in graph.tensors]
    for tensor in tensors:
        found.setdefault(tensor.stored, set()).add(tensor.role)

    def role(stored: str) -> MemoryRole:
        if len(found[stored]) == 1:
            return next(iter(found[stored]))
        return MemoryRole.OUTPUT if stored in results else MemoryRole.BUFFER

    return {tensor.name: role(tensor.stored) for tensor in tensors}


class _Whole(dict[str, T]):
    """What the regions of a design share, by name, in the order in which they have it."""

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self)}

    def among(self, names: Iterable[str]) -> list[str]:
        """Some of the names, in this order. A region has few of them, and a design many regions."""
        return sorted(names, key=self._places.__getitem__)


U = TypeVar("U", Memory, TensorBinding)


def _in_role(stored: U, role: MemoryRole) -> U:
    return stored if stored.role == role else replace(stored, role=role)


def _region(
    name: str, graph: Graph, memories: _Whole[Memory], tensors: _Whole[TensorBinding], extents: _Whole[int]
) -> Graph:
    """A graph as a region of a design: what it shares is as large as in the design, and in the same order."""
    roles = {tensor.name: tensor.role for tensor in graph.tensors}
    return replace(
        graph,
        name=name,
        memories=tuple(
            _in_role(memories[name], graph.memory[name].role) for name in memories.among(graph.memory)
        ),
        tensors=tuple(_in_role(tensors[name], roles[name]) for name in tensors.among(roles)),
        extents={index: extents[index] for index in extents.among(graph.extents)},
    )
