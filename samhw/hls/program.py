"""The HLS program of a design, before it is text: streams, processes and memory ports."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from samhw.graph import Memory

__all__ = ["Argument", "HlsProgram", "HlsRegion", "HlsStream", "MemoryPort", "Process"]


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
    """A whole HLS program: the top function's name, and the regions that it runs one after another, some of
    them again and again. A single region that runs once is the top function itself."""

    top: str
    index_bits: int
    regions: tuple[HlsRegion, ...]
    repeats: bool = False
    """Some regions run again and again."""
    functions: tuple[int, ...] = (0,)
    """For each region the number of the one whose function it calls: its own, or that of an equal one before
    it."""

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
