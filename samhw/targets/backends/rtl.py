"""What the simulators of the RTL have in common: each has a program that takes commands from a host."""

import logging
import time
from abc import abstractmethod
from pathlib import Path

import numpy as np

from samhw.compiler import Compiled
from samhw.graph import AddressMap, HostOptions, MemoryRole
from samhw.targets.backends.backend import Backend, Execution
from samhw.targets.backends.sim import write_graph
from samhw.targets.building.program import BuiltProgram
from samhw.targets.building.verilog import NAME, write_address_map
from samhw.targets.running.inputs import Inputs

__all__ = ["BESIDE", "ProgramBackend", "RtlBackend"]

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

    @abstractmethod
    def make(self, compiled: Compiled, host: HostOptions) -> BuiltProgram:
        """Builds the program, or takes it from the build cache."""

    def execute(self, compiled: Compiled, inputs: Inputs, *, host: str = "") -> Execution:
        """As for `Backend`; `host` as for `build`."""
        from samhw.targets.running.harness import Harness
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
