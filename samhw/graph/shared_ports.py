"""Which ports to memory off the chip are one in hardware (docs/memory.md, "Shared ports")."""

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from samhw.graph.design import Design
from samhw.graph.fabrics import comes_to_rest
from samhw.graph.off_chip import OffChipLayout, OffChipPort
from samhw.graph.shared_nodes import Key, users_by_first

__all__ = ["SharedPort", "shared_ports"]


@dataclass
class SharedPort:
    """A port in hardware, which serves fabrics that never run at one time.

    Attributes:
        users: by the number of a fabric, the port of its first region. All are at one master, and all read,
            or write, places of one kind.
        nodes: those that have it, each by the first that it is one with, its parameter and its word.
        ports: that of each region.
    """

    users: dict[int, OffChipPort] = field(default_factory=dict)
    nodes: set[tuple[Key, str, int]] = field(default_factory=set)
    ports: dict[int, OffChipPort] = field(default_factory=dict)

    @property
    def first(self) -> OffChipPort:
        """That of its first fabric."""
        return next(iter(self.users.values()))

    @property
    def places(self) -> int:
        """Those of the largest array."""
        return max(port.array.places for port in self.ports.values())

    @property
    def bases(self) -> Mapping[int, int]:
        """The first line of the array in each region."""
        return {region: port.array.base // port.array.line_bytes for region, port in self.ports.items()}

    @property
    def ends(self) -> Mapping[int, int]:
        """The number of the last line of the array in each region, counted from its first one."""
        return {region: max(port.array.lines - 1, 0) for region, port in self.ports.items()}

    @property
    def by_region(self) -> Mapping[str, Mapping[int, int]]:
        """What it is told of the region under way: its base, its end if it reads, and its own number at the
        master; each unless all regions have the same."""
        told = {"base": self.bases, "number": {r: port.number for r, port in self.ports.items()}}
        if not self.first.write:
            told["end"] = self.ends
        return {name: numbers for name, numbers in told.items() if len({*numbers.values()}) > 1}

    @property
    def begins(self) -> frozenset[int]:
        """The regions in which it writes 0 to place 0 before all else."""
        return frozenset(region for region, port in self.ports.items() if port.begins)

    def in_turns(self, turn: Mapping[int, int]) -> "SharedPort":
        """The same, with regions by their numbers in another order."""
        return SharedPort(self.users, self.nodes, {turn[region]: port for region, port in self.ports.items()})

    @property
    def numbers(self) -> frozenset[int]:
        """Those that it has at its master."""
        return frozenset(port.number for port in self.users.values())


def shared_ports(design: Design, layout: OffChipLayout) -> tuple[SharedPort, ...]:
    """The ports in hardware of a design. Their numbers count from the first of their fabrics.

    Each fabric takes, for its ports in their order, one of those that are like it and that no fabric beside
    it has: if there is one, one that its node has already, or else one that has its number.
    """
    found: list[SharedPort] = []
    alike: dict[Hashable, list[SharedPort]] = defaultdict(list)
    firsts = layout.first_ports(design)
    hardware = {key: first for first, users in users_by_first(design).items() for key in users}
    for fabric, group in enumerate(design.groups):
        beside = design.beside_any(group)
        for ports in zip(*(layout.ports_of(design.regions[region]) for region in group), strict=True):
            number = ports[0].number + firsts[fabric][ports[0].array.master]
            own = {r: port._replace(number=number) for r, port in zip(group, ports, strict=True)}
            others = alike[_likeness(design, group[0], ports[0])]
            free = [o for o in others if fabric not in o.users and beside.isdisjoint(o.ports)]
            node = hardware[fabric, ports[0].node], ports[0].param, ports[0].word
            if free:
                shared = max(free, key=lambda other: (node in other.nodes, number in other.numbers))
            else:
                shared = SharedPort()
                others.append(shared)
                found.append(shared)
            shared.nodes.add(node)
            shared.users[fabric] = own[group[0]]
            shared.ports |= own
    return tuple(found)


def _likeness(design: Design, region: int, port: OffChipPort) -> Hashable:
    """Equal for ports that one in hardware can stand for.

    A node that no writer needs may still have tokens in its ports when its region has ended. So the fabric
    of such a node has ports of its own.
    """
    array, graph = port.array, design.regions[region]
    element = design.stored(design.memory[array.memory]).element
    words = (array.words, element and element.width) if array.words > 1 else ()
    alone = None if comes_to_rest(graph) else region
    return array.master, port.write, array.place_bytes, words, alone
