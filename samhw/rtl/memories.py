"""The tensor memories of a build: one side for the graph's nodes, the other for the host."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from amaranth.hdl import Array, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In
from amaranth.utils import ceil_log2

from samhw.graph import MemoryRole, reads_of_a_copy
from samhw.graph.address_map import Window
from samhw.rtl.access import MemoryReadSignature, MemoryWriteSignature
from samhw.rtl.interface import Turns
from samhw.rtl.logic import any_of, in_turn

__all__ = ["TENSOR", "Sharer", "TensorMemory", "Writing"]

TENSOR = "tensor"
"""The attribute of the words in a netlist, by which a flow may choose what they are made of."""

Sharer = tuple[Value, Value, wiring.PureInterface]
"""Who uses a read port: the condition that it is their turn, the place that they read, and their side."""


class Writing(NamedTuple):
    """What writes a memory: whether it is its turn, and a word at a place."""

    turn: Value
    en: Value
    addr: Value
    data: Value


class TensorMemory(wiring.Component):
    """One array of a tensor, or a pool of several. The host writes an input; nodes write an output or a
    buffer, the host reads it.

    A place may have several words, for a block of values. Each of them lies in a memory of its own, since the
    host reads and writes one at a time.

    It belongs to the nodes in a run and to the host between runs. Mostly, no node reads it in the region that
    writes it: then it is never read and written in one cycle, and synthesis, which sees that, needs no logic
    for what would come of it. A region that is repeated may read in one place what it has written at earlier
    steps, while it writes in others. What reads at different times shares a port, since each port costs a
    copy of the block memory, or half of one (`reads_of_a_copy`).

    Args:
        window: the memory, and the width of its places.
        regions: how many regions the design has. They count in the order in which they run.
        readers: the regions of each read port that the nodes have to an input or a buffer.
        writers: those of each write port to an output or a buffer.
        beside: for each region those that run side by side with it.
        more: further members.

    Members:
        reads: the read ports of the nodes.
        writes: of an output or a buffer, the write ports.
        host: the host's port: for an input it writes, for the others it reads.
        turn: whose the memory is: a bit for each region, and the last one for the host, between runs.
    """

    def __init__(
        self,
        window: Window,
        *,
        regions: int,
        readers: Sequence[Turns],
        writers: Sequence[Turns] = (),
        beside: Mapping[int, frozenset[int]] | None = None,
        more: Mapping[str, object] = MappingProxyType({}),
    ):
        self.window = window
        self.readers = tuple(readers)
        self.writers = tuple(writers)
        # The regions in which a read port is not free for what else reads.
        self.taken = [
            regions.union(*((beside or {}).get(region, ()) for region in regions)) for regions in self.readers
        ]
        self.is_input = window.memory.role is MemoryRole.INPUT
        self.parts = max(window.words // max(window.memory.capacity, 1), 1)
        width = ceil_log2(window.memory.capacity)
        read = MemoryReadSignature(width, window.width)
        write = MemoryWriteSignature(width, window.width)
        host_width, part = ceil_log2(window.words), window.width // self.parts
        host = {"host": In(MemoryWriteSignature(host_width, part))}
        if not self.is_input:
            writes = In(write).array(len(self.writers))
            host = {"host": In(MemoryReadSignature(host_width, part)), "writes": writes}
        reads = In(read).array(len(self.readers))
        super().__init__({"reads": reads, "turn": In(regions + 1), **host, **more})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        self.connect_host(m)
        return m

    def connect_host(self, m: Module) -> None:
        """Makes the memories, and joins the host to them."""
        data = self.part(m, 0, self.host.addr, self.host.en) if self.parts == 1 else self._block(m)
        if not self.is_input:
            m.d.comb += self.host.data.eq(data)

    def _block(self, m: Module) -> Value:
        """The memories of all words of a place; gives what the host reads."""
        place, part = self.host.addr // self.parts, self.host.addr % self.parts
        read_part = Signal(range(self.parts))
        m.d.sync += read_part.eq(part)
        found = [self.part(m, n, place, self.host.en & (part == n)) for n in range(self.parts)]
        return Array(found)[read_part]

    def part(self, m: Module, number: int, place: Value, enable: Value) -> Value:
        """The memory of a word of each place; gives what the host reads of it.

        Args:
            place: that the host reads or writes.
            enable: it writes this word.
        """
        width = self.window.width // self.parts
        name = "words" if self.parts == 1 else f"words{number}"
        ports = list(self._shared_ports(place))
        writing = self.writing(number, place, enable)
        each = 1 if self._in_place else reads_of_a_copy(self.window.memory.capacity, width, len(ports))
        if each == 1:
            return self._words(m, name, number, writing, ports)
        copies = enumerate(ports[first : first + each] for first in range(0, len(ports), each))
        return any_of(self._words(m, f"{name}_{n}", number, writing, own, shared=True) for n, own in copies)

    def writing(self, number: int, place: Value, enable: Value) -> Writing:
        """What writes the memory of a word of each place; arguments as of `part`."""
        if self.is_input:
            return Writing(self.turn[-1], enable, place, self.host.data)
        if not self.writers:
            return Writing(*[Const(0)] * 4)
        width = self.window.width // self.parts
        turns = [self._is_turn(regions) for regions in self.writers]
        sinks = [*zip(turns, self.writes, strict=True)]
        return Writing(
            any_of(turns),
            any_of(sink.en & turn for turn, sink in sinks),
            in_turn((turn, sink.addr) for turn, sink in sinks),
            in_turn((turn, sink.data.word_select(number, width)) for turn, sink in sinks),
        )

    def _words(
        self,
        m: Module,
        name: str,
        number: int,
        writing: Writing,
        ports: Sequence[Sequence[Sharer]],
        *,
        shared: bool = False,
    ) -> Value:
        """A copy of the memory of a word of each place, with some of its read ports; gives what the host
        reads of it, or 0.

        Where two ports are `shared`, the first one has the address of what writes, whose turn is another one.
        So both ports of a block memory serve.
        """
        width = self.window.width // self.parts
        words = memory.Memory(shape=width, depth=self.window.memory.capacity, init=[], attrs={TENSOR: 1})
        m.submodules[name] = words
        write = words.write_port()
        m.d.comb += [write.data.eq(writing.data), write.en.eq(writing.en & writing.turn)]
        place = writing.addr
        host: Value = Const(0)
        for k, sharers in enumerate(ports):
            read = words.read_port()
            addr, enable = sharers[0][1], sharers[0][2].en
            if len(sharers) > 1:
                addr = in_turn((turn, at) for turn, at, _ in sharers)
                enable = any_of(turn & sink.en for turn, _, sink in sharers)
            if shared and k == 0:
                place = addr = Mux(writing.turn, writing.addr, addr)
            m.d.comb += [read.addr.eq(addr), read.en.eq(enable if self._in_place else enable & ~writing.turn)]
            for _, _, sink in sharers:
                if sink is self.host:
                    host = read.data
                else:
                    m.d.comb += sink.data.word_select(number, width).eq(read.data)
        m.d.comb += write.addr.eq(place)
        return host

    def _shared_ports(self, place: Value) -> Iterator[list[Sharer]]:
        """For each read port of the memory who uses it; `place` is where the host reads."""
        ports: list[list[int]] = []
        for number, regions in enumerate(self.readers):
            free = (port for port in ports if all(regions.isdisjoint(self.taken[other]) for other in port))
            if (port := next(free, None)) is None:
                ports.append(port := [])
            port.append(number)
        shared: list[list[Sharer]] = [
            [(self._is_turn(self.readers[n]), self.reads[n].addr, self.reads[n]) for n in port]
            for port in ports
        ]
        if not self.is_input:
            # The host reads through the first port.
            first, *others = shared or [[]]
            shared = [[*first, (self.turn[-1], place, self.host)], *others]
        yield from shared

    @property
    def _in_place(self) -> bool:
        """A region reads it and writes it."""
        writing = frozenset[int]().union(*self.writers)
        return any(not writing.isdisjoint(regions) for regions in self.readers)

    def _is_turn(self, regions: Turns) -> Value:
        """One of these regions is under way."""
        return any_of(self.turn[region] for region in sorted(regions))
