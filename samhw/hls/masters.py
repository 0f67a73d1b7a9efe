"""The AXI masters of a kernel: which of its ports share one, the banks of memory that they reach, and copies
through them.

A master is what `bundle=` names. It has one reader and one writer at a time (UG1399, M_AXI Bundles), and at
most fifteen of them reach a bank (UG1702, Memory Information).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from samhw.errors import InputError
from samhw.graph import MemoryRole
from samhw.hls.cards import Banks
from samhw.hls.interface import Sequencer
from samhw.hls.program import HlsRegion, Moment

__all__ = [
    "STATUS",
    "AxiPort",
    "ChipLoad",
    "ChipStore",
    "Copies",
    "Masters",
    "banks",
    "copies_of_region",
    "copies_of_sequence",
    "masters",
]

MOST = 15
"""Masters of one bank."""

COPYING = 4
"""Masters, at most, by which memories are copied to the chip and from it: each moves a line a cycle, which at
4 ns is nearly what a bank of DDR4 gives, or a bank of HBM."""

STARTING = 4096
"""The bytes that a copy could have moved in the time that its first line takes."""

STATUS = "gmem_status"
"""The master of the word `status`."""


@dataclass(frozen=True)
class AxiPort:
    """What counts of a port.

    Attributes:
        memory: ports of one memory get one pointer.
        size: the bytes of the memory.
        is_result: the memory is written.
        is_apart: other kernels have the memory, too, and its copies share no master, where there is room,
            since what masters join lies in one bank.
        bank: that the memory is to lie in; None for any.
        uses: when a process of a region has it, and whether that reads or writes. Without uses its memory
            is copied to or from the chip, before any region runs or afterwards.
    """

    name: str
    memory: str
    size: int
    uses: frozenset[tuple[Moment, str]]
    bank: int | None = None
    is_result: bool = False
    is_apart: bool = False

    @property
    def writes(self) -> bool:
        """Whether a process writes through it."""
        return any(use == "write" for _, use in self.uses)

    def meets(self, other: "AxiPort") -> bool:
        """Whether both are read, or both written, at the same time."""
        return not self.uses.isdisjoint(other.uses)


@dataclass(frozen=True)
class Masters:
    """Attributes:
    bundles: the master of each port, by its name.
    aliases: the ports that reach one memory by several masters, of which one writes.
    banks: what a link configuration joins each port to, that of `status` among them; empty where the
        platform decides.
    """

    bundles: Mapping[str, str]
    aliases: Sequence[Sequence[str]]
    banks: Mapping[str, str]

    def of(self, bundle: str) -> list[str]:
        """The ports of a master."""
        return [port for port, own in self.bundles.items() if own == bundle]


def masters(kernel: str, ports: Sequence[AxiPort], memory: Banks | None, *, by_turns: bool) -> Masters:
    """The masters of a kernel's ports.

    Args:
        memory: the card's; without one, all masters are taken to reach one bank.
        by_turns: regions run one after another, so that sharing costs no time. Else ports of processes share
            a master only if there are too many of them, and copies have masters of their own.

    Raises:
        InputError: if they are too many for the banks.
    """
    room = MOST * (memory.banks if memory else 1) - 1
    groups = list(_together([port for port in ports if port.uses]))
    found = _shared(groups, len(ports) if by_turns else room, loose=not by_turns)
    _add_copies(found, [port for port in ports if not port.uses], room, by_turns=by_turns)
    order = {port.name: n for n, port in enumerate(ports)}
    found.sort(key=lambda shared: min(order[port.name] for port in shared))
    numbers = {port.name: number for number, shared in enumerate(found) for port in shared}
    bundles = {port.name: f"gmem{numbers[port.name]}" for port in ports}
    if len(found) > room:
        where = f"the card's {memory.banks} banks take" if memory else "one bank of memory takes"
        raise InputError(
            f"{kernel} needs {len(found) + 1} ports to memory, and {where} {room + 1}; "
            "lay more memories on the chip (--on-chip), split its regions (--fuse none), or name a card of "
            "more banks (--part u55c)."
        )
    aliases = [
        [port.name for port in own]
        for own in _by_memory(ports).values()
        if any(port.writes for port in own) and len({bundles[port.name] for port in own}) > 1
    ]
    return Masters(bundles, aliases, banks(kernel, ports, bundles, memory) if memory else {})


def _by_memory(ports: Sequence[AxiPort]) -> dict[str, list[AxiPort]]:
    found: dict[str, list[AxiPort]] = {}
    for port in ports:
        found.setdefault(port.memory, []).append(port)
    return found


def _together(ports: Sequence[AxiPort]) -> Iterator[list[AxiPort]]:
    """The ports that must have one master: those of a memory that is written, if none of them meet. If some
    do, each has its own, since ALIAS takes ports of different masters."""
    for own in _by_memory(ports).values():
        meet = any(a.meets(b) for n, a in enumerate(own) for b in own[:n])
        if meet or not any(port.writes for port in own):
            yield from ([port] for port in own)
        else:
            yield own


def _shared(groups: Sequence[Sequence[AxiPort]], room: int, *, loose: bool) -> list[list[AxiPort]]:
    """The ports of processes of each master: as many masters as there is room for if `loose`, else as few as
    may be."""
    found: list[list[AxiPort]] = []
    # Those that meet others first, and among them the readers, which are more than the writers.
    for group in sorted(groups, key=lambda g: (-len(_uses(g)), sorted(_uses(g)), -_size(g))):
        free = [shared for shared in found if _may_share(shared, group)]
        if free and not (loose and len(found) < room):
            min(free, key=_size).extend(group)
        else:
            found.append(list(group))
    return found


def _add_copies(found: list[list[AxiPort]], copied: Sequence[AxiPort], room: int, *, by_turns: bool) -> None:
    """Adds ports by which memories are copied, the largest first, each to the master by which least is copied
    in its direction. There are as many as have something to do at a time."""
    for port in copied:
        if port.is_apart and len(found) < room - 1:
            found.append([port])
    copied = [port for port in copied if not any(port in shared for shared in found)]
    results = sum(port.is_result for port in copied)
    most = min(COPYING, max(results, len(copied) - results))
    own = found[:most] if by_turns else []
    while len(own) < most and (len(found) < room or not own):
        own.append([])
        found.append(own[-1])
    moved = {direction: [0] * len(own) for direction in (False, True)}
    for port in sorted(copied, key=lambda port: -port.size):
        times = moved[port.is_result]
        least = times.index(min(times))
        own[least].append(port)
        times[least] += port.size + STARTING


def _size(ports: Sequence[AxiPort]) -> int:
    return sum(port.size for port in ports)


def _uses(group: Sequence[AxiPort]) -> set[tuple[Moment, str]]:
    return set().union(*(port.uses for port in group))


def _may_share(shared: Sequence[AxiPort], group: Sequence[AxiPort]) -> bool:
    """Whether ports may join those of a master: they never meet, and those of a memory that is written would
    be together already."""
    return not any(a.meets(b) or a.memory == b.memory for a in shared for b in group)


def banks(
    kernel: str,
    ports: Sequence[AxiPort],
    bundles: Mapping[str, str],
    memory: Banks,
    status: Sequence[str] = ("status",),
) -> dict[str, str]:
    """The banks of each port. What one master or one memory joins lies in the same ones: in one, or as many
    in a row as hold it. Those that are asked to lie in one come first; then those that processes read and
    write, which may move more than they hold; of both the largest, each to where the fewest masters are.
    Ports of `status` have a master each, and come last.

    Raises:
        InputError: if a bank has too many masters, or the card too little memory.
    """
    joined: list[tuple[set[str], list[AxiPort]]] = [({name}, []) for name in status]
    for port in ports:
        meets = [part for part in joined if any(_is_joined(port, p, bundles) for p in part[1])]
        joined = [part for part in joined if part not in meets]
        others = [p for _, some in meets for p in some]
        joined.append((set().union({bundles[port.name]}, *(part[0] for part in meets)), [*others, port]))

    def size(part: tuple[set[str], list[AxiPort]]) -> int:
        return sum({port.memory: port.size for port in part[1]}.values())

    taken = [0] * memory.banks
    bytes_in = [0] * memory.banks
    found: dict[str, str] = {}
    for part in sorted(joined, key=lambda part: (not _asked(part[1]), not _is_used(part[1]), -size(part))):
        width = max(-(-size(part) // memory.bank_bytes), 1)
        starts = range(memory.banks - width + 1)
        if not starts:
            raise InputError(f"{kernel} needs {size(part):,} bytes of memory, and the card has fewer.")
        asked = _asked(part[1])
        if {*asked.values()} - {*starts} or len({*asked.values()}) > 1:
            where = " and ".join(f"{name} in bank {bank}" for name, bank in asked.items())
            raise InputError(
                f"{kernel} cannot have {where}: what one port joins lies in one bank, or in as many in a row "
                "as hold it; leave the numbers of channels out (--place)."
            )
        own = {*asked.values()} or starts
        first = min(own, key=lambda n: (max(taken[n : n + width]), sum(bytes_in[n : n + width])))
        for bank in range(first, first + width):
            taken[bank] += len(part[0])
            bytes_in[bank] += size(part) // width
        name = f"{first}:{first + width - 1}" if width > 1 else str(first)
        found |= dict.fromkeys([p.name for p in part[1]] or part[0], f"{memory.kind}[{name}]")
    if max(taken) > MOST:
        raise InputError(
            f"{kernel} needs {max(taken)} ports to one bank of memory, which takes {MOST}; lay more memories "
            "on the chip (--on-chip), or split the program."
        )
    return {name: found[name] for name in (*(port.name for port in ports), *status)}


def _asked(ports: Sequence[AxiPort]) -> dict[str, int]:
    """By memory, the bank that it is to lie in."""
    return {port.memory: port.bank for port in ports if port.bank is not None}


def _is_used(ports: Sequence[AxiPort]) -> bool:
    """Whether processes have some of the ports."""
    return any(port.uses for port in ports)


def _is_joined(a: AxiPort, b: AxiPort, bundles: Mapping[str, str]) -> bool:
    return a.memory == b.memory or bundles[a.name] == bundles[b.name]


# Copies between the host's memory and arrays on the chip.


T = TypeVar("T")


@dataclass(frozen=True)
class ChipLoad:
    """What is copied from a port: to each of some arrays, as many words as the scalar `stored` says."""

    port: str
    memory: str
    word: str
    stored: str
    arrays: tuple[str, ...]


@dataclass(frozen=True)
class ChipStore:
    """What is copied to a port from an array: as many words as the scalar `count` says."""

    port: str
    memory: str
    word: str
    count: str
    array: str

    @property
    def told(self) -> str:
        """The scalar by which the host learns how many they are."""
        return f"{self.count}_told"


@dataclass(frozen=True)
class Copies:
    """All copies of a kernel before it runs and afterwards."""

    loads: Sequence[ChipLoad]
    stores: Sequence[ChipStore]

    def by_master(
        self, bundles: Mapping[str, str]
    ) -> tuple[dict[str, list[ChipLoad]], dict[str, list[ChipStore]]]:
        """Loads and stores by master, by which they come and go one after another; several masters work side
        by side."""
        return _grouped(self.loads, lambda load: bundles[load.port]), _grouped(
            self.stores, lambda store: bundles[store.port]
        )


def _grouped(some: Sequence[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for one in some:
        found.setdefault(key(one), []).append(one)
    return found


def copies_of_region(region: HlsRegion) -> Copies:
    """Those of a region that is a kernel itself: each port has an array."""
    return Copies(
        [
            ChipLoad(port.name, port.memory.name, port.word, port.stored, (port.array,))
            for port in region.inputs
            if not port.off_chip
        ],
        [
            ChipStore(port.name, port.memory.name, port.word, region.counts[port.name], port.array)
            for port in region.outputs
            if not port.off_chip
        ],
    )


def copies_of_sequence(order: Sequencer) -> Copies:
    """Those of a kernel that runs several regions: the host's inputs to all of their arrays, and its
    outputs."""
    loads: dict[str, ChipLoad] = {}
    for array in order.arrays:
        if array.memory.role is MemoryRole.INPUT:
            before = loads[array.first].arrays if array.first in loads else ()
            loads[array.first] = ChipLoad(
                array.first, array.memory.name, array.word, f"{array.first}_stored", (*before, array.array)
            )
    stores = [
        ChipStore(array.first, array.memory.name, array.word, order.counts[array.memory.name], array.array)
        for array in order.arrays
        if array.memory.role is MemoryRole.OUTPUT and array.name == array.first
    ]
    return Copies(list(loads.values()), stores)
