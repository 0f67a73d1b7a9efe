"""A memory of several banks: one is updated in place, a word a cycle, while another is read and cleared."""

from amaranth.hdl import Array, Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.access import MemoryReadSignature
from samhw.rtl.logic import any_of

__all__ = ["BankedMemory", "CombineSignature", "UpdateSignature", "next_bank"]


def next_bank(bank: Value, banks: int) -> Value:
    """The bank whose turn comes after that of `bank`."""
    return ~bank if banks == 2 else Mux(bank == banks - 1, 0, bank + 1)


class UpdateSignature(wiring.Signature):
    """An update of the word at `addr` by `operand`, in every cycle with `en`."""

    def __init__(self, addr_width: int, operand_width: int):
        super().__init__({"en": Out(1), "addr": Out(addr_width), "operand": Out(operand_width)})


class CombineSignature(wiring.Signature):
    """Logic outside makes `result` from the `word` and `operand` of `latency - 1` cycles ago; it is written
    in a cycle with `used`."""

    def __init__(self, width: int, operand_width: int):
        super().__init__(
            {"word": Out(width), "operand": Out(operand_width), "used": Out(1), "result": In(width)}
        )


class BankedMemory(wiring.Component):
    """Banks of words, zero at power-on. Each bank is a memory with one read and one write port.

    With L for `latency`: an update in cycle t reads the word in t, hands it out with the operand in t + 2,
    and writes the new word in t + L + 1: a read in t + L + 2 sees it. Updates of one word must be L cycles
    apart, so that the second finds the result of the first. One that comes L or L + 1 cycles after another
    reads too early to find it in the memory, and takes it from registers.

    A drain in cycle t gives the word in t + 1 (only then) and clears it in t + 1. It clears only the topmost
    bits, if the others do not count while these are zero.

    Members:
        bank (In), drain_bank (In): the banks that updates and drains work on, never the same in a cycle with
            a drain or after one. A bank's first drain must come L + 2 cycles or more after its last update,
            its first update three or more after its last drain.
        update (In), drain (In): at most one update and one drain a cycle.
        pending (Out): the word at `update.addr` was updated less than L cycles ago; `update.en` must be low.
            Depends on the address and the bank alone.
        combine (Out): asks for the new word, two cycles after `update`.
        sweep (In), sweep_addr (In): clears a word of all banks. Not together with the others.

    Args:
        banks: 2 or more.
        addr_width, width, operand_width: in bits.
        latency: L.
        cleared: how many bits of a word a drain or a sweep clears; all of them, if not given.
    """

    bank: Signal
    drain_bank: Signal
    update: wiring.PureInterface
    pending: Signal
    drain: wiring.PureInterface
    combine: wiring.PureInterface
    sweep: Signal
    sweep_addr: Signal

    def __init__(
        self,
        *,
        banks: int,
        addr_width: int,
        width: int,
        operand_width: int,
        latency: int,
        cleared: int | None = None,
    ):
        self.banks = banks
        self.latency = latency
        self.kept = 0 if cleared is None else width - cleared
        super().__init__(
            {
                "bank": In(range(banks)),
                "drain_bank": In(range(banks)),
                "update": In(UpdateSignature(addr_width, operand_width)),
                "pending": Out(1),
                "drain": In(MemoryReadSignature(addr_width, width)),
                "combine": Out(CombineSignature(width, operand_width)),
                "sweep": In(1),
                "sweep_addr": In(addr_width),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        here = Signal(len(self.update.addr) + len(self.bank))  # address and bank
        m.d.comb += here.eq(Cat(self.update.addr, self.bank))

        # The updates of 1 .. L + 1 cycles ago. The last of them is being written.
        updates = [self.update.en]
        places = [here]
        for age in range(1, self.latency + 2):
            update = Signal(name=f"update{age}")
            place = Signal.like(here, name=f"place{age}", reset_less=True)
            m.d.sync += [update.eq(updates[-1]), place.eq(places[-1])]
            updates.append(update)
            places.append(place)
        meets = [update & (place == here) for update, place in zip(updates, places, strict=True)]
        m.d.comb += [
            self.pending.eq(any_of(meets[1 : self.latency])),
            self.combine.used.eq(updates[-1]),
        ]

        # t + 1: the memory gives the word. It lacks the updates of L and L + 1 cycles ahead: the results are
        # being written in this cycle, and were in the last one.
        read_operand = Signal.like(self.update.operand, reset_less=True)
        read_after_one = Signal()
        read_after_two = Signal()
        read_word = Signal.like(self.combine.word)
        written = Signal.like(self.combine.word, reset_less=True)
        # t + 2: the word is handed out, chosen already, so that all of the cycle is left to `combine`.
        operand = Signal.like(self.update.operand, reset_less=True)
        word = Signal.like(self.combine.word, reset_less=True)
        m.d.sync += [
            read_operand.eq(self.update.operand),
            read_after_one.eq(meets[self.latency]),
            read_after_two.eq(meets[self.latency + 1]),
            operand.eq(read_operand),
            written.eq(self.combine.result),
            word.eq(Mux(read_after_one, self.combine.result, Mux(read_after_two, written, read_word))),
        ]
        m.d.comb += [self.combine.word.eq(word), self.combine.operand.eq(operand)]

        self._connect(m, updates[-1], places[-1], places[1], read_word)
        return m

    def _connect(self, m: Module, update: Signal, place: Signal, read_place: Signal, word: Signal) -> None:
        """The banks. `update` writes the result at `place`; `word` is what was read for `read_place`."""
        addr_width = len(self.update.addr)
        drained = Signal()
        drained_bank = Signal.like(self.drain_bank)
        drained_addr = Signal.like(self.drain.addr)
        cleared_addr = Signal.like(self.drain.addr)
        m.d.sync += [
            drained.eq(self.drain.en),
            drained_bank.eq(self.drain_bank),
            drained_addr.eq(self.drain.addr),
        ]
        m.d.comb += cleared_addr.eq(Mux(self.sweep, self.sweep_addr, drained_addr))

        data = []
        result = self.combine.result
        for index in range(self.banks):
            m.submodules[f"bank{index}"] = bank = memory.Memory(
                shape=len(word), depth=1 << addr_width, init=[]
            )
            read, write = bank.read_port(), bank.write_port()
            updated = self.bank == index
            write_update = Signal(name=f"write_update{index}")
            # Nobody uses a word that is read while it is written. That it is not read lets synthesis see that
            # a block memory, whatever it gives then, needs no registers around it to give the old word. Other
            # words are read whether they are asked for or not: that is known late.
            collides = write.en & (write.addr == read.addr)
            m.d.comb += [
                read.en.eq(~collides),
                read.addr.eq(Mux(updated, self.update.addr, self.drain.addr)),
                write_update.eq(update & (place[addr_width:] == index)),
                write.en.eq(write_update | (drained & (drained_bank == index)) | self.sweep),
                write.addr.eq(Mux(write_update, place[:addr_width], cleared_addr)),
                write.data.eq(Cat(result[: self.kept], Mux(write_update, result[self.kept :], 0))),
            ]
            data.append(read.data)
        m.d.comb += [
            word.eq(Array(data)[read_place[addr_width:]]),
            self.drain.data.eq(Array(data)[drained_bank]),
        ]
