"""What lies between a session and a design's host port: among it the Python end of the commands of
templates/harness.cpp, one method for each, and of processes like it."""

import json
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.errors import RunError
from samhw.files import reason
from samhw.graph import Dram, Token
from samhw.graph.dram import NUMBERS
from samhw.graph.numerics import Words
from samhw.graph.off_chip_memory import OffChipMemory, RecordedMemory, log_head, read_log
from samhw.graph.token import Kind
from samhw.processes import start

__all__ = ["Answering", "Ending", "Harness", "Trace", "WordPort", "memory_command"]

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


class Answering:
    """A process that is given commands and answers them. Every method raises `RunError` if it stops, with its
    reason."""

    def __init__(self, program: Path):
        pipe = subprocess.PIPE
        try:
            self._process = start([program], stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise RunError(
                f"{program} cannot be run ({reason(error)}); set SAMHW_CACHE to a folder whose programs may "
                "run."
            ) from None

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()

    def ask(self, command: str, data: bytes | None = None) -> tuple[dict[str, Any], bytes]:
        """The answer to a command, and the bytes after it."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            if data is None:
                stdin.write(f"{command}\n".encode())
            else:
                stdin.write(f"{command} {len(data)}\n".encode() + data)
            stdin.flush()
            line = stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            _, message = self._process.communicate()
            reason = message.decode().strip() or f"exit code {self._process.returncode}"
            raise RunError(f"The simulation stopped: {reason}")
        answer: dict[str, Any] = json.loads(line)
        return answer, stdout.read(answer["bytes"])


def memory_command(memory: OffChipMemory) -> tuple[str, bytes | None]:
    """The command that says what the memories off the chip are, and the data after it, if it has some."""
    if isinstance(memory, RecordedMemory):
        entries = read_log(memory.path, memory.ports)
        numbers = (
            (entry.master, int(entry.write), entry.address, entry.offered, entry.accepted, *entry.answers)
            for entry in entries
        )
        return "log", "".join(" ".join(map(str, line)) + "\n" for line in numbers).encode()
    words = memory.name.replace(":", " ")
    if isinstance(memory, Dram):
        own = {name: getattr(memory, name) for name in NUMBERS}
        own["channels"] //= memory.ports.masters
        words = " ".join(["dram", *map(str, own.values())])
    return f"memory {words}", None


class Harness(Answering, WordPort):
    """A process that runs a design.

    Attributes:
        cycles: those in which words went in or out.
    """

    def __init__(self, program: Path):
        super().__init__(program)
        self.cycles = 0

    def load(self, address: int, words: ArrayLike) -> None:
        """Writes words back to back, from a byte address on."""
        answer, _ = self.ask(f"load {address}", np.asarray(words).astype(np.uint32).tobytes())
        self.cycles += answer["host_cycles"]

    def read(self, address: int, count: int) -> Words:
        """Reads words back to back, from a byte address on."""
        answer, data = self.ask(f"read {address} {count}")
        self.cycles += answer["host_cycles"]
        return np.frombuffer(data, np.uint32).astype(np.int64)

    def start(self) -> None:
        """Starts a run."""
        self.ask("start")

    def wait(self, limit: int) -> Ending:
        """Clocks until the run ends, at most `limit` cycles."""
        answer, data = self.ask(f"wait {limit}")
        del answer["bytes"]
        return Ending(**answer, records=np.frombuffer(data, TRACE_RECORD))

    def load_memory(self, master: int, address: int, data: bytes) -> None:
        """Writes into the memory of a master, past the design."""
        self.ask(f"load-memory {master} {address}", data)

    def read_memory(self, master: int, address: int, count: int) -> bytes:
        """Reads that many bytes of the memory of a master, past the design."""
        return self.ask(f"read-memory {master} {address} {count}")[1]

    def memory(self, memory: OffChipMemory) -> None:
        """For the next runs: what the memories off the chip are."""
        self.ask(*memory_command(memory))

    def memory_log(self, memory: OffChipMemory) -> str:
        """The log of the last run, with that memory."""
        return f"{log_head(memory)}\n{self.ask('memory-log')[1].decode()}"

    def stall(self, patterns: Sequence[NDArray[np.bool_]]) -> None:
        """For the next run: a pattern over its cycles, which repeats, for each bit of `stall`."""
        data = b"".join(np.uint32(len(p)).tobytes() + p.astype(np.uint8).tobytes() for p in patterns)
        self.ask("stall", data)

    def trace(self) -> None:
        """For the next run: record all tokens."""
        self.ask("trace")

    def wave(self, path: Path) -> None:
        """Until the next reset: record every signal."""
        self.ask(f"wave {path.resolve()}")

    def reset(self) -> None:
        """Takes the design back to power-on."""
        self.ask("reset")
