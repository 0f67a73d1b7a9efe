"""The top function: its memory arguments, and the sequence in which it runs its regions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from samhw.graph import Design, Graph, MemoryRole, Parallel, Repeat, Run, Steps
from samhw.graph.sequence import most_at_a_time, walk
from samhw.hls.cpp import memory_word
from samhw.hls.lower import arguments_by
from samhw.hls.program import (
    Copy,
    Handed,
    HlsProgram,
    HlsRegion,
    MemoryPort,
    Moment,
    ParallelBody,
    ParallelStep,
    PointerArgument,
    RegionCall,
    SequenceLine,
)
from samhw.hls.region_builder import step_arguments
from samhw.names import identifiers, plain

__all__ = [
    "Sequencer",
    "kernel_ports",
    "port_uses",
    "sequence_extents",
    "sequencer",
]


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
    steps: tuple[ParallelStep, ...]
    uses: Mapping[str, frozenset[tuple[Moment, str]]]

    def shared(self, lines: Sequence[SequenceLine]) -> tuple[str, ...]:
        """The functions that several of some lines call, each of which is made once for them."""
        called = [self.calls[line.call].function.name for line in lines if line.call is not None]
        return tuple(dict.fromkeys(name for n, name in enumerate(called) if name in called[:n]))


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
    extents, counters = sequence_extents(design), _counters(design)
    streams = [0, *accumulate(len(region.streams) for region in program.regions)]
    calls = tuple(
        _call(
            region,
            part,
            _Function(program.regions[function], design.runs[function]),
            dict(_given(region, places, begin)),
            places,
            counts,
            pieces,
            extents,
            counters,
            first,
        )
        for region, part, function, begin, first in zip(
            program.regions, design.runs, program.functions, _begins(program, design), streams, strict=False
        )
    )
    lines = _Lines(design, calls, counters, extents, everything, pieces)
    return Sequencer(
        extents=extents,
        ports=tuple(host),
        arrays=tuple(port for port in everything if not port.off_chip),
        counts=counts,
        pieces=pieces,
        calls=calls,
        lines=tuple(lines.of(design.sequence)),
        steps=tuple(lines.steps),
        uses=_uses(program, design, places),
    )


def port_uses(region: HlsRegion) -> dict[str, frozenset[tuple[Moment, str]]]:
    """The uses of the ports off the chip of a region that is a top function itself."""
    ports = [(port, "read") for port in region.inputs] + [(port, "write") for port in region.outputs]
    return {port.name: frozenset({((0, 0), use)}) for port, use in ports if port.off_chip}


def _uses(
    program: HlsProgram, design: Design, places: Mapping[str, list[PointerArgument]]
) -> dict[str, frozenset[tuple[Moment, str]]]:
    uses: dict[str, frozenset[tuple[Moment, str]]] = {}
    turn = {region: number for number, region in enumerate(design.turns)}
    for number, (region, begin) in enumerate(zip(program.regions, _begins(program, design), strict=True)):
        beside = [number, *(turn[other] for other in design.beside[design.turns[number]])]
        for port, place in _given(region, places, begin):
            use = "read" if port in region.inputs else "write"
            moments = {((min(number, other), max(number, other)), use) for other in beside}
            uses[place.name] = uses.get(place.name, frozenset()) | moments
    return {port.name: uses[port.name] for own in places.values() for port in own if port.off_chip}


def sequence_extents(design: Design) -> dict[str, str]:
    """The argument of the top function for the extent of each index, by the index: of those that nodes use,
    and of repeats."""
    nodes = [node for _, node in design.nodes]
    used = {index for node in nodes for index in node.extents.values()}
    used |= {step.extent for step in walk(design.sequence) if isinstance(step, Repeat)}
    names = identifiers(index for index in design.extents if index in used)
    return {index: f"{name}_extent" for index, name in names.items()}


def _counters(design: Design) -> dict[str, str]:
    """The scalar that counts the steps of each repeat."""
    steps = step_arguments(node for _, node in design.nodes)
    return {
        step.index: steps.get(step.index, f"{plain(step.index)}_step")
        for step in walk(design.sequence)
        if isinstance(step, Repeat)
    }


class _Lines:
    """Makes the lines of sequences, and the functions of parallel steps.

    Attributes:
        steps: those that the lines have, innermost first.
    """

    def __init__(
        self,
        design: Design,
        calls: Sequence[RegionCall],
        counters: Mapping[str, str],
        extents: Mapping[str, str],
        places: Iterable[PointerArgument],
        pieces: Mapping[str, tuple[str, str]],
    ) -> None:
        self.steps: list[ParallelStep] = []
        self._calls = calls
        self._numbers = {region: number for number, region in enumerate(design.turns)}
        self._most = design.extents
        self._counters = counters
        self._extents = extents
        self._places = {port.place: port for port in places}
        self._pieces = pieces.values()

    def of(self, steps: Steps, depth: int = 0) -> Iterator[SequenceLine]:
        """The lines of some steps."""
        for step in steps:
            match step:
                case Run(region):
                    yield SequenceLine(depth, call=self._numbers[region])
                case Repeat(index, extent, body):
                    scalar, most = self._extents[extent], self._most[extent]
                    yield SequenceLine(depth, counter=self._counters[index], extent=scalar, most=most)
                    yield from self.of(body, depth + 1)
                    yield SequenceLine(depth)
                case Parallel(bodies):
                    made = [self._body(body, f"body_{self._first(body)}") for body in bodies]
                    self.steps.append(ParallelStep(f"beside_{self._first((step,))}", tuple(made)))
                    yield SequenceLine(depth, step=len(self.steps) - 1)

    def _first(self, steps: Steps) -> int:
        """The number of the first region of some steps, which names a function."""
        return next(self._numbers[step.region] for step in walk(steps) if isinstance(step, Run))

    def _body(self, steps: Steps, name: str) -> ParallelBody:
        lines = tuple(self.of(steps))
        numbers = [self._numbers[step.region] for step in walk(steps) if isinstance(step, Run)]
        calls = [self._calls[number] for number in numbers]
        loops = [line.extent for line in lines if line.counter]
        known = {*loops, *(name for call in calls for name in call.arguments)}
        known |= {name for call in calls for copy in call.copies for name in (copy.source, copy.target)}
        written = {name for call in calls for name in call.writes}
        counts = tuple(dict.fromkeys(count for call in calls for count in call.leaves))
        is_call = len(lines) == 1 and lines[0].call is not None and calls[0].is_alone
        return ParallelBody(
            "" if is_call else name,
            lines,
            tuple(numbers),
            (
                *(Handed(name) for name in self._extents.values() if name in known),
                *(
                    Handed(name, port, name in written)
                    for name, port in self._places.items()
                    if name in known
                ),
                *(Handed(count, is_written=True) for count in counts),
            ),
            counts,
            tuple(own for own in self._pieces if own[0] in known),
        )


def _is_given(port: PointerArgument) -> bool:
    """Whether an array on the chip has a pointer, from which or to which it is copied."""
    return port.name == port.first and port.memory.role is not MemoryRole.BUFFER


def _places(program: HlsProgram, design: Design) -> dict[str, list[PointerArgument]]:
    """The ports or arrays of each memory of the design, by its name."""
    used = (port for region in program.regions for port in (*region.inputs, *region.outputs))
    off_chip = {port.memory.name for port in used if port.off_chip}
    most = Counter(dict.fromkeys(design.memory, 1)) | most_at_a_time(design.sequence, _needs(program, design))
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


def _needs(program: HlsProgram, design: Design) -> dict[int, Counter[str]]:
    """The arrays of each memory that each region has, by its number in the design: what it reads and writes
    it reads from another array than the one that it writes."""
    return {
        number: Counter(port.memory.name for port in (*region.inputs, *region.outputs))
        for number, region in zip(design.turns, program.regions, strict=True)
    }


def _begins(program: HlsProgram, design: Design) -> list[Counter[str]]:
    """By memory, the first of its arrays that each region has: bodies side by side have their own."""
    needs = _needs(program, design)

    def begins(steps: Steps, begin: Counter[str]) -> Iterator[tuple[int, Counter[str]]]:
        for step in steps:
            match step:
                case Run(region):
                    yield region, begin
                case Repeat(_, _, body):
                    yield from begins(body, begin)
                case Parallel(bodies):
                    taken = begin
                    for body in bodies:
                        yield from begins(body, taken)
                        taken = taken + most_at_a_time(body, needs)

    return [begin for _, begin in begins(design.sequence, Counter())]


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
    given: Mapping[MemoryPort, PointerArgument],
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
    copies = tuple(
        Copy(name, first.array, other.array, *spans[name])
        for name in written
        for first, *others in [places[name]]
        for other in others
    )
    return RegionCall(
        region=region,
        function=function.region,
        about=_about(graph),
        arguments=(
            *function.arguments(graph, extents, counters),
            *(place.place for place in given.values()),
            *(place for _, place in scalars),
        ),
        counts=tuple(scalar for scalar, _ in scalars),
        leaves=tuple(counts[name] for name in written),
        writes=(*(given[port].place for port in region.outputs), *(copy.target for copy in copies)),
        reached={counts[name]: pieces[name][1] for name in written if name in in_pieces},
        copies=copies,
        stream=first,
    )


def _given(
    region: HlsRegion, places: Mapping[str, list[PointerArgument]], begin: Counter[str]
) -> Iterator[tuple[MemoryPort, PointerArgument]]:
    """What a region gets for each of its ports."""
    readers = begin + Counter(port.memory.name for port in region.outputs)
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
