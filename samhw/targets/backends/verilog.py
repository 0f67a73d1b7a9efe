"""The generated RTL as a folder of Verilog, for somebody else's project."""

from pathlib import Path
from typing import ClassVar

from samhw.compiler import Compiled
from samhw.graph import AddressMap, HostOptions, MemoryRole
from samhw.targets.backends.backend import Target
from samhw.targets.backends.sim import SimulatorBackend, write_graph
from samhw.targets.building.elaborate import NAME, write_address_map, write_verilog
from samhw.targets.building.project import BenchRun, write_project
from samhw.targets.running.images import Inputs

__all__ = ["VerilogTarget"]

MOST_WORDS = 100_000
"""Of the inputs of a run that the testbench does, a word at a time."""


class VerilogTarget(Target):
    """Verilog with a port of AXI4-Lite or AXI4; needs no C++ compiler."""

    target = "verilog"
    carries_data = True
    settings = frozenset({"name", "host"})
    key_files: ClassVar[dict[str, str]] = {
        "*.f": "the list of the modules in rtl/, the top first",
        "*.vlt": "lint exceptions; its first line has Verilator's command",
        "*_axi.v": "the top with addresses of 32 bits",
        "address_map.h": "the host's addresses, also as JSON",
        "driver.h": "a driver in C",
        "bench/run.py": "a cocotb testbench: python bench/run.py",
    }

    def build(
        self,
        compiled: Compiled,
        directory: Path,
        inputs: Inputs | None,
        *,
        name: str = NAME,
        host: str = "",
    ) -> None:
        """The graph, the modules (`rtl/`, with their list, `NAME.f`, and lint exceptions, `NAME.vlt`), the
        address map as JSON and as a C header, and what docs/host_port.md lists around them. With inputs, of
        no more than 100,000 words, the testbench runs on them.

        Args:
            name: of the top module; the header's macros begin with it in capitals.
            host: the choices of its port, as `HostOptions.parse` takes them.
        """
        design, arch, chosen = compiled.design, compiled.arch, HostOptions.parse(host)
        write_graph(compiled, directory)
        write_verilog(design, arch, directory, name, chosen)
        write_address_map(design, arch, directory, name, chosen)
        bench = None if inputs is None else _bench(compiled, inputs)
        write_project(AddressMap(design, arch, chosen), directory, name, bench)


def _bench(compiled: Compiled, inputs: Inputs) -> BenchRun | None:
    """A run with what the simulator has of it; None for one that would take long."""
    if sum(map(len, inputs.memories.values())) > MOST_WORDS:
        return None
    done = SimulatorBackend().execute(compiled, inputs)
    roles = {memory.name: memory.role for memory in compiled.design.memories}
    results = {n: words.tolist() for n, words in done.words.items() if roles[n] is MemoryRole.OUTPUT}
    loaded = {name: words.tolist() for name, words in inputs.memories.items()}
    return BenchRun(inputs.extents, loaded, results, done.cycles)
