"""One way to run a design, wherever it is: load, start, wait, read, counters."""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from samhw.errors import InputError, RunError
from samhw.graph import PLAIN_HOST, AddressMap, Arch, Design, Graph, HostOptions, MemoryRole, Node
from samhw.graph.address_map import MOST_ACTORS, REGION, Cause, Control, Register, Status
from samhw.graph.liveness import deadlock
from samhw.graph.numerics import Words
from samhw.graph.off_chip import OffChipLayout, PlacedArray
from samhw.graph.sequence import check_steps, first_of
from samhw.sim import simulate_regions, total_cycles
from samhw.sim.result import DISORDERED
from samhw.targets.running.images import packed, stored_words, unpacked
from samhw.targets.running.port import Ending, Trace, WordPort
from samhw.words import did_you_mean

__all__ = ["LIMIT", "Counters", "HardwareResult", "PortSession", "Session", "SimulatedSession", "check_data"]

LIMIT = 100_000_000
"""Cycles after which a run is given up, unless the caller says otherwise."""

_WORD = 4
"""Bytes of a word of the port."""


@dataclass(frozen=True)
class Counters:
    """What a run took."""

    cycles: int
    region_cycles: tuple[int, ...]
    """The cycles of each region by itself, if less than 2^32; `cycles` has one more for each change."""


@dataclass(frozen=True)
class HardwareResult:
    """What a run gave."""

    cycles: int
    region_cycles: tuple[int, ...]
    """The cycles of each region by itself, if less than 2^32; `cycles` has one more for each change."""
    memories: dict[str, Words]
    """The words in use of each output memory, and of each buffer if asked for, by its name."""
    seconds: float
    """Time from `start` to the end of the run: of the processor if it is simulated, else of the wall."""
    traces: dict[str, Trace] = field(default_factory=dict, repr=False)
    """If asked for: the tokens that each channel's consumer took, with the cycles in which it did. By
    `Design.label` of the channel."""


class Session(ABC):
    """A design that can be run again and again, in a simulator or in hardware. Use it in a `with` statement.

    Attributes:
        design: what is run.
        seconds: as of `HardwareResult`, of the last run.
    """

    def __init__(self, design: Design):
        self.design = design
        self.seconds = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def load(self, memories: Mapping[str, ArrayLike], extents: Mapping[str, int]) -> None:
        """Loads what a run is to work on.

        Args:
            memories: words (non-negative integers) of the input memories; shorter than the memory is fine.
            extents: the extent of each index of the design.

        Raises:
            InputError: for arguments that do not fit the build.
        """
        check_data(self.design, memories, extents)
        self._load(memories, extents)

    @abstractmethod
    def _load(self, memories: Mapping[str, ArrayLike], extents: Mapping[str, int]) -> None:
        """Loads what fits."""

    @abstractmethod
    def start(self) -> None:
        """Starts a run."""

    @abstractmethod
    def wait(self, limit: int = LIMIT) -> None:
        """Waits for the end of the run, at most `limit` cycles.

        Raises:
            RunError: for a run that ends in an error, a deadlock or at the limit. The next run starts from a
                design without errors.
        """

    def swap(self) -> None:  # noqa: B027 - most have one bank
        """Between runs, makes what the last one has worked on the host's, where there are two banks. A start
        does so too, for the run before it."""

    @abstractmethod
    def counters(self) -> Counters:
        """What the last run took."""

    @abstractmethod
    def read(self, memory: str, count: int) -> Words:
        """The first words of an output memory or a buffer, as the last run has left them."""

    @abstractmethod
    def close(self) -> None:
        """Ends the session."""

    def run(
        self,
        memories: Mapping[str, ArrayLike],
        extents: Mapping[str, int],
        *,
        buffers: bool = False,
        limit: int = LIMIT,
    ) -> HardwareResult:
        """Loads, runs, and reads the output memories back.

        Args:
            memories, extents: as of `load`.
            buffers: also read back what the regions have passed on to each other.
            limit: cycles after which the run is given up.

        Raises `InputError` and `RunError` as `load` and `wait` do.
        """
        self.load(memories, extents)
        self.start()
        self.wait(limit)
        counters = self.counters()
        self.swap()
        stored = self._stored(extents, buffers)
        return HardwareResult(counters.cycles, counters.region_cycles, stored, self.seconds)

    def _stored(self, extents: Mapping[str, int], buffers: bool) -> dict[str, Words]:
        roles = {MemoryRole.OUTPUT, MemoryRole.BUFFER} if buffers else {MemoryRole.OUTPUT}
        memories: dict[str, Words] = {}
        for tensor in self.design.tensors:
            if tensor.role in roles and not tensor.alias_of:
                memories |= stored_words(self.design.memory, tensor, extents, self.read)
        return memories


class SimulatedSession(Session):
    """The simulator."""

    def __init__(self, design: Design, arch: Arch):
        super().__init__(design)
        self._arch = arch
        self._inputs: tuple[dict[str, ArrayLike], dict[str, int]] = ({}, {})
        self._words: dict[str, Words] = {}
        self._counters = Counters(0, ())

    def _load(self, memories: Mapping[str, ArrayLike], extents: Mapping[str, int]) -> None:
        # What is not written again stays as it was.
        self._inputs = ({**self._inputs[0], **memories}, dict(extents))

    def start(self) -> None:
        """Nothing: the simulator runs while it is waited for."""

    def wait(self, limit: int = LIMIT) -> None:
        memories, extents = self._inputs
        begin = time.process_time()
        words = {name: np.asarray(array) for name, array in memories.items()}
        results = simulate_regions(self.design, self._arch, words, extents, limit=limit)
        self.seconds = time.process_time() - begin
        cycles = [result.cycles for result in results]
        self._counters = Counters(total_cycles(results), tuple(cycles))
        self._words = {name: array for result in results for name, array in result.memories.items()}

    def counters(self) -> Counters:
        return self._counters

    def read(self, memory: str, count: int) -> Words:
        return self._words[memory][:count]

    def close(self) -> None:
        """Nothing is held."""


class PortSession(Session):
    """Hardware with a host port.

    Raises:
        RunError: if what is there is not this design.
    """

    def __init__(
        self,
        design: Design,
        arch: Arch,
        port: WordPort,
        host: HostOptions = PLAIN_HOST,
        layout: OffChipLayout | None = None,
    ):
        super().__init__(design)
        self.map = AddressMap(design, arch, host, layout)
        self.port = port
        self._ending: Ending | None = None
        try:
            self._check_identity()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.port.close()

    def _load(self, memories: Mapping[str, ArrayLike], extents: Mapping[str, int]) -> None:
        self._check_widths(memories)
        for index, address in self.map.extents.items():
            self.port.load(address, extents[index])
        for name, words in memories.items():
            memory, width = self.design.memory[name], self._width(name)
            if memory.is_signed:
                words = np.asarray(words) & ((1 << width) - 1)
            self.write(name, words)

    def write(self, memory: str, words: ArrayLike) -> None:
        """Writes the first words of a memory."""
        if (found := self._in_sdram(memory)) is None:
            self.port.load(self.map.windows[memory].base, words)
        else:
            placed, address = found
            stored = packed(placed, words)
            self.port.load(address, np.frombuffer(stored + bytes(-len(stored) % _WORD), "<u4"))

    def _in_sdram(self, memory: str) -> tuple[PlacedArray, int] | None:
        """Where a memory lies in an SDRAM, and at which address of the port, if it does."""
        placed = self.map.packed.get(memory)
        return None if placed is None or self.map.sdram is None else (placed, self.map.sdram + placed.base)

    def _width(self, name: str) -> int:
        """Of the places of a memory, in bits."""
        return self.design.stored(self.design.memory[name]).width(self.map.index_bits)

    def _check_widths(self, memories: Mapping[str, ArrayLike]) -> None:
        for name, words in memories.items():
            memory, width = self.design.memory[name], self._width(name)
            if memory.is_value or memory.is_signed or not np.size(words):
                continue
            if (greatest := int(np.max(words))) >> width:
                raise InputError(
                    f"The memory {name} holds words of {width} bits, but one of those given is "
                    f"{greatest:,}; what fits this build's extents and capacities has none so great."
                )

    def start(self) -> None:
        self.port.start()

    def wait(self, limit: int = LIMIT) -> None:
        ending = self.port.wait(limit)
        if ending.status != "done":
            self._recover()
            raise _failure(self.design, ending, limit)
        self._ending = ending
        self.seconds = ending.seconds

    def swap(self) -> None:
        if self.map.host.pingpong:
            self.port.load(Register.CONTROL, [Control.SWAP])

    def _recover(self) -> None:
        """Makes the next run possible after one that has failed."""
        if self.map.host.recovery:
            self.port.load(Register.CONTROL, [Control.CLEAR])
            # Memory off the chip may have answers left.
            while self.port.read(Register.STATUS, 1)[0] & Status.RUNNING:
                pass
        else:
            self.port.reset()

    def counters(self) -> Counters:
        assert self._ending is not None
        return Counters(self._ending.cycles, _region_cycles(self.design, self._region_cycles()))

    def spent(self) -> dict[str, list[dict[str, int]]]:
        """What actors have spent the last run on, in all regions: by `AddressMap.counted`, for each actor of
        a node or port the cycles by its states. After its last firing an actor rests.

        Raises:
            InputError: the build has no counters.
        """
        if not self.map.counters:
            raise InputError(
                f"This build of {self.design.name} has no counters; build it with '--host counters'."
            )
        found = {}
        for (name, states), address in zip(self.map.counted.items(), self.map.counters, strict=True):
            words = self.port.read(address, MOST_ACTORS * len(states)).reshape(MOST_ACTORS, len(states))
            found[name] = [dict(zip(states, actor.tolist(), strict=True)) for actor in words if actor[0]]
        return found

    def read(self, memory: str, count: int) -> Words:
        if (found := self._in_sdram(memory)) is None:
            return self.port.read(self.map.windows[memory].base, count)
        placed, address = found
        size = -(-count // placed.words) * placed.place_bytes
        stored = self.port.read(address, -(-size // _WORD)).astype("<u4").tobytes()
        return unpacked(placed, stored[:size])[:count]

    def _region_cycles(self) -> Words:
        return self.port.read(self.map.region_cycles.start, len(self.map.region_cycles))

    def _check_identity(self) -> None:
        found = int(self.port.read(Register.IDENTITY, 1)[0])
        if found != self.map.identity:
            raise RunError(
                f"The hardware identifies itself as {found:#010x}, but {self.design.name} is "
                f"{self.map.identity:#010x}; build it again from this graph."
            )


def check_data(design: Design, memories: Mapping[str, ArrayLike], extents: Mapping[str, int]) -> None:
    """Raises `InputError` for data that do not fit the build."""
    design.check_extents(extents)
    check_steps(design.sequence, extents)
    inputs = {memory.name: memory for memory in design.memories if memory.role is MemoryRole.INPUT}
    for name, words in memories.items():
        if name not in inputs:
            raise InputError(
                f"{design.name} has no input memory {name!r}{did_you_mean(name, inputs)}; it has "
                f"{', '.join(inputs)}."
            )
        if np.size(words) > inputs[name].words:
            raise InputError(
                f"The memory {name} holds {inputs[name].words:,} words, not {np.size(words):,}; "
                "rebuild with a larger capacity (--capacity)."
            )


def _region_cycles(design: Design, spent: Words) -> tuple[int, ...]:
    """From the cycles, modulo 2^32, that regions were under way. Each but those that start with the run
    starts in a cycle that counts for it, and is the change from the one before."""
    changes = ~np.isin(design.turns, first_of(design.sequence))
    return tuple(int(cycles) for cycles in (spent - changes) % (1 << 32))


def _failure(design: Design, ending: Ending, limit: int) -> RunError:
    """The error for a run that is not done, in the words of the simulator."""
    if ending.status == "limit":
        return RunError(f"{design.name} did not end within {limit:,} cycles; give a greater limit.")
    causes, turn = Cause(ending.error & ((1 << REGION) - 1)), ending.error >> REGION
    region = design.turns[turn]
    if causes == Cause.DEADLOCK:
        error: RunError = _deadlock(design, region, ending)
    else:
        region, node = _reported(design, region, ending.error_node)
        cause = next(cause for cause in _FAILURES if cause & causes)
        error = _fault(design.regions[region], node, cause)
    return error.within(f"Region {design.regions[region].name}") if len(design.runs) > 1 else error


def _reported(design: Design, region: int, number: int) -> tuple[int, Node]:
    """The node that has reported an error, with its region: of a fabric that others share, the one that was
    under way."""
    fabric, node = design.built_nodes[number]
    group = design.groups[fabric]
    region = region if region in group else group[0]
    place = design.built[fabric].nodes.index(node)
    return region, design.regions[region].nodes[place]


def _channel_bits(ending: Ending) -> tuple[list[int], list[int]]:
    """Which channels are empty, and which are full."""
    bits = [word >> k & 1 for word in ending.channels for k in range(32)]
    return bits[0::2], bits[1::2]


def _deadlock(design: Design, region: int, ending: Ending) -> RunError:
    graph = design.regions[region]
    fabric = next(number for number, group in enumerate(design.groups) if region in group)
    first = sum(len(before.channels) for before in design.built[:fabric])
    empty, full = (
        {channel.name for channel, bit in zip(graph.channels, states[first:], strict=False) if bit}
        for states in _channel_bits(ending)
    )
    return deadlock(graph, empty, full)


def _fault(graph: Graph, node: Node, cause: Cause) -> RunError:
    where = f"{str(cause.name).lower()} at node {node.name!r}"
    if cause == Cause.PROTOCOL and node.spec.finds_disorder:
        return RunError(f"{where}: {DISORDERED}")
    return RunError(f"{where}: {_FAILURES[cause].format(value=graph.result_type(node))}")


_FAILURES = {
    Cause.OVERFLOW: "a result leaves the range of {value}; scale the data or choose a wider type (--value).",
    Cause.CAPACITY: "its memory is full; build with a greater capacity (--capacity).",
    Cause.RANGE: (
        "a coordinate or reference lies beyond its extent or memory; "
        "check the tensors and extents of this run."
    ),
    Cause.PROTOCOL: ("its input streams do not agree in structure; feed it streams of one iteration space."),
}
