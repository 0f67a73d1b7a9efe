"""A word for each of several banks: bits of one are set, one at a time, while another is read and cleared."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from samhw.rtl.actor import MemoryReadSignature
from samhw.rtl.banked_memory import UpdateSignature

__all__ = ["BankedWord"]


class BankedWord(wiring.Component):
    """What a `BankedMemory` of bitmaps is, with one word in each bank, and in registers.

    A drain in cycle t gives the word in t + 1 (only then) and clears it.

    Members:
        bank (In), drain_bank (In): the banks that updates and drains work on, never the same in a cycle with
            a drain or behind one. A bank's first drain must come two cycles or more after its last update.
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
