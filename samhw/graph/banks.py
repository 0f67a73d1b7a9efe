"""Memories in banks, and the ports to them (docs/timing.md, "Interleaved memories")."""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from samhw.graph.design import LUT_PLACES, Design
from samhw.graph.ir import Endpoint, Graph, MemoryRole
from samhw.graph.off_chip import PortDelays, held_on_chip, is_used
from samhw.graph.spec.params import Each

__all__ = [
    "PORT_CYCLES",
    "BankPort",
    "bank_delays",
    "bank_ports",
    "bank_users",
    "banks_of",
    "is_worth",
    "read_ports",
    "unbanked",
]

PORT_CYCLES = 5
"""The cycles that a port adds to a token on its way: the latencies of `ask` and `wait`."""


class BankPort(NamedTuple):
    """A port of a region to a memory.

    A node has it for the word of that number of those that it reads at a time by its parameter `param`.
    `number` counts the region's ports to the memory.
    """

    node: str
    param: str
    word: int
    memory: str
    number: int

    @property
    def name(self) -> str:
        """As `OffChipPort.name`."""
        return f"{self.node}.{self.param}{'_next' if self.word else ''}"


def read_ports(graph: Graph) -> Iterator[BankPort]:
    """All that would be ports of a region if all memories lay in banks, in their order."""
    numbers = Counter[str]()
    for node in graph.nodes:
        for param, name in node.memories.items():
            use = node.spec.memories[param]
            if use.written or not is_used(graph, node, param):
                continue
            for word in range(use.reads):
                yield BankPort(node.name, param, word, name, numbers[name])
                numbers[name] += 1


def bank_ports(graph: Graph) -> tuple[BankPort, ...]:
    """The ports of a region, in their order."""
    return tuple(port for port in read_ports(graph) if graph.memory[port.memory].banks)


def bank_users(design: Design, off_chip: Collection[str]) -> list[tuple[int, BankPort]]:
    """The ports of all fabrics, each with the number of its fabric; not to memories off the chip."""
    return [
        (fabric, port)
        for fabric, graph in enumerate(design.built)
        for port in bank_ports(graph)
        if port.memory not in off_chip
    ]


def banks_of(design: Design, name: str) -> int:
    """The banks that give a memory's ports a word each in a cycle, two a bank."""
    most = max(sum(port.memory == name for port in read_ports(graph)) for graph in design.regions)
    return 1 << max(-(-most // 2) - 1, 0).bit_length()


def unbanked(design: Design, name: str) -> str:
    """Why a memory cannot lie in banks; empty where it can."""
    regions = {n: graph for n, graph in enumerate(design.regions) if name in graph.memory}
    readers = {n for n, graph in regions.items() if any(port.memory == name for port in read_ports(graph))}
    if name in held_on_chip(design):
        return "each of its readers needs it at once"
    if any(regions[n].memory[name].role is MemoryRole.OUTPUT for n in readers):
        return "a region reads what it writes there"
    if any(not design.beside[n].isdisjoint(readers) for n in readers):
        return "regions that run side by side read it"
    if any(regions.keys() & {*group} for group in design.fabrics):
        return "its regions share a fabric with others"
    return ""


def is_worth(design: Design, name: str) -> bool:
    """Whether banks take fewer block RAMs than copies could."""
    return banks_of(design, name) > 1 and design.memory[name].capacity > LUT_PLACES


def bank_delays(graph: Graph) -> PortDelays:
    """The cycles that ports to banks add to tokens."""
    inside: dict[str, int] = {}
    after: dict[Endpoint, int] = {}
    for port in bank_ports(graph):
        if graph.node[port.node].spec.memories[port.param].each is Each.GIVEN:
            after[Endpoint(port.node, port.param)] = PORT_CYCLES
        else:
            inside[port.node] = PORT_CYCLES
    return PortDelays(inside, after)
