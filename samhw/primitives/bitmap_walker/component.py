"""One bitmap of the vector reducer: which addresses are present, enumerated in ascending order."""

from contextlib import AbstractContextManager

from amaranth.hdl import Array, Cat, Const, Elaboratable, Module, Mux, Signal, ValueLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.graph import Arch
from samhw.primitives.banked_memory.component import BankedMemory, UpdateSignature, next_bank
from samhw.rtl.access import MemoryReadSignature
from samhw.rtl.channel import Fifo, PushSignature
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import lowest_bit, more_than_one
from samhw.rtl.output import Output
from samhw.rtl.token import TokenKind, make_token, stop_lo, token_layout

__all__ = ["INDEX_BITS", "BankedWord", "BitmapWalker"]


class BankedWord(wiring.Component):
    """What a `BankedMemory` of bitmaps is, with one word in each bank, and in registers.

    A drain in cycle t gives the word in t + 1 (only then) and clears it.

    Members:
        bank (In), drain_bank (In): the banks that updates and drains work on, never the same in a cycle with
            a drain or after one. A bank's first drain must come two cycles or more after its last update.
        update (In): sets the bit whose number is `operand`.
        drain (In): at most one in a cycle.
        sweep (In): clears the words of all banks. Not together with the others.

    Args:
        banks: 2 or more.
        bits: of a word.
        index_width: of the number of a bit.
    """

    bank: Signal
    drain_bank: Signal
    update: wiring.PureInterface
    drain: wiring.PureInterface
    sweep: Signal

    def __init__(self, *, banks: int, bits: int, index_width: int):
        self.banks = banks
        super().__init__(
            {
                "bank": In(range(banks)),
                "drain_bank": In(range(banks)),
                "update": In(UpdateSignature(0, index_width)),
                "drain": In(MemoryReadSignature(0, bits)),
                "sweep": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # From registers, since an update comes late in its cycle and has many bits to reach.
        update = Signal()
        bank = Signal.like(self.bank)
        bit = Signal.like(self.update.operand, reset_less=True)
        m.d.sync += [update.eq(self.update.en), bank.eq(self.bank), bit.eq(self.update.operand)]
        words = []
        for index in range(self.banks):
            word = Signal.like(self.drain.data, name=f"word{index}")
            marks = Mux(update & (bank == index), 1 << bit, 0)
            cleared = self.sweep | (self.drain.en & (self.drain_bank == index))
            m.d.sync += word.eq(Mux(cleared, 0, word | marks))
            words.append(word)
        m.d.sync += self.drain.data.eq(Array(words)[self.drain_bank])
        return m


INDEX_BITS = 5
"""A word of a bitmap has 2**INDEX_BITS bits."""
_STOP_BITS = 8


class BitmapWalker(wiring.Component):
    """The actors *fetch k* and *iterate k* of docs/primitives.md, and bitmap k that they walk.

    Input payloads are the addresses of the words to walk, output payloads those of the bits that are set. The
    top walker's input has no payloads: it walks its only word at each flush.

    Members:
        i, o: the streams; `o` has latency `step`.
        bank (In): the bank that is filled.
        mark (In), mark_addr (In): sets the bit of the value memory's address `mark_addr`.
        sweep (In), sweep_addr (In): clears the word of the value memory's address `sweep_addr` in all banks.
        fired, protocol (Out): of one of the actors.

    Args:
        level: k. Bit (addr >> 5k) mod 32 of word addr >> 5(k+1) stands for addr.
        levels: K.
        addr_width: A, bits of the value memory's address; more than 5k.
        kept: n, the number of levels that are kept; a STOP(lo, hi) with lo <= n flushes a bank.
        banks: how many take turns.
    """

    i: wiring.PureInterface
    o: wiring.PureInterface
    bank: Signal
    mark: Signal
    mark_addr: Signal
    sweep: Signal
    sweep_addr: Signal
    fired: Signal
    protocol: Signal

    def __init__(self, *, level: int, levels: int, addr_width: int, kept: int, banks: int, arch: Arch):
        self._top = level == levels - 1
        self._low = INDEX_BITS * level  # the lowest address bit that matters here
        self._bit_index_width = min(INDEX_BITS, addr_width - self._low)
        self._word_addr_width = max(addr_width - self._low - INDEX_BITS, 0)
        self._kept = kept
        self._banks = banks
        self._arch = arch
        in_width = max(self._word_addr_width, _STOP_BITS)
        out_width = max(self._word_addr_width + self._bit_index_width, _STOP_BITS)
        super().__init__(
            {
                "i": In(stream.Signature(token_layout(in_width))),
                "o": Out(PushSignature(token_layout(out_width))),
                "bank": In(range(banks)),
                "mark": In(1),
                "mark_addr": In(addr_width),
                "sweep": In(1),
                "sweep_addr": In(addr_width),
                "fired": Out(1),
                "protocol": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        bits = 1 << self._bit_index_width
        depth = self._arch.internal_depth(self._arch.memory)
        m.submodules.bitmap = bitmap = self._word(bits) if self._top else self._memory(m, bits)
        m.submodules.addr = addr = Fifo(self.i.payload.shape(), depth)
        m.submodules.word = word = Fifo(token_layout(max(bits, _STOP_BITS)), depth)
        m.d.comb += [
            bitmap.bank.eq(self.bank),
            bitmap.update.en.eq(self.mark),
            bitmap.update.operand.eq(self.mark_addr[self._low :][:INDEX_BITS]),
            bitmap.sweep.eq(self.sweep),
        ]
        fetch = self._fetch(m, bitmap, addr.i, word.i)
        iterate = self._iterate(m, addr.o, word.o, bits)
        m.d.comb += [
            self.fired.eq(fetch.fired | iterate.fired),
            self.protocol.eq(fetch.protocol | iterate.protocol),
        ]
        return m

    def _word(self, bits: int) -> BankedWord:
        return BankedWord(banks=self._banks, bits=bits, index_width=self._bit_index_width)

    def _memory(self, m: Module, bits: int) -> BankedMemory:
        bitmap = BankedMemory(
            banks=self._banks,
            addr_width=self._word_addr_width,
            width=bits,
            operand_width=self._bit_index_width,
            latency=1,
        )
        high = self._low + INDEX_BITS
        m.d.comb += [
            bitmap.update.addr.eq(self.mark_addr[high:]),
            bitmap.combine.result.eq(bitmap.combine.word | (1 << bitmap.combine.operand)),
            bitmap.sweep_addr.eq(self.sweep_addr[high:]),
        ]
        return bitmap

    def _fetch(
        self,
        m: Module,
        bitmap: BankedMemory | BankedWord,
        addr: wiring.PureInterface,
        word: wiring.PureInterface,
    ) -> FiringTable:
        """Reads and clears the words that the input asks for, bank after bank."""
        head, read, bank = self.i.payload, bitmap.drain, Signal.like(self.bank, name="drained")
        latency = self._arch.memory
        m.submodules.addr_output = addr_output = Output(len(head.payload), latency=latency, zeros=False)
        m.submodules.word_output = word_output = Output(len(word.token.payload), latency=latency, registers=1)
        wiring.connect(m, addr_output.o, addr)
        wiring.connect(m, word_output.o, word)
        m.d.comb += [
            addr_output.result.eq(head.payload),
            word_output.result.eq(read.data),
            bitmap.drain_bank.eq(bank),
            read.addr.eq(head.payload),
        ]

        table = FiringTable(m, [self.i], actor="fetch")

        def row(word_kind: ValueLike) -> AbstractContextManager[None]:
            return table.row(
                takes=[self.i],
                pushes={
                    addr_output.i: make_token(head.kind, head.payload[:_STOP_BITS]),
                    word_output.i: make_token(word_kind),
                },
            )

        flush = (head.kind == TokenKind.STOP) & (stop_lo(head) <= self._kept)
        leaves = bank.eq(next_bank(bank, self._banks))
        with m.If(flush if self._top else head.kind == TokenKind.VAL), row(TokenKind.VAL):
            m.d.comb += read.en.eq(1)
            if self._top:
                m.d.sync += leaves
        with m.Elif(head.kind == TokenKind.STOP), row(TokenKind.EMPTY), m.If(flush):
            m.d.sync += leaves
        with m.Elif(head.kind == TokenKind.DONE), row(TokenKind.DONE):
            pass
        return table

    def _iterate(
        self, m: Module, addr: wiring.PureInterface, word: wiring.PureInterface, bits: int
    ) -> FiringTable:
        """Pushes the address of each bit of each word."""
        m.submodules.output = output = Output(len(self.o.token.payload), latency=self._arch.step, zeros=False)
        wiring.connect(m, output.o, wiring.flipped(self.o))
        gone = Signal(bits)  # the bits of this word that have been pushed, and any that it lacks
        left = Signal(bits)
        others = Signal(bits)
        is_stop = Signal()
        m.d.comb += [
            left.eq(word.payload.payload & ~gone),
            others.eq(left & (left - 1)),
            is_stop.eq(addr.payload.kind == TokenKind.STOP),
            output.result.eq(Cat(lowest_bit(left), Mux(is_stop, 0, addr.payload.payload))),
        ]

        both = [addr, word]
        table = FiringTable(m, both, actor="iterate")
        with m.If((word.payload.kind == TokenKind.VAL) & left.any()):
            # A word of the top walker comes with a stop, which is pushed after its bits. One of another
            # walker comes with an address, and leaves with its last bit.
            last = Const(0) if self._top else ~more_than_one(left)
            with table.row(
                needs=both, takes_if={addr: last, word: last}, pushes={output.i: make_token(TokenKind.VAL)}
            ):
                m.d.sync += gone.eq(Mux(last, 0, ~others))
        with m.Elif(is_stop | (addr.payload.kind == TokenKind.DONE)):
            token = make_token(addr.payload.kind, addr.payload.payload[:_STOP_BITS])
            with table.row(takes=both, pushes={output.i: token}):
                m.d.sync += gone.eq(0)
        return table
