"""The pins of AXI4."""

from amaranth.hdl import ShapeLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["INCR", "Axi4Signature"]

INCR = 1
"""The bursts whose beats lie at ascending addresses."""


class Axi4Signature(wiring.Signature):
    """A port of AXI4, seen from the slave; a master has it flipped.

    Args:
        address_bits: the width of its addresses.
        id_bits: the width of its IDs.
        beat: bytes of a beat.
        response: what a slave answers, of two bits.
    """

    def __init__(self, address_bits: int, id_bits: int, beat: int = 4, response: ShapeLike = 2) -> None:
        self.address_bits = address_bits
        self.id_bits = id_bits
        self.beat = beat
        self.response = response
        super().__init__(
            {
                **_address("aw", address_bits, id_bits),
                "wdata": In(8 * beat),
                "wstrb": In(beat),
                "wlast": In(1),
                "wvalid": In(1),
                "wready": Out(1),
                "bid": Out(id_bits),
                "bresp": Out(response),
                "bvalid": Out(1),
                "bready": In(1),
                **_address("ar", address_bits, id_bits),
                "rid": Out(id_bits),
                "rdata": Out(8 * beat),
                "rresp": Out(response),
                "rlast": Out(1),
                "rvalid": Out(1),
                "rready": In(1),
            }
        )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.members == self.members

    def __repr__(self) -> str:
        response = "" if self.response == 2 else f", response={self.response!r}"
        return f"Axi4Signature({self.address_bits}, {self.id_bits}, {self.beat}{response})"


def _address(channel: str, address_bits: int, id_bits: int) -> dict[str, wiring.Member]:
    """The pins of a channel of addresses."""
    widths = {"id": id_bits, "addr": address_bits, "len": 8, "size": 3, "burst": 2}
    widths |= {"lock": 1, "cache": 4, "prot": 3, "qos": 4, "valid": 1}
    return {f"{channel}{name}": In(width) for name, width in widths.items()} | {f"{channel}ready": Out(1)}
