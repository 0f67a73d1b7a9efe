"""Runs a graph's RTL under Verilator, through its AXI4-Lite port, as a host would."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, NoReturn

import jinja2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.errors import InputError, RunError
from samhw.graph import Arch, Graph, Kind, MemoryRole, Token
from samhw.graph.address_map import AddressMap, Cause, Register
from samhw.graph.deadlock import deadlock
from samhw.numerics import Words
from samhw.targets.elaborate import generate_verilog
from samhw.targets.images import stored_words
from samhw.targets.verilator import TEMPLATES, Program, Wave, build_program

__all__ = ["HardwareResult", "Session", "VerilatedDesign"]

LIMIT = 100_000_000
"""Cycles after which a run is given up, unless the caller says otherwise."""

_KINDS = tuple(Kind)
_TRACE_RECORD = np.dtype(
    [("cycle", "u8"), ("payload", "u4"), ("channel", "u2"), ("kind", "u1"), ("unused", "u1")]
)


@dataclass(frozen=True)
class HardwareResult:
    """What a run gave."""

    cycles: int
    memories: dict[str, Words]
    """The words in use of each output memory, by its name."""
    traces: dict[str, list[tuple[int, Token]]] = field(repr=False)
    """If asked for: the tokens that each channel's consumer took, with the cycles in which it did."""
    seconds: float
    """Wall-clock time from `start` to the end of the run."""


class VerilatedDesign:
    """The RTL of a graph as a program. Use `build`; `run` for one run, `session` for many.

    Args:
        verilog: the text of the top level, with the ports that docs/host_port.md describes.
        probes, stall_ports: whether the text has those ports.
        wave: the format in which the program can record every signal.
    """

    def __init__(
        self,
        graph: Graph,
        arch: Arch,
        verilog: str,
        *,
        probes: bool = False,
        stall_ports: bool = False,
        wave: Wave | None = None,
    ):
        self.graph = graph
        self.arch = arch
        self.map = AddressMap(graph, arch)
        self.probes = probes
        self.stall_ports = stall_ports
        self.wave = wave
        self.program: Program = build_program(verilog, self._glue(), wave=wave)

    @classmethod
    def build(
        cls,
        graph: Graph,
        arch: Arch,
        *,
        probes: bool = False,
        stall_ports: bool = False,
        wave: Wave | None = None,
    ) -> "VerilatedDesign":
        """Generates the RTL and builds it, or takes it from the build cache.

        Raises `InputError` if Verilator or the compiler is missing.
        """
        text = generate_verilog(graph, arch, probes=probes, stall_ports=stall_ports)
        return cls(graph, arch, text, probes=probes, stall_ports=stall_ports, wave=wave)

    @cached_property
    def stallable(self) -> list[str]:
        """The nodes with a bit of the `stall` input, in the order of the bits: roots and writers."""
        return [node.name for node in self.graph.nodes if not node.inputs or not node.outputs]

    def session(self) -> "Session":
        """A running program, for many runs in one process. Use it in a `with` statement."""
        return Session(self)

    def copy_to(self, directory: Path) -> Path:
        """Writes the program, `simulate`, into a directory. It needs no other file; it reads its commands,
        which templates/harness.cpp lists, from stdin."""
        return Path(shutil.copy2(self.program.path, directory))

    def run(
        self,
        memories: Mapping[str, ArrayLike],
        extents: Mapping[str, int],
        *,
        trace: bool = False,
        stalls: Mapping[str, ArrayLike] | None = None,
        limit: int = LIMIT,
        wave: Path | None = None,
    ) -> HardwareResult:
        """One run in a process of its own; arguments and errors as in `Session.run`."""
        with self.session() as session:
            return session.run(memories, extents, trace=trace, stalls=stalls, limit=limit, wave=wave)

    def _glue(self) -> str:
        template = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined).from_string(
            (TEMPLATES / "glue.cpp.j2").read_text()
        )
        return template.render(
            control=int(Register.CONTROL),
            status=int(Register.STATUS),
            channels=self.map.channel_states.start,
            channel_words=len(self.map.channel_states),
            probes=len(self.graph.channels) if self.probes else 0,
            stall_width=len(self.stallable) if self.stall_ports else 0,
            wave=self.wave,
        )


class Session:
    """A process that runs the design again and again. After a failed run it is back at power-on."""

    def __init__(self, design: VerilatedDesign):
        self._design = design
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([design.program.path], stdin=pipe, stdout=pipe, stderr=pipe)
        self._check_identity()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()

    def run(
        self,
        memories: Mapping[str, ArrayLike],
        extents: Mapping[str, int],
        *,
        trace: bool = False,
        stalls: Mapping[str, ArrayLike] | None = None,
        limit: int = LIMIT,
        wave: Path | None = None,
    ) -> HardwareResult:
        """Loads the input memories and the extents, runs, and reads the output memories back.

        Args:
            memories: words (non-negative integers) of the input memories; shorter than the memory is fine.
            extents: the extent of each index of the graph.
            trace: also give every token with the cycle in which it was taken. Needs `probes`.
            stalls: for a root or a writer, the cycles of the run in which it must not fire, as a list of
                booleans that repeats: in cycle c entry c modulo its length holds. Needs `stall_ports`.
            limit: cycles after which the run is given up.
            wave: a file that records every signal, loading included. Needs `wave`; the run is then the first
                one after power-on.

        Raises `InputError` for arguments that do not fit the build, and `RunError` for a run that ends in an
        error, a deadlock or at the limit.
        """
        if wave is not None:
            if not self._design.wave:
                raise InputError("This build records no waves; build it with wave='vcd' or wave='fst'.")
            self._ask("reset")
            self._ask(f"wave {wave.resolve()}")
        self._load(memories, extents)
        if self._design.stall_ports:
            self._ask("stall", self._stall_bytes(stalls or {}))
        elif stalls:
            raise InputError("This build has no stall ports; build it with stall_ports=True.")
        if trace:
            if not self._design.probes:
                raise InputError("This build has no probes; build it with probes=True.")
            self._ask("trace")
        self._ask("start")
        answer, records = self._ask(f"wait {limit}")
        if answer["status"] != "done":
            self._ask("reset")
            _fail(self._design.graph, answer, limit)
        result = HardwareResult(
            answer["cycles"], self._read(extents), self._traces(records) if trace else {}, answer["seconds"]
        )
        if wave is not None:
            self._ask("reset")
        return result

    def _check_identity(self) -> None:
        found = int(self._fetch(Register.IDENTITY, 1)[0])
        expected = self._design.map.identity
        if found != expected:
            self.close()
            raise RunError(
                f"The hardware identifies itself as {found:#010x}, but {self._design.graph.name} is "
                f"{expected:#010x}; build it again from this graph."
            )

    def _load(self, memories: Mapping[str, ArrayLike], extents: Mapping[str, int]) -> None:
        graph, map = self._design.graph, self._design.map
        for index, address in map.extents.items():
            if not 0 <= extents[index] <= graph.extents[index]:
                raise InputError(
                    f"Index {index} has extent {extents[index]:,}, but this build takes "
                    f"{graph.extents[index]:,}; rebuild with a larger shape."
                )
            self._store(address, extents[index])
        for name, content in memories.items():
            words = np.asarray(content)
            if graph.memory[name].role is not MemoryRole.INPUT:
                raise InputError(f"The memory {name} is an output of {graph.name}; leave it out.")
            if len(words) > graph.memory[name].capacity:
                raise InputError(
                    f"The memory {name} holds {graph.memory[name].capacity:,} words, not {len(words):,}; "
                    "rebuild with a larger capacity."
                )
            self._store(map.windows[name].base, words)

    def _read(self, extents: Mapping[str, int]) -> dict[str, Words]:
        graph, windows = self._design.graph, self._design.map.windows
        memories: dict[str, Words] = {}
        for tensor in graph.tensors:
            if tensor.role is MemoryRole.OUTPUT:
                memories |= stored_words(
                    graph, tensor, extents, lambda name, count: self._fetch(windows[name].base, count)
                )
        return memories

    def _fetch(self, address: int, count: int) -> Words:
        _, data = self._ask(f"read {address} {count}")
        return np.frombuffer(data, np.uint32).astype(np.int64)

    def _store(self, address: int, words: ArrayLike) -> None:
        self._ask(f"load {address}", np.asarray(words).astype(np.uint32).tobytes())

    def _stall_bytes(self, stalls: Mapping[str, ArrayLike]) -> bytes:
        stallable = self._design.stallable
        for name in stalls.keys() - set(stallable):
            raise InputError(f"Node {name!r} has no stall input; those that have are {', '.join(stallable)}.")
        patterns: list[NDArray[np.uint8]] = []
        for name in stallable:
            pattern = np.asarray(stalls.get(name, [False]), dtype=bool)
            if pattern.all():
                raise InputError(f"The stall pattern of node {name!r} never lets it fire; clear an entry.")
            patterns.append(pattern.astype(np.uint8))
        return b"".join(np.uint32(len(pattern)).tobytes() + pattern.tobytes() for pattern in patterns)

    def _traces(self, data: bytes) -> dict[str, list[tuple[int, Token]]]:
        channels = self._design.graph.channels
        records = np.frombuffer(data, _TRACE_RECORD)
        records = records[np.argsort(records["channel"], kind="stable")]
        ends = np.searchsorted(records["channel"], np.arange(1, len(channels)))
        return {
            channel.name: [
                (cycle, Token(_KINDS[kind], payload)) for cycle, payload, _, kind, _ in part.tolist()
            ]
            for channel, part in zip(channels, np.split(records, ends), strict=True)
        }

    def _ask(self, command: str, data: bytes | None = None) -> tuple[dict[str, Any], bytes]:
        """The answer to a command of templates/harness.cpp, and the bytes behind it."""
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
            raise RunError(f"The simulation under Verilator stopped: {reason}")
        answer: dict[str, Any] = json.loads(line)
        return answer, stdout.read(answer["bytes"])


def _fail(graph: Graph, answer: Mapping[str, Any], limit: int) -> NoReturn:
    """Raises the `RunError` for an answer to `wait` that is not `done`."""
    causes = Cause(answer["error"])
    if answer["status"] == "limit":
        raise RunError(f"{graph.name} did not end within {limit:,} cycles; give a greater limit.")
    if causes & Cause.DEADLOCK:
        bits = [word >> k & 1 for word in answer["channels"] for k in range(32)]
        names = [channel.name for channel in graph.channels]
        raise deadlock(graph, set(compress(names, bits[0::2])), set(compress(names, bits[1::2])))
    node = graph.nodes[answer["error_node"]].name
    cause = next(cause for cause in Cause if cause & causes)
    raise RunError(f"{str(cause.name).lower()}: node {node} {_WHAT[cause]}.")


_WHAT = {
    Cause.OVERFLOW: "has a result beyond the value type; choose a wider one",
    Cause.CAPACITY: "writes beyond its memory; rebuild with a larger capacity",
    Cause.PROTOCOL: "met streams whose structures do not agree",
    Cause.RANGE: "met a coordinate beyond the extent of its index",
}
"""How each cause reads behind the node's name."""
