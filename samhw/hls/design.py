"""The HLS program of a graph, before it is text: streams, processes and memory ports."""

from collections.abc import Mapping
from dataclasses import dataclass

from samhw.graph import Memory

__all__ = ["Argument", "Design", "MemoryPort", "Process", "Stream"]


@dataclass(frozen=True)
class Stream:
    """A FIFO between two processes. `type` is the C++ type of its values; `depth` in tokens.

    `channel` is the name of the graph's channel that it carries, if it carries one.
    """

    name: str
    type: str
    depth: int
    channel: str | None = None


@dataclass(frozen=True)
class MemoryPort:
    """A pointer argument of the top function. A memory that several nodes read has a port for each, since a
    process owns what it reads."""

    name: str
    memory: Memory
    word: str
    """C++ type of its words."""

    @property
    def words(self) -> str:
        """Name of the constant that says how many words there are."""
        return f"{self.name}_words"


Argument = Stream | MemoryPort | str
"""What a process gets: a stream, a memory, or the name of a scalar."""


@dataclass(frozen=True)
class Process:
    """A call in the DATAFLOW region: a function of the library with its template and call arguments.

    `reads` and `writes` say which of the streams among the arguments it takes from and pushes to.
    """

    function: str
    template: tuple[str, ...]
    arguments: tuple[Argument, ...]
    reads: tuple[Stream, ...]
    writes: tuple[Stream, ...]
    note: str = ""
    """The comment above the call."""


@dataclass(frozen=True)
class Design:
    """A whole HLS program.

    Attributes:
        top: name of the top function.
        extents: the argument for each index's extent, by the index.
        streams: in the order of their declaration.
        processes: along the flow, so that run one after another they find their input complete.
        errors: the scalars in which the writers leave their error.
        counts: for each output port, the scalar that says how many words were written.
        nodes: the constants that stand for nodes in errors, in the order of their numbers.
    """

    top: str
    index_bits: int
    extents: Mapping[str, str]
    inputs: tuple[MemoryPort, ...]
    outputs: tuple[MemoryPort, ...]
    streams: tuple[Stream, ...]
    processes: tuple[Process, ...]
    errors: tuple[str, ...]
    counts: Mapping[str, str]
    nodes: tuple[str, ...]
