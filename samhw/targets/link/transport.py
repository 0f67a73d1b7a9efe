"""What carries bytes between host and board: anything that reads and writes them, or a serial port."""

from abc import ABC, abstractmethod
from types import ModuleType
from typing import Any, Self

from samhw.errors import InputError, RunError

__all__ = ["SerialPort", "Transport"]


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
