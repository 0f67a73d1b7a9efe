"""The write port: the actor *gather* of docs/memory.md, and the storage of its lines."""

from amaranth.hdl import Array, Cat, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from samhw.rtl.access import PutSignature
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import Watched, watch
from samhw.rtl.off_chip.geometry import Geometry, RequestSignature
from samhw.rtl.shared import Shared

__all__ = ["WritePort"]

_PUT = 2
"""The depth of the channel `put`."""


class WritePort(Shared):
    """Gathers what a node writes into lines.

    Args:
        addr_width: bits of a place's number, as the node gives it.

    Members:
        node: to the node.
        requests: to the master.
        start: its region starts.
        begin: with `start`, it writes 0 to place 0 before all else.
        beat: which beat of the oldest request's line `data` and `strobes` are in the next cycle.
        sends: there is such a request.
        sent: the master has passed it on.
        answered: it has been answered; `answer` - 1 cycles after that.
        fired: the actor fires.
        pending: a request is not answered.
        settled: the actor rests, and all requests are answered.
    """

    node: wiring.PureInterface
    requests: wiring.PureInterface
    start: Signal
    begin: Signal
    beat: Signal
    data: Signal
    strobes: Signal
    sends: Signal
    sent: Signal
    answered: Signal
    fired: Signal
    pending: Signal
    settled: Signal

    def __init__(self, geometry: Geometry, addr_width: int):
        self.geometry = geometry
        super().__init__(
            {
                "node": In(PutSignature(addr_width, geometry.width)),
                "requests": Out(RequestSignature(geometry.line_bits)),
                "start": In(1),
                "begin": In(1),
                "beat": In(geometry.beat_bits),
                "data": Out(8 * geometry.beat),
                "strobes": Out(geometry.beat),
                "sends": Out(1),
                "sent": In(1),
                "answered": In(1),
                "fired": Out(1),
                "pending": Out(1),
                "settled": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        g, node = self.geometry, self.node
        put = data.StructLayout({"done": 1, "addr": len(node.addr), "data": g.width})
        m.submodules.puts = puts = Fifo(put, _PUT)
        pushed = node.en | node.done
        m.d.comb += [
            node.ready.eq(puts.i.ready),
            puts.i.push.eq(pushed),
            puts.i.strobe.eq(pushed),
            puts.i.token.done.eq(node.done),
            puts.i.token.addr.eq(node.addr),
            puts.i.token.data.eq(node.data),
        ]
        self._gather(m, puts.o)
        return m

    def _gather(self, m: Module, puts: wiring.PureInterface) -> None:
        """The actor."""
        g = self.geometry
        first = Signal()  # its first firing is to come, which writes place 0 on its own
        rests = Signal(init=1)
        part = Signal(range(max(g.accesses, 2)))
        place = Signal(len(self.node.addr))
        value = Signal(8 * g.place)
        spot = g.find(place, part)
        open = Signal()
        line = Signal(g.line_bits)
        done, other, opens, ends, fires = (
            Signal(name=n) for n in ("done", "other", "opens", "ends", "fires")
        )
        full = Signal()
        m.d.comb += [
            place.eq(Mux(first, 0, puts.payload.addr)),
            value.eq(Mux(first, 0, g.packed(puts.payload.data))),
            done.eq(~first & puts.payload.done),
            other.eq(open & (done | (spot.line != line))),
            opens.eq(~open & ~done),
            ends.eq(Cat(spot.piece, spot.beat).all()),
            fires.eq((first | puts.valid) & ~(opens & full)),
            puts.ready.eq(fires & ~first & ~other & (done | (part == g.accesses - 1))),
            self.fired.eq(fires),
        ]
        waits = (first | puts.valid) & opens & full
        watch(m, Watched(fires, fires, Const(1), late=waits))
        writes = fires & ~other & ~done
        m.d.sync += [
            first.eq((first & ~fires) | self.begin),
            rests.eq((rests | (fires & done & ~other)) & ~self.start),
        ]
        with m.If(fires & other):
            m.d.sync += open.eq(0)
        with m.If(writes):
            m.d.sync += [
                open.eq(~ends),
                line.eq(spot.line),
                part.eq(Mux(part == g.accesses - 1, 0, part + 1)),
            ]
        made = fires & (other | (~done & ends))
        mask = self._mask(m, writes, open, Cat(spot.piece, spot.beat))
        slot = self._numbers(m, fires & opens, made, open, full, rests)
        self._request(m, made, Mux(open, line, spot.line), Mux(other, mask[0], mask[1]))
        piece = Array(value.word_select(n, 8 * g.piece) for n in range(g.accesses))[part]
        self._storage(m, writes, Cat(spot.beat, slot), spot.piece, piece)

    def _mask(self, m: Module, writes: Value, open: Value, index: Value) -> tuple[Value, Value]:
        """Which pieces of the open line have been written, before a firing and after it."""
        g = self.geometry
        mask = Signal(g.beats * g.pieces)
        after = Mux(open, mask, 0) | (1 << index)[: len(mask)]
        with m.If(writes):
            m.d.sync += mask.eq(after)
        return mask, after

    def _numbers(
        self, m: Module, opens: Value, made: Value, open: Value, full: Signal, rests: Value
    ) -> Value:
        """Counts lines; gives the place in storage of the one that is open, or is opened."""
        g = self.geometry
        tail, asked, answered = (Signal(g.number_bits, name=n) for n in ("tail", "asked", "answers"))
        m.d.comb += [
            full.eq((tail - answered)[: g.number_bits] == g.lines),
            self.pending.eq(asked != answered),
            self.settled.eq(rests & (tail == answered)),
        ]
        with m.If(opens):
            m.d.sync += tail.eq(tail + 1)
        with m.If(made):
            m.d.sync += asked.eq(asked + 1)
        # A port of another region with its number gets answers, too, when this one has asked for nothing.
        with m.If(self.answered & self.pending):
            m.d.sync += answered.eq(answered + 1)
        return Mux(open, tail - 1, tail)[: exact_log2(g.lines)]

    def _request(self, m: Module, made: Value, line: Value, mask: Value) -> None:
        """Requests that a line be written, if it is `made`."""
        g = self.geometry
        m.submodules.lines = lines = Fifo(g.line_bits, g.lines)
        m.submodules.masks = masks = Fifo(len(mask), g.lines)
        beat = Signal(max(g.beat_bits, 1))
        m.d.sync += beat.eq(self.beat)
        for channel, token in ((lines, line), (masks, mask)):
            m.d.comb += [channel.i.push.eq(made), channel.i.strobe.eq(made), channel.i.token.eq(token)]
        wiring.connect(m, lines.o, wiring.flipped(self.requests.line))
        here = Array(masks.o.payload.word_select(n, g.pieces) for n in range(g.beats))[beat]
        m.d.comb += [
            self.requests.made.eq(made),
            self.sends.eq(masks.o.valid),
            masks.o.ready.eq(self.sent),
            self.strobes.eq(Cat(bit.replicate(g.piece) for bit in here)),
        ]

    def _storage(self, m: Module, writes: Value, addr: Value, piece: Value, value: Value) -> None:
        """The lines."""
        g = self.geometry
        depth = g.lines * g.beats
        m.submodules.storage = storage = memory.Memory(shape=8 * g.beat, depth=depth, init=[])
        write = storage.write_port(granularity=8 * g.piece)
        read = storage.read_port()
        sent = Signal(exact_log2(g.lines))
        # A request may be passed on to the master only when nothing of an earlier one is left, so that its
        # beats are those of `sent`.
        with m.If(self.sent & self.sends):
            m.d.sync += sent.eq(sent + 1)
        m.d.comb += [
            write.addr.eq(addr),
            write.data.eq(value.replicate(g.pieces)),
            write.en.eq(Mux(writes, 1 << piece, 0)),
            read.addr.eq(Cat(self.beat, sent)),
            # As in a read port: a line is whole before it is sent.
            read.en.eq(~(write.en.any() & (write.addr == read.addr))),
            self.data.eq(read.data),
        ]
