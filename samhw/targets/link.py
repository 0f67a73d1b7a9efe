"""The host's end of the link of docs/link.md: what carries bytes to a board, and what reads and writes words
at a design's port through a line that may fail."""

import random
import struct
import zlib
from abc import ABC, abstractmethod
from enum import IntEnum
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.errors import InputError, RunError

__all__ = ["MOST_WORDS", "Client", "Decoder", "SerialPort", "Transport", "encode", "load_pyserial"]


class Transport(ABC):
    """A line to a board.

    Attributes:
        name: what a user calls it.
        baud: bits a second.
        latency: seconds by which bytes may come late, there and back together.
    """

    name: str
    baud: int
    latency: float

    @abstractmethod
    def send(self, data: bytes) -> None:
        """Sends bytes; returns when they are on their way.

        Raises:
            RunError: the line is gone.
        """

    @abstractmethod
    def receive(self, timeout: float) -> bytes:
        """What has come; if that is nothing, what comes next, or nothing if that takes longer than `timeout`
        seconds.

        Raises:
            RunError: the line is gone.
        """

    @abstractmethod
    def discard(self) -> None:
        """Forgets what has come."""

    @abstractmethod
    def close(self) -> None:
        """Lets the line go."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def seconds(self, count: int) -> float:
        """How long this many bytes take on the line."""
        return 10 * count / self.baud


# A serial port of this machine, through pyserial.


class SerialPort(Transport):
    """A real cable.

    Args:
        name: of the port, such as /dev/ttyUSB0, or a URL of pyserial's.
        baud: of the build that the board holds.

    Raises:
        InputError: pyserial is not installed, there is no such port, or somebody else has it.
    """

    latency = 0.25
    """USB adapters hold bytes back for up to 16 ms, and systems for longer."""

    def __init__(self, name: str, baud: int):
        self.name = name
        self.baud = baud
        self._errors: tuple[type[Exception], ...] = (load_pyserial().SerialException, OSError)
        try:
            self._port: Any = load_pyserial().serial_for_url(name, baudrate=baud, timeout=0, exclusive=True)
        except (*self._errors, ValueError) as error:
            raise InputError(
                f"The port {name} cannot be opened ({error}); look whether the cable is plugged in, and give "
                "the port that appears with it as --port."
            ) from None

    def send(self, data: bytes) -> None:
        try:
            self._port.write(data)
        except self._errors as error:
            raise self._gone(error) from None

    def receive(self, timeout: float) -> bytes:
        try:
            self._port.timeout = timeout
            first: bytes = self._port.read(1)
            return first + self._port.read(self._port.in_waiting) if first else b""
        except self._errors as error:
            raise self._gone(error) from None

    def discard(self) -> None:
        try:
            self._port.reset_input_buffer()
        except self._errors as error:
            raise self._gone(error) from None

    def close(self) -> None:
        self._port.close()

    def _gone(self, error: Exception) -> RunError:
        return RunError(
            f"The port {self.name} is gone ({error}); plug the cable in again, and repeat the run."
        )


def load_pyserial() -> ModuleType:
    """The package of serial ports; raises `InputError` if it is not installed."""
    try:
        import serial
    except ImportError:
        raise InputError("pyserial was not found; install it with pip install 'samhw[board]'.") from None
    return serial  # type: ignore[no-any-return,unused-ignore]


# Frames (docs/link.md, "Frames").


_FLAG = b"\x7e"
_ESCAPE = b"\x7d"
_CRC_BYTES = 4


def encode(content: bytes) -> bytes:
    """The bytes of the line for a frame."""
    body = content + zlib.crc32(content).to_bytes(_CRC_BYTES, "little")
    for special in (_ESCAPE, _FLAG):
        body = body.replace(special, _ESCAPE + bytes([special[0] ^ 0x20]))
    return _FLAG + body + _FLAG


class Decoder:
    """Finds frames in bytes that come piece by piece."""

    def __init__(self) -> None:
        self._rest = b""
        self._begun = False

    def feed(self, data: bytes) -> list[bytes]:
        """The contents of the frames that end with these bytes; damaged ones are left out."""
        *ended, self._rest = (self._rest + data).split(_FLAG)
        if ended and not self._begun:
            # What comes before the first flag is the end of something older.
            self._begun = True
            ended = ended[1:]
        return [content for part in ended if (content := _content(part)) is not None]


def _content(part: bytes) -> bytes | None:
    """What a frame contains; None if it is damaged."""
    first, *others = part.split(_ESCAPE)
    if not all(others):
        return None
    body = first + b"".join(bytes([other[0] ^ 0x20]) + other[1:] for other in others)
    content, crc = body[:-_CRC_BYTES], body[-_CRC_BYTES:]
    good = len(body) > _CRC_BYTES and zlib.crc32(content) == int.from_bytes(crc, "little")
    return content if good else None


MOST_WORDS = 511
"""Of a request."""

_VERSION = 1
_ATTEMPTS = 10


class _Command(IntEnum):
    HELLO = 1
    READ = 2
    READ_FIXED = 3
    WRITE = 4
    WRITE_FIXED = 5


class _Status(IntEnum):
    OK = 0
    REFUSED = 1
    BAD = 2
    LOST = 3


class Client:
    """The host of a board. Greet it first.

    Args:
        transport: the line to it.

    Attributes:
        greeted: the board has answered HELLO, and every request since.
        repeats: how often a request had to be sent again.

    Every method raises `RunError` if nothing answers, or if the board was reset since it was greeted.
    """

    def __init__(self, transport: Transport):
        self.transport = transport
        self.greeted = False
        self.repeats = 0
        self._number = random.randrange(256)
        self._decoder = Decoder()

    def hello(self) -> int:
        """Resets the design, and gives the build of the bitstream."""
        self.transport.discard()
        version, build = self._ask(_Command.HELLO, 0, 0, answer=2).tolist()
        if version != _VERSION:
            raise RunError(
                f"The board at {self.transport.name} speaks version {version} of the link, not {_VERSION}; "
                "build its bitstream again."
            )
        self.greeted = True
        return int(build)

    def read(self, address: int, count: int, *, fixed: bool = False) -> NDArray[np.uint32]:
        """Words back to back, from a byte address on; `fixed`: one address again and again."""
        command = _Command.READ_FIXED if fixed else _Command.READ
        parts = [np.zeros(0, np.uint32)]
        for begin in range(0, count, MOST_WORDS):
            size = min(MOST_WORDS, count - begin)
            parts.append(self._ask(command, address + (0 if fixed else 4 * begin), size, answer=size))
        return np.concatenate(parts)

    def write(self, address: int, words: ArrayLike, *, fixed: bool = False) -> None:
        """Writes words back to back, from a byte address on; `fixed`: to one address, one after another."""
        command = _Command.WRITE_FIXED if fixed else _Command.WRITE
        data = np.atleast_1d(np.asarray(words)).astype("<u4")
        for begin in range(0, len(data), MOST_WORDS):
            part = data[begin : begin + MOST_WORDS]
            self._ask(command, address + (0 if fixed else 4 * begin), len(part), part.tobytes())

    def close(self) -> None:
        """Lets the line go."""
        self.transport.close()

    def _ask(
        self, command: _Command, address: int, count: int, words: bytes = b"", *, answer: int = 0
    ) -> NDArray[np.uint32]:
        """The words of the answer to a request, of which there have to be `answer`."""
        greeted, self.greeted = self.greeted, False
        self._number = (self._number + 1) % 256
        frame = encode(struct.pack("<BBHI", self._number, command, count, address) + words)
        for attempt in range(_ATTEMPTS):
            self.repeats += attempt > 0
            self.transport.send(frame)
            content = self._answer(frame, answer)
            if content is not None:
                break
        else:
            raise RunError(
                f"The board at {self.transport.name} does not answer; look whether the cable is plugged in, "
                f"and whether the board holds a bitstream of samhw for {self.transport.baud:,} baud."
            )
        status = _Status(content[-1])
        if status is _Status.LOST:
            raise RunError(
                f"The board at {self.transport.name} was reset in the middle of a session, so that its data "
                "are lost; repeat the run."
            )
        if status is not _Status.OK:
            what = "writes" if words else "reads"
            raise RunError(
                f"The board at {self.transport.name} refuses {what} of {count} words at address "
                f"{address:#x}; build its bitstream again from this program."
            )
        self.greeted = greeted
        return np.frombuffer(content[1:-1], "<u4").astype(np.uint32)

    def _answer(self, request: bytes, words: int) -> bytes | None:
        """The content of the answer with the present number; None if there is none in time."""
        transport = self.transport
        longest = len(encode(bytes(2 + 4 * words))) * 2  # Every byte may be escaped.
        patience = transport.seconds(len(request) + longest) + transport.latency
        left = 4 * longest + 1000  # A line that never falls silent is no answer either.
        while left > 0 and (data := transport.receive(patience)):
            left -= len(data)
            for content in self._decoder.feed(data):
                if self._is_answer(content, words):
                    return content
        return None

    def _is_answer(self, content: bytes, words: int) -> bool:
        if len(content) < 2 or content[0] != self._number or content[-1] > max(_Status):
            return False
        done = content[-1] in (_Status.OK, _Status.REFUSED)
        return len(content) == 2 + (4 * words if done else 0)
