"""Requests: kept until their CRC is found right, done at an AXI4-Lite port, and answered (docs/link.md)."""

from collections.abc import Callable

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data, enum, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.host_port import AxiLiteSignature, Response
from samhw.rtl.link.frames import CONTENT, Deframer
from samhw.rtl.units.unit import delayed

__all__ = ["HEADER", "MOST_WORDS", "Executor", "LinkCommand", "LinkStatus", "Requests"]

MOST_WORDS = 511
"""Of a request. The CRC lies after them in the memory, which therefore has 512 words: one block of an
ECP5."""

_HEADER = 8
_CRC = 4
_TOO_LONG = _HEADER + 4 * MOST_WORDS + _CRC + 1


HEADER = data.StructLayout({"number": 8, "command": 8, "count": 16, "address": 32})
"""What a request begins with."""


class Requests(wiring.Component):
    """Takes requests from bytes of the line; while one is under way, it drops what comes.

    Members:
        data, valid, broken: as of `Receiver`.
        busy: a request is under way, from the cycle after `arrived` on.
        arrived: a whole request came in the last cycle; `header`, `words` and the memory keep it while
            `busy`.
        header: its header.
        words: how many words it has; all ones if that is not a whole number.
        at: a word of it,
        word: which is here two cycles later.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "data": In(8),
                "valid": In(1),
                "broken": In(1),
                "busy": In(1),
                "arrived": Out(1),
                "header": Out(HEADER),
                "words": Out(16),
                "at": In(range(MOST_WORDS + 1)),
                "word": Out(32),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.deframer = deframer = Deframer()
        m.submodules.stored = stored = memory.Memory(shape=32, depth=MOST_WORDS + 1, init=[])
        write, read = stored.write_port(), stored.read_port()
        length = Signal(range(_TOO_LONG + 1))
        word = Signal(32)
        dropped = Signal(init=1)
        """A part of this frame was dropped."""
        held = self.busy | self.arrived
        take = deframer.take & ~held
        m.d.comb += [
            deframer.data.eq(self.data),
            deframer.valid.eq(self.valid),
            deframer.broken.eq(self.broken),
            write.addr.eq((length - _HEADER)[2:]),
            write.data.eq(Cat(word[8:], deframer.content)),
            write.en.eq(take & (length >= _HEADER) & (length[:2] == 3)),
            read.addr.eq(self.at),
            # Never in a cycle with a write. Synthesis sees that, and needs nothing for what would come of it.
            read.en.eq(self.busy),
        ]
        # From a register, since it comes late in its cycle, straight from a block memory.
        m.d.comb += self.word.eq(delayed(m, read.data))
        with m.If(take):
            m.d.sync += word.eq(write.data)
            with m.If(length < _HEADER):
                m.d.sync += self.header.eq(Cat(self.header.as_value()[8:], deframer.content))
            with m.If(length != _TOO_LONG):
                m.d.sync += length.eq(length + 1)
        with m.If(held):
            m.d.sync += dropped.eq(1)
        with m.If(deframer.end):
            m.d.sync += [length.eq(0), dropped.eq(held)]
        whole = Signal()
        m.d.sync += whole.eq((length >= _HEADER + _CRC) & (length != _TOO_LONG))
        # What a request begins waits for the next cycle: its last checks take most of this one.
        m.d.sync += self.arrived.eq(deframer.end & deframer.good & whole & ~dropped & ~held)
        with m.If(deframer.end & ~held):
            m.d.sync += self.words.eq((length - _HEADER - _CRC) >> 2)
            with m.If(length[:2] != 0):
                m.d.sync += self.words.eq(-1)
        return m


# Does what requests ask for, at an AXI4-Lite port, and answers them (docs/link.md).


_VERSION = 1
_RESET = 15
"""Cycles for which HELLO holds the design in reset, less one."""


class LinkCommand(enum.Enum, shape=8):  # type: ignore[call-arg]
    """The commands of docs/link.md."""

    HELLO = 1
    READ = 2
    READ_FIXED = 3
    WRITE = 4
    WRITE_FIXED = 5


class LinkStatus(enum.Enum, shape=8):  # type: ignore[call-arg]
    """The statuses of docs/link.md."""

    OK = 0
    REFUSED = 1
    BAD = 2
    LOST = 3


class Executor(wiring.Component):
    """Works on one request at a time.

    Args:
        build: what HELLO is answered with.
        address_bits: of the port.

    Members:
        arrived, header, words, at, word, busy: of `Requests`, from the other side.
        o: the content of the answer.
        sent: the answer is on the line; with it the request ends.
        axi: the port, which this is the master of.
        reset: the design is to be reset.
    """

    header: data.View
    axi: wiring.PureInterface
    o: stream.Interface
    _written: Signal
    """How the last write ended."""

    def __init__(self, build: int, address_bits: int):
        self.build = build
        self.address_bits = address_bits
        self._written = Signal(LinkStatus)
        super().__init__(
            {
                "arrived": In(1),
                "header": In(HEADER),
                "words": In(16),
                "at": Out(range(MOST_WORDS + 1)),
                "word": In(32),
                "busy": Out(1),
                "o": Out(stream.Signature(CONTENT)),
                "sent": In(1),
                "axi": In(AxiLiteSignature(address_bits)),
                "reset": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        header = self.header
        command = header.command
        is_hello = Signal()
        is_read = Signal()
        is_write = Signal()
        is_fixed = Signal()
        # The header is there before `arrived`, and stays.
        m.d.sync += [
            is_hello.eq(command == LinkCommand.HELLO),
            is_read.eq((command == LinkCommand.READ) | (command == LinkCommand.READ_FIXED)),
            is_write.eq((command == LinkCommand.WRITE) | (command == LinkCommand.WRITE_FIXED)),
            is_fixed.eq((command == LinkCommand.READ_FIXED) | (command == LinkCommand.WRITE_FIXED)),
        ]
        status = Signal(LinkStatus)
        address = Signal(32)
        word = Signal(32)
        """What is sent next."""
        left = Signal.like(self.at)
        """Words from `at` on; that it is one is known early in a cycle."""

        def advance() -> None:
            m.d.sync += [self.at.eq(self.at + 1), left.eq(left - 1)]
            with m.If(~is_fixed):
                m.d.sync += address.eq(address + 4)

        with m.FSM() as fsm:
            m.d.comb += self.busy.eq(~fsm.ongoing("IDLE"))
            with m.State("IDLE"):
                with m.If(self.arrived):
                    m.next = "LOOK"
            with m.State("LOOK"):
                m.d.sync += [self.at.eq(0), left.eq(Mux(is_hello, 2, header.count))]
                m.d.sync += [address.eq(header.address), status.eq(LinkStatus.OK)]
                self._look(m, is_hello, is_read, is_write, status)
            self._reset(m)
            outside = self._aim(m, address, is_write)
            self._write(m, address, outside, status, left == 1, advance)
            with m.State("NUMBER"):
                self._send(m, header.number)
                with m.If(self.o.ready):
                    m.next = "STATUS"
                    with m.If((status == LinkStatus.OK) & is_read):
                        m.next = "AIM"
                    with m.Elif((status == LinkStatus.OK) & is_hello):
                        m.d.sync += word.eq(_VERSION)
                        m.next = "WORD"
            self._read(m, address, outside, word, status)
            self._word(m, is_hello, word, left == 1, advance)
            with m.State("STATUS"):
                self._send(m, status, last=1)
                with m.If(self.o.ready):
                    m.next = "SENT"
            with m.State("SENT"):
                with m.If(self.sent):
                    m.next = "IDLE"
        return m

    def _send(self, m: Module, byte: Value, last: int = 0) -> None:
        m.d.comb += [self.o.payload.data.eq(byte), self.o.payload.last.eq(last), self.o.valid.eq(1)]

    def _look(self, m: Module, is_hello: Value, is_read: Value, is_write: Value, status: Signal) -> None:
        """Whether there is something to do."""
        header = self.header
        greeted = Signal()
        last = Signal(8)
        """The number of the last request that was done."""
        in_range = (header.count != 0) & (header.count <= MOST_WORDS)
        good = (is_hello & (header.count == 0)) | ((is_read | is_write) & in_range)
        m.next = "NUMBER"
        with m.If(~good | (self.words != Mux(is_write, header.count, 0))):
            m.d.sync += status.eq(LinkStatus.BAD)
        with m.Elif(is_hello):
            m.d.sync += [greeted.eq(1), last.eq(header.number)]
            m.next = "RESET"
        with m.Elif(~greeted):
            m.d.sync += status.eq(LinkStatus.LOST)
        with m.Elif(is_write & (header.number == last)):
            m.d.sync += status.eq(self._written)
        with m.Else():
            m.d.sync += last.eq(header.number)
            with m.If(is_write):
                m.d.sync += self._written.eq(LinkStatus.OK)
                m.next = "AIM"

    def _reset(self, m: Module) -> None:
        cycles = Signal(range(_RESET + 1))
        with m.State("RESET"):
            m.d.comb += self.reset.eq(1)
            m.d.sync += cycles.eq(cycles + 1)
            with m.If(cycles == _RESET):
                m.d.sync += cycles.eq(0)
                m.next = "NUMBER"

    def _aim(self, m: Module, address: Signal, is_write: Value) -> Signal:
        """Whether a port of fewer bits would take an address for another one; known a cycle later."""
        outside = Signal()
        m.d.sync += outside.eq((address >> self.address_bits).any())
        with m.State("AIM"):
            m.next = "ADDRESS"
            with m.If(is_write):
                m.next = "FETCH"
        return outside

    def _write(
        self,
        m: Module,
        address: Signal,
        outside: Signal,
        status: Signal,
        is_last: Value,
        advance: Callable[[], None],
    ) -> None:
        axi = self.axi
        addressed = Signal()
        sent = Signal()
        m.d.comb += [axi.awaddr.eq(address), axi.wdata.eq(self.word), axi.wstrb.eq(0xF)]

        def end(refused: Value | int) -> None:
            with m.If(refused):
                m.d.sync += [status.eq(LinkStatus.REFUSED), self._written.eq(LinkStatus.REFUSED)]
            advance()
            m.next = "AIM"
            with m.If(is_last):
                m.next = "NUMBER"

        with m.State("FETCH"):
            m.next = "WRITE"
            with m.If(outside):
                end(refused=1)
        with m.State("WRITE"):
            m.d.comb += [axi.awvalid.eq(~addressed), axi.wvalid.eq(~sent), axi.bready.eq(1)]
            m.d.sync += [addressed.eq(addressed | axi.awready), sent.eq(sent | axi.wready)]
            with m.If(axi.bvalid):
                m.d.sync += [addressed.eq(0), sent.eq(0)]
                end(refused=axi.bresp != Response.OKAY)

    def _read(self, m: Module, address: Signal, outside: Signal, word: Signal, status: Signal) -> None:
        axi = self.axi
        m.d.comb += axi.araddr.eq(address)

        def end(refused: Value | int) -> None:
            m.d.sync += word.eq(axi.rdata)
            with m.If(refused):
                m.d.sync += [word.eq(0), status.eq(LinkStatus.REFUSED)]
            m.next = "WORD"

        with m.State("ADDRESS"):
            with m.If(outside):
                end(refused=1)
            with m.Else():
                m.d.comb += axi.arvalid.eq(1)
                with m.If(axi.arready):
                    m.next = "DATA"
        with m.State("DATA"):
            m.d.comb += axi.rready.eq(1)
            with m.If(axi.rvalid):
                end(refused=axi.rresp != Response.OKAY)

    def _word(
        self, m: Module, is_hello: Value, word: Signal, is_last: Value, advance: Callable[[], None]
    ) -> None:
        """Sends a word, and goes to the next one."""
        part = Signal(2)
        with m.State("WORD"):
            self._send(m, word[:8])
            with m.If(self.o.ready):
                m.d.sync += [word.eq(word >> 8), part.eq(part + 1)]
                with m.If(part == 3):
                    advance()
                    with m.If(is_last):
                        m.next = "STATUS"
                    with m.Elif(is_hello):
                        m.d.sync += word.eq(self.build)
                    with m.Else():
                        m.next = "AIM"
