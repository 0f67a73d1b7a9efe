"""Runs a compiled program on data with one of the backends, and checks the result."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.graph import Dram, Graph, OffChip
from samhw.hls import Options
from samhw.sim import Result, simulate_regions, simulated_regions, total_cycles
from samhw.targets.images import unload
from samhw.targets.inputs import load_inputs
from samhw.tensors import Tensor

__all__ = ["BACKENDS", "RegionRun", "RunResult", "off_chip_tensors", "run"]

_log = logging.getLogger(__name__)

BACKENDS = ("sim", "verilator", "hls")


@dataclass(frozen=True)
class RegionRun:
    """A finished run of a region: `cycles` as docs/timing.md defines them, and the tensors it has written."""

    graph: Graph
    cycles: int
    outputs: dict[str, Tensor]
    statistics: Result | None = None
    """Where the cycles went, if the simulator ran it."""

    @property
    def name(self) -> str:
        """That of the region's graph."""
        return self.graph.name


@dataclass(frozen=True)
class RunResult:
    """A finished run of a program. `seconds` of wall time, without the build."""

    backend: str
    cycles: int
    regions: tuple[RegionRun, ...]
    seconds: float
    build_seconds: float = 0.0

    @property
    def outputs(self) -> dict[str, Tensor]:
        """Every tensor that a region has written, by name."""
        return {name: tensor for region in self.regions for name, tensor in region.outputs.items()}


def run(
    compiled: Compiled,
    tensors: Mapping[str, Tensor],
    backend: str = "sim",
    *,
    wave: Path | None = None,
    memory: Dram | None = None,
    hls: Options | None = None,
    **options: Any,
) -> RunResult:
    """Loads the tensors, runs, and reads the results back.

    `hls` runs the C simulation of the HLS design, which has no cycles: they are the simulator's, with
    which it is compared token by token.

    Args:
        wave: a file (.fst or .vcd) that records every signal of the RTL.
        memory: what holds the tensors that the schedule has off chip (docs/memory.md), for the simulator
            alone. Those that fusion keeps out of memory are left out.
        hls: the options of the HLS design.
        options: of the simulator, as for `simulate`.

    Raises:
        InputError: for data that does not fit the build, or a backend that is not there.
        RunError: for a run that ends with an error.
    """
    if memory is not None and backend != "sim":
        raise InputError(
            f"Off-chip memory is predicted by the simulator, and what the backend '{backend}' runs has its "
            "tensors on chip; leave out the one or the other."
        )
    if backend == "hls":
        return _run_hls(compiled, tensors, hls or Options())
    graph, arch = compiled.graph, compiled.arch
    memories, extents = load_inputs(compiled.program, graph, tensors, compiled.recipes)
    start = time.perf_counter()
    build_seconds = 0.0
    statistics: Sequence[Result | None] = [None] * len(graph.regions)
    if backend == "sim":
        placed = None if memory is None else OffChip(memory, off_chip_tensors(compiled))
        statistics = results = simulate_regions(graph, arch, memories, extents, memory=placed, **options)
        region_cycles = [result.cycles for result in results]
        words = {name: array for result in results for name, array in result.memories.items()}
        cycles = total_cycles(region_cycles)
    elif backend == "verilator":
        # Imported here, since the simulator needs neither Amaranth nor a compiler.
        from samhw.targets.driver import VerilatedDesign

        design = VerilatedDesign.build(graph, arch, wave=_wave_format(wave))
        build_seconds = time.perf_counter() - start
        _log.debug("running the RTL")
        hardware = design.run(memories, extents, wave=wave, buffers=True)
        region_cycles, words, cycles = list(hardware.region_cycles), hardware.memories, hardware.cycles
    else:
        raise InputError(f"There is no backend '{backend}'; choose one of {', '.join(BACKENDS)}.")
    seconds = time.perf_counter() - start - build_seconds
    regions = tuple(
        RegionRun(region, count, unload(region, words, extents), found)
        for region, count, found in zip(graph.regions, region_cycles, statistics, strict=True)
    )
    return RunResult(backend, cycles, regions, seconds, build_seconds)


def off_chip_tensors(compiled: Compiled) -> tuple[str, ...]:
    """The tensors that lie in off-chip memory if there is one: of those that the schedule has there, the ones
    that are stored at all."""
    stored = {m.tensor for m in compiled.graph.memories}
    wanted = compiled.schedule.off_chip
    return tuple(sorted(stored if wanted is None else stored.intersection(wanted)))


def _run_hls(compiled: Compiled, tensors: Mapping[str, Tensor], options: Options) -> RunResult:
    """The C simulation, of one design or of one for each region, compared with the simulator, whose cycles it
    has."""
    # Imported here, since the simulator needs no C++ compiler.
    from samhw.targets.hls import HlsDesign, compare, golden

    graph, arch = compiled.graph, compiled.arch
    memories, extents = load_inputs(compiled.program, graph, tensors, compiled.recipes)
    runs = list(simulated_regions(graph, arch, memories, extents, trace=True))
    # Buffers on the chip stay there; they are the simulator's, since all that writers are given is compared.
    words = {name: array for run in runs for name, array in run.result.memories.items()}
    parts = [(graph, memories, runs)]
    if not options.one_top:
        parts = [(run.graph, run.memories, [run]) for run in runs]
    start = time.perf_counter()
    designs = HlsDesign.build_together([part for part, _, _ in parts], arch, options)
    building = time.perf_counter() - start
    running = 0.0
    _log.debug("running the HLS C simulation")
    for design, (part, inputs, models) in zip(designs, parts, strict=True):
        result = design.run(inputs, extents, golden(part, [model.result for model in models]), trace=True)
        running += result.seconds
        for model in models:
            compare(model.result, result)
        words |= result.memories
    regions = tuple(
        RegionRun(run.graph, run.result.cycles, unload(run.graph, words, extents), run.result) for run in runs
    )
    return RunResult("hls", total_cycles([run.cycles for run in regions]), regions, running, building)


def _wave_format(wave: Path | None) -> Literal["fst", "vcd"] | None:
    match wave.suffix if wave else None:
        case None:
            return None
        case ".fst":
            return "fst"
        case ".vcd":
            return "vcd"
    raise InputError(f"{wave} is no waveform file; give it the suffix .fst or .vcd.")
