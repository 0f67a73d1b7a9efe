"""The simulators of the RTL as backends: each has a program that takes commands from a host. Verilator and
Icarus run the generated Verilog, Icarus by the rules of SystemVerilog, with unknown bits; CXXRTL runs the
netlist, without a Verilog writer."""

import logging
import shutil
import time
from abc import abstractmethod
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from samhw.compiler import Compiled
from samhw.compiler.placement import arrays_off_chip
from samhw.errors import InputError
from samhw.graph import AddressMap, HostOptions, MemoryRole, OffChipMemory, layout_of
from samhw.targets.backends.backend import Backend, Execution
from samhw.targets.backends.sim import write_graph
from samhw.targets.building.build_cache import BuiltProgram
from samhw.targets.building.elaborate import NAME, write_address_map
from samhw.targets.running.images import Inputs

__all__ = ["CxxrtlBackend", "IcarusBackend", "VerilatorBackend"]

_log = logging.getLogger(__name__)


BESIDE = {
    "run.txt": "the data's run: cd to the folder, ./simulate < run.txt",
    f"{NAME}.v": "the RTL",
    "address_map.h": "the host's addresses, also as JSON",
}
"""The key files of every build, beside `simulate`."""


class RtlBackend(Backend):
    """The RTL in a simulator, cycle by cycle."""

    carries_data = True
    cycle_by_cycle = True
    simulates_rtl = True
    settings = frozenset({"host"})

    @abstractmethod
    def write_program(self, compiled: Compiled, directory: Path, host: HostOptions) -> None:
        """Writes `simulate`, and what it needs."""

    def build(self, compiled: Compiled, directory: Path, inputs: Inputs | None, *, host: str = "") -> None:
        """The graph, the RTL (`samhw_top.v`), the address map (JSON and C header), and the program that runs
        it (`simulate`). With inputs, their words as binary files (`data/`) and the commands that load them,
        run and read the results back: `cd DIRECTORY && ./simulate < run.txt`.

        Args:
            host: the choices of its port, as `HostOptions.parse` takes them.
        """
        from samhw.targets.building.elaborate import generate_verilog

        write_graph(compiled, directory)
        design, arch, chosen = compiled.design, compiled.arch, HostOptions.parse(host)
        text = generate_verilog(design, arch, host=chosen)
        (directory / f"{NAME}.v").write_text(text, encoding="utf-8")
        write_address_map(design, arch, directory, host=chosen)
        self.write_program(compiled, directory, chosen)
        if inputs is not None:
            _write_data(AddressMap(design, arch, chosen), inputs, directory)


class ProgramBackend(RtlBackend):
    """A simulator that only runs: it records nothing and stalls nothing."""

    files: ClassVar[tuple[str, ...]]
    """What a build needs of the folder in which the program has been made."""

    @abstractmethod
    def make(self, compiled: Compiled, host: HostOptions) -> BuiltProgram:
        """Builds the program, or takes it from the build cache."""

    def execute(self, compiled: Compiled, inputs: Inputs, *, host: str = "") -> Execution:
        """As for `Backend`; `host` as for `build`."""
        from samhw.targets.running.port import Harness
        from samhw.targets.running.session import PortSession

        start = time.perf_counter()
        chosen = HostOptions.parse(host)
        program = self.make(compiled, chosen)
        built = time.perf_counter()
        _log.debug("running the RTL under %s", self.label)
        with PortSession(compiled.design, compiled.arch, Harness(program.path), chosen) as session:
            found = session.run(*inputs, buffers=True)
        seconds = time.perf_counter() - built
        return Execution(found.memories, found.cycles, found.region_cycles, seconds, built - start)

    def write_program(self, compiled: Compiled, directory: Path, host: HostOptions) -> None:
        made = self.make(compiled, host).path
        for name in self.files:
            shutil.copy2(made.with_name(name), directory)


def _write_data(addresses: AddressMap, inputs: Inputs, directory: Path) -> None:
    """The words of the input memories, and the commands of a run (templates/harness.cpp lists them)."""
    (directory / "data").mkdir()
    (directory / "results").mkdir()
    commands = []
    for index, extent in inputs.extents.items():
        np.array([extent], dtype="<u4").tofile(directory / "data" / f"extent_{index}.bin")
        commands.append(f"load-file {addresses.extents[index]} data/extent_{index}.bin")
    for name, words in inputs.memories.items():
        words.astype("<u4").tofile(directory / "data" / f"{name}.bin")
        commands.append(f"load-file {addresses.windows[name].base} data/{name}.bin")
    commands += ["start", "wait 100000000"]
    for memory in addresses.design.memories:
        if memory.role is MemoryRole.OUTPUT:
            window = addresses.windows[memory.name]
            commands.append(f"read-file {window.base} {window.words} results/{memory.name}.bin")
    (directory / "run.txt").write_text("\n".join(commands) + "\n", encoding="utf-8")


class VerilatorBackend(RtlBackend):
    """The RTL, run by Verilator; needs a C++ compiler."""

    name = "verilator"
    target = "verilator"
    label = "RTL"
    records_waves = True
    takes_memory = True
    has_sdram = True
    key_files: ClassVar[dict[str, str]] = {"simulate": "the RTL as a program, built by Verilator"} | BESIDE

    def execute(
        self,
        compiled: Compiled,
        inputs: Inputs,
        *,
        wave: Path | None = None,
        host: str = "",
        memory: OffChipMemory | None = None,
        memory_log: Path | None = None,
    ) -> Execution:
        """As for `Backend`.

        Args:
            wave: a file (.fst or .vcd) that records every signal.
            host: as for `build`.
            memory, memory_log: as for `SimulatorBackend.execute`.
        """
        # Imported here, since the simulator needs neither Amaranth nor a compiler.
        from samhw.targets.running.driver import VerilatedDesign

        start = time.perf_counter()
        design, arch = compiled.design, compiled.arch
        layout = None
        if memory is not None:
            layout = layout_of(design, arch, memory, arrays_off_chip(compiled, memory))
        rtl = VerilatedDesign.build(
            design, arch, wave=_wave_format(wave), host=HostOptions.parse(host), layout=layout
        )
        built = time.perf_counter()
        _log.debug("running the RTL")
        found = rtl.run(*inputs, wave=wave, buffers=True, memory=memory, memory_log=memory_log)
        seconds = time.perf_counter() - built
        return Execution(found.memories, found.cycles, found.region_cycles, seconds, built - start)

    def write_program(self, compiled: Compiled, directory: Path, host: HostOptions) -> None:
        from samhw.targets.running.driver import VerilatedDesign

        VerilatedDesign.build(compiled.design, compiled.arch, optimise=True, host=host).copy_to(directory)


def _wave_format(wave: Path | None) -> Literal["fst", "vcd"] | None:
    match wave.suffix if wave else None:
        case None:
            return None
        case ".fst":
            return "fst"
        case ".vcd":
            return "vcd"
    raise InputError(f"{wave} is no waveform file; give it the suffix .fst or .vcd.")


class IcarusBackend(ProgramBackend):
    """The Verilog, run by Icarus Verilog; needs the system's package `iverilog`."""

    name = "icarus"
    target = "icarus"
    label = "Icarus"
    files = ("simulate", "simulate.vvp", "harness.v")
    key_files: ClassVar[dict[str, str]] = {
        "simulate": "starts simulate.vvp, the RTL with its harness, compiled by Icarus Verilog"
    } | BESIDE

    def make(self, compiled: Compiled, host: HostOptions) -> BuiltProgram:
        from samhw.targets.building.simulators import build_icarus

        return build_icarus(compiled.design, compiled.arch, host)


class CxxrtlBackend(ProgramBackend):
    """The netlist, run by Yosys's CXXRTL; needs a C++ compiler."""

    name = "cxxrtl"
    target = "cxxrtl"
    label = "CXXRTL"
    files = ("simulate", "design.cpp")
    key_files: ClassVar[dict[str, str]] = {
        "simulate": "the netlist as a program, built by CXXRTL; its C++ is design.cpp"
    } | BESIDE

    def make(self, compiled: Compiled, host: HostOptions) -> BuiltProgram:
        from samhw.targets.building.simulators import build_cxxrtl

        return build_cxxrtl(compiled.design, compiled.arch, host)
