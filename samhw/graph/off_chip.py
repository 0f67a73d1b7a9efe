"""Memory off the chip, for all backends that have it (docs/memory.md): where arrays lie, which ports
the nodes of a region have, and the numbers of a port."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from samhw.errors import InputError
from samhw.graph.design import Design
from samhw.graph.ir import Channel, Endpoint, Graph, Memory, Node
from samhw.graph.off_chip_numbers import Ports, SdramChip
from samhw.graph.sequence import Parallel, Run, walk
from samhw.graph.shared_nodes import wrong_nodes
from samhw.graph.spec import Arch
from samhw.graph.spec.params import Each, StoredArray
from samhw.graph.widths import index_bits
from samhw.words import did_you_mean

__all__ = [
    "OffChipLayout",
    "OffChipPort",
    "PlacedArray",
    "Placement",
    "PortDelays",
    "chip_bytes",
    "held_on_chip",
    "is_used",
    "spread",
]


@dataclass(frozen=True)
class PlacedArray:
    """An array off chip.

    `master` has it from byte address `base` on. Each of its `places` takes `place_bytes`, a power of two, in
    which `words` words of `word_bytes` follow each other from the lowest address; `size` are the bytes of all
    of its lines.
    """

    memory: str
    master: int
    base: int
    places: int
    place_bytes: int
    words: int
    word_bytes: int
    line_bytes: int

    @property
    def lines(self) -> int:
        """The lines that it takes."""
        return -(-self.places * self.place_bytes // self.line_bytes)

    @property
    def size(self) -> int:
        """The bytes that it takes: whole lines."""
        return self.lines * self.line_bytes

    def beats(self, beat_bytes: int) -> int:
        """How many beats an access to a place takes."""
        return max(1, self.place_bytes // beat_bytes)


class OffChipPort(NamedTuple):
    """A port of a region.

    `node` has it for the memory that its parameter `param` names: for the word of that number of those that
    it reads at a time, or to write. `number` counts the region's ports at the same master, from 0 on; after
    the first one of its fabric (`OffChipLayout.first_ports`), it is the ID that its requests have.
    """

    node: str
    param: str
    word: int
    array: PlacedArray
    write: bool
    number: int

    @property
    def name(self) -> str:
        """'<node>.<param>', or for a second word '<node>.<param>_next'; unique in a region."""
        return f"{self.node}.{self.param}{'_next' if self.word else ''}"

    @property
    def memory(self) -> str:
        """The name of the memory."""
        return self.array.memory

    @property
    def begins(self) -> bool:
        """It writes 0 to place 0 before all else: positions of a level begin so, and its writer does not."""
        return self.write and self.param == StoredArray.POS


@dataclass(frozen=True)
class PortDelays:
    """The cycles that read ports add to tokens on their way through a graph.

    Attributes:
        inside: by node, to all that it gives: it reads before it knows what.
        after: by output, to its own tokens alone.
    """

    inside: Mapping[str, int] = field(default_factory=dict)
    after: Mapping[Endpoint, int] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: Graph, ports: Iterable[OffChipPort], cycles: int, beat: int) -> "PortDelays":
        """Those of the ports of a graph, each of which takes that many cycles to get a beat of this many
        bytes, and one more for each further beat of a place."""
        inside: dict[str, int] = {}
        after: dict[Endpoint, int] = {}
        for port in ports:
            if port.write:
                continue
            delay = cycles + port.array.beats(beat) - 1
            if graph.node[port.node].spec.memories[port.param].each is Each.GIVEN:
                after[Endpoint(port.node, port.param)] = delay
            else:
                inside[port.node] = max(inside.get(port.node, 0), delay)
        return cls(inside, after)

    def before(self, channel: Channel) -> int:
        """Those of the output that a channel comes from."""
        return self.after.get(channel.source, 0)


@dataclass(frozen=True)
class Placement:
    """Which arrays of a design lie on the chip.

    Attributes:
        on, off: those that somebody has placed there, by the names of their memories.
        room: the bytes that all on the chip may take: of the arrays that nobody has placed the smallest lie
            there, as far as they fit. None if there is no end of it.
        is_limit: those that somebody has placed on the chip have to fit there too.
    """

    on: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()
    room: int | None = None
    is_limit: bool = False

    def off_chip(self, design: Design, sizes: Mapping[str, int]) -> frozenset[str]:
        """The names of the memories off the chip.

        What one node writes lies in one place. What may not lie off the chip is on it.

        Args:
            sizes: the bytes that each memory takes on the chip, in all its copies.

        Raises:
            InputError: for arrays that cannot lie where they are placed.
        """
        held, groups = held_on_chip(design), _groups(design)
        taken, off, others = sum(sizes[name] for name in held), set[str](), list[frozenset[str]]()
        for group in groups:
            if group & self.off and group & self.on:
                both = " and ".join(sorted(group & (self.off | self.on)))
                raise InputError(f"One node writes {both}, which lie in one place; place them alike.")
            if group & self.on:
                taken += sum(sizes[name] for name in group)
            elif group & self.off:
                off |= group
            else:
                others.append(group)
        if self.room is None:
            return frozenset(off)
        if self.is_limit and self.on and taken > self.room:
            raise InputError(
                f"What is placed on the chip takes {taken:,} bytes there, and --on-chip gives "
                f"{self.room:,}; give it more, or place less there."
            )
        keyed = ((sum(sizes[name] for name in group), sorted(group)) for group in others)
        for size, members in sorted(keyed):
            taken += size
            if taken > self.room:
                off |= {*members}
        return frozenset(off)


def _groups(design: Design) -> list[frozenset[str]]:
    """Those that lie in one place, all that a node writes, of the memories that may lie off the chip."""
    together = {name: frozenset([name]) for name in design.memory}
    for _, node in design.nodes:
        written = (name for param, name in node.memories.items() if node.spec.memories[param].written)
        joined = frozenset[str]().union(*(together[name] for name in written))
        together |= dict.fromkeys(joined, joined)
    held = held_on_chip(design)
    return [group for group in dict.fromkeys(together.values()) if not group & held]


def held_on_chip(design: Design) -> set[str]:
    """The memories that lie on the chip wherever their tensor does."""
    return {
        name
        for _, node in design.nodes
        for param, name in node.memories.items()
        if not node.spec.memories[param].may_lie_off_chip
    }


def chip_bytes(design: Design, arch: Arch) -> dict[str, int]:
    """The bytes that each memory takes on the chip, in all its copies, in simulator and RTL."""
    bits = index_bits(design, arch)
    return {
        memory.name: -(-memory.capacity * design.stored(memory).width(bits) // 8) * design.copies[memory.name]
        for memory in design.memories
    }


def spread(
    arrays: Mapping[str, int | None], loads: Sequence[Mapping[str, float]], channels: int
) -> dict[str, int]:
    """The channel of each array: that which it is given, or one of which it shares the least with others.

    Those that are used most come first, each to the channel where the arrays of its own regions are used
    least: what runs at other times is in nobody's way.

    Args:
        arrays: by name, each with the channel that it is given, or None.
        loads: of each region, how often it is expected to use each array.
    """
    found = {name: channel for name, channel in arrays.items() if channel is not None}
    used = [[0.0] * channels for _ in loads]

    def use(name: str, channel: int) -> None:
        for region, load in zip(used, loads, strict=True):
            region[channel] += load.get(name, 0.0)

    for name, channel in found.items():
        use(name, channel)
    left = {name: [load.get(name, 0.0) for load in loads] for name in arrays if name not in found}
    for name in sorted(left, key=lambda name: -sum(left[name])):
        met = [sum(o * r[c] for o, r in zip(left[name], used, strict=True)) for c in range(channels)]
        count = [sum(held == c for held in found.values()) for c in range(channels)]
        found[name] = min(range(channels), key=lambda c: (met[c], count[c]))
        use(name, found[name])
    return {name: found[name] for name in arrays}


class OffChipLayout:
    """What of a design lies off chip, and where.

    Args:
        arrays: the memories off chip by name, each with its master; None for all, to each master in turn.
            Those of a few words stay on chip all the same.
        chip: the SDRAM that holds them, if the design has its controller, and the host reaches it through
            the design.

    Attributes:
        arrays: those off chip by name, in the order of the design.

    Raises:
        InputError: if the design lacks an array that is to lie off chip, or the chip is too small for them.
    """

    def __init__(
        self,
        design: Design,
        arch: Arch,
        ports: Ports,
        arrays: Mapping[str, int] | None = None,
        chip: SdramChip | None = None,
    ):
        self.ports = ports
        self.chip = chip
        if unknown := sorted({*(arrays or ())} - {*design.memory}):
            raise InputError(
                f"There is no array {unknown[0]!r} in {design.name} to place off "
                f"chip{did_you_mean(unknown[0], design.memory)}; "
                f"it stores {', '.join(design.memory)}."
            )
        bits = index_bits(design, arch)
        held = held_on_chip(design)
        free = [0] * ports.masters
        self.arrays: dict[str, PlacedArray] = {}
        for memory in design.memories:
            if memory.name in held or (arrays is not None and memory.name not in arrays):
                continue
            master = len(self.arrays) % ports.masters if arrays is None else arrays[memory.name]
            placed = _placed(design, memory, bits, master, free[master], ports)
            self.arrays[memory.name] = placed
            free[master] += placed.size
        self.sizes: tuple[int, ...] = tuple(free)
        """The bytes that each master's memory must have."""
        if chip is not None:
            _check_chip(design, ports, chip, self.sizes[0])

    @property
    def masters(self) -> dict[str, int]:
        """The master through which each array is reached, by its name."""
        return {name: array.master for name, array in self.arrays.items()}

    def ports_of(self, graph: Graph) -> tuple[OffChipPort, ...]:
        """The ports of a region, in their order."""
        found: list[OffChipPort] = []
        numbers = [0] * self.ports.masters
        for node in graph.nodes:
            for param, word, array, write in self._uses(graph, node):
                found.append(OffChipPort(node.name, param, word, array, write, numbers[array.master]))
                numbers[array.master] += 1
        return tuple(found)

    def places_of(self, graph: Graph) -> tuple[int | None, ...]:
        """For each memory that a node uses, in the order of the nodes, the master that it lies at; None for
        those on the chip."""
        names = (name for node in graph.nodes for name in node.memories.values())
        return tuple(self.arrays[name].master if name in self.arrays else None for name in names)

    def first_ports(self, design: Design) -> list[list[int]]:
        """For each fabric, by master, the number of its first port there (docs/memory.md, "Ports")."""
        found: list[list[int]] = []
        ends: list[list[int]] = []
        for group in design.groups:
            beside = design.beside_any(group)
            before = [end for end, other in zip(ends, design.groups, strict=False) if beside & {*other}]
            first = [max((end[m] for end in before), default=0) for m in range(self.ports.masters)]
            count = Counter(port.array.master for port in self.ports_of(design.regions[group[0]]))
            found.append(first)
            ends.append([number + count[master] for master, number in enumerate(first)])
        return found

    def check_bodies(self, design: Design) -> None:
        """Raises `InputError` for regions side by side one of which follows another one."""
        for step in walk(design.sequence):
            if isinstance(step, Parallel) and any(
                len(body) > 1 or not isinstance(body[0], Run) for body in step.bodies
            ):
                raise InputError(
                    f"Beside a memory off the chip each body of a parallel step of {design.name} has to be "
                    f"one region, but there is '{step}'; divide the step, or leave the memory out."
                )

    def check_fabrics(self, design: Design) -> None:
        """Raises `InputError` for regions that share a fabric, or have a node in common, and whose arrays do
        not lie alike, and as `check_bodies` does."""
        self.check_bodies(design)
        for group in design.fabrics:
            graphs = [design.regions[number] for number in group]
            if len({self.places_of(graph) for graph in graphs}) > 1:
                names = ", ".join(graph.name for graph in graphs)
                raise InputError(
                    f"The regions {names} share a fabric, but what one has on the chip another one has off "
                    "it, or at another master; place their tensors alike, or leave 'share_hardware' out."
                )
        if why := wrong_nodes(design, self.arrays):
            raise InputError(
                f"The nodes that {design.name} has in common do not lie alike: {why}; place their tensors "
                "alike, or leave 'share_hardware' out."
            )

    def to_json(self) -> dict[str, Any]:
        """The numbers of ports, and where each array lies."""
        return {
            "ports": self.ports.to_json(),
            "arrays": [asdict(array) for array in self.arrays.values()],
            **({} if self.chip is None else {"sdram": self.chip.to_json()}),
        }

    def _uses(self, graph: Graph, node: Node) -> Iterator[tuple[str, int, PlacedArray, bool]]:
        """(parameter, word, array, whether it writes) of each port of a node."""
        for param, name in node.memories.items():
            array = self.arrays.get(name)
            if array is None or not is_used(graph, node, param):
                continue
            use = node.spec.memories[param]
            for word in range(max(use.reads, 1)):
                yield param, word, array, use.written


def _check_chip(design: Design, ports: Ports, chip: SdramChip, size: int) -> None:
    """Raises `InputError` for what one chip cannot be."""
    if ports.masters != 1:
        raise InputError(f"An SDRAM has one master, not {ports.masters}; leave masters out of --ports.")
    if size > chip.size:
        raise InputError(
            f"The tensors of {design.name} take {size:,} bytes, but the SDRAM has {chip.size:,}; give it "
            "smaller tensors (--data, --capacity), or leave some on chip (--on-chip)."
        )


def is_used(graph: Graph, node: Node, param: str) -> bool:
    """What is read for each token of an output of the same name is read only if somebody takes it."""
    if node.spec.memories[param].each is not Each.GIVEN:
        return True
    return Endpoint(node.name, param) in graph.fanout


def _placed(design: Design, memory: Memory, bits: int, master: int, base: int, ports: Ports) -> PlacedArray:
    payload = design.stored(memory)
    width = payload.element.width if payload.element else bits
    word_bytes = _power(-(-width // 8))
    place_bytes = _power(word_bytes * payload.words)
    return PlacedArray(
        memory.name, master, base, memory.capacity, place_bytes, payload.words, word_bytes, ports.line
    )


def _power(number: int) -> int:
    """The least power of two that is not less."""
    return 1 << (number - 1).bit_length()
