"""Runs a design's RTL under Verilator, through its AXI4-Lite port, as a host would."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.errors import InputError
from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions
from samhw.graph.address_map import AddressMap
from samhw.graph.off_chip import OffChipLayout
from samhw.graph.off_chip_memory import OffChipMemory
from samhw.targets.boards import SDRAM_MODEL
from samhw.targets.building.build_cache import BuiltProgram
from samhw.targets.building.elaborate import generate_verilog
from samhw.targets.building.simulators import glue
from samhw.targets.building.verilator import Wave, build_program
from samhw.targets.running.harness_session import HarnessSession
from samhw.targets.running.port import Trace
from samhw.targets.running.session import LIMIT, HardwareResult, check_data
from samhw.words import did_you_mean

__all__ = ["VerilatedDesign", "VerilatedSession"]


class RunOptions(TypedDict, total=False):
    """What `Session.run` takes beside data."""

    trace: bool
    stalls: Mapping[str, ArrayLike] | None
    buffers: bool
    limit: int
    wave: Path | None
    memory: OffChipMemory | None
    memory_log: Path | None


class VerilatedDesign:
    """The RTL of a design as a program. Use `build`; `run` for one run, `session` for many.

    Args:
        verilog: the text of the top level, with the ports that docs/host_port.md describes.
        probes, stall_ports: whether the text has those ports.
        wave: the format in which the program can record every signal.
        optimise: build for speed, which pays for runs of millions of cycles.
        host: the choices of its port.
        layout: what of the tensors lies off the chip.
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
        host: HostOptions = PLAIN_HOST,
        layout: OffChipLayout | None = None,
    ):
        self.host = host
        self.layout = layout
        self.design = design
        self.arch = arch
        self.map = AddressMap(design, arch, host, layout)
        self.probes = probes
        self.stall_ports = stall_ports
        self.wave = wave
        if layout is not None and layout.chip is not None:
            verilog += SDRAM_MODEL.read_text(encoding="utf-8")
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
        host: HostOptions = PLAIN_HOST,
        layout: OffChipLayout | None = None,
    ) -> "VerilatedDesign":
        """Generates the RTL and builds it, or takes it from the build cache; options as for the class.

        Raises `InputError` if Verilator or the compiler is missing.
        """
        if probes and any(memory.block for memory in design.memories):
            raise InputError("The RTL's traces have no room for blocks; trace them in the simulator.")
        text = generate_verilog(
            design, arch, probes=probes, stall_ports=stall_ports, host=host, layout=layout
        )
        return cls(
            design,
            arch,
            text,
            probes=probes,
            stall_ports=stall_ports,
            wave=wave,
            optimise=optimise,
            host=host,
            layout=layout,
        )

    @cached_property
    def stallable(self) -> list[str]:
        """The nodes with a bit of the `stall` input, in the order of the bits: roots and writers, by
        `Design.label`."""
        return [
            self.design.label(region, node.name)
            for region, node in self.design.nodes
            if not node.inputs or not node.outputs
        ]

    def session(self) -> "VerilatedSession":
        """A running program, for many runs in one process. Use it in a `with` statement."""
        return VerilatedSession(self)

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
        """One run in a process of its own; arguments and errors as in `VerilatedSession.run`."""
        with self.session() as session:
            return session.run(memories, extents, **options)

    def _glue(self) -> str:
        return glue(
            "glue.cpp.j2",
            self.design,
            self.arch,
            self.host,
            self.layout,
            probes=len(self.design.channels) if self.probes else 0,
            stall_width=len(self.stallable) if self.stall_ports else 0,
            wave=self.wave,
        )


class VerilatedSession(HarnessSession):
    """A process that runs the design again and again. After a failed run it is back at power-on."""

    def __init__(self, rtl: VerilatedDesign):
        self._rtl = rtl
        super().__init__(rtl.design, rtl.arch, rtl.program.path, rtl.host, rtl.layout)

    def run(
        self,
        memories: Mapping[str, ArrayLike],
        extents: Mapping[str, int],
        *,
        buffers: bool = False,
        limit: int = LIMIT,
        trace: bool = False,
        stalls: Mapping[str, ArrayLike] | None = None,
        wave: Path | None = None,
        memory: OffChipMemory | None = None,
        memory_log: Path | None = None,
    ) -> HardwareResult:
        """As of `HarnessSession`, with more to choose.

        Args:
            memories, extents, buffers, limit, memory, memory_log: as of `HarnessSession.run`.
            trace: also give every token with the cycle in which it was taken. Needs `probes`.
            stalls: for a root or a writer, by `Design.label`, the cycles of the run in which it must not
                fire, as a list of booleans that repeats: in cycle c entry c modulo its length holds. Needs
                `stall_ports`.
            wave: a file that records every signal, loading included. Needs `wave`; the run is then the first
                one after power-on.

        Raises `InputError` and `RunError` as `Session.run` does.
        """
        harness = self.port
        self._check_options(trace, bool(stalls), wave is not None)
        check_data(self.design, memories, extents)
        patterns = self._stall_patterns(stalls) if stalls else None
        if wave is not None:
            harness.reset()
            harness.wave(wave)
        if patterns is not None:
            harness.stall(patterns)
        if trace:
            harness.trace()
        result = super().run(
            memories, extents, buffers=buffers, limit=limit, memory=memory, memory_log=memory_log
        )
        if trace:
            result = replace(result, traces=self._traces())
        if wave is not None:
            harness.reset()
        return result

    def _check_options(self, trace: bool, stalls: bool, wave: bool) -> None:
        if wave and not self._rtl.wave:
            raise InputError("This build records no waves; build it with wave='vcd' or wave='fst'.")
        if stalls and not self._rtl.stall_ports:
            raise InputError("This build has no stall ports; build it with stall_ports=True.")
        if trace and not self._rtl.probes:
            raise InputError("This build has no probes; build it with probes=True.")

    def _stall_patterns(self, stalls: Mapping[str, ArrayLike]) -> list[NDArray[np.bool_]]:
        stallable = self._rtl.stallable
        for name in stalls.keys() - set(stallable):
            raise InputError(
                f"Node {name!r} has no stall input{did_you_mean(name, stallable)}; those that have are "
                f"{', '.join(stallable)}."
            )
        patterns = [np.asarray(stalls.get(name, [False]), dtype=bool) for name in stallable]
        for name, pattern in zip(stallable, patterns, strict=True):
            if pattern.all():
                raise InputError(f"The stall pattern of node {name!r} never lets it fire; clear an entry.")
        return patterns

    def _traces(self) -> dict[str, Trace]:
        design = self.design
        assert self._ending is not None
        traces = self._ending.traces(len(design.channels))
        return {
            design.label(region, channel.name): trace
            for (region, channel), trace in zip(design.channels, traces, strict=True)
        }
