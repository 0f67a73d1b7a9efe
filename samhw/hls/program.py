"""The HLS program of a design, before it is text: streams, processes, memory ports, and what its top function
calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from samhw.graph import Memory, MemoryRole, Parallel, Repeat, Run, Steps
from samhw.graph.sequence import walk

__all__ = [
    "Argument",
    "Copy",
    "Handed",
    "HlsProgram",
    "HlsRegion",
    "HlsStream",
    "MemoryPort",
    "Moment",
    "ParallelBody",
    "ParallelStep",
    "PointerArgument",
    "Process",
    "RegionCall",
    "SequenceLine",
]


@dataclass(frozen=True)
class HlsStream:
    """A FIFO between two processes. `type` is the C++ type of its values; `depth` in tokens.

    `channel` is the name of the graph's channel that it carries, if it carries one.
    """

    name: str
    type: str
    depth: int
    channel: str | None = None


@dataclass(frozen=True)
class MemoryPort:
    """An array or pointer argument of a region's function. A memory that several nodes read has a port for
    each, since a process owns what it reads."""

    name: str
    memory: Memory
    word: str
    """C++ type of its words."""
    words: str
    """Name of the constant that says how many words there are."""
    array: str
    """Name of the array on the chip that stands for it."""
    stored: str
    """Name of the scalar that says how many words the host has stored, if they are copied to the chip."""
    off_chip: bool = False
    """It gives and takes lines of a memory off the chip, by bursts, and there is no array."""


Argument = HlsStream | MemoryPort | str
"""What a process gets: a stream, a memory, or the name of a scalar."""


@dataclass(frozen=True)
class Process:
    """A call in the DATAFLOW region: a function of the library with its template and call arguments.

    `reads` and `writes` say which of the streams among the arguments it takes from and pushes to.
    """

    function: str
    template: tuple[str, ...]
    arguments: tuple[Argument, ...]
    reads: tuple[HlsStream, ...]
    writes: tuple[HlsStream, ...]
    header: str
    """The header that the function is in."""
    note: str = ""
    """The comment above the call."""


@dataclass(frozen=True)
class HlsRegion:
    """A DATAFLOW region: the nodes of a graph that run at the same time.

    Attributes:
        name: name of its function.
        extents: the argument for each index's extent, by the index.
        steps: the argument for the step of each repeat, by the repeat.
        streams: in the order of their declaration.
        processes: along the flow, so that run one after another they find their input complete.
        errors: the scalars in which the writers leave their error.
        counts: for each output port on the chip, the scalar with the number of words up to the last one
            written.
        begins: for each of these that is not written from word 0 on, the scalar with the first word written.
        nodes: the constants that stand for nodes in errors, in the order of their numbers.
    """

    name: str
    extents: Mapping[str, str]
    steps: Mapping[str, str]
    inputs: tuple[MemoryPort, ...]
    outputs: tuple[MemoryPort, ...]
    streams: tuple[HlsStream, ...]
    processes: tuple[Process, ...]
    errors: tuple[str, ...]
    counts: Mapping[str, str]
    begins: Mapping[str, str]
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class HlsProgram:
    """A whole HLS program: the top function's name, and the regions that it runs, in the order of their
    turns. A single region that runs once is the top function itself."""

    top: str
    index_bits: int
    regions: tuple[HlsRegion, ...]
    sequence: Steps = (Run(0),)
    """In which they run, by their numbers in the design."""
    functions: tuple[int, ...] = (0,)
    """For each region the number of the one whose function it calls: its own, or that of an equal one before
    it."""

    @property
    def repeats(self) -> bool:
        """Some regions run again and again."""
        return any(isinstance(step, Repeat) for step in walk(self.sequence))

    @property
    def beside(self) -> frozenset[int]:
        """How many run side by side, in some step."""
        return frozenset(len(step.bodies) for step in walk(self.sequence) if isinstance(step, Parallel))

    @property
    def shares(self) -> bool:
        """Some region calls the function of another one."""
        return any(function != number for number, function in enumerate(self.functions))

    @property
    def is_sequence(self) -> bool:
        """The top function runs regions that are functions of their own."""
        return len(self.regions) > 1 or self.repeats

    @property
    def has_arrays(self) -> bool:
        """Some memories are copied to arrays on the chip, or lie there between regions."""
        ports = (port for region in self.regions for port in (*region.inputs, *region.outputs))
        return any(not port.off_chip for port in ports)

    @property
    def processes(self) -> tuple[Process, ...]:
        """Those of all regions, in the order in which they run."""
        return tuple(process for region in self.regions for process in region.processes)

    @cached_property
    def streams(self) -> dict[str, HlsStream]:
        """Those of all regions by name, in the order of their declaration; where there are several regions,
        that of the region stands before the name."""
        several = len(self.regions) > 1
        return {
            f"{region.name}.{stream.name}" if several else stream.name: stream
            for region in self.regions
            for stream in region.streams
        }


# A top function of several regions.


Moment = tuple[int, int]
"""When a region runs, by its number: twice the same; and with each region beside it, the lesser one first."""


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
    """The scalars that it gives: where what it has written begins and ends."""
    leaves: tuple[str, ...]
    """Those of the top function that say how many words lie in what it writes on the chip."""
    writes: tuple[str, ...]
    """The arrays and ports that it, or a copy for later regions, writes."""
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

    @property
    def is_alone(self) -> bool:
        """Nothing follows it that belongs to it."""
        return not (self.is_shared or self.copies or self.reached)


@dataclass(frozen=True)
class SequenceLine:
    """A line of a sequence: a call, a parallel step, or where a loop begins or ends.

    Attributes:
        depth: how many loops are around it.
        call: the number of the call.
        step: the number of the step.
        counter, extent: what a loop counts, and how far; an empty counter where it ends.
        most: the greatest extent.
    """

    depth: int
    call: int | None = None
    step: int | None = None
    counter: str = ""
    extent: str = ""
    most: int = 0

    @property
    def indent(self) -> str:
        """The blanks before it."""
        return "    " * (self.depth + 1)


@dataclass(frozen=True)
class Handed:
    """What a function of a parallel step gets: an array or a port; else an extent, or the scalar in which it
    leaves how many words a memory has."""

    name: str
    place: PointerArgument | None = None
    is_written: bool = False


@dataclass(frozen=True)
class ParallelBody:
    """One of several that run side by side, as a process.

    Attributes:
        function: its name, of a function that runs `lines`; empty where the one call does.
        calls: those of its regions.
        counts, pieces: scalars of its own, as of `Sequencer`.
    """

    function: str
    lines: tuple[SequenceLine, ...]
    calls: tuple[int, ...]
    handed: tuple[Handed, ...]
    counts: tuple[str, ...]
    pieces: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ParallelStep:
    """A DATAFLOW region of bodies."""

    name: str
    bodies: tuple[ParallelBody, ...]

    @property
    def handed(self) -> tuple[Handed, ...]:
        """What all of them get, once."""
        return tuple(dict.fromkeys(own for body in self.bodies for own in body.handed))
