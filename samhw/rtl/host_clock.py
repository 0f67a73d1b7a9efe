"""A clock of its own for the host's port (docs/host_port.md): how its channels and its reset cross to the
design's."""

from amaranth.hdl import Cat, Elaboratable, Module, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.fifo import AsyncFIFO
from amaranth.lib.wiring import In, Out

__all__ = ["HOST", "ClockCrossing", "cross_resets"]

HOST = "host"
"""The clock domain of the port."""

_CHANNELS = ("aw", "w", "b", "ar", "r")
"""Those of AXI; one whose `ready` is the slave's goes to the design."""

_WAITING = 4
"""What a channel of AXI4-Lite has room for: one transfer is under way at a time."""
_STREAMING = 16
"""What a channel of AXI4 has room for: a word in each cycle of the slower clock, although the other side
learns of a free place only some cycles later."""

_End = tuple[wiring.PureInterface, str]
"""A port, and its clock domain."""


class ClockCrossing(wiring.Component):
    """Joins a port on the host's clock to one on the design's, with a FIFO of two clocks for each channel.

    Args:
        signature: of the port, seen from the slave.
        bursts: it has transfers in each cycle.

    Members:
        axi: the port, in the domain `HOST`. It takes nothing while that is in reset.
        design: to the port in the domain `sync`.
    """

    axi: wiring.PureInterface
    design: wiring.PureInterface

    def __init__(self, signature: wiring.Signature, bursts: bool) -> None:
        self._depth = _STREAMING if bursts else _WAITING
        super().__init__({"axi": Out(signature), "design": In(signature)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        for channel in _CHANNELS:
            inward = self.axi.signature.members[f"{channel}ready"].flow is Out
            ways = ((self.axi, HOST), (self.design, "sync"))
            self._cross(m, channel, *(ways if inward else reversed(ways)))
        return m

    def _cross(self, m: Module, channel: str, source: _End, sink: _End) -> None:
        """Leads a channel from one port to the other."""
        (before, before_domain), (after, after_domain) = source, sink
        given, taken = self._payload(channel, before), self._payload(channel, after)
        m.submodules[channel] = fifo = AsyncFIFO(
            width=len(given), depth=self._depth, w_domain=before_domain, r_domain=after_domain
        )
        takes = fifo.w_rdy & ~ResetSignal(before_domain)
        m.d.comb += [
            fifo.w_data.eq(given),
            fifo.w_en.eq(getattr(before, f"{channel}valid") & takes),
            getattr(before, f"{channel}ready").eq(takes),
            taken.eq(fifo.r_data),
            getattr(after, f"{channel}valid").eq(fifo.r_rdy),
            fifo.r_en.eq(getattr(after, f"{channel}ready")),
        ]

    def _payload(self, channel: str, port: wiring.PureInterface) -> Value:
        """What a channel of a port has beside `valid` and `ready`."""
        handshake = (f"{channel}valid", f"{channel}ready")
        own = (name for name in self.axi.signature.members if _channel(name) == channel)
        return Cat(Value.cast(getattr(port, name)) for name in own if name not in handshake)


def _channel(name: str) -> str:
    """Of a pin of AXI."""
    return name[:2] if name.startswith(("aw", "ar")) else name[0]


def cross_resets(m: Module, resets: dict[str, Value]) -> None:
    """Holds two domains in reset while either of their own resets is high, and some cycles longer, so that no
    transfer is lost of which the other side knows.

    Args:
        resets: of each of the two domains its own, in that domain.
    """
    for domain, other in zip(resets, reversed(resets), strict=True):
        arrived = Signal(name=f"{domain}_other_reset")
        m.submodules[f"{domain}_reset"] = FFSynchronizer(resets[other], arrived, o_domain=domain)
        # From a register, since it goes on to the other clock without one.
        held = Signal(init=1, reset_less=True, name=f"{domain}_held")
        m.d[domain] += held.eq(resets[domain] | arrived)
        m.d.comb += ResetSignal(domain).eq(held)
