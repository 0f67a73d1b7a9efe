"""What a testbench needs to know, passed on in a file."""

from dataclasses import dataclass

from samhw.graph import PLAIN_HOST, AddressMap, Arch, Design, HostOptions, Token

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
    host: HostOptions = PLAIN_HOST

    @property
    def map(self) -> AddressMap:
        """The addresses of its build."""
        return AddressMap(self.design, self.arch, self.host)
