"""The Python end of the commands of templates/harness.cpp, one method for each; and of processes like it."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.errors import RunError
from samhw.files import reason
from samhw.graph.numerics import Words
from samhw.processes import start
from samhw.targets.running.port import TRACE_RECORD, Ending, WordPort

__all__ = ["Answering", "Harness"]


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
