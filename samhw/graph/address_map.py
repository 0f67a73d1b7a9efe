"""Where a host finds everything: the address map that RTL and drivers share (docs/host_port.md)."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from enum import IntEnum, IntFlag
from typing import Any, NamedTuple

from samhw.errors import InputError
from samhw.graph.banks import bank_users
from samhw.graph.design import Design
from samhw.graph.host import PLAIN_HOST, HostOptions
from samhw.graph.ir import Memory
from samhw.graph.numerics import ValueType
from samhw.graph.off_chip import OffChipLayout, PlacedArray
from samhw.graph.pools import Pool, pools_of
from samhw.graph.shared_ports import shared_ports
from samhw.graph.spec import Arch, Payload
from samhw.graph.widths import index_bits
from samhw.names import Names, comment_text, identifiers, plain
from samhw.words import counted

__all__ = [
    "MOST_ACTORS",
    "NO_NODE",
    "PORT_STATES",
    "REGION",
    "STATES",
    "AddressMap",
    "Cause",
    "Control",
    "Macros",
    "Register",
    "Status",
    "Window",
]

_WORD = 4
_CHANNELS_PER_WORD = 16
_LEAST_ADDRESS_BITS, _MOST_ADDRESS_BITS = 12, 32
"""Of a port. A page of 4 KB is the least range that interconnects give to a slave."""

_NOT_BUILT = ("index", "shard", "shards", "rows", "block", "block_counts")
"""Fields of a graph's parts that leave no trace in hardware, or only one in the names of memories."""

NO_NODE = 0xFFFF_FFFF
"""What ERROR_NODE reads for an error that is not a single node's: a deadlock, or none."""


class Register(IntEnum):
    """Byte addresses of the registers that every build has."""

    CONTROL = 0x00
    STATUS = 0x04
    ERROR = 0x08
    ERROR_NODE = 0x0C
    CYCLES_LO = 0x10
    CYCLES_HI = 0x14
    IDENTITY = 0x18


_FIRST_EXTENT = 0x1C


STATES = ("firing", "starved", "blocked", "spaced")
"""What counters count of an actor, in the order of their words."""

PORT_STATES = ("firing", "starved", "blocked", "memory")
"""The same, of an actor of a port to memory off the chip."""

MOST_ACTORS = 16
"""Of a node; the words of its counters are as many times those of an actor."""


class Control(IntFlag):
    """The bits of CONTROL."""

    START = 1
    CLEAR = 2
    SWAP = 4


class Status(IntFlag):
    """The bits of STATUS."""

    RUNNING = 1
    DONE = 2
    ERROR = 4


class Cause(IntFlag):
    """The bits of ERROR (docs/timing.md)."""

    OVERFLOW = 1
    CAPACITY = 2
    PROTOCOL = 4
    RANGE = 8
    DEADLOCK = 16


REGION = 16
"""The lowest bit of ERROR that has the number of a region, in the order of the region cycles."""


@dataclass(frozen=True)
class Window:
    """The words of one memory: word i lies at byte address `base + 4*i`.

    `words` are as many for each place of the memory as what is stored there has; `size` is the power of two
    of bytes to which `base` is aligned; `width` the bits of a place that count.
    """

    memory: Memory
    base: int
    size: int
    words: int
    width: int


class Macros(NamedTuple):
    """The macros of a C header: of extents by index, of memories by their names."""

    extents: Mapping[str, str]
    greatest: Mapping[str, str]
    memories: Mapping[str, str]
    words: Mapping[str, str]


class AddressMap:
    """The byte addresses of a build's registers and memories on its host port.

    Attributes:
        extents: the address of each index's extent register.
        region_cycles: the address of each region's register with the cycles that it was under way.
        channel_states: the addresses of the channel state words, 16 channels in each.
        interrupts: the addresses of INTERRUPT_ENABLE and INTERRUPTS, if the host has them.
        counters: for each of `design.built_nodes`, that of its first counter, if the host has them.
        layout: what lies off the chip, and has no window of its own.
        sdram: where the host finds address 0 of the SDRAM, the upper half of the range; None without one.
        windows: the window of each memory on the chip, by the memory's name.
        pools: the memories as they lie on the chip.
        index_bits: the width of the build's coordinates, references and extents.
        address_bits: the width of an address on the port; its range is the map rounded up to a power of two.
        identity: what IDENTITY reads, a hash of design and arch.

    Raises `InputError` if the memories do not fit 32 address bits or an extent not `arch.index_bits`.
    """

    def __init__(
        self,
        design: Design,
        arch: Arch,
        host: HostOptions = PLAIN_HOST,
        layout: OffChipLayout | None = None,
    ):
        for index, extent in design.extents.items():
            if extent >> arch.index_bits:
                raise InputError(
                    f"The extent {index}={extent} of {design.name} does not fit {arch.index_bits} bits; "
                    "give a greater Arch.index_bits."
                )
        self.design = design
        self.host = host
        self.index_bits = index_bits(design, arch)
        self.extents = {name: _FIRST_EXTENT + _WORD * n for n, name in enumerate(sorted(design.extents))}
        cycles = _FIRST_EXTENT + _WORD * len(self.extents)
        states = cycles + _WORD * len(design.regions)
        self.region_cycles = range(cycles, states, _WORD)
        end = states + _WORD * -(-len(design.built_channels) // _CHANNELS_PER_WORD)
        self.channel_states = range(states, end, _WORD)
        self.interrupts = range(end, end + 2 * _WORD * host.interrupt, _WORD)
        end = self.interrupts.stop
        self.counters = range(0)
        self.counted = _counted(design, layout) if host.counters else {}
        if host.counters:
            each = _WORD * MOST_ACTORS * len(STATES)
            words = each * len(self.counted)
            size = 1 << (words - 1).bit_length()
            first = -(-end // size) * size
            self.counters = range(first, first + words, each)
            end = first + size
        self.layout = layout
        self.windows: dict[str, Window] = {}
        for memory in design.memories:
            if layout is not None and memory.name in layout.arrays:
                continue
            stored = design.stored(memory)
            size = 1 << (_WORD * max(memory.words, 1) - 1).bit_length()
            base = -(-end // size) * size
            end = base + size
            width = stored.width(self.index_bits)
            self.windows[memory.name] = Window(memory, base, size, memory.words, width)
        self.pools = pools_of(design, () if layout is None else layout.arrays)
        self.address_bits = max((end - 1).bit_length(), _LEAST_ADDRESS_BITS)
        self.sdram: int | None = None
        if layout is not None and layout.chip is not None:
            bits = max(self.address_bits, (layout.chip.size - 1).bit_length())
            self.sdram, self.address_bits = 1 << bits, bits + 1
            end += self.sdram
        if self.address_bits > _MOST_ADDRESS_BITS:
            raise InputError(
                f"The memories of {design.name} take {end} bytes, more than a 32-bit address reaches; "
                "give them smaller capacities."
            )
        chosen: list[object] = [] if host == PLAIN_HOST else [asdict(host)]
        if layout is not None:
            chosen.append([layout.ports.to_json(), sorted(layout.arrays)])
            if layout.chip is not None:
                chosen.append(layout.chip.to_json())
        self.identity = _hash32([_plain(design), arch.to_json(), *chosen])

    def whole(self, pool: Pool) -> Window:
        """All of a pool as if it were the memory that gives it its name, for what builds it."""
        first = self.windows[pool.name]
        memory = replace(first.memory, capacity=pool.capacity)
        return replace(first, memory=memory, words=memory.words)

    def channel_state(self, index: int) -> tuple[int, int]:
        """Byte address and lowest bit of the state (empty, then full) of `design.built_channels[index]`."""
        return self.channel_states[index // _CHANNELS_PER_WORD], 2 * (index % _CHANNELS_PER_WORD)

    def to_json(self) -> dict[str, Any]:
        """The map as a JSON object, with the names that ERROR_NODE and the channel states count."""
        design = self.design
        return {
            "name": design.name,
            "value": design.value.name,
            "identity": self.identity,
            "address_bits": self.address_bits,
            "registers": {r.name: int(r) for r in Register},
            "status_bits": {s.name: int(s) for s in Status},
            "error_bits": {c.name: int(c) for c in Cause},
            "extents": {
                name: {
                    "address": address,
                    "greatest": design.extents[name],
                    **({"fixed": True} if name in design.fixed else {}),
                }
                for name, address in self.extents.items()
            },
            "region_cycles": {"address": self.region_cycles.start, "words": len(self.region_cycles)},
            "channel_states": {"address": self.channel_states.start, "words": len(self.channel_states)},
            **self._chosen(),
            "memories": [
                {
                    "name": name,
                    "tensor": window.memory.tensor,
                    "array": window.memory.array,
                    "role": window.memory.role.value,
                    "address": window.base,
                    "words": window.words,
                    "width": window.width,
                    **_value(design.stored(window.memory)),
                    **({"signed": True} if window.memory.is_signed else {}),
                }
                for name, window in self.windows.items()
            ],
            **({} if self.layout is None else {"off_chip": self.layout.to_json()}),
            **({} if self.sdram is None else {"sdram": self.sdram}),
            "nodes": [design.built_label(fabric, node.name) for fabric, node in design.built_nodes],
            "channels": [
                design.built_label(fabric, channel.name) for fabric, channel in design.built_channels
            ],
        }

    def _chosen(self) -> dict[str, Any]:
        """What the JSON object has of the host's choices."""
        chosen: dict[str, Any] = {} if self.host == PLAIN_HOST else {"host": asdict(self.host)}
        if self.interrupts:
            enable, pending = self.interrupts
            chosen["interrupts"] = {"enable": enable, "pending": pending}
        if self.counters:
            chosen["counters"] = {
                "address": self.counters.start,
                "node_words": self.counters.step // _WORD,
                "states": list(STATES),
            }
            if ports := [*self.counted.items()][len(self.design.built_nodes) :]:
                chosen["counters"]["ports"] = [
                    {"name": name, "states": list(states)} for name, states in ports
                ]
        return chosen

    def __repr__(self) -> str:
        windows, registers = counted(len(self.windows), "window"), counted(len(self.extents), "extent")
        return f"<AddressMap of {self.design.name}: {windows}, {registers}, {self.address_bits} address bits>"

    @property
    def macros(self) -> "Macros":
        """The names of the C header's macros, without their prefix."""
        # An index may be called i_MAX beside one called i.
        scope = Names()

        def named(keys: Iterable[str], form: str) -> dict[str, str]:
            wishes = {key: form.format(key) for key in keys}
            found = identifiers(wishes.values(), scope)
            return {key: found[wish] for key, wish in wishes.items()}

        extents, greatest = named(self.extents, "EXTENT_{}"), named(self.extents, "EXTENT_{}_MAX")
        reached = [*self.windows, *self.packed]
        return Macros(extents, greatest, named(reached, "MEM_{}"), named(reached, "MEM_{}_WORDS"))

    @property
    def packed(self) -> Mapping[str, PlacedArray]:
        """The memories that the host finds in the SDRAM, by name, packed as docs/memory.md says."""
        return {} if self.sdram is None or self.layout is None else self.layout.arrays

    def c_header(self, name: str) -> str:
        """The map as a C header whose macros begin with `name` in capitals; other names keep their case."""
        prefix = plain(name).upper()
        lines = [f"/* Address map of {comment_text(self.design.name)}: byte addresses of 32-bit words. */"]
        lines += [f"#ifndef {prefix}_MAP_H", f"#define {prefix}_MAP_H", ""]
        macros = self.macros

        def define(macro: str, text: str) -> None:
            lines.append(f"#define {prefix}_{macro} {text}")

        define("ADDRESS_BITS", f"{self.address_bits}u")
        for register in Register:
            define(register.name, f"0x{register:02x}u")
        lines.append("")
        define("CONTROL_START", f"0x{Control.START:x}u")
        if self.host.recovery:
            define("CONTROL_CLEAR", f"0x{Control.CLEAR:x}u")
        if self.host.pingpong:
            define("CONTROL_SWAP", f"0x{Control.SWAP:x}u")
        for status in Status:
            define(f"STATUS_{status.name}", f"0x{status:x}u")
        for cause in Cause:
            define(f"ERROR_{cause.name}", f"0x{cause:x}u")
        define("NO_NODE", f"0x{NO_NODE:x}u")
        define("IDENTITY_VALUE", f"0x{self.identity:08x}u")
        lines += ["", "/* Extents: the registers, and the greatest values that they take. */"]
        for index, address in self.extents.items():
            define(macros.extents[index], f"0x{address:02x}u")
            define(macros.greatest[index], f"{self.design.extents[index]}u")
        lines += ["", "/* Region cycles: those that each region was under way, modulo 2^32. */"]
        define("REGION_CYCLES", f"0x{self.region_cycles.start:02x}u")
        define("REGIONS", f"{len(self.region_cycles)}u")
        lines += ["", "/* Channel states: bit 2k, channel k is empty; bit 2k+1, it is full; 16 in a word. */"]
        define("CHANNEL_STATES", f"0x{self.channel_states.start:02x}u")
        define("CHANNELS", f"{len(self.design.built_channels)}u")
        if self.interrupts:
            lines += ["", "/* Interrupts: the bits of STATUS, done and error. */"]
            for name, address in zip(("INTERRUPT_ENABLE", "INTERRUPTS"), self.interrupts, strict=True):
                define(name, f"0x{address:02x}u")
        if self.counters:
            lines += [
                "",
                "/* Counters: those of the first node, the bytes from node to node, and the nodes. */",
            ]
            define("COUNTERS", f"0x{self.counters.start:x}u")
            define("COUNTERS_BYTES", f"{self.counters.step}u")
            define("NODES", f"{len(self.counters)}u")
        lines += ["", "/* Memories: the address of word 0, and the number of words. */"]
        for memory, window in self.windows.items():
            define(macros.memories[memory], f"0x{window.base:x}u")
            define(macros.words[memory], f"{window.words}u")
        for memory, placed in self.packed.items():
            define(macros.memories[memory], f"0x{(self.sdram or 0) + placed.base:x}u")
            define(macros.words[memory], f"{placed.places * placed.words}u")
        lines += ["", f"#endif /* {prefix}_MAP_H */"]
        return "\n".join(lines) + "\n"


def _value(stored: Payload) -> dict[str, str]:
    """The field with the type of the values in a memory, if it has values."""
    return {"value": stored.element.name} if stored.element else {}


def _plain(value: object) -> object:
    """A dataclass tree as what `json` can write, without what the hardware does not depend on."""
    if isinstance(value, ValueType | Payload):
        return str(value)
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name not in _NOT_BUILT}
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value


def _counted(design: Design, layout: OffChipLayout | None) -> dict[str, tuple[str, ...]]:
    """What has counters, by `Design.built_label`, with the states that they count: nodes, ports to banks, and
    ports to memory off the chip, each of these by the name that it has in the first of its fabrics."""
    found: dict[str, tuple[str, ...]] = {
        design.built_label(fabric, node.name): STATES for fabric, node in design.built_nodes
    }
    off_chip = () if layout is None else layout.arrays
    found |= {design.built_label(fabric, port.name): STATES for fabric, port in bank_users(design, off_chip)}
    for port in () if layout is None else shared_ports(design, layout):
        found[design.built_label(next(iter(port.users)), port.first.name)] = PORT_STATES
    return found


def _hash32(value: object) -> int:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
