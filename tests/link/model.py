"""A board in Python, from docs/link.md: what answers a client without any hardware."""

import struct
import zlib

from samhw.errors import RunError
from samhw.targets.link import Transport

__all__ = ["ModelBoard"]

MOST = 511


class ModelBoard(Transport):
    """A board with some words of memory at its port, and the line to it.

    Attributes:
        words: by address; others are refused.
        writes: addresses in the order in which they were written.
        lose: how many of the next requests do not arrive; `lose_answers` the same of answers.
    """

    name = "the model"
    baud = 1_000_000
    latency = 0.0

    def __init__(self) -> None:
        self.words = dict.fromkeys(range(0, 8192, 4), 0)
        self.writes: list[int] = []
        self.lose = self.lose_answers = 0
        self.build = 0x1234_5678
        self.unplugged = False
        self.restart()

    def restart(self) -> None:
        """As a reset does it."""
        self.greeted = False
        self.last = -1
        self.line = b""

    def send(self, data: bytes) -> None:
        if self.unplugged:
            raise RunError("gone")
        for part in data.split(b"~"):
            body = bytearray()
            escaped = False
            for byte in part:
                if byte == 0x7D and not escaped:
                    escaped = True
                    continue
                body.append(byte ^ 0x20 if escaped else byte)
                escaped = False
            if len(body) >= 12 and zlib.crc32(body[:-4]) == int.from_bytes(body[-4:], "little"):
                if self.lose:
                    self.lose -= 1
                else:
                    self._answer(bytes(body[:-4]))

    def receive(self, timeout: float) -> bytes:
        found, self.line = self.line, b""
        return found

    def discard(self) -> None:
        self.line = b""

    def close(self) -> None:
        self.unplugged = True

    def _answer(self, request: bytes) -> None:
        number, command, count, address = struct.unpack("<BBHI", request[:8])
        words = [w for (w,) in struct.iter_unpack("<I", request[8:])]
        content = bytes([number]) + self._do(number, command, count, address, words)
        if self.lose_answers:
            self.lose_answers -= 1
            return
        body = content + zlib.crc32(content).to_bytes(4, "little")
        escaped = b"".join(bytes([0x7D, b ^ 0x20]) if b in b"}~" else bytes([b]) for b in body)
        self.line += b"~" + escaped + b"~"

    def _do(self, number: int, command: int, count: int, address: int, words: list[int]) -> bytes:
        if command == 1 and count == 0 and not words:
            self.greeted = True
            self.last = number
            return struct.pack("<IIB", 1, self.build, 0)
        writes = command in (4, 5)
        if not 2 <= command <= 5 or not 0 < count <= MOST or len(words) != (count if writes else 0):
            return b"\2"
        if not self.greeted:
            return b"\3"
        places = [address + (0 if command in (3, 5) else 4 * k) for k in range(count)]
        refused = any(place not in self.words for place in places)
        if writes:
            if number != self.last:
                self.writes += places
                self.words.update((p, w) for p, w in zip(places, words, strict=True) if p in self.words)
            self.last = number
            return bytes([refused])
        self.last = number
        return struct.pack(f"<{count}I", *(self.words.get(place, 0) for place in places)) + bytes([refused])
