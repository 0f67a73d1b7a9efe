"""The tensor memories of a build: one side for the graph's nodes, the other for the host."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from amaranth.hdl import Array, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In
from amaranth.utils import ceil_log2

from samhw.graph import MemoryRole
from samhw.graph.address_map import Window
from samhw.rtl.access import MemoryReadSignature, MemoryWriteSignature
from samhw.rtl.logic import any_of

__all__ = ["TENSOR", "TensorMemory"]

TENSOR = "tensor"
"""The attribute of the words in a netlist, by which a flow may choose what they are made of."""

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
    copy of the block memory.

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
        depth, width = self.window.memory.capacity, self.window.width // self.parts
        words = memory.Memory(shape=width, depth=depth, init=[], attrs={TENSOR: 1})
        m.submodules["words" if self.parts == 1 else f"words{number}"] = words
        write = words.write_port()
        if self.is_input:
            written, enabled = self.turn[-1], enable
            m.d.comb += [write.addr.eq(place), write.data.eq(self.host.data)]
        else:
            written, enabled = self.turn[self.writer], self.write.en
            data = self.write.data.word_select(number, width)
            m.d.comb += [write.addr.eq(self.write.addr), write.data.eq(data)]
        m.d.comb += write.en.eq(enabled & written)
        host: Value = Const(0)
        for sharers in self._shared_ports(place):
            read = words.read_port()
            addr, enable = sharers[0][1], sharers[0][2].en
            if len(sharers) > 1:
                addr = any_of(Mux(turn, at, 0) for turn, at, _ in sharers)
                enable = any_of(turn & sink.en for turn, _, sink in sharers)
            in_place = not self.is_input and self.writer in self.readers
            m.d.comb += [read.addr.eq(addr), read.en.eq(enable if in_place else enable & ~written)]
            for _, _, sink in sharers:
                if sink is self.host:
                    host = read.data
                else:
                    m.d.comb += sink.data.word_select(number, width).eq(read.data)
        return host

    def _shared_ports(self, place: Value) -> Iterator[list[Sharer]]:
        """For each read port of the memory who uses it; `place` is where the host reads."""
        by_region: dict[int, list[Sharer]] = defaultdict(list)
        for region, sink in zip(self.readers, self.reads, strict=True):
            by_region[region].append((self.turn[region], sink.addr, sink))
        host = [] if self.is_input else [(self.turn[-1], place, self.host)]
        for sharers in zip_longest(*by_region.values(), host):
            yield [sharer for sharer in sharers if sharer]
