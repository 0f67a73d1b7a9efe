"""Runs a design's RTL under Verilator, through its AXI4-Lite port, as a host would."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypedDict, Unpack

import jinja2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.errors import InputError, RunError
from samhw.graph import Arch, Design, Graph, MemoryRole, Node
from samhw.graph.address_map import AddressMap, Cause, Register
from samhw.graph.deadlock import deadlock
from samhw.numerics import Words
from samhw.sim.fault import DISORDERED
from samhw.targets.elaborate import generate_verilog
from samhw.targets.harness import Ending, Harness, Trace
from samhw.targets.images import stored_words
from samhw.targets.verilator import TEMPLATES, BuiltProgram, Wave, build_program

__all__ = ["HardwareResult", "Session", "VerilatedDesign"]

LIMIT = 100_000_000
"""Cycles after which a run is given up, unless the caller says otherwise."""


@dataclass(frozen=True)
class HardwareResult:
    """What a run gave."""

    cycles: int
    region_cycles: tuple[int, ...]
    """The cycles of each region by itself, if less than 2^32; `cycles` has one more for each change."""
    memories: dict[str, Words]
    """The words in use of each output memory, and of each buffer if asked for, by its name."""
    traces: dict[str, Trace] = field(repr=False)
    """If asked for: the tokens that each channel's consumer took, with the cycles in which it did. By
    `Design.label` of the channel."""
    seconds: float
    """Processor time from `start` to the end of the run."""


class RunOptions(TypedDict, total=False):
    """What `Session.run` takes beside data."""

    trace: bool
    stalls: Mapping[str, ArrayLike] | None
    buffers: bool
    limit: int
    wave: Path | None


class VerilatedDesign:
    """The RTL of a design as a program. Use `build`; `run` for one run, `session` for many.

    Args:
        verilog: the text of the top level, with the ports that docs/host_port.md describes.
        probes, stall_ports: whether the text has those ports.
        wave: the format in which the program can record every signal.
        optimise: build for speed, which pays for runs of millions of cycles.
    """

    def __init__(
        self,
        design: Design,
        arch: Arch,
        verilog: str,
        *,
        probes: bool = False,
        stall_ports: bool = False,
        wave: Wave | None = None,
        optimise: bool = False,
    ):
        self.design = design
        self.arch = arch
        self.map = AddressMap(design, arch)
        self.probes = probes
        self.stall_ports = stall_ports
        self.wave = wave
        self.program: BuiltProgram = build_program(verilog, self._glue(), wave=wave, optimise=optimise)

    @classmethod
    def build(
        cls,
        design: Design,
        arch: Arch,
        *,
        probes: bool = False,
        stall_ports: bool = False,
        wave: Wave | None = None,
        optimise: bool = False,
    ) -> "VerilatedDesign":
        """Generates the RTL and builds it, or takes it from the build cache; options as for the class.

        Raises `InputError` if Verilator or the compiler is missing.
        """
        text = generate_verilog(design, arch, probes=probes, stall_ports=stall_ports)
        return cls(design, arch, text, probes=probes, stall_ports=stall_ports, wave=wave, optimise=optimise)

    @cached_property
    def stallable(self) -> list[str]:
        """The nodes with a bit of the `stall` input, in the order of the bits: roots and writers, by
        `Design.label`."""
        return [
            self.design.label(region, node.name)
            for region, node in self.design.nodes
            if not node.inputs or not node.outputs
        ]

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
        **options: Unpack[RunOptions],
    ) -> HardwareResult:
        """One run in a process of its own; arguments and errors as in `Session.run`."""
        with self.session() as session:
            return session.run(memories, extents, **options)

    def _glue(self) -> str:
        template = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined).from_string(
            (TEMPLATES / "glue.cpp.j2").read_text()
        )
        return template.render(
            control=int(Register.CONTROL),
            status=int(Register.STATUS),
            channels=self.map.channel_states.start,
            channel_words=len(self.map.channel_states),
            probes=len(self.design.channels) if self.probes else 0,
            stall_width=len(self.stallable) if self.stall_ports else 0,
            wave=self.wave,
        )


class Session:
    """A process that runs the design again and again. After a failed run it is back at power-on."""

    def __init__(self, rtl: VerilatedDesign):
        self._rtl = rtl
        self._harness = Harness(rtl.program.path)
        self._check_identity()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process."""
        self._harness.close()

    def run(
        self,
        memories: Mapping[str, ArrayLike],
        extents: Mapping[str, int],
        *,
        trace: bool = False,
        stalls: Mapping[str, ArrayLike] | None = None,
        buffers: bool = False,
        limit: int = LIMIT,
        wave: Path | None = None,
    ) -> HardwareResult:
        """Loads the input memories and the extents, runs, and reads the output memories back.

        Args:
            memories: words (non-negative integers) of the input memories; shorter than the memory is fine.
            extents: the extent of each index of the design.
            trace: also give every token with the cycle in which it was taken. Needs `probes`.
            stalls: for a root or a writer, by `Design.label`, the cycles of the run in which it must not
                fire, as a list of booleans that repeats: in cycle c entry c modulo its length holds. Needs
                `stall_ports`.
            buffers: also read back what the regions have passed on to each other.
            limit: cycles after which the run is given up.
            wave: a file that records every signal, loading included. Needs `wave`; the run is then the first
                one after power-on.

        Raises `InputError` for arguments that do not fit the build, and `RunError` for a run that ends in an
        error, a deadlock or at the limit.
        """
        rtl, harness = self._rtl, self._harness
        self._check_options(trace, bool(stalls), wave is not None)
        self._check_data(memories, extents)
        patterns = self._stall_patterns(stalls) if stalls else None
        if wave is not None:
            harness.reset()
            harness.wave(wave)
        for index, address in rtl.map.extents.items():
            harness.load(address, extents[index])
        for name, words in memories.items():
            harness.load(rtl.map.windows[name].base, words)
        if patterns is not None:
            harness.stall(patterns)
        if trace:
            harness.trace()
        harness.start()
        ending = harness.wait(limit)
        ends = harness.read(rtl.map.region_ends.start, len(rtl.map.region_ends))
        if ending.status != "done":
            harness.reset()
            raise _failure(rtl.design, ending, int(np.count_nonzero(ends)), limit)
        result = HardwareResult(
            ending.cycles,
            _region_cycles(ends),
            self._read(extents, buffers),
            self._traces(ending) if trace else {},
            ending.seconds,
        )
        if wave is not None:
            harness.reset()
        return result

    def _check_identity(self) -> None:
        found = int(self._harness.read(Register.IDENTITY, 1)[0])
        expected = self._rtl.map.identity
        if found != expected:
            self.close()
            raise RunError(
                f"The hardware identifies itself as {found:#010x}, but {self._rtl.design.name} is "
                f"{expected:#010x}; build it again from this graph."
            )

    def _check_options(self, trace: bool, stalls: bool, wave: bool) -> None:
        if wave and not self._rtl.wave:
            raise InputError("This build records no waves; build it with wave='vcd' or wave='fst'.")
        if stalls and not self._rtl.stall_ports:
            raise InputError("This build has no stall ports; build it with stall_ports=True.")
        if trace and not self._rtl.probes:
            raise InputError("This build has no probes; build it with probes=True.")

    def _check_data(self, memories: Mapping[str, ArrayLike], extents: Mapping[str, int]) -> None:
        design = self._rtl.design
        for index, greatest in design.extents.items():
            if index not in extents:
                raise InputError(f"The extent of index {index} is missing; give one up to {greatest:,}.")
            if not 0 <= extents[index] <= greatest:
                raise InputError(
                    f"Index {index} has extent {extents[index]:,}, but this build takes {greatest:,}; "
                    "rebuild with a larger shape."
                )
        inputs = {memory.name: memory for memory in design.memories if memory.role is MemoryRole.INPUT}
        for name, words in memories.items():
            if name not in inputs:
                raise InputError(f"{design.name} has no input memory {name!r}; it has {', '.join(inputs)}.")
            if np.size(words) > inputs[name].capacity:
                raise InputError(
                    f"The memory {name} holds {inputs[name].capacity:,} words, not {np.size(words):,}; "
                    "rebuild with a larger capacity (--capacity)."
                )

    def _stall_patterns(self, stalls: Mapping[str, ArrayLike]) -> list[NDArray[np.bool_]]:
        stallable = self._rtl.stallable
        for name in stalls.keys() - set(stallable):
            raise InputError(f"Node {name!r} has no stall input; those that have are {', '.join(stallable)}.")
        patterns = [np.asarray(stalls.get(name, [False]), dtype=bool) for name in stallable]
        for name, pattern in zip(stallable, patterns, strict=True):
            if pattern.all():
                raise InputError(f"The stall pattern of node {name!r} never lets it fire; clear an entry.")
        return patterns

    def _read(self, extents: Mapping[str, int], buffers: bool) -> dict[str, Words]:
        design, windows = self._rtl.design, self._rtl.map.windows
        roles = {MemoryRole.OUTPUT, MemoryRole.BUFFER} if buffers else {MemoryRole.OUTPUT}
        memories: dict[str, Words] = {}
        for tensor in design.tensors:
            if tensor.role in roles:
                memories |= stored_words(
                    design.memory,
                    tensor,
                    extents,
                    lambda name, count: self._harness.read(windows[name].base, count),
                )
        return memories

    def _traces(self, ending: Ending) -> dict[str, Trace]:
        design = self._rtl.design
        traces = ending.traces(len(design.channels))
        return {
            design.label(region, channel.name): trace
            for (region, channel), trace in zip(design.channels, traces, strict=True)
        }


def _region_cycles(ends: Words) -> tuple[int, ...]:
    """From the cycles of the run, modulo 2^32, in which its regions ended. Each but the first starts in the
    cycle behind the end of the one before it."""
    starts = np.concatenate([[0], ends[:-1] + 1])
    return tuple(int(cycles) for cycles in (ends - starts) % (1 << 32))


def _failure(design: Design, ending: Ending, ended: int, limit: int) -> RunError:
    """The error for a run that is not done, in the words of the simulator. `ended`: how many regions came to
    their end."""
    if ending.status == "limit":
        return RunError(f"{design.name} did not end within {limit:,} cycles; give a greater limit.")
    causes = Cause(ending.error)
    if causes == Cause.DEADLOCK:
        region = design.sequence[ended].region
        error: RunError = _deadlock(design, region, ending)
    else:
        region, node = design.nodes[ending.error_node]
        cause = next(cause for cause in _FAILURES if cause & causes)
        error = _fault(design.regions[region], node, cause)
    return error.within(f"Region {design.regions[region].name}") if len(design.runs) > 1 else error


def _deadlock(design: Design, region: int, ending: Ending) -> RunError:
    bits = [word >> k & 1 for word in ending.channels for k in range(32)]
    empty, full = (
        {
            channel.name
            for (number, channel), bit in zip(design.channels, states, strict=False)
            if bit and number == region
        }
        for states in (bits[0::2], bits[1::2])
    )
    return deadlock(design.regions[region], empty, full)


def _fault(graph: Graph, node: Node, cause: Cause) -> RunError:
    where = f"{str(cause.name).lower()} at node {node.name!r}"
    if cause == Cause.PROTOCOL and node.spec.finds_disorder:
        return RunError(f"{where}: {DISORDERED}")
    return RunError(f"{where}: {_FAILURES[cause].format(value=graph.result_type(node))}")


_FAILURES = {
    Cause.OVERFLOW: "a result leaves the range of {value}; scale the data or choose a wider --value.",
    Cause.CAPACITY: "its memory is full; build with a greater capacity (--capacity).",
    Cause.RANGE: (
        "a coordinate or reference lies beyond its extent or memory; "
        "check the tensors and extents of this run."
    ),
    Cause.PROTOCOL: ("its input streams do not agree in structure; feed it streams of one iteration space."),
}
