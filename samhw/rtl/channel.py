"""Channels: FIFOs whose slots are counted at the push, so that ready and valid are both registered."""

from functools import reduce
from operator import xor

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Shape, ShapeLike, Signal, Value, ValueLike
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.shared import Shared

__all__ = ["Fifo", "PushSignature"]


_SHALLOW = 32
"""Channels up to this depth are made of memory that is read without a clock, deeper ones of block memory."""

_EARLY = 0b11_1111_1111
"""Kind and levels of a token: what an actor decides by."""

_TAPS = {1: (0,), 2: (1, 0), 3: (2, 1), 4: (3, 2), 5: (4, 2)}
"""For each width the bits of a shift register whose sum, fed back, takes it through all states but zero."""

_WITHOUT_CARRY = 4
"""Counters up to this width are cheaper without a chain of carries: each bit is a table of its own."""


class PushSignature(wiring.Signature):
    """An output of an actor, whose operation may take L cycles.

    * `push`: the actor fires in this cycle t and takes a slot of every channel that the output feeds. Only
    while `ready`.
    * `ready`: every channel that the output feeds has a free slot; comes from registers.
    * `strobe`, `token`: in cycle t + L - 1, the token that was pushed in cycle t. With L = 1 `strobe` is
    `push`.
    """

    def __init__(self, shape: ShapeLike):
        self.shape = shape
        super().__init__({"push": Out(1), "ready": In(1), "strobe": Out(1), "token": Out(shape)})


class Fifo(Shared):
    """A FIFO of `depth` tokens. A slot is taken at the push and is free again the cycle after the pop.

    A token that is strobed in cycle t is at the output from cycle t + 1 on; with an operation of L - 1 cycles
    before the strobe, a token pushed in t is available in t + L.

    Args:
        kept: a mask of the bits that say all of a token; the others are not stored, and come out as zeros.
        is_signed: those above come out as copies of the highest that is kept.
        early: a mask of the bits that the actor after it decides by. In a shallow channel only these come
            from a register; the others come later in the cycle, from the memory itself.
    """

    def __init__(
        self, shape: ShapeLike, depth: int, *, kept: int = -1, early: int = _EARLY, is_signed: bool = False
    ):
        self.shape = shape
        self.depth = depth
        self.is_signed = is_signed
        self.bits = [bit for bit in range(Shape.cast(shape).width) if kept >> bit & 1]
        self.early = [bit for bit in self.bits if early >> bit & 1]
        super().__init__(
            {
                "i": In(PushSignature(shape)),
                "o": Out(stream.Signature(shape)),
                "empty": Out(1),
                "full": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        valid = Signal()
        taken = Signal(range(self.depth))  # slots, modulo a power of two: `full` tells none from all
        pop = Signal()
        advance = Signal()
        m.d.comb += [
            self.o.valid.eq(valid),
            self.i.ready.eq(~self.full),
            self.empty.eq(~valid),
            pop.eq(valid & self.o.ready),
            advance.eq(pop | ~valid),
        ]
        with m.If(self.i.push ^ pop):
            m.d.sync += [
                taken.eq(_stepped(taken, down=pop)),
                self.full.eq(~pop & (taken == self.depth - 1)),
            ]
        if self.depth == 1:
            more = self._alone(m, advance)
        elif self.depth <= _SHALLOW:
            more = self._shallow(m, advance)
        else:
            more = self._deep(m, advance)
        with m.If(advance):
            m.d.sync += valid.eq(more | self.i.strobe)
        return m

    def _alone(self, m: Module, advance: Value) -> Value:
        """No token after the front, which is a register."""
        front = self._front(m, advance, self.bits, Const(0), Const(0, len(self.bits)))
        self._give(m, dict(zip(self.bits, front, strict=True)))
        return Const(0)

    def _shallow(self, m: Module, advance: Value) -> Value:
        """Whether there is a token after the front. Every token lies in a ring until it is popped.

        What an actor decides by has a register besides, which is loaded a cycle ahead, so that a head costs
        the actor neither the memory's delay nor a multiplexer. The places of the ring are the states of a
        shift register, of which each is followed by one more bit: a table, where a counter has a table for
        each bit.
        """
        width = (self.depth - 1).bit_length()
        places = Signal(width + 1)  # the place after that of the front; and above, shifted, that of the front
        tail = Signal(width)
        more = Signal()
        following, front_place = places[:-1], places[1:]
        m.d.comb += more.eq(tail != following)
        with m.If(advance & (self.i.strobe | more)):
            m.d.sync += places.eq(Cat(_fed_back(following), following))
        with m.If(self.i.strobe):
            m.d.sync += tail.eq(Cat(_fed_back(tail), tail))
        early, late = _in_words(self.bits, self.early)
        stored = self._memory(m, "early", early, 1 << width, tail)
        read = stored.read_port(domain="comb")
        m.d.comb += read.addr.eq(following)
        given = dict(zip(early, self._front(m, advance, early, more, read.data), strict=True))
        if late:
            read = self._memory(m, "late", late, 1 << width, tail).read_port(domain="comb")
            m.d.comb += read.addr.eq(front_place)
            given |= dict(zip(late, read.data, strict=True))
        self._give(m, given)
        return more

    def _deep(self, m: Module, advance: Value) -> Value:
        """Whether there is a token after the front, which is a register. A block memory that every token
        passes has the others."""
        depth = self.depth - 1
        head = Signal(range(depth))
        tail = Signal(range(depth))
        more = Signal()
        passes = Signal()  # a token leaves the memory for the front, or goes there past it
        m.d.comb += passes.eq(advance & (self.i.strobe | more))
        one = _successor(head, depth) == tail
        with m.If(advance ^ self.i.strobe):
            m.d.sync += more.eq(self.i.strobe | (more & ~one))
        with m.If(self.i.strobe):
            m.d.sync += tail.eq(_successor(tail, depth))
        stored = self._memory(m, "storage", self.bits, depth, tail)
        read = stored.read_port(transparent_for=stored.write_ports)
        # What is read next is the head then: one choice for both.
        m.d.comb += [read.addr.eq(Mux(passes, _successor(head, depth), head)), read.en.eq(1)]
        m.d.sync += head.eq(read.addr)
        front = self._front(m, advance, self.bits, more, read.data)
        self._give(m, dict(zip(self.bits, front, strict=True)))
        return more

    def _memory(self, m: Module, name: str, bits: list[int], depth: int, tail: Value) -> memory.Memory:
        """Some bits of each token, which are written where it arrives."""
        m.submodules[name] = stored = memory.Memory(shape=len(bits), depth=depth, init=[])
        write = stored.write_port()
        m.d.comb += [
            write.addr.eq(tail),
            write.data.eq(self._arriving(bits)),
            write.en.eq(self.i.strobe),
        ]
        return stored

    def _front(self, m: Module, advance: Value, bits: list[int], more: Value, following: Value) -> Value:
        """A register with some bits of the front: of the token that follows, or of one that arrives."""
        front = Signal(len(bits), reset_less=True)
        with m.If(advance):
            m.d.sync += front.eq(Mux(more, following, self._arriving(bits)))
        return front

    def _arriving(self, bits: list[int]) -> Value:
        token = Value.cast(self.i.token)
        return Cat(token[bit] for bit in bits)

    def _give(self, m: Module, given: dict[int, Value]) -> None:
        """The head of the stream, from its bits."""
        head = Value.cast(self.o.payload)
        above = given[self.bits[-1]] if self.is_signed else Const(0)
        others = (above if bit > self.bits[-1] else Const(0) for bit in range(len(head)))
        m.d.comb += head.eq(Cat(given.get(bit, other) for bit, other in enumerate(others)))


def _in_words(bits: list[int], early: list[int]) -> tuple[list[int], list[int]]:
    """The bits of a token, those early and the others. A memory of LUTs has words of four bits: some of the
    others may come early too, where the rest then needs a word less."""

    def cost(number: int) -> int:
        return 6 * (-(-number // 4) + -(-(len(bits) - number) // 4)) + number

    others = [bit for bit in bits if bit not in early]
    most = min(range(len(early), len(bits) + 1), key=cost)
    moved = others[: most - len(early)]
    return early + moved, others[len(moved) :]


def _fed_back(state: Value) -> Value:
    """The bit that follows a state of a shift register, which goes through all of its states (a de Bruijn
    sequence)."""
    return reduce(xor, (state[tap] for tap in _TAPS[len(state)])) ^ ~state[:-1].any()


def _successor(pointer: Signal, depth: int) -> Value:
    following = _stepped(pointer)
    return following if depth == 1 << len(pointer) else Mux(pointer == depth - 1, 0, following)


def _stepped(count: Signal, *, down: ValueLike = 0) -> Value:
    """One more, or one less; around the power of two."""
    if len(count) > _WITHOUT_CARRY:
        return (count + Mux(down, -1, 1))[: len(count)]
    flips = [Mux(down, ~count[:bit].any(), count[:bit].all()) for bit in range(len(count))]
    return count ^ Cat(flips)
