"""Where the words of an array lie in lines and beats, as the hardware of a port needs it."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import Out
from amaranth.utils import ceil_log2, exact_log2

__all__ = ["Geometry", "RequestSignature", "Spot"]


class RequestSignature(wiring.Signature):
    """The requests of a port, seen from the port.

    Members:
        made: a request is made in this cycle.
        line: the lines of the requests that no master has taken, in order, each from the next cycle on.
    """

    def __init__(self, line_bits: int):
        super().__init__({"made": Out(1), "line": Out(stream.Signature(line_bits))})


@dataclass(frozen=True)
class Spot:
    """Where an access begins: `line`, the beat in the line, and the piece in the beat."""

    line: Value
    beat: Value
    piece: Value


@dataclass(frozen=True)
class Geometry:
    """The numbers of a port and of its array; see `Ports` and `PlacedArray` of samhw.graph.off_chip.

    Args:
        width: bits of a place as a node sees it.
    """

    line: int
    beat: int
    lines: int
    ahead: int
    queue: int
    places: int
    place: int
    words: int
    word: int
    width: int

    @property
    def piece(self) -> int:
        """Bytes that an access moves: a place, or as much of it as a beat holds."""
        return min(self.place, self.beat)

    @property
    def accesses(self) -> int:
        """Accesses to a place: k."""
        return self.place // self.piece

    @property
    def beats(self) -> int:
        """Beats of a line: B."""
        return self.line // self.beat

    @property
    def pieces(self) -> int:
        """Pieces of a beat."""
        return self.beat // self.piece

    @property
    def stored_lines(self) -> int:
        """Lines that the array takes."""
        return -(-self.places * self.place // self.line)

    @property
    def line_bits(self) -> int:
        """Bits of the number of a line of the array."""
        return max(1, int(ceil_log2(self.stored_lines)))

    @property
    def number_bits(self) -> int:
        """Bits by which the numbers of requests are told apart: one more than those of a line in storage."""
        return int(exact_log2(self.lines)) + 1

    @property
    def beat_bits(self) -> int:
        """Bits of the number of a beat in a line."""
        return int(exact_log2(self.beats))

    @property
    def piece_bits(self) -> int:
        """Bits of the number of a piece in a beat."""
        return int(exact_log2(self.pieces))

    @property
    def spot(self) -> data.StructLayout:
        """Where a piece lies in storage: the number of its line, its beat, and its place there."""
        return data.StructLayout(
            {"piece": self.piece_bits, "beat": self.beat_bits, "number": self.number_bits}
        )

    def find(self, place: Value, part: Value) -> Spot:
        """Where an access to a part of a place begins."""
        bits = self.piece_bits + self.beat_bits
        index = Cat(part[: exact_log2(self.accesses)], place, Const(0, bits + self.line_bits))
        return Spot(
            line=index[bits : bits + self.line_bits],
            beat=index[self.piece_bits : bits],
            piece=index[: self.piece_bits],
        )

    def packed(self, value: Value) -> Value:
        """A place as it is stored: each word in bytes of its own."""
        bits = self.width // self.words
        words = [value[n * bits : (n + 1) * bits] for n in range(self.words)]
        padding = Const(0, 8 * self.word - bits)
        padded = Cat(Cat(word, padding) for word in words)
        return Cat(padded, Const(0, 8 * (self.place - self.words * self.word)))

    def unpacked(self, stored: Value) -> Value:
        """A place as a node sees it."""
        bits = self.width // self.words
        return Cat(stored[8 * self.word * n :][:bits] for n in range(self.words))
