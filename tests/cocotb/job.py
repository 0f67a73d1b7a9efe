"""What a testbench needs to know, passed on in a file."""

from dataclasses import dataclass

from samhw.graph import Arch, Design, Token

__all__ = ["Job"]


@dataclass(frozen=True)
class Job:
    """A design of one region with its data, and what the model makes of it."""

    design: Design
    arch: Arch
    memories: dict[str, list[int]]
    extents: dict[str, int]
    cycles: int
    traces: dict[str, list[tuple[int, Token]]]
    results: dict[str, list[int]]
