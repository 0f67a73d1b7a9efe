"""The board's end of the link, from the pins of a UART to AXI4-Lite (docs/link.md)."""

from amaranth.hdl import Elaboratable, Module, ResetInserter
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.host_port import AxiLiteSignature
from samhw.rtl.link.frames import Framer
from samhw.rtl.link.requests import Executor, Requests
from samhw.rtl.link.uart import PeriodRom, Receiver, Transmitter

__all__ = ["LinkMaster"]


class LinkMaster(wiring.Component):
    """Takes requests from a line, does them at a port, and answers.

    Args:
        period: of a bit on the line, as of `bit_period`.
        build: what HELLO is answered with.
        address_bits: of the port.

    Members:
        rx, tx: the line.
        axi: the port, which this is the master of.
        reset: the design is to be reset.
        busy: a request is under way.
    """

    axi: wiring.PureInterface

    def __init__(self, period: int, build: int, address_bits: int):
        self.period = period
        self.build = build
        self.address_bits = address_bits
        super().__init__(
            {
                "rx": In(1, init=1),
                "tx": Out(1, init=1),
                "axi": In(AxiLiteSignature(address_bits)),
                "reset": Out(1),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.period = period = PeriodRom(self.period)
        # Deaf until it knows how long a bit takes.
        receiver = Receiver()
        m.submodules.receiver = ResetInserter(~period.ready)(receiver)
        m.submodules.requests = requests = Requests()
        m.submodules.executor = executor = Executor(self.build, self.address_bits)
        m.submodules.framer = framer = Framer()
        m.submodules.transmitter = transmitter = Transmitter()
        wiring.connect(m, executor.o, framer.i)
        wiring.connect(m, framer.o, transmitter.i)
        wiring.connect(m, executor.axi, wiring.flipped(self.axi))
        m.d.comb += [
            receiver.period.eq(period.period),
            transmitter.period.eq(period.period),
            receiver.line.eq(self.rx),
            *(getattr(requests, name).eq(getattr(receiver, name)) for name in ("data", "valid", "broken")),
            *(getattr(executor, name).eq(getattr(requests, name)) for name in ("arrived", "header", "words")),
            executor.word.eq(requests.word),
            requests.at.eq(executor.at),
            requests.busy.eq(executor.busy),
            executor.sent.eq(framer.sent),
            self.tx.eq(transmitter.line),
            self.reset.eq(executor.reset),
            self.busy.eq(executor.busy),
        ]
        return m
