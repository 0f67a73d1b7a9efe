"""The AXI4 port: bursts of words, one in each cycle and each direction."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.axi4 import INCR, Axi4Signature
from samhw.rtl.channel import Fifo
from samhw.rtl.host_port import READ_LATENCY, Response

__all__ = ["BurstPort"]

_WORD = 2
"""The size of a beat of four bytes."""
_PAGE = 12
"""Bits of an address within the page that a burst does not leave."""
_WAITING = 8
"""Answers under way: enough for one in each cycle, from the promise of its slot until it is taken."""


class BurstPort(wiring.Component):
    """Turns the beats of AXI4's bursts into accesses to words.

    A burst that is not of whole words at ascending addresses of one page is taken and answered beat by beat,
    all of them refused. Nothing from `awready` to `rvalid` follows from an input in the same cycle.

    Args:
        address_bits: the width of its addresses.
        id_bits: the width of its IDs.

    Members:
        axi: the port.
        next_addr, next_data: what may be written in the next cycle.
        write: in this cycle, `write_data` is written; `write_ok` says whether there is something to write.
        store_addr, store_data: what was or was not written in the last cycle.
        read, read_addr, read_data, read_ok: as of `HostPort`, in each cycle anew.
    """

    def __init__(self, address_bits: int, id_bits: int) -> None:
        self.id_bits = id_bits
        super().__init__(
            {
                "axi": Out(Axi4Signature(address_bits, id_bits, response=Response)),
                "next_addr": Out(address_bits),
                "next_data": Out(32),
                "write": Out(1),
                "write_data": Out(32),
                "write_ok": In(1),
                "store_addr": Out(address_bits),
                "store_data": Out(32),
                "read": Out(1),
                "read_addr": Out(address_bits),
                "read_data": In(32),
                "read_ok": In(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        self._writes(m)
        self._reads(m)
        return m

    def _writes(self, m: Module) -> None:
        """A beat is taken in a cycle, decoded in the next one, written in the third, and stored in a memory
        in the fourth."""
        axi = self.axi
        answer = data.StructLayout({"id": self.id_bits, "resp": Response})
        m.submodules.write_beats = beats = _Beats(len(axi.awaddr), self.id_bits)
        m.submodules.answers = answers = Fifo(answer, _WAITING)
        _connect_addresses(m, beats, axi, "aw")
        taken = Signal()
        m.d.comb += [
            axi.wready.eq(beats.valid & answers.i.ready),
            taken.eq(axi.wvalid & axi.wready),
            beats.next.eq(taken),
            answers.i.push.eq(taken & beats.beat.last),
        ]
        decoded = Signal()
        written = Signal()
        decoded_beat = Signal(beats.layout)
        beat = Signal(beats.layout)
        decoded_strobes = Signal(4)
        strobes = Signal(4)
        m.d.sync += [
            Cat(decoded, written).eq(Cat(taken, decoded)),
            decoded_beat.eq(beats.beat),
            beat.eq(decoded_beat),
            Cat(decoded_strobes, strobes).eq(Cat(axi.wstrb, decoded_strobes)),
            Cat(self.next_data, self.write_data, self.store_data).eq(
                Cat(axi.wdata, self.next_data, self.write_data)
            ),
            self.store_addr.eq(beat.addr),
        ]
        failed = Signal()
        good = Signal()
        m.d.comb += [
            self.next_addr.eq(decoded_beat.addr),
            self.write.eq(written & strobes.all() & ~beat.refused),
            good.eq(Mux(strobes.any(), self.write & self.write_ok, ~beat.refused)),
            answers.i.strobe.eq(written & beat.last),
            answers.i.token.id.eq(beat.id),
            answers.i.token.resp.eq(Mux(good & ~failed, Response.OKAY, Response.SLVERR)),
        ]
        with m.If(written):
            m.d.sync += failed.eq(~beat.last & (failed | ~good))
        _connect_answers(m, answers, axi, "b")

    def _reads(self, m: Module) -> None:
        """A read is promised a slot for its answer, which comes when its word does."""
        axi = self.axi
        answer = data.StructLayout({"data": 32, "id": self.id_bits, "resp": Response, "last": 1})
        m.submodules.read_beats = beats = _Beats(len(axi.araddr), self.id_bits)
        m.submodules.words = words = Fifo(answer, _WAITING)
        _connect_addresses(m, beats, axi, "ar")
        asked = Signal()
        m.d.comb += [
            asked.eq(beats.valid & words.i.ready),
            beats.next.eq(asked),
            words.i.push.eq(asked),
        ]
        reading = Signal(READ_LATENCY + 1)
        beat = Signal(beats.layout, name="beat0")
        m.d.sync += [reading.eq(Cat(asked, reading)), beat.eq(beats.beat)]
        m.d.comb += [self.read.eq(reading[0]), self.read_addr.eq(beat.addr)]
        for cycle in range(READ_LATENCY):
            before = beat
            beat = Signal(beats.layout, name=f"beat{cycle + 1}")
            m.d.sync += beat.eq(before)
        m.d.comb += [
            words.i.strobe.eq(reading[-1]),
            words.i.token.data.eq(self.read_data),
            words.i.token.id.eq(beat.id),
            words.i.token.last.eq(beat.last),
            words.i.token.resp.eq(Mux(self.read_ok & ~beat.refused, Response.OKAY, Response.SLVERR)),
        ]
        _connect_answers(m, words, axi, "r")


class _Beats(wiring.Component):
    """Takes bursts apart: the next beat of the first one, which goes on to the next with `next`.

    Attributes:
        layout: what is known of a beat.

    Members:
        i: bursts.
        valid, beat: the next beat.
        next: it is dealt with.
    """

    def __init__(self, address_bits: int, id_bits: int):
        common = {"addr": address_bits, "id": id_bits, "refused": 1}
        self.bursts = data.StructLayout({**common, "len": 8})
        self.layout = data.StructLayout({**common, "last": 1})
        super().__init__(
            {
                "i": In(stream.Signature(self.bursts)),
                "valid": Out(1),
                "beat": Out(self.layout),
                "next": In(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        # A second place keeps the next address at hand, so that no cycle is lost between bursts.
        m.submodules.bursts = bursts = Fifo(self.bursts, 2)
        accepted = self.i.valid & self.i.ready
        m.d.comb += [
            self.i.ready.eq(bursts.i.ready),
            bursts.i.push.eq(accepted),
            bursts.i.strobe.eq(accepted),
            bursts.i.token.eq(self.i.payload),
        ]
        burst = bursts.o.payload
        count = Signal(8)
        page, place = burst.addr[_PAGE:], burst.addr[2:_PAGE]
        m.d.comb += [
            self.valid.eq(bursts.o.valid),
            self.beat.addr.eq(Cat(burst.addr[:2], (place + count)[: len(place)], page)),
            self.beat.id.eq(burst.id),
            self.beat.refused.eq(burst.refused),
            self.beat.last.eq(count == burst.len),
            bursts.o.ready.eq(self.next & self.beat.last),
        ]
        with m.If(self.next):
            m.d.sync += count.eq(Mux(self.beat.last, 0, count + 1))
        return m


def _connect_addresses(m: Module, beats: _Beats, axi: wiring.PureInterface, channel: str) -> None:
    pin = {name: getattr(axi, channel + name) for name in ("id", "addr", "len", "size", "burst")}
    burst = beats.i.payload
    leaves = (pin["addr"][2:_PAGE] + pin["len"])[_PAGE - 2]
    m.d.comb += [
        beats.i.valid.eq(getattr(axi, f"{channel}valid")),
        getattr(axi, f"{channel}ready").eq(beats.i.ready),
        burst.id.eq(pin["id"]),
        burst.addr.eq(pin["addr"]),
        burst.len.eq(pin["len"]),
        burst.refused.eq((pin["burst"] != INCR) | (pin["size"] != _WORD) | pin["addr"][:2].any() | leaves),
    ]


def _connect_answers(m: Module, answers: Fifo, axi: wiring.PureInterface, channel: str) -> None:
    m.d.comb += [
        getattr(axi, f"{channel}valid").eq(answers.o.valid),
        answers.o.ready.eq(getattr(axi, f"{channel}ready")),
        *(
            getattr(axi, channel + name).eq(getattr(answers.o.payload, name))
            for name in answers.shape.members
        ),
    ]
