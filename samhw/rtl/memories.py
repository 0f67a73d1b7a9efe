"""The tensor memories of a build: one side for the graph's nodes, the other for the host."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from amaranth.hdl import Elaboratable, Module, Mux, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In
from amaranth.utils import ceil_log2

from samhw.graph import MemoryRole
from samhw.graph.address_map import Window
from samhw.rtl.actor import MemoryReadSignature, MemoryWriteSignature
from samhw.rtl.logic import any_of

__all__ = ["TensorMemory"]


class TensorMemory(wiring.Component):
    """One array of a tensor. The host writes an input; a node writes an output or a buffer, the host reads
    it.

    It belongs to the nodes in a run and to the host between runs, and no node reads it in the region that
    writes it. So it is never read and written in one cycle, and synthesis, which sees that, needs no logic
    for what would come of it. What reads at different times shares a port, since each port costs a copy of
    the block memory.

    Args:
        window: the memory, and the width of its places.
        regions: how many regions the design has. They count in the order in which they run.
        readers: the region of each read port that the nodes have to an input or a buffer.
        writer: the region of the node that writes an output or a buffer.

    Members:
        reads: the read ports of the nodes.
        write: of an output or a buffer, the write port of its writer.
        host: the host's port: for an input it writes, for the others it reads.
        region: a bit for each region, set while it is under way; the memory is the host's while none is.
    """

    def __init__(self, window: Window, *, regions: int, readers: Sequence[int], writer: int = 0):
        self.window = window
        self.readers = tuple(readers)
        self.writer = writer
        self.is_input = window.memory.role is MemoryRole.INPUT
        width = ceil_log2(window.memory.capacity)
        read = MemoryReadSignature(width, window.width)
        write = MemoryWriteSignature(width, window.width)
        host = {"host": In(write)} if self.is_input else {"host": In(read), "write": In(write)}
        super().__init__({"reads": In(read).array(len(self.readers)), "region": In(regions), **host})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        depth, width = self.window.memory.capacity, self.window.width
        m.submodules.words = words = memory.Memory(shape=width, depth=depth, init=[])
        write = words.write_port()
        source = self.host if self.is_input else self.write
        written = self._between_runs() if self.is_input else self.region[self.writer]
        m.d.comb += [write.addr.eq(source.addr), write.data.eq(source.data), write.en.eq(source.en & written)]
        for sharers in self._shared_ports():
            read = words.read_port()
            addr, enable = sharers[0][1].addr, sharers[0][1].en
            if len(sharers) > 1:
                addr = any_of(Mux(turn, sink.addr, 0) for turn, sink in sharers)
                enable = any_of(turn & sink.en for turn, sink in sharers)
            m.d.comb += [read.addr.eq(addr), read.en.eq(enable & ~written)]
            m.d.comb += [sink.data.eq(read.data) for _, sink in sharers]
        return m

    def _between_runs(self) -> Value:
        return ~self.region.any()

    def _shared_ports(self) -> Iterator[list[tuple[Value, wiring.PureInterface]]]:
        """For each read port of the memory who uses it, each with the condition that it is their turn."""
        by_region: dict[int, list[tuple[Value, wiring.PureInterface]]] = defaultdict(list)
        for region, sink in zip(self.readers, self.reads, strict=True):
            by_region[region].append((self.region[region], sink))
        host = [] if self.is_input else [(self._between_runs(), self.host)]
        for sharers in zip_longest(*by_region.values(), host):
            yield [sharer for sharer in sharers if sharer]
