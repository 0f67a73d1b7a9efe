"""From lines and from words of a host to LiteDRAM's native port (docs/memory.md, "SDRAM")."""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from samhw.rtl.axi4 import Axi4Signature
from samhw.rtl.channel import Fifo
from samhw.rtl.host_port import FarSignature

__all__ = ["HostWords", "LineBursts", "NativeSignature"]

_LINES = 8
"""Lines that may be under way each way; a controller takes in no more than some twenty words ahead."""
_WORDS = 32
"""Words that may wait until their write command is carried out."""


class NativeSignature(wiring.Signature):
    """A native port of LiteDRAM, seen from who asks. A command moves a word.

    Members:
        cmd_valid, cmd_ready, cmd_we, cmd_addr: a command, which the controller takes.
        wdata_data, wdata_we: the next word to write, and which of its bytes. It has to be there before the
            controller asks for it.
        wdata_ready: the controller takes it.
        rdata_valid, rdata_data: a word that was read. Nobody can hold it back.
    """

    def __init__(self, address_bits: int, word_bytes: int):
        self.address_bits = address_bits
        self.word_bytes = word_bytes
        super().__init__(
            {
                "cmd_valid": Out(1),
                "cmd_ready": In(1),
                "cmd_we": Out(1),
                "cmd_addr": Out(address_bits),
                "wdata_data": Out(8 * word_bytes),
                "wdata_we": Out(word_bytes),
                "wdata_ready": In(1),
                "rdata_valid": In(1),
                "rdata_data": In(8 * word_bytes),
            }
        )


class LineBursts(wiring.Component):
    """Does the bursts of a master, one after the other: a command for each word of a line.

    Args:
        axi: of the master; its bursts are whole lines.
        line: bytes of a line.

    Members:
        axi: to the master.
        native: to the controller.
    """

    axi: wiring.PureInterface
    native: wiring.PureInterface

    def __init__(self, axi: Axi4Signature, line: int, native: NativeSignature):
        self.words = line // native.word_bytes  # of a line
        self.parts = axi.beat // native.word_bytes  # words of a beat
        self.id_bits = len(axi.create().arid)
        super().__init__({"axi": Out(axi), "native": Out(native)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        axi, native = self.axi, self.native
        bits = exact_log2(self.words)
        m.submodules.reads = reads = Fifo(self.id_bits, _LINES)
        m.submodules.writes = writes = Fifo(self.id_bits, _LINES)
        busy, writing = Signal(), Signal()
        word = Signal(bits)
        line = Signal(native.signature.address_bits - bits)
        goes, last, free = Signal(), Signal(), Signal()
        takes_read, takes_write = axi.arvalid & axi.arready, axi.awvalid & axi.awready
        m.d.comb += [
            goes.eq(native.cmd_valid & native.cmd_ready),
            last.eq(word == self.words - 1),
            free.eq(~busy | (goes & last)),
            axi.arready.eq(free & reads.i.ready & ~axi.awvalid),
            axi.awready.eq(free & writes.i.ready),
            reads.i.push.eq(takes_read),
            writes.i.push.eq(takes_write),
            native.cmd_we.eq(writing),
            native.cmd_addr.eq(Cat(word, line)),
        ]
        for ids, id in ((reads, axi.arid), (writes, axi.awid)):
            m.d.comb += [ids.i.strobe.eq(ids.i.push), ids.i.token.eq(id)]
        with m.If(goes):
            m.d.sync += word.eq(word + 1)
        with m.If(free):
            address = Mux(axi.awvalid, axi.awaddr, axi.araddr)
            m.d.sync += [
                busy.eq(takes_read | takes_write),
                writing.eq(takes_write),
                line.eq(address[exact_log2(self.words * native.signature.word_bytes) :]),
            ]
        has_data = self._write(m, goes, word, writes.o)
        m.d.comb += native.cmd_valid.eq(busy & (~writing | has_data))
        self._read(m, reads.o)
        return m

    def _write(self, m: Module, goes: Value, word: Value, ids: wiring.PureInterface) -> Value:
        """Takes a word to where the controller finds it when its command is taken; gives whether that can
        be."""
        axi, native = self.axi, self.native
        width = 8 * native.signature.word_bytes
        stored = data.StructLayout({"data": width, "we": native.signature.word_bytes})
        m.submodules.words = words = Fifo(stored, _WORDS)
        part = word[: exact_log2(self.parts)]
        push = goes & native.cmd_we
        written = Signal(exact_log2(self.words))
        ends = Signal()
        m.d.comb += [
            words.i.push.eq(push),
            words.i.strobe.eq(push),
            words.i.token.data.eq(axi.wdata.word_select(part, width)),
            words.i.token.we.eq(axi.wstrb.word_select(part, native.signature.word_bytes)),
            axi.wready.eq(push & part.all()),
            native.wdata_data.eq(words.o.payload.data),
            native.wdata_we.eq(words.o.payload.we),
            words.o.ready.eq(native.wdata_ready),
            ends.eq(native.wdata_ready & written.all()),
            axi.bvalid.eq(ends),
            axi.bid.eq(ids.payload),
            ids.ready.eq(ends),
        ]
        with m.If(native.wdata_ready):
            m.d.sync += written.eq(written + 1)
        return axi.wvalid & words.i.ready

    def _read(self, m: Module, ids: wiring.PureInterface) -> None:
        """Puts beats together."""
        axi, native = self.axi, self.native
        width = 8 * native.signature.word_bytes
        read = Signal(exact_log2(self.words))
        before = Signal(width * (self.parts - 1))  # the other words of the beat
        whole = Cat(before, native.rdata_data)
        m.d.comb += [
            axi.rvalid.eq(native.rdata_valid & read[: exact_log2(self.parts)].all()),
            axi.rdata.eq(whole),
            axi.rid.eq(ids.payload),
            axi.rlast.eq(read.all()),
            ids.ready.eq(native.rdata_valid & read.all()),
        ]
        with m.If(native.rdata_valid):
            m.d.sync += [read.eq(read + 1), before.eq(whole[width:])]


class HostWords(wiring.Component):
    """Does a host's accesses, one after the other.

    Members:
        host: from the host's port.
        native: to the controller.
    """

    host: wiring.PureInterface
    native: wiring.PureInterface

    def __init__(self, host: FarSignature, native: NativeSignature):
        self.parts = 4 // native.word_bytes
        super().__init__({"host": In(host), "native": Out(native)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        host, native = self.host, self.native
        width = 8 * native.signature.word_bytes
        bits = exact_log2(self.parts)
        asked, moved = Signal(range(self.parts + 1)), Signal(bits)
        moves = Signal()
        gathered = Signal(32 - width)
        whole = Cat(gathered, native.rdata_data)
        m.d.comb += [
            native.cmd_valid.eq(host.ask & (asked != self.parts)),
            native.cmd_we.eq(host.write),
            native.cmd_addr.eq(Cat(asked[:bits], host.addr[2:], Const(0, native.signature.address_bits))),
            native.wdata_data.eq(host.data.word_select(moved, width)),
            native.wdata_we.eq(-1),
            moves.eq(native.wdata_ready | native.rdata_valid),
            host.done.eq(moves & moved.all()),
            host.answer.eq(whole),
        ]
        with m.If(host.done):
            m.d.sync += asked.eq(0)
        with m.Elif(native.cmd_valid & native.cmd_ready):
            m.d.sync += asked.eq(asked + 1)
        with m.If(moves):
            m.d.sync += [moved.eq(moved + 1), gathered.eq(whole[width:])]
        return m
