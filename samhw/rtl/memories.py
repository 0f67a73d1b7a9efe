"""The tensor memories of a build: one side for the graph's nodes, the other for the host."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In
from amaranth.utils import ceil_log2

from samhw.graph import MemoryRole
from samhw.graph.address_map import Window
from samhw.rtl.actor import MemoryReadSignature, MemoryWriteSignature

__all__ = ["TensorMemory"]


class TensorMemory(wiring.Component):
    """One array of a tensor. The host writes an input and reads an output; the nodes do the opposite.

    It belongs to the nodes in a run and to the host between runs. So it is never read and written in one
    cycle, and synthesis, which sees that, needs no logic for what would come of it.

    Args:
        window: the memory and its word's width.
        readers: how many read ports the nodes have to an input.

    Members:
        reads: of an input, the read ports of the nodes.
        write: of an output, the write port of its writer.
        host: the host's port, the other way round.
        running: the memory belongs to the nodes.
    """

    def __init__(self, window: Window, readers: int):
        self.window = window
        self.readers = readers
        width = ceil_log2(window.memory.capacity)
        read = MemoryReadSignature(width, window.width)
        write = MemoryWriteSignature(width, window.width)
        if window.memory.role is MemoryRole.INPUT:
            super().__init__({"reads": In(read).array(readers), "host": In(write), "running": In(1)})
        else:
            super().__init__({"write": In(write), "host": In(read), "running": In(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        depth, width = self.window.memory.capacity, self.window.width
        m.submodules.words = words = memory.Memory(shape=width, depth=depth, init=[])
        write = words.write_port()
        if self.window.memory.role is MemoryRole.INPUT:
            source, sinks, written, read_now = self.host, list(self.reads), ~self.running, self.running
        else:
            source, sinks, written, read_now = self.write, [self.host], self.running, ~self.running
        m.d.comb += [write.addr.eq(source.addr), write.data.eq(source.data), write.en.eq(source.en & written)]
        for sink in sinks:
            read = words.read_port()
            m.d.comb += [read.addr.eq(sink.addr), read.en.eq(sink.en & read_now), sink.data.eq(read.data)]
        return m
