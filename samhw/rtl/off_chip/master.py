"""The arbiter and the master of docs/memory.md: from the requests of ports to bursts of AXI4."""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from samhw.rtl.axi4 import INCR, Axi4Signature
from samhw.rtl.channel import Fifo
from samhw.rtl.logic import lowest_bit
from samhw.rtl.shared import Shared

__all__ = ["LEAST_OFFER", "RequestArbiter", "Sender", "TakenRequest"]

LEAST_OFFER = 2
"""The fewest cycles from a request to its offer that hardware can do with."""


class RequestArbiter(Shared):
    """Orders the requests of ports by (cycle, port).

    Args:
        ports: how many there are.
        lines: N. As each vector that waits has a request that is not answered, no more than N of each port
            wait.
        early: registers before the vectors are stored.

    Members:
        made: a bit for each port: it makes a request in this cycle.
        o: the port whose request is next.
    """

    made: Signal
    o: wiring.PureInterface

    def __init__(self, ports: int, lines: int, early: int):
        self.ports = ports
        self.depth = lines * ports
        self.early = early
        super().__init__({"made": In(ports), "o": Out(stream.Signature(range(max(ports, 2))))})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        made: Value = self.made
        for stage in range(self.early):
            late = Signal(self.ports, name=f"made{stage}")
            m.d.sync += late.eq(made)
            made = late
        m.submodules.vectors = vectors = Fifo(self.ports, self.depth)
        head = vectors.o
        served = Signal(self.ports)  # of the vector at the head
        left = Signal(self.ports)
        others = Signal(self.ports)
        taken = self.o.valid & self.o.ready
        m.d.comb += [
            vectors.i.push.eq(made.any()),
            vectors.i.strobe.eq(made.any()),
            vectors.i.token.eq(made),
            left.eq(head.payload & ~served),
            others.eq(left & (left - 1)),
            self.o.valid.eq(head.valid),
            self.o.payload.eq(lowest_bit(left)),
            head.ready.eq(taken & ~others.any()),
        ]
        with m.If(taken):
            m.d.sync += served.eq(Mux(others.any(), head.payload & ~others, 0))
        return m


class TakenRequest(wiring.Signature):
    """A request on its way to the pins, seen from where it comes from.

    Members:
        valid, ready: as of a stream.
        port: the number of the port whose it is.
        source: of those that write, which one that is in hardware.
        write: it is one of a write port.
        line: in units of lines, from address 0 on.
    """

    def __init__(self, ports: int, line_bits: int, sources: int):
        members = {
            "port": range(max(ports, 2)),
            "source": range(max(sources, 2)),
            "write": 1,
            "line": line_bits,
        }
        super().__init__({"valid": Out(1), "ready": In(1)} | {k: Out(v) for k, v in members.items()})


class Sender(Shared):
    """Makes bursts of requests, one after the other.

    Args:
        ports: how many there are.
        line: its bytes.
        line_bits: of the number of a line.
        sources: how many ports write, in hardware.

    Members:
        i: the requests.
        axi: the channels of addresses and of data to write; `data` and `strobes` go there.
        source: whose request to write it is that is under way.
        beat: the beat of its line whose `data` and `strobes` are looked at in the next cycle.
        data, strobes: of the beat that was asked for in the last cycle.
        sent: its line has been passed on.
    """

    i: wiring.PureInterface
    axi: wiring.PureInterface
    source: Signal
    beat: Signal
    data: Signal
    strobes: Signal
    sent: Signal

    def __init__(self, axi: Axi4Signature, ports: int, line: int, line_bits: int, sources: int):
        self.line = line
        self.beats = line // axi.beat
        super().__init__(
            {
                "i": In(TakenRequest(ports, line_bits, sources)),
                "axi": In(axi),
                "source": Out(range(max(sources, 2))),
                "beat": Out(exact_log2(self.beats)),
                "data": In(8 * axi.beat),
                "strobes": In(axi.beat),
                "sent": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        axi = self.axi
        port = Signal.like(self.i.port)
        begins = Signal()
        addressed = Signal()
        moved = Signal()
        writing = Signal()
        beat = Signal(exact_log2(self.beats))
        last = beat == self.beats - 1
        address_ends = addressed | (axi.awvalid & axi.awready)
        data_end = moved | (axi.wvalid & axi.wready & last)
        ended = Signal()
        m.d.comb += [
            self.sent.eq(writing & address_ends & data_end),
            ended.eq(Mux(writing, self.sent, ~axi.arvalid | axi.arready)),
            self.i.ready.eq(ended),
            self.beat.eq(beat + (axi.wvalid & axi.wready)),
            axi.wdata.eq(self.data),
            axi.wstrb.eq(self.strobes),
            axi.wlast.eq(last),
            axi.rready.eq(1),
            axi.bready.eq(1),
        ]
        for channel in ("aw", "ar"):
            fixed = {"len": self.beats - 1, "size": exact_log2(self.line // self.beats), "burst": INCR}
            m.d.comb += [getattr(axi, channel + name).eq(value) for name, value in fixed.items()]
            m.d.comb += getattr(axi, channel + "id").eq(port)
            address = Signal(axi.signature.address_bits, name=f"{channel}line")
            m.d.comb += getattr(axi, channel + "addr").eq(address)
            with m.If(self.i.valid & ended):
                m.d.sync += address.eq(Cat(Const(0, exact_log2(self.line)), self.i.line))
        m.d.sync += begins.eq(0)
        with m.If(begins):
            m.d.sync += axi.wvalid.eq(1)
        with m.If(axi.awvalid & axi.awready):
            m.d.sync += [axi.awvalid.eq(0), addressed.eq(1)]
        with m.If(axi.wvalid & axi.wready):
            m.d.sync += [beat.eq(self.beat), axi.wvalid.eq(~last), moved.eq(last)]
        with m.If(ended):
            takes = self.i.valid
            m.d.sync += [
                writing.eq(takes & self.i.write),
                begins.eq(takes & self.i.write),
                axi.awvalid.eq(takes & self.i.write),
                axi.arvalid.eq(takes & ~self.i.write),
                port.eq(self.i.port),
                self.source.eq(self.i.source),
                beat.eq(0),
                addressed.eq(0),
                moved.eq(0),
                axi.wvalid.eq(0),
            ]
        return m


def id_bits(ports: int) -> int:
    """Bits of the IDs of that many ports."""
    return max(1, int(ceil_log2(ports)))
