"""The AXI4-Lite port: one host access at a time, as a simple request to the top level."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["READ_LATENCY", "AxiLiteSignature", "HostPort", "Response"]

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


class HostPort(wiring.Component):
    """Turns AXI4-Lite transfers into accesses to words.

    Address and data of a write may come in any order. A write of a part of a word or to an unaligned address
    is refused with SLVERR, since the memories have no byte enables; one without any strobe writes
    nothing, as it should, and is good. `awprot` and `arprot` do not matter.

    Args:
        address_bits: the width of its addresses.

    Members:
        axi: the port.
        write: in this cycle, `write_data` is written to the byte address `write_addr`; both were there in the
            last cycle, and stay in the next one. `write_ok` says in this one whether there is something to
            write.
        read: in this cycle, the word at the byte address `read_addr` is asked for; `READ_LATENCY` cycles
            later it is in `read_data`, and `read_ok` says whether there is one.
    """

    write_addr: Signal
    write_data: Signal

    def __init__(self, address_bits: int) -> None:
        super().__init__(
            {
                "axi": Out(AxiLiteSignature(address_bits)),
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
        self._writes(m)
        self._reads(m)
        return m

    def _writes(self, m: Module) -> None:
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
        m.d.sync += ends.eq(has_addr & has_data & ~axi.bvalid & ~ends)
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
                axi.bresp.eq(Mux(nothing | (self.write & self.write_ok), Response.OKAY, Response.SLVERR)),
            ]
        with m.If(axi.bvalid & axi.bready):
            m.d.sync += axi.bvalid.eq(0)

    def _reads(self, m: Module) -> None:
        axi = self.axi
        underway = Signal(READ_LATENCY)
        aligned = Signal()
        m.d.comb += [
            axi.arready.eq((underway == 0) & ~axi.rvalid & ~self.read),
            aligned.eq(self.read_addr[:2] == 0),
        ]
        m.d.sync += [self.read.eq(0), underway.eq((underway << 1) | self.read)]
        with m.If(axi.arvalid & axi.arready):
            m.d.sync += [self.read.eq(1), self.read_addr.eq(axi.araddr)]
        with m.If(underway[-1]):
            m.d.sync += [
                axi.rvalid.eq(1),
                axi.rdata.eq(self.read_data),
                axi.rresp.eq(Mux(self.read_ok & aligned, Response.OKAY, Response.SLVERR)),
            ]
        with m.If(axi.rvalid & axi.rready):
            m.d.sync += axi.rvalid.eq(0)
