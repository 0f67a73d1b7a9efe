"""A memory of two banks: one is updated in place, a word a cycle, while the other is read and cleared."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.actor import MemoryReadSignature

__all__ = ["BankedMemory", "CombineSignature", "UpdateSignature"]


class UpdateSignature(wiring.Signature):
    """An update of the word at `addr` by `operand`, in every cycle with `en`."""

    def __init__(self, addr_width: int, operand_width: int):
        super().__init__({"en": Out(1), "addr": Out(addr_width), "operand": Out(operand_width)})


class CombineSignature(wiring.Signature):
    """One cycle of logic outside makes `result` from `word` and `operand`; it is used while `valid`."""

    def __init__(self, width: int, operand_width: int):
        super().__init__(
            {"valid": Out(1), "word": Out(width), "operand": Out(operand_width), "result": In(width)}
        )


class BankedMemory(wiring.Component):
    """Two banks of words, zero at power-on. Each bank is a memory with one read and one write port.

    An update in cycle t reads the word in t, and combines it with the operand and writes it in t + 2: a read
    in t + 3 sees it. Updates never wait: one that follows another of the same word by one or two cycles takes
    the word from that one.

    A drain in cycle t gives the word in t + 1 (only then) and clears it in t + 1.

    Members:
        bank (In): the bank that updates work on; drains work on the other one. A bank's first drain must come
            three cycles or more after its last update, its first update three or more after its last drain.
            `bank` changes in between, but not in the cycle after a drain.
        update (In), drain (In): at most one update and one drain a cycle.
        combine (Out): asks for the new word, two cycles after `update`.
        sweep (In), sweep_addr (In): clears a word of both banks. Not together with the others.

    Args:
        addr_width, width, operand_width: in bits.
    """

    bank: Signal
    update: wiring.PureInterface
    drain: wiring.PureInterface
    combine: wiring.PureInterface
    sweep: Signal
    sweep_addr: Signal

    def __init__(self, *, addr_width: int, width: int, operand_width: int):
        super().__init__(
            {
                "bank": In(1),
                "update": In(UpdateSignature(addr_width, operand_width)),
                "drain": In(MemoryReadSignature(addr_width, width)),
                "combine": Out(CombineSignature(width, operand_width)),
                "sweep": In(1),
                "sweep_addr": In(addr_width),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        here = Signal(len(self.update.addr) + 1)  # address and bank
        m.d.comb += here.eq(Cat(self.update.addr, self.bank))

        # t + 1: the memory gives the word. The updates one and two cycles ahead may be missing in it.
        reading = Signal()
        reading_here = Signal.like(here)
        reading_operand = Signal.like(self.update.operand)
        reading_after_one = Signal()
        reading_after_two = Signal()
        read_word = Signal.like(self.combine.word)
        # t + 2: combine and write.
        writing = Signal()
        writing_here = Signal.like(here)
        writing_operand = Signal.like(self.update.operand)
        writing_after_one = Signal()
        writing_after_two = Signal()
        stored = Signal.like(self.combine.word)
        # t + 3, t + 4: what has been written, for the updates that had read before.
        written = Signal.like(self.combine.word)
        written_before = Signal.like(self.combine.word)

        m.d.sync += [
            reading.eq(self.update.en),
            reading_here.eq(here),
            reading_operand.eq(self.update.operand),
            reading_after_one.eq(reading & (reading_here == here)),
            reading_after_two.eq(writing & (writing_here == here)),
            writing.eq(reading),
            writing_here.eq(reading_here),
            writing_operand.eq(reading_operand),
            writing_after_one.eq(reading_after_one),
            writing_after_two.eq(reading_after_two),
            stored.eq(read_word),
            written.eq(self.combine.result),
            written_before.eq(written),
        ]
        m.d.comb += [
            self.combine.valid.eq(writing),
            self.combine.word.eq(
                Mux(writing_after_one, written, Mux(writing_after_two, written_before, stored))
            ),
            self.combine.operand.eq(writing_operand),
        ]

        drained = Signal()
        drained_addr = Signal.like(self.drain.addr)
        cleared_addr = Signal.like(self.drain.addr)
        m.d.sync += [drained.eq(self.drain.en), drained_addr.eq(self.drain.addr)]
        m.d.comb += cleared_addr.eq(Mux(self.sweep, self.sweep_addr, drained_addr))

        data = []
        for index in range(2):
            m.submodules[f"bank{index}"] = bank = memory.Memory(
                shape=len(stored), depth=1 << len(self.update.addr), init=[]
            )
            read, write = bank.read_port(), bank.write_port()
            updated = self.bank == index
            write_update = Signal(name=f"write_update{index}")
            m.d.comb += [
                read.en.eq(Mux(updated, self.update.en, self.drain.en)),
                read.addr.eq(Mux(updated, self.update.addr, self.drain.addr)),
                write_update.eq(writing & (writing_here[-1] == index)),
                write.en.eq(write_update | (drained & ~updated) | self.sweep),
                write.addr.eq(Mux(write_update, writing_here[:-1], cleared_addr)),
                write.data.eq(Mux(write_update, self.combine.result, 0)),
            ]
            data.append(read.data)
        m.d.comb += [
            read_word.eq(Mux(reading_here[-1], data[1], data[0])),
            self.drain.data.eq(Mux(self.bank, data[0], data[1])),
        ]
        return m
