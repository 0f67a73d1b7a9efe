"""Memory off the chip, for all backends that have it (docs/memory.md): where arrays lie, which ports
the nodes of a region have, and the numbers of a port."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from samhw.errors import InputError, shown
from samhw.graph.design import Design
from samhw.graph.ir import Channel, Endpoint, Graph, Memory, Node
from samhw.graph.spec import Arch
from samhw.graph.spec.params import Each, StoredArray
from samhw.graph.widths import index_bits

__all__ = ["OffChipLayout", "OffChipPort", "PlacedArray", "PortDelays", "Ports", "other_ports"]

MOST = 1 << 16
"""The greatest number of a port."""


@dataclass(frozen=True)
class Ports:
    """The numbers of ports and masters.

    Raises:
        InputError: for numbers that docs/memory.md gives no meaning.
    """

    line: int = 64
    """Bytes of a line, which is a burst."""
    beat: int = 16
    """Bytes that the bus moves in a cycle."""
    lines: int = 16
    """Lines that a port has storage for."""
    ahead: int = 1
    """Lines that a read port asks for ahead."""
    queue: int = 64
    """Beats that may wait in a read port."""
    masters: int = 1
    """Masters, each with a memory of its own."""
    offer: int = 4
    """Cycles from a request until it is offered."""
    answer: int = 2
    """Cycles from an answer until it serves."""

    def __post_init__(self) -> None:
        for name in (number.name for number in fields(self)):
            value = getattr(self, name)
            least = 0 if name == "ahead" else 1
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                what = f"a whole number from {least} on"
                raise InputError(f"Ports.{name} is {shown(value)}; give {what}.")
            object.__setattr__(self, name, int(value))
        for name, text, good in (
            ("line", "a power of two, from beat to 4096", _is_power(self.line) and self.line <= 4096),
            ("beat", "a power of two, from 4 to 128", _is_power(self.beat) and 4 <= self.beat <= 128),
            ("line", "1 to 256 beats", 1 <= self.line // self.beat <= 256),
            ("lines", f"a power of two, at most {MOST:,}", _is_power(self.lines) and self.lines <= MOST),
            ("lines", f"at least ahead + 2 = {self.ahead + 2}", self.lines >= self.ahead + 2),
            ("queue", f"a power of two, at most {MOST:,}", _is_power(self.queue) and self.queue <= MOST),
            ("masters", "a power of two, at most 64", _is_power(self.masters) and self.masters <= 64),
            ("offer", f"at most {MOST:,}", self.offer <= MOST),
            ("answer", f"at most {MOST:,}", self.answer <= MOST),
        ):
            if not good:
                raise InputError(f"Ports.{name} is {getattr(self, name)}; give {text}.")

    @property
    def beats(self) -> int:
        """The beats of a line."""
        return self.line // self.beat

    def to_json(self) -> dict[str, Any]:
        """A JSON object, whose items are the arguments of this class."""
        return asdict(self)


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
    it reads at a time, or to write. `number` counts the region's ports at the same master, and is the ID that
    its requests have.
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


class OffChipLayout:
    """What of a design lies off chip, and where.

    Args:
        tensors: those off chip, by the names under which they are stored; None for all.

    Attributes:
        arrays: the memories off chip by name, in the order of the design.

    Raises:
        InputError: if the design lacks a tensor that is to lie off chip.
    """

    def __init__(self, design: Design, arch: Arch, ports: Ports, tensors: Collection[str] | None = None):
        self.ports = ports
        known = {memory.tensor for memory in design.memories}
        if unknown := sorted(set(tensors or ()) - known):
            raise InputError(
                f"There is no tensor {unknown[0]!r} in {design.name} to place off chip; "
                f"it stores {', '.join(sorted(known))}."
            )
        bits = index_bits(design, arch)
        held = {name for graph in design.regions for node in graph.nodes for name in _held(node)}
        free = [0] * ports.masters
        self.arrays: dict[str, PlacedArray] = {}
        for memory in design.memories:
            if memory.name in held or (tensors is not None and memory.tensor not in tensors):
                continue
            master = len(self.arrays) % ports.masters
            placed = _placed(design, memory, bits, master, free[master], ports)
            self.arrays[memory.name] = placed
            free[master] += placed.size
        self.sizes: tuple[int, ...] = tuple(free)
        """The bytes that each master's memory must have."""

    def ports_of(self, graph: Graph) -> tuple[OffChipPort, ...]:
        """The ports of a region, in their order."""
        found: list[OffChipPort] = []
        numbers = [0] * self.ports.masters
        for node in graph.nodes:
            for param, word, array, write in self._uses(graph, node):
                found.append(OffChipPort(node.name, param, word, array, write, numbers[array.master]))
                numbers[array.master] += 1
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """The numbers of ports, and where each array lies."""
        return {
            "ports": self.ports.to_json(),
            "arrays": [asdict(array) for array in self.arrays.values()],
        }

    def _uses(self, graph: Graph, node: Node) -> Iterator[tuple[str, int, PlacedArray, bool]]:
        """(parameter, word, array, whether it writes) of each port of a node."""
        for param, name in node.memories.items():
            array = self.arrays.get(name)
            if array is None or not _is_used(graph, node, param):
                continue
            use = node.spec.memories[param]
            for word in range(max(use.reads, 1)):
                yield param, word, array, use.written


def _held(node: Node) -> Iterator[str]:
    """The memories of a node that stay on chip."""
    for param, name in node.memories.items():
        if not node.spec.memories[param].may_lie_off_chip:
            yield name


def _is_used(graph: Graph, node: Node, param: str) -> bool:
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


def _is_power(number: int) -> bool:
    return number & (number - 1) == 0


def other_ports(ports: Ports, numbers: Mapping[str, Any]) -> Ports:
    """These ports with some other numbers; raises `InputError` for one that ports do not have."""
    known = [number.name for number in fields(Ports)]
    if unknown := [name for name in numbers if name not in known]:
        raise InputError(f"Ports have no number {shown(unknown[0])}; they have {', '.join(known)}.")
    return replace(ports, **numbers)
