"""Runs a compiled program on data with one of the backends, and checks the result."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from samhw.compiler import AUTO, Compiled, compile_program
from samhw.errors import InputError, RunError
from samhw.frontend import Program, Rounding, evaluate_program, evaluate_with_bounds
from samhw.graph import Arch, Design, Graph, OffChip
from samhw.hls import Options
from samhw.numerics import Fixed, Float, ValueType, value_type
from samhw.sim import Result, simulate_regions, simulated_regions, total_cycles
from samhw.targets.images import unload
from samhw.targets.inputs import load_inputs
from samhw.targets.workload import Workload
from samhw.tensors import Tensor

__all__ = ["BACKENDS", "Check", "RegionRun", "RunResult", "check", "compile_workload", "run"]

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


@dataclass(frozen=True)
class Check:
    """The comparison with the reference.

    `max_abs_error` is the greatest difference of the program's results from NumPy's; a NaN where NumPy has a
    number is infinitely far from it. `good` if each element of what each region has stored is as close as the
    value type promises to what NumPy computes from the region's own inputs; `bound` is the greatest of those
    promises for a result (0 for integers). `unproved` counts the elements that differ and are good only
    because their bound is infinite, or no less than what the tensor's elements are on average: there, zero
    would have been as good.
    """

    max_abs_error: float
    bound: float
    good: bool
    unproved: int = 0


def compile_workload(workload: Workload, *, arch: Arch | None = None, **options: Any) -> Compiled:
    """Compiles a workload's program with room for its data; `options` as for `compile_program`."""
    options.setdefault("capacity", workload.capacity())
    options["value"] = workload.value(options.get("value", AUTO))
    return compile_program(workload.program, arch=arch, **options)


def run(
    compiled: Compiled,
    tensors: Mapping[str, Tensor],
    backend: str = "sim",
    *,
    wave: Path | None = None,
    memory: OffChip | None = None,
    hls: Options | None = None,
    **options: Any,
) -> RunResult:
    """Loads the tensors, runs, and reads the results back.

    `hls` runs the C simulation of the HLS design, which has no cycles: they are the simulator's, with
    which it is compared token by token.

    Args:
        wave: a file (.fst or .vcd) that records every signal of the RTL.
        memory: tensors of the program that lie off chip (docs/memory.md), for the simulator alone. Those that
            fusion keeps out of memory are left out.
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
    design, arch = compiled.design, compiled.arch
    memories, extents = load_inputs(compiled.program, design, tensors)
    start = time.perf_counter()
    build_seconds = 0.0
    statistics: Sequence[Result | None] = [None] * len(design.runs)
    if backend == "sim":
        placed = None if memory is None else _stored(compiled, memory)
        statistics = results = simulate_regions(design, arch, memories, extents, memory=placed, **options)
        region_cycles = [result.cycles for result in results]
        words = {name: array for result in results for name, array in result.memories.items()}
        cycles = total_cycles(region_cycles)
    elif backend == "verilator":
        # Imported here, since the simulator needs neither Amaranth nor a compiler.
        from samhw.targets.driver import VerilatedDesign

        rtl = VerilatedDesign.build(design, arch, wave=_wave_format(wave))
        build_seconds = time.perf_counter() - start
        _log.debug("running the RTL")
        hardware = rtl.run(memories, extents, wave=wave, buffers=True)
        region_cycles, words, cycles = list(hardware.region_cycles), hardware.memories, hardware.cycles
    else:
        raise InputError(f"There is no backend '{backend}'; choose one of {', '.join(BACKENDS)}.")
    seconds = time.perf_counter() - start - build_seconds
    regions = tuple(
        RegionRun(region, count, unload(region, words, extents), found)
        for region, count, found in zip(design.runs, region_cycles, statistics, strict=True)
    )
    return RunResult(backend, cycles, regions, seconds, build_seconds)


def _stored(compiled: Compiled, memory: OffChip) -> OffChip:
    """What of a placement has memories; raises `InputError` for a tensor that does not exist."""
    for name in memory.tensors or ():
        if name not in compiled.program.tensors:
            raise InputError(
                f"There is no tensor '{name}' to place off chip; the program has "
                f"{', '.join(compiled.program.tensors)}."
            )
    stored = {m.tensor for m in compiled.design.memories}
    chosen = stored if memory.tensors is None else stored.intersection(memory.tensors)
    return replace(memory, tensors=tuple(sorted(chosen)))


def _run_hls(compiled: Compiled, tensors: Mapping[str, Tensor], options: Options) -> RunResult:
    """The C simulation, of one design or of one for each region, compared with the simulator, whose cycles it
    has."""
    # Imported here, since the simulator needs no C++ compiler.
    from samhw.targets.hls import HlsDesign, compare, golden

    whole, arch = compiled.design, compiled.arch
    memories, extents = load_inputs(compiled.program, whole, tensors)
    runs = list(simulated_regions(whole, arch, memories, extents, trace=True))
    # Buffers on the chip stay there; they are the simulator's, since all that writers are given is compared.
    words = {name: array for run in runs for name, array in run.result.memories.items()}
    parts = [(whole, memories, runs)]
    if not options.one_top:
        parts = [(Design.of(run.graph), run.memories, [run]) for run in runs]
    start = time.perf_counter()
    designs = HlsDesign.build_together([part for part, _, _ in parts], arch, options)
    building = time.perf_counter() - start
    running = 0.0
    _log.debug("running the HLS C simulation")
    for design, (part, inputs, models) in zip(designs, parts, strict=True):
        result = design.run(inputs, extents, golden(part, [model.result for model in models]), trace=True)
        running += result.seconds
        compare([model.result for model in models], result)
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


def check(workload: Workload, compiled: Compiled, outputs: Mapping[str, Tensor]) -> Check:
    """Compares everything that a run has stored with the dense NumPy evaluation on the same (encoded) values.

    Region by region, since the errors that a type may make grow with every statement behind them, until
    nothing could be told from a wrong result.
    """
    program, kind = workload.program, value_type(compiled.value)
    known = {name: kind.decode(kind.encode(tensor.to_dense())) for name, tensor in workload.tensors.items()}
    reference = evaluate_program(program, known)
    results = {decl.name for decl in program.outputs}
    error, bound, good, unproved = 0.0, 0.0, True, 0
    for region in program.regions:
        used = {access.tensor for statement in region.statements for access in statement.accesses}
        tensors = {name: decl for name, decl in program.tensors.items() if name in used}
        alone = replace(program, tensors=tensors, regions=(region,))
        inputs = {decl.name: known[decl.name] for decl in alone.inputs}
        for name, (expected, limit) in _expected(alone, inputs, kind).items():
            if name not in outputs:  # It has not left the region.
                continue
            actual = outputs[name].to_dense()
            if actual.shape != expected.shape:
                raise RunError(
                    f"The result {name} has the shape {actual.shape}, but {expected.shape} was expected; "
                    "please report this as a bug."
                )
            difference = _difference(actual, expected)
            # No bound makes up for a NaN.
            right = (difference <= limit) & (np.isnan(actual) == np.isnan(expected))
            good = good and bool(np.all(right))
            unproved += int(np.count_nonzero(right & (difference > 0) & (limit >= _average(expected))))
            known[name] = actual
            if name in results:
                error = max(error, float(np.max(_difference(actual, reference[name]), initial=0)))
                bound = max(bound, float(np.max(limit, initial=0)))
    return Check(error, bound, good, unproved)


def _expected(
    program: Program, inputs: Mapping[str, NDArray[Any]], kind: ValueType
) -> dict[str, tuple[NDArray[Any], Any]]:
    """What each statement gives, and how far from it each element may be."""
    if isinstance(kind, Fixed):
        rounding = Rounding.fixed(kind.fraction)
    elif isinstance(kind, Float):
        rounding = Rounding.floating(kind.format.mantissa)
    else:
        return {name: (value, 0) for name, value in evaluate_program(program, inputs).items()}
    return {name: (b.value, b.bound) for name, b in evaluate_with_bounds(program, inputs, rounding).items()}


def _difference(actual: NDArray[Any], expected: NDArray[Any]) -> NDArray[Any]:
    """Of each element. None where both are the same infinity, or no number; an infinite one where one of them
    is no number."""
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        difference = np.abs(actual - expected)
    return np.where(same, 0.0, np.where(np.isnan(difference), np.inf, difference))


def _average(values: NDArray[Any]) -> float:
    """The mean magnitude of the finite elements."""
    finite = np.abs(values[np.isfinite(values)])
    return float(np.mean(finite)) if finite.size else np.inf
