"""What a testbench needs to know, passed on in a file."""

from dataclasses import dataclass

from samhw.graph import Arch, Graph, Token

__all__ = ["Job"]


@dataclass(frozen=True)
class Job:
    """A graph with its data, and what the model makes of it."""

    graph: Graph
    arch: Arch
    memories: dict[str, list[int]]
    extents: dict[str, int]
    cycles: int
    traces: dict[str, list[tuple[int, Token]]]
    results: dict[str, list[int]]
