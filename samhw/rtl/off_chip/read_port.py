"""The read port: the actors *look* and *deliver* of docs/memory.md, and the storage of their lines."""

from amaranth.hdl import Array, Cat, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.access import AskSignature
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import Watched, watch
from samhw.rtl.off_chip.geometry import Geometry, RequestSignature
from samhw.rtl.shared import Shared
from samhw.rtl.token import TokenKind, token_width

__all__ = ["ReadPort"]

_ASK = 2
"""The depth of the channel `ask`."""


class ReadPort(Shared):
    """Reads a word, or a block of them, for each token that asks for one.

    Args:
        addr_width: bits of a place's number, as the node gives it.
        note_width: of what tokens take along.
        varies: arrays of other regions have other numbers of lines.

    Members:
        node: to the node.
        requests: to the master.
        beat_valid, beat_data: the beats of its lines, in order; `answer` - 1 cycles after they come.
        fired: an actor fires.
        settled: all beats that it has asked for are in storage.
        end: with `varies`, the number of the last line.
    """

    node: wiring.PureInterface
    requests: wiring.PureInterface
    beat_valid: Signal
    beat_data: Signal
    fired: Signal
    settled: Signal

    def __init__(self, geometry: Geometry, addr_width: int, note_width: int, *, varies: bool = False):
        self.geometry = geometry
        self.varies = varies
        super().__init__(
            {
                "node": In(AskSignature(addr_width, geometry.width, note_width)),
                "requests": Out(RequestSignature(geometry.line_bits)),
                "beat_valid": In(1),
                "beat_data": In(8 * geometry.beat),
                "fired": Out(1),
                "settled": Out(1),
                **({"end": In(geometry.line_bits)} if varies else {}),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        g = self.geometry
        asked = self.node.ask.token.shape()
        waiting = data.StructLayout(
            {
                "kind": TokenKind,
                "reads": 1,
                "last": 1,
                "payload": max(token_width(0), g.spot.size),
                "note": asked["note"].width,
            }
        )
        m.submodules.asks = asks = Fifo(asked, _ASK)
        m.submodules.waits = waits = Fifo(waiting, g.queue)
        wiring.connect(m, wiring.flipped(self.node.ask), asks.i)
        tail = Signal(g.number_bits)  # the number of the next request
        freed = Signal(g.number_bits)  # all numbers before it are
        looked = self._look(m, asks.o, waits.i, tail, freed)
        delivered = self._deliver(m, waits.o, tail, freed)
        m.d.comb += self.fired.eq(looked | delivered)
        return m

    def _look(
        self, m: Module, asks: wiring.PureInterface, waits: wiring.PureInterface, tail: Signal, freed: Signal
    ) -> Value:
        """The actor *look*; gives whether it fires. It knows `line` + `have`, the newest line that it has
        asked for, instead of `line`."""
        g = self.geometry
        head = asks.payload
        newest = Signal(g.line_bits + 1, init=(2 << g.line_bits) - 1)
        have = Signal(range(g.ahead + 1))
        run = Signal()
        part = Signal(range(max(g.accesses, 2)))
        spot = g.find(head.payload, part)
        left = Signal(g.line_bits + 1)  # `have` after a hit
        hit, more, fires, made, last = (Signal(name=n) for n in ("hit", "more", "fires", "made", "last"))
        wanted = Signal(g.line_bits)
        full = Signal()
        found = Signal(g.spot)
        m.d.comb += [
            left.eq(newest - spot.line),
            hit.eq(left <= have),
            more.eq(run & (left < g.ahead) & (newest != (self.end if self.varies else g.stored_lines - 1))),
            made.eq(head.reads & (~hit | more)),
            wanted.eq(Mux(hit, newest + 1, spot.line)),
            full.eq((tail - freed)[: g.number_bits] == g.lines),
            fires.eq(asks.valid & waits.ready & ~(made & full)),
            last.eq(~head.reads | (part == g.accesses - 1)),
            asks.ready.eq(fires & last),
            found.piece.eq(spot.piece),
            found.beat.eq(spot.beat),
            found.number.eq(Mux(hit, tail - 1 - left, tail)),
            waits.push.eq(fires),
            waits.strobe.eq(fires),
            waits.token.kind.eq(head.kind),
            waits.token.reads.eq(head.reads),
            waits.token.last.eq(last),
            waits.token.payload.eq(Mux(head.reads, found, head.payload[: token_width(0)])),
            waits.token.note.eq(head.note),
        ]
        watch(m, Watched(fires, asks.valid & ~(made & full), waits.ready))
        with m.If(fires & head.reads):
            m.d.sync += [
                newest.eq(Mux(hit, newest + more, spot.line)),
                have.eq(Mux(hit, left + more, 0)),
                part.eq(Mux(last, 0, part + 1)),
            ]
            with m.If(~hit):
                # The line after the last one, of which a hit would have known if it had been read ahead.
                m.d.sync += run.eq((have == 0) & left.all())
        with m.If(fires & ~head.reads & (head.kind == TokenKind.DONE)):
            m.d.sync += [newest.eq(-1), have.eq(0), run.eq(0)]
        self._request(m, fires & made, wanted, tail)
        return fires

    def _request(self, m: Module, made: Value, line: Value, tail: Signal) -> None:
        """Requests a line if it is `made`."""
        requests = self.requests
        m.submodules.lines = lines = Fifo(self.geometry.line_bits, self.geometry.lines)
        m.d.comb += [
            requests.made.eq(made),
            lines.i.push.eq(made),
            lines.i.strobe.eq(made),
            lines.i.token.eq(line),
        ]
        wiring.connect(m, lines.o, wiring.flipped(requests.line))
        with m.If(made):
            m.d.sync += tail.eq(tail + 1)

    def _deliver(self, m: Module, waits: wiring.PureInterface, tail: Signal, freed: Signal) -> Value:
        """The actor *deliver*, of which the node has the last step; gives whether it fires."""
        g = self.geometry
        head, told = waits.payload, self.node.told
        spot = data.View(g.spot, head.payload[: g.spot.size])
        sought = Cat(spot.beat, spot.number)
        arrived = Signal(g.beat_bits + g.number_bits)  # beats, modulo twice those that storage holds
        there = Signal()
        fires = Signal()
        m.d.comb += [
            # arrived > sought: at most all of storage lies between the two.
            there.eq(~head.reads | ~(arrived + ~sought)[len(arrived) - 1]),
            told.valid.eq(waits.valid & there & head.last),
            told.payload.kind.eq(head.kind),
            told.payload.reads.eq(head.reads),
            told.payload.payload.eq(Mux(head.reads, 0, head.payload[: token_width(0)])),
            told.payload.note.eq(head.note),
            fires.eq(waits.valid & there & (told.ready | ~head.last)),
            waits.ready.eq(fires),
            self.settled.eq(arrived == Cat(Const(0, g.beat_bits), tail)),
        ]
        watch(m, Watched(fires, waits.valid, ~there | told.ready | ~head.last))
        with m.If(fires & head.reads):
            m.d.sync += freed.eq(spot.number)
        with m.Elif(fires & (head.kind == TokenKind.DONE)):
            m.d.sync += freed.eq(tail)
        # A port of another region with its number gets beats, too, when this one has asked for nothing.
        comes = self.beat_valid & ~self.settled
        with m.If(comes):
            m.d.sync += arrived.eq(arrived + 1)
        found = self._storage(m, comes, arrived, sought, spot.piece)
        m.d.comb += self.node.data.eq(g.unpacked(self._place(m, found, fires & head.reads, head.last)))
        return fires

    def _storage(self, m: Module, comes: Value, arrived: Value, sought: Value, piece: Value) -> Value:
        """The lines; gives the piece that was sought in the last cycle."""
        g = self.geometry
        depth = g.lines * g.beats
        m.submodules.storage = storage = memory.Memory(shape=8 * g.beat, depth=depth, init=[])
        write, read = storage.write_port(), storage.read_port()
        late_piece = Signal(max(g.piece_bits, 1))
        m.d.comb += [
            write.addr.eq(arrived),
            write.data.eq(self.beat_data),
            write.en.eq(comes),
            read.addr.eq(sought),
            # Nobody uses a beat that is read while it comes. That it is not read lets synthesis see that a
            # block memory, whatever it gives then, needs no registers around it.
            read.en.eq(~(write.en & (write.addr == read.addr))),
        ]
        m.d.sync += late_piece.eq(piece)
        if g.pieces == 1:
            return read.data
        return Array(read.data.word_select(n, 8 * g.piece) for n in range(g.pieces))[late_piece]

    def _place(self, m: Module, piece: Value, fires: Value, last: Value) -> Value:
        """The place whose last piece was sought in the last cycle."""
        k = self.geometry.accesses
        if k == 1:
            return piece
        bits = len(piece)
        before = Signal(bits * (k - 1))  # its other pieces
        came = Signal()
        m.d.sync += came.eq(fires & ~last)
        with m.If(came):
            m.d.sync += before.eq(Cat(before, piece)[bits:])
        return Cat(before, piece)
