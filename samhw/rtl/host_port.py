"""The AXI4-Lite port: one host access at a time, as a simple request to the top level."""

from typing import NamedTuple

from amaranth.hdl import Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["READ_LATENCY", "AxiLiteSignature", "FarSignature", "HostPort", "Response"]

READ_LATENCY = 3
"""Cycles from a read request to its data."""


class Response(enum.Enum, shape=2):  # type: ignore[call-arg]
    """The responses that this port gives."""

    OKAY = 0
    SLVERR = 2


class AxiLiteSignature(wiring.Signature):
    """An AXI4-Lite slave of 32 data bits, seen from the slave.

    Args:
        address_bits: the width of its addresses.
    """

    def __init__(self, address_bits: int) -> None:
        self.address_bits = address_bits
        super().__init__(
            {
                "awaddr": In(address_bits),
                "awprot": In(3),
                "awvalid": In(1),
                "awready": Out(1),
                "wdata": In(32),
                "wstrb": In(4),
                "wvalid": In(1),
                "wready": Out(1),
                "bresp": Out(Response),
                "bvalid": Out(1),
                "bready": In(1),
                "araddr": In(address_bits),
                "arprot": In(3),
                "arvalid": In(1),
                "arready": Out(1),
                "rdata": Out(32),
                "rresp": Out(Response),
                "rvalid": Out(1),
                "rready": In(1),
            }
        )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.address_bits == self.address_bits

    def __repr__(self) -> str:
        return f"AxiLiteSignature({self.address_bits})"


class FarSignature(wiring.Signature):
    """A way to words that take their time, seen from the host's port.

    Members:
        ask: an access is wanted; it stays until it is done.
        write: it writes `data`; else it reads `answer`.
        addr: a byte address, a multiple of four.
        done: in this cycle, it is done, and `answer` is there.
    """

    def __init__(self, address_bits: int):
        members = {"ask": Out(1), "write": Out(1), "addr": Out(address_bits), "data": Out(32)}
        super().__init__({**members, "done": In(1), "answer": In(32)})


class HostPort(wiring.Component):
    """Turns AXI4-Lite transfers into accesses to words.

    Address and data of a write may come in any order. A write of a part of a word or to an unaligned address
    is refused with SLVERR, since the memories have no byte enables; one without any strobe writes
    nothing, as it should, and is good. `awprot` and `arprot` do not matter.

    Args:
        address_bits: the width of its addresses.
        far: the upper half of the range is not here, but where `far` leads.

    Members:
        axi: the port.
        far: to words that take their time.
        open: these may be reached.
        write: in this cycle, `write_data` is written to the byte address `write_addr`; both were there in the
            last cycle, and stay in the next one. `write_ok` says in this one whether there is something to
            write.
        read: in this cycle, the word at the byte address `read_addr` is asked for; `READ_LATENCY` cycles
            later it is in `read_data`, and `read_ok` says whether there is one.
    """

    write_addr: Signal
    write_data: Signal
    read_addr: Signal
    far: wiring.PureInterface
    open: Signal

    def __init__(self, address_bits: int, far: bool = False) -> None:
        self.has_far = far
        super().__init__(
            {
                "axi": Out(AxiLiteSignature(address_bits)),
                **({"far": Out(FarSignature(address_bits - 1)), "open": In(1)} if far else {}),
                "write": Out(1),
                "write_addr": Out(address_bits),
                "write_data": Out(32),
                "write_ok": In(1),
                "read": Out(1),
                "read_addr": Out(address_bits),
                "read_data": In(32),
                "read_ok": In(1),
            }
        )

    @property
    def next_addr(self) -> Signal:
        """What may be written in the next cycle, as `store_addr` was in the last: this port has one write
        under way."""
        return self.write_addr

    store_addr = next_addr

    @property
    def next_data(self) -> Signal:
        """As `next_addr`."""
        return self.write_data

    store_data = next_data

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        writes, reads = self._far(m) if self.has_far else (_Far(), _Far())
        self._writes(m, writes)
        self._reads(m, reads)
        return m

    def _far(self, m: Module) -> tuple["_Far", "_Far"]:
        """Writes and reads that go far, one at a time."""
        far = self.far
        kinds = []
        for name, address in (("write", self.write_addr), ("read", self.read_addr)):
            kind = _Far(*(Signal(name=f"far_{name}{part}") for part in ("", "_asked", "_done")))
            m.d.comb += kind.here.eq(address[-1] & (address[:2] == 0) & self.open)
            kinds.append(kind)
        writes, reads = kinds
        writing, reading = Signal(), Signal()
        m.d.comb += [
            far.ask.eq(writing | reading),
            far.write.eq(writing),
            far.addr.eq(Mux(writing, self.write_addr, self.read_addr)),
            far.data.eq(self.write_data),
            writes.done.eq(writing & far.done),
            reads.done.eq(reading & far.done),
        ]
        with m.If(~far.ask | far.done):
            m.d.sync += [
                writing.eq(writes.asked & ~writes.done),
                reading.eq(reads.asked & ~reads.done & ~(writes.asked & ~writes.done)),
            ]
        return writes, reads

    def _writes(self, m: Module, far: "_Far") -> None:
        axi = self.axi
        has_addr = Signal()
        has_data = Signal()
        whole = Signal()
        nothing = Signal()
        ends = Signal()
        m.d.comb += [
            axi.awready.eq(~has_addr),
            axi.wready.eq(~has_data),
            self.write.eq(ends & whole & (self.write_addr[:2] == 0)),
        ]
        # The answer to the last write must be gone before the next is carried out.
        goes = has_addr & has_data & ~axi.bvalid & ~ends
        goes_far = whole & far.here
        if self.has_far:
            m.d.comb += far.asked.eq(goes & goes_far)
        m.d.sync += ends.eq(Mux(goes_far, far.done, goes))
        with m.If(axi.awvalid & axi.awready):
            m.d.sync += [has_addr.eq(1), self.write_addr.eq(axi.awaddr)]
        with m.If(axi.wvalid & axi.wready):
            m.d.sync += [has_data.eq(1), self.write_data.eq(axi.wdata), whole.eq(axi.wstrb.all())]
            m.d.sync += nothing.eq(~axi.wstrb.any())
        with m.If(ends):
            m.d.sync += [
                has_addr.eq(0),
                has_data.eq(0),
                axi.bvalid.eq(1),
                axi.bresp.eq(
                    Mux(nothing | goes_far | (self.write & self.write_ok), Response.OKAY, Response.SLVERR)
                ),
            ]
        with m.If(axi.bvalid & axi.bready):
            m.d.sync += axi.bvalid.eq(0)

    def _reads(self, m: Module, far: "_Far") -> None:
        axi = self.axi
        underway = Signal(READ_LATENCY)
        aligned = Signal()
        m.d.comb += [
            axi.arready.eq((underway == 0) & ~axi.rvalid & ~self.read & ~far.asked),
            aligned.eq(self.read_addr[:2] == 0),
        ]
        m.d.sync += [self.read.eq(0), underway.eq((underway << 1) | (self.read & ~far.here))]
        with m.If(axi.arvalid & axi.arready):
            m.d.sync += [self.read.eq(1), self.read_addr.eq(axi.araddr)]
        with m.If(underway[-1]):
            m.d.sync += [
                axi.rvalid.eq(1),
                axi.rdata.eq(self.read_data),
                axi.rresp.eq(Mux(self.read_ok & aligned, Response.OKAY, Response.SLVERR)),
            ]
        if self.has_far:
            m.d.sync += far.asked.eq((far.asked | (self.read & far.here)) & ~far.done)
            with m.If(far.done):
                m.d.sync += [axi.rvalid.eq(1), axi.rdata.eq(self.far.answer), axi.rresp.eq(Response.OKAY)]
        with m.If(axi.rvalid & axi.rready):
            m.d.sync += axi.rvalid.eq(0)


class _Far(NamedTuple):
    """Accesses of one kind: whether the present one goes far, asks there, and is done there."""

    here: Value = Const(0)
    asked: Value = Const(0)
    done: Value = Const(0)
