"""What carries bytes between host and board."""

from abc import ABC, abstractmethod
from typing import Self

__all__ = ["Transport"]


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
