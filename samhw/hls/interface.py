"""The top function: its memory arguments, and the sequence in which it runs its regions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from samhw.graph import Design, Graph, Memory, MemoryRole, Repeat, Run, Steps
from samhw.graph.sequence import walk
from samhw.hls.cpp import memory_word
from samhw.hls.program import HlsProgram, HlsRegion
from samhw.hls.region_builder import step_arguments
from samhw.names import identifiers, plain

__all__ = [
    "Copy",
    "PointerArgument",
    "RegionCall",
    "SequenceLine",
    "Sequencer",
    "kernel_ports",
    "sequence_extents",
    "sequencer",
]


@dataclass(frozen=True)
class PointerArgument:
    """A pointer argument of the top function.

    `first` names the memory's first port. There are more if several processes of a region read the memory;
    they get the same pointer.
    """

    name: str
    memory: Memory
    word: str
    words: str
    first: str
    array: str
    """The array on the chip that stands for it."""
    off_chip: bool
    """It gives and takes lines by bursts, and there is no array."""

    @property
    def place(self) -> str:
        """What a region of several gets for it."""
        return self.name if self.off_chip else self.array

    @property
    def read_only(self) -> bool:
        """Only read through this port."""
        return self.memory.role is MemoryRole.INPUT or self.name != self.first


@dataclass(frozen=True)
class Copy:
    """A copy of an array's first words, as many as `count` says."""

    words: str
    source: str
    target: str
    count: str


@dataclass(frozen=True)
class RegionCall:
    """The call of a region, and what is copied for later regions once it has ended."""

    region: HlsRegion
    about: str
    arguments: tuple[str, ...]
    counts: tuple[str, ...]
    """Those of the region's counts that it gives to the top function."""
    copies: tuple[Copy, ...]
    stream: int
    """The number of its first stream, among those of all regions."""


@dataclass(frozen=True)
class SequenceLine:
    """A line of the sequence: a call, or where a loop begins or ends.

    Attributes:
        depth: how many loops are around it.
        call: the number of the call.
        counter, extent: what a loop counts, and how far; an empty counter where it ends.
    """

    depth: int
    call: int | None = None
    counter: str = ""
    extent: str = ""

    @property
    def indent(self) -> str:
        """The blanks before it."""
        return "    " * (self.depth + 1)


@dataclass(frozen=True)
class Sequencer:
    """A top function that runs regions in a sequence.

    Attributes:
        extents: the argument for each index's extent, by the index.
        arrays: the memories on the chip.
        counts: the scalars for the numbers of words written, by memory, where they are needed.
    """

    extents: Mapping[str, str]
    ports: tuple[PointerArgument, ...]
    arrays: tuple[PointerArgument, ...]
    counts: Mapping[str, str]
    calls: tuple[RegionCall, ...]
    lines: tuple[SequenceLine, ...]

    @property
    def loads(self) -> tuple[PointerArgument, ...]:
        """The arrays that are filled before the first region."""
        return tuple(array for array in self.arrays if array.memory.role is MemoryRole.INPUT)

    @property
    def stores(self) -> tuple[PointerArgument, ...]:
        """The arrays that are emptied after the last region."""
        arrays = (array for array in self.arrays if array.name == array.first)
        return tuple(array for array in arrays if array.memory.role is MemoryRole.OUTPUT)


def kernel_ports(region: HlsRegion) -> tuple[PointerArgument, ...]:
    """The ports of a region that is a top function itself."""
    first: dict[str, str] = {}
    return tuple(
        PointerArgument(
            *(p.name, p.memory, p.word, p.words, first.setdefault(p.memory.name, p.name), p.array, p.off_chip)
        )
        for p in (*region.inputs, *region.outputs)
    )


def sequencer(program: HlsProgram, design: Design) -> Sequencer:
    """The top function of a design of several regions.

    On the chip, the host's memories have a pointer and an array, and those between regions an array; there
    are as many arrays as a region has processes that read the memory. Off the chip all of them are ports.
    """
    places = _places(program, design)
    everything = [port for ports in places.values() for port in ports]
    host = [port for port in everything if port.off_chip or _is_given(port)]
    counts = {
        name: f"{first.name}_count"
        for name, (first, *others) in places.items()
        if not first.off_chip and (first.memory.role is MemoryRole.OUTPUT or _is_copied(first, others))
    }
    extents = sequence_extents(design)
    steps = step_arguments(node for _, node in design.nodes)
    counters = {
        step.index: steps.get(step.index, f"{plain(step.index)}_step")
        for step in walk(design.sequence)
        if isinstance(step, Repeat)
    }
    numbers = {region: number for number, region in enumerate(design.turns)}
    streams = [0, *accumulate(len(region.streams) for region in program.regions)]
    return Sequencer(
        extents=extents,
        ports=tuple(host),
        arrays=tuple(port for port in everything if not port.off_chip),
        counts=counts,
        calls=tuple(
            _call(region, part, places, counts, extents, counters, first)
            for region, part, first in zip(program.regions, design.runs, streams, strict=False)
        ),
        lines=tuple(_lines(design.sequence, numbers, counters, extents)),
    )


def sequence_extents(design: Design) -> dict[str, str]:
    """The argument of the top function for the extent of each index, by the index: of those that nodes use,
    and of repeats."""
    nodes = [node for _, node in design.nodes]
    used = {index for node in nodes for index in node.extents.values()}
    used |= {step.extent for step in walk(design.sequence) if isinstance(step, Repeat)}
    names = identifiers(index for index in design.extents if index in used)
    return {index: f"{name}_extent" for index, name in names.items()}


def _lines(
    steps: Steps,
    numbers: Mapping[int, int],
    counters: Mapping[str, str],
    extents: Mapping[str, str],
    depth: int = 0,
) -> Iterator[SequenceLine]:
    """The lines of a sequence."""
    for step in steps:
        if isinstance(step, Run):
            yield SequenceLine(depth, numbers[step.region])
        elif isinstance(step, Repeat):
            yield SequenceLine(depth, counter=counters[step.index], extent=extents[step.extent])
            yield from _lines(step.body, numbers, counters, extents, depth + 1)
            yield SequenceLine(depth)


def _is_given(port: PointerArgument) -> bool:
    """Whether an array on the chip has a pointer, from which or to which it is copied."""
    return port.name == port.first and port.memory.role is not MemoryRole.BUFFER


def _is_copied(first: PointerArgument, others: list[PointerArgument]) -> bool:
    """Whether what a region writes has to be copied for others."""
    return first.memory.role is not MemoryRole.INPUT and bool(others)


def _places(program: HlsProgram, design: Design) -> dict[str, list[PointerArgument]]:
    """The ports or arrays of each memory of the design, by its name."""
    most = Counter(dict.fromkeys(design.memory, 1))
    used = (port for region in program.regions for port in (*region.inputs, *region.outputs))
    off_chip = {port.memory.name for port in used if port.off_chip}
    for region in program.regions:
        reads = Counter(port.memory.name for port in region.inputs)
        # What a region reads and writes it reads from another array than the one that it writes.
        own = {port.memory.name for port in region.outputs}
        most |= Counter({name: count + (name in own) for name, count in reads.items()})
    texts = [(name, k) for k in range(max(most.values())) for name in design.memory if k < most[name]]
    names = identifiers(name if k == 0 else f"{name} {k + 1}" for name, k in texts)
    words = identifiers(design.memory)
    places: dict[str, list[PointerArgument]] = {name: [] for name in design.memory}
    for name, k in texts:
        memory = design.memory[name]
        port = PointerArgument(
            name=names[name if k == 0 else f"{name} {k + 1}"],
            memory=memory,
            word=memory_word(design.stored(memory)),
            words=f"{words[name]}_words",
            first=names[name],
            array=f"{names[name if k == 0 else f'{name} {k + 1}']}_chip",
            off_chip=name in off_chip,
        )
        places[name].append(port)
    return places


def _call(
    region: HlsRegion,
    graph: Graph,
    places: Mapping[str, list[PointerArgument]],
    counts: Mapping[str, str],
    extents: Mapping[str, str],
    counters: Mapping[str, str],
    first: int,
) -> RegionCall:
    readers = Counter(port.memory.name for port in region.outputs)
    memories = []
    for port in region.inputs:
        memories.append(places[port.memory.name][readers[port.memory.name]].place)
        readers[port.memory.name] += 1
    memories += [places[port.memory.name][0].place for port in region.outputs]
    given = [port for port in region.outputs if port.memory.name in counts]
    return RegionCall(
        region=region,
        about=_about(graph),
        arguments=(
            *(extents[index] for index in region.extents),
            *(counters[repeat] for repeat in region.steps),
            *memories,
            *(counts[port.memory.name] for port in given),
        ),
        counts=tuple(region.counts[port.name] for port in given),
        copies=tuple(
            Copy(other.words, first.array, other.array, counts[port.memory.name])
            for port in given
            for first, *others in [places[port.memory.name]]
            for other in others
        ),
        stream=first,
    )


def _about(graph: Graph) -> str:
    """What a region makes of what."""

    def names(role: MemoryRole) -> Iterable[str]:
        return (t.name for t in graph.tensors if t.role is role and not t.alias_of)

    return f"{', '.join(names(MemoryRole.OUTPUT))} from {', '.join(names(MemoryRole.INPUT))}"
