"""What lies between a session and a design's host port."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.graph import Token
from samhw.graph.numerics import Words
from samhw.graph.token import Kind

__all__ = ["TRACE_RECORD", "Ending", "Trace", "WordPort"]

Trace = list[tuple[int, Token]]
"""The tokens that left a channel, with the cycles in which they did."""

_KINDS = tuple(Kind)
TRACE_RECORD = np.dtype(
    [("cycle", "u8"), ("payload", "u4"), ("channel", "u2"), ("kind", "u1"), ("unused", "u1")]
)


@dataclass(frozen=True)
class Ending:
    """How a run ended."""

    status: str
    """`done`, `error`, or `limit` for a run that was given up."""
    error: int
    error_node: int
    cycles: int
    channels: Sequence[int]
    """The channel state words, unless the run is done."""
    seconds: float
    """Time since the start: of the processor if it is a simulation, else of the wall."""
    records: NDArray[Any] = field(default_factory=lambda: np.zeros(0, TRACE_RECORD))
    """The tokens of a trace."""

    def traces(self, channels: int) -> list[Trace]:
        """The trace of each of that many channels."""
        records = self.records[np.argsort(self.records["channel"], kind="stable")]
        ends = np.searchsorted(records["channel"], np.arange(1, channels))
        return [
            [(cycle, Token(_KINDS[kind], payload)) for cycle, payload, _, kind, _ in part.tolist()]
            for part in np.split(records, ends)
        ]


class WordPort(ABC):
    """The port of docs/host_port.md, wherever it is. Every method raises `RunError` if it cannot be
    reached."""

    @abstractmethod
    def load(self, address: int, words: ArrayLike) -> None:
        """Writes words back to back, from a byte address on."""

    @abstractmethod
    def read(self, address: int, count: int) -> Words:
        """Reads words back to back, from a byte address on."""

    @abstractmethod
    def start(self) -> None:
        """Starts a run."""

    @abstractmethod
    def wait(self, limit: int) -> Ending:
        """Waits until the run ends, at most `limit` cycles."""

    @abstractmethod
    def reset(self) -> None:
        """Takes the design back to where runs can be started."""

    @abstractmethod
    def close(self) -> None:
        """Lets it go."""
