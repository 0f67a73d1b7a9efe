"""The generated RTL under Verilator as a backend."""

import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from samhw.backends.backend import Backend, RegionRun, RunResult
from samhw.backends.sim import write_graph
from samhw.building.verilog import NAME, write_address_map
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.graph import AddressMap, MemoryRole
from samhw.running.images import unload
from samhw.running.inputs import load_inputs
from samhw.tensors import Tensor

__all__ = ["VerilatorBackend"]

_log = logging.getLogger(__name__)


class VerilatorBackend(Backend):
    """The RTL, run by Verilator; needs a C++ compiler."""

    name = "verilator"
    target = "verilator"
    label = "RTL"
    records_waves = True
    cycle_by_cycle = True
    key_files: ClassVar[dict[str, str]] = {
        "simulate": "the RTL as a program, built by Verilator",
        "run.txt": "the data's run: cd to the folder, ./simulate < run.txt",
        f"{NAME}.v": "the RTL",
        "address_map.h": "the host's addresses, also as JSON",
    }

    def run(
        self, compiled: Compiled, tensors: Mapping[str, Tensor], *, wave: Path | None = None
    ) -> RunResult:
        """As for `Backend`.

        Args:
            wave: a file (.fst or .vcd) that records every signal.
        """
        # Imported here, since the simulator needs neither Amaranth nor a compiler.
        from samhw.running.driver import VerilatedDesign

        design, arch = compiled.design, compiled.arch
        memories, extents = load_inputs(compiled.program, design, tensors, compiled.recipes)
        start = time.perf_counter()
        rtl = VerilatedDesign.build(design, arch, wave=_wave_format(wave))
        built = time.perf_counter()
        _log.debug("running the RTL")
        hardware = rtl.run(memories, extents, wave=wave, buffers=True)
        seconds = time.perf_counter() - built
        regions = tuple(
            RegionRun(region, cycles, unload(region, hardware.memories, extents))
            for region, cycles in zip(design.runs, hardware.region_cycles, strict=True)
        )
        return RunResult(self.name, hardware.cycles, regions, seconds, built - start)

    def build(self, compiled: Compiled, directory: Path, tensors: Mapping[str, Tensor] | None) -> None:
        """The graph, the RTL (`samhw_top.v`), the address map (JSON and C header), and the program that runs
        it (`simulate`). With tensors, their arrays as binary files (`data/`) and the commands that load them,
        run and read the results back: `cd DIRECTORY && ./simulate < run.txt`."""
        from samhw.building.elaborate import generate_verilog
        from samhw.running.driver import VerilatedDesign

        write_graph(compiled, directory)
        design, arch = compiled.design, compiled.arch
        (directory / f"{NAME}.v").write_text(generate_verilog(design, arch), encoding="utf-8")
        write_address_map(design, arch, directory)
        VerilatedDesign.build(design, arch, optimise=True).copy_to(directory)
        if tensors is not None:
            _write_data(compiled, tensors, directory)


def _write_data(compiled: Compiled, tensors: Mapping[str, Tensor], directory: Path) -> None:
    """The words of the input memories, and the commands of a run (templates/harness.cpp lists them)."""
    design = compiled.design
    addresses = AddressMap(design, compiled.arch)
    memories, extents = load_inputs(compiled.program, design, tensors, compiled.recipes)
    (directory / "data").mkdir()
    (directory / "results").mkdir()
    commands = []
    for index, extent in extents.items():
        np.array([extent], dtype="<u4").tofile(directory / "data" / f"extent_{index}.bin")
        commands.append(f"load-file {addresses.extents[index]} data/extent_{index}.bin")
    for name, words in memories.items():
        words.astype("<u4").tofile(directory / "data" / f"{name}.bin")
        commands.append(f"load-file {addresses.windows[name].base} data/{name}.bin")
    commands += ["start", "wait 100000000"]
    for memory in design.memories:
        if memory.role is MemoryRole.OUTPUT:
            base = addresses.windows[memory.name].base
            commands.append(f"read-file {base} {memory.capacity} results/{memory.name}.bin")
    (directory / "run.txt").write_text("\n".join(commands) + "\n", encoding="utf-8")


def _wave_format(wave: Path | None) -> Literal["fst", "vcd"] | None:
    match wave.suffix if wave else None:
        case None:
            return None
        case ".fst":
            return "fst"
        case ".vcd":
            return "vcd"
    raise InputError(f"{wave} is no waveform file; give it the suffix .fst or .vcd.")
