"""The top function: its memory arguments, and the sequence in which it runs its regions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from samhw.graph import Design, Graph, Memory, MemoryRole, Repeat, Run, Steps
from samhw.graph.sequence import walk
from samhw.hls.cpp import memory_word
from samhw.hls.lower import arguments_by
from samhw.hls.program import HlsProgram, HlsRegion, MemoryPort
from samhw.hls.region_builder import step_arguments
from samhw.names import identifiers, plain

__all__ = [
    "Copy",
    "PointerArgument",
    "RegionCall",
    "SequenceLine",
    "Sequencer",
    "kernel_ports",
    "port_uses",
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
    """A copy of an array's words from `begin` on and before `end`."""

    memory: str
    source: str
    target: str
    begin: str
    end: str


@dataclass(frozen=True)
class RegionCall:
    """The call of a region, and what follows once it has ended."""

    region: HlsRegion
    function: HlsRegion
    """The region whose function it calls: itself, or an equal one."""
    about: str
    arguments: tuple[str, ...]
    counts: tuple[str, ...]
    """The scalars that it gives to the top function: where what it has written begins and ends."""
    reached: Mapping[str, str]
    """Of a memory that is written piece by piece, the scalar with the words written so far, and the one with
    the end of this piece."""
    copies: tuple[Copy, ...]
    """What is copied for later regions."""
    stream: int
    """The number of its first stream, among those of all regions."""

    @property
    def is_shared(self) -> bool:
        """It calls the function of another region."""
        return self.function is not self.region


@dataclass(frozen=True)
class SequenceLine:
    """A line of the sequence: a call, or where a loop begins or ends.

    Attributes:
        depth: how many loops are around it.
        call: the number of the call.
        counter, extent: what a loop counts, and how far; an empty counter where it ends.
        most: the greatest extent.
    """

    depth: int
    call: int | None = None
    counter: str = ""
    extent: str = ""
    most: int = 0

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
        counts: the scalars for the numbers of words written, by memory on the chip.
        pieces: the scalars for where a piece begins and ends, by memory that is written piece by piece.
        uses: of each port off the chip, the regions that have it, and whether they read or write.
    """

    extents: Mapping[str, str]
    ports: tuple[PointerArgument, ...]
    arrays: tuple[PointerArgument, ...]
    counts: Mapping[str, str]
    pieces: Mapping[str, tuple[str, str]]
    calls: tuple[RegionCall, ...]
    lines: tuple[SequenceLine, ...]
    uses: Mapping[str, frozenset[tuple[int, str]]]

    @property
    def shared(self) -> tuple[str, ...]:
        """The functions that several regions call, each of which is made once."""
        return tuple(dict.fromkeys(call.function.name for call in self.calls if call.is_shared))


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
        for name, (first, *_) in places.items()
        if not first.off_chip and first.memory.role is not MemoryRole.INPUT
    }
    pieces = {
        port.memory.name: (f"{first.name}_begin", f"{first.name}_end")
        for region in program.regions
        for port in region.outputs
        for first, *_ in [places[port.memory.name]]
        if port.name in region.begins
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
        pieces=pieces,
        calls=tuple(
            _call(
                region,
                part,
                _Function(program.regions[function], design.runs[function]),
                places,
                counts,
                pieces,
                extents,
                counters,
                first,
            )
            for region, part, function, first in zip(
                program.regions, design.runs, program.functions, streams, strict=False
            )
        ),
        lines=tuple(_lines(design.sequence, numbers, counters, extents, design.extents)),
        uses=_uses(program.regions, places),
    )


def port_uses(region: HlsRegion) -> dict[str, frozenset[tuple[int, str]]]:
    """The uses of the ports off the chip of a region that is a top function itself."""
    ports = [(port, "read") for port in region.inputs] + [(port, "write") for port in region.outputs]
    return {port.name: frozenset({(0, use)}) for port, use in ports if port.off_chip}


def _uses(
    regions: Iterable[HlsRegion], places: Mapping[str, list[PointerArgument]]
) -> dict[str, frozenset[tuple[int, str]]]:
    uses: dict[str, frozenset[tuple[int, str]]] = {}
    for number, region in enumerate(regions):
        for port, place in _given(region, places):
            use = (number, "read" if port in region.inputs else "write")
            uses[place.name] = uses.get(place.name, frozenset()) | {use}
    return {port.name: uses[port.name] for own in places.values() for port in own if port.off_chip}


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
    most: Mapping[str, int],
    depth: int = 0,
) -> Iterator[SequenceLine]:
    """The lines of a sequence."""
    for step in steps:
        if isinstance(step, Run):
            yield SequenceLine(depth, numbers[step.region])
        elif isinstance(step, Repeat):
            yield SequenceLine(
                depth, counter=counters[step.index], extent=extents[step.extent], most=most[step.extent]
            )
            yield from _lines(step.body, numbers, counters, extents, most, depth + 1)
            yield SequenceLine(depth)


def _is_given(port: PointerArgument) -> bool:
    """Whether an array on the chip has a pointer, from which or to which it is copied."""
    return port.name == port.first and port.memory.role is not MemoryRole.BUFFER


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


class _Function(NamedTuple):
    """The function that a region calls, by the region that it was made of."""

    region: HlsRegion
    graph: Graph

    def arguments(self, graph: Graph, extents: Mapping[str, str], steps: Mapping[str, str]) -> Iterator[str]:
        """The extents and steps that it gets for a region with that graph."""
        for names, what, given in (
            (self.region.extents, "extents", extents),
            (self.region.steps, "repeats", steps),
        ):
            of = arguments_by(self.graph, graph, what) or {}
            yield from (given[of[name]] for name in names)


def _call(
    region: HlsRegion,
    graph: Graph,
    function: _Function,
    places: Mapping[str, list[PointerArgument]],
    counts: Mapping[str, str],
    pieces: Mapping[str, tuple[str, str]],
    extents: Mapping[str, str],
    counters: Mapping[str, str],
    first: int,
) -> RegionCall:
    written = {port.memory.name: port for port in region.outputs if not port.off_chip}
    in_pieces = {name for name, port in written.items() if port.name in region.begins}
    spans = {name: pieces[name] if name in in_pieces else ("0", counts[name]) for name in written}
    scalars = [
        (scalar, place)
        for name, port in written.items()
        for scalar, place in zip(
            (region.begins.get(port.name), region.counts[port.name]), spans[name], strict=True
        )
        if scalar
    ]
    return RegionCall(
        region=region,
        function=function.region,
        about=_about(graph),
        arguments=(
            *function.arguments(graph, extents, counters),
            *(place.place for _, place in _given(region, places)),
            *(place for _, place in scalars),
        ),
        counts=tuple(scalar for scalar, _ in scalars),
        reached={counts[name]: pieces[name][1] for name in written if name in in_pieces},
        copies=tuple(
            Copy(name, first.array, other.array, *spans[name])
            for name in written
            for first, *others in [places[name]]
            for other in others
        ),
        stream=first,
    )


def _given(
    region: HlsRegion, places: Mapping[str, list[PointerArgument]]
) -> Iterator[tuple[MemoryPort, PointerArgument]]:
    """What a region gets for each of its ports."""
    readers = Counter(port.memory.name for port in region.outputs)
    for port in region.inputs:
        yield port, places[port.memory.name][readers[port.memory.name]]
        readers[port.memory.name] += 1
    for port in region.outputs:
        yield port, places[port.memory.name][0]


def _about(graph: Graph) -> str:
    """What a region makes of what."""

    def names(role: MemoryRole) -> Iterable[str]:
        return (t.name for t in graph.tensors if t.role is role and not t.alias_of)

    return f"{', '.join(names(MemoryRole.OUTPUT))} from {', '.join(names(MemoryRole.INPUT))}"
