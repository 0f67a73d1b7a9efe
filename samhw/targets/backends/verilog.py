"""The generated RTL as a folder of Verilog, for somebody else's project."""

import logging
from pathlib import Path
from typing import Any, ClassVar

from samhw.compiler import Compiled
from samhw.compiler.placement import layout_beside
from samhw.errors import InputError
from samhw.graph import (
    AddressMap,
    ConstantMemory,
    HostOptions,
    MemoryRole,
    OffChip,
    OffChipLayout,
    OffChipMemory,
    SdramMemory,
    at_clock,
)
from samhw.sim import simulate_regions, total_cycles
from samhw.targets.backends.backend import Target
from samhw.targets.backends.sim import write_graph
from samhw.targets.building.elaborate import NAME, check_generator, write_address_map, write_verilog
from samhw.targets.building.project import BenchRun, write_project
from samhw.targets.running.images import Inputs

__all__ = ["VerilogTarget"]

_log = logging.getLogger(__name__)

MOST_WORDS = 100_000
"""Of the inputs of a run that the testbench does, a word at a time."""

LATENCY = 20
"""Cycles in which the memory of a testbench answers."""


class VerilogTarget(Target):
    """Verilog with a port of AXI4-Lite or AXI4; needs no C++ compiler."""

    target = "verilog"
    carries_data = True
    settings = frozenset({"name", "host", "memory", "clock"})
    key_files: ClassVar[dict[str, str]] = {
        "*.f": "the modules in rtl/, the top first; --name calls them otherwise",
        "*.vlt": "lint exceptions; its first line has Verilator's command",
        "*_axi.v": "the top with addresses of 32 bits",
        "address_map.h": "the host's addresses, also as JSON",
        "driver.h": "a driver in C",
        "bench/run.py": "a cocotb testbench: python bench/run.py",
    }

    def check_build(self, *, memory: OffChipMemory | None = None, **settings: Any) -> None:
        check_generator(memory)

    def build(
        self,
        compiled: Compiled,
        directory: Path,
        inputs: Inputs | None,
        *,
        name: str = NAME,
        host: str = "",
        memory: OffChipMemory | None = None,
        clock: float | None = None,
    ) -> None:
        """The graph, the modules (`rtl/`, with their list, `NAME.f`, and lint exceptions, `NAME.vlt`), the
        address map as JSON and as a C header, and what docs/host_port.md lists around them. With inputs, of
        no more than 100,000 words, the testbench runs on them.

        Args:
            name: of the top module; the header's macros begin with it in capitals.
            host: the choices of its port, as `HostOptions.parse` takes them.
            memory: what masters of AXI4 reach, or the SDRAM whose controller is part of the design; the
                testbench has no run with that.
            clock: period in ns, by which the controller counts its times.
        """
        design, arch, chosen = compiled.design, compiled.arch, HostOptions.parse(host)
        layout = _layout(compiled, memory, clock)
        write_graph(compiled, directory)
        far = write_verilog(design, arch, directory, name, chosen, layout)
        write_address_map(design, arch, directory, name, chosen, layout)
        bench = None if inputs is None else _bench(compiled, inputs, layout)
        write_project(AddressMap(design, arch, chosen, layout), directory, name, bench, far)


def _layout(compiled: Compiled, memory: OffChipMemory | None, clock: float | None) -> OffChipLayout | None:
    """What lies off the chip. Raises `InputError` for a clock that nothing counts by."""
    if isinstance(memory, SdramMemory) and clock is not None:
        memory = at_clock(memory, clock)
    elif clock is not None:
        raise InputError("Verilog has any clock, unless it has an SDRAM; leave out --clock.")
    return layout_beside(compiled, memory)


def _bench(compiled: Compiled, inputs: Inputs, layout: OffChipLayout | None) -> BenchRun | None:
    """A run with what the simulator has of it; None for one that would take long, or whose cycles only
    hardware knows."""
    if sum(map(len, inputs.memories.values())) > MOST_WORDS or (layout and layout.chip):
        return None
    _log.debug("simulating the run of the testbench")
    placed = None
    if layout is not None:
        placed = OffChip(ConstantMemory(LATENCY, layout.ports), layout.masters)
    done = simulate_regions(compiled.design, compiled.arch, *inputs, memory=placed)
    roles = {memory.name: memory.role for memory in compiled.design.memories}
    results = {
        name: words.tolist()
        for result in done
        for name, words in result.memories.items()
        if roles[name] is MemoryRole.OUTPUT
    }
    loaded = {name: words.tolist() for name, words in inputs.memories.items()}
    cycles = total_cycles(done)
    return BenchRun(inputs.extents, loaded, results, cycles, LATENCY)
