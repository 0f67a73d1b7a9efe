"""The tensor memories of a build: one side for the graph's nodes, the other for the host."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from amaranth.hdl import Array, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In
from amaranth.utils import ceil_log2

from samhw.graph import MemoryRole, reads_of_a_copy
from samhw.graph.address_map import Window
from samhw.rtl.access import MemoryReadSignature, MemoryWriteSignature
from samhw.rtl.logic import any_of

__all__ = ["TENSOR", "TensorMemory"]

TENSOR = "tensor"
"""The attribute of the words in a netlist, by which a flow may choose what they are made of."""


class _Writing(NamedTuple):
    """What writes a memory: whether it is its turn, and a word at a place."""

    turn: Value
    en: Value
    addr: Value
    data: Value


Sharer = tuple[Value, Value, wiring.PureInterface]
"""Who uses a read port: the condition that it is their turn, the place that they read, and their side."""


class TensorMemory(wiring.Component):
    """One array of a tensor. The host writes an input; a node writes an output or a buffer, the host reads
    it.

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
        readers: the region of each read port that the nodes have to an input or a buffer.
        writer: the region of the node that writes an output or a buffer.

    Members:
        reads: the read ports of the nodes.
        write: of an output or a buffer, the write port of its writer.
        host: the host's port: for an input it writes, for the others it reads.
        turn: whose the memory is: a bit for each region, and the last one for the host, between runs.
    """

    def __init__(self, window: Window, *, regions: int, readers: Sequence[int], writer: int = 0):
        self.window = window
        self.readers = tuple(readers)
        self.writer = writer
        self.is_input = window.memory.role is MemoryRole.INPUT
        self.parts = max(window.words // max(window.memory.capacity, 1), 1)
        width = ceil_log2(window.memory.capacity)
        read = MemoryReadSignature(width, window.width)
        write = MemoryWriteSignature(width, window.width)
        host_width, part = ceil_log2(window.words), window.width // self.parts
        host = {"host": In(MemoryWriteSignature(host_width, part))}
        if not self.is_input:
            host = {"host": In(MemoryReadSignature(host_width, part)), "write": In(write)}
        super().__init__({"reads": In(read).array(len(self.readers)), "turn": In(regions + 1), **host})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        data = self._part(m, 0, self.host.addr, self.host.en) if self.parts == 1 else self._block(m)
        if not self.is_input:
            m.d.comb += self.host.data.eq(data)
        return m

    def _block(self, m: Module) -> Value:
        """The memories of all words of a place; gives what the host reads."""
        place, part = self.host.addr // self.parts, self.host.addr % self.parts
        read_part = Signal(range(self.parts))
        m.d.sync += read_part.eq(part)
        found = [self._part(m, n, place, self.host.en & (part == n)) for n in range(self.parts)]
        return Array(found)[read_part]

    def _part(self, m: Module, number: int, place: Value, enable: Value) -> Value:
        """The memory of a word of each place; gives what the host reads of it.

        Args:
            place: that the host reads or writes.
            enable: it writes this word.
        """
        width = self.window.width // self.parts
        name = "words" if self.parts == 1 else f"words{number}"
        ports = list(self._shared_ports(place))
        in_place = not self.is_input and self.writer in self.readers
        each = reads_of_a_copy(self.window.memory.capacity, width, len(ports))
        if self.is_input:
            writing = _Writing(self.turn[-1], enable, place, self.host.data)
        else:
            data = self.write.data.word_select(number, width)
            writing = _Writing(self.turn[self.writer], self.write.en, self.write.addr, data)
        if each == 1 or in_place:
            return self._words(m, name, number, width, writing, ports, in_place=in_place)
        pairs = [ports[first : first + each] for first in range(0, len(ports), each)]
        found = [self._words(m, f"{name}_{n}", number, width, writing, own) for n, own in enumerate(pairs)]
        return any_of(found)

    def _words(
        self,
        m: Module,
        name: str,
        number: int,
        width: int,
        writing: _Writing,
        ports: Sequence[list[Sharer]],
        *,
        in_place: bool = False,
    ) -> Value:
        """One copy of a memory, with some of its read ports; gives what the host reads of it, or 0.

        The first of two ports has the address of the writer, whose turn is another one: then both ports of a
        block memory serve, one of them for the writer too.
        """
        words = memory.Memory(shape=width, depth=self.window.memory.capacity, init=[], attrs={TENSOR: 1})
        m.submodules[name] = words
        write = words.write_port()
        m.d.comb += [write.data.eq(writing.data), write.en.eq(writing.en & writing.turn)]
        shared: Value = writing.addr
        host: Value = Const(0)
        for place, sharers in enumerate(ports):
            read = words.read_port()
            addr, enable = sharers[0][1], sharers[0][2].en
            if len(sharers) > 1:
                addr = any_of(Mux(turn, at, 0) for turn, at, _ in sharers)
                enable = any_of(turn & sink.en for turn, _, sink in sharers)
            if len(ports) == 2 and place == 0:
                shared = addr = Mux(writing.turn, writing.addr, addr)
            m.d.comb += [read.addr.eq(addr), read.en.eq(enable if in_place else enable & ~writing.turn)]
            for _, _, sink in sharers:
                if sink is self.host:
                    host = read.data
                else:
                    m.d.comb += sink.data.word_select(number, width).eq(read.data)
        m.d.comb += write.addr.eq(shared)
        return host

    def _shared_ports(self, place: Value) -> Iterator[list[Sharer]]:
        """For each read port of the memory who uses it; `place` is where the host reads."""
        by_region: dict[int, list[Sharer]] = defaultdict(list)
        for region, sink in zip(self.readers, self.reads, strict=True):
            by_region[region].append((self.turn[region], sink.addr, sink))
        host = [] if self.is_input else [(self.turn[-1], place, self.host)]
        for sharers in zip_longest(*by_region.values(), host):
            yield [sharer for sharer in sharers if sharer]
