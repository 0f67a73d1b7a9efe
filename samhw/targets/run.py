"""Runs a compiled program on data with one of the backends, and checks the result."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from samhw.compiler import Compiled, compile_program
from samhw.errors import InputError, RunError
from samhw.frontend import error_bound, evaluate
from samhw.graph import Arch
from samhw.numerics import Fixed, value_type
from samhw.sim import Result, simulate
from samhw.targets.images import load, unload
from samhw.targets.workload import Workload
from samhw.tensors import Tensor

__all__ = ["BACKENDS", "Check", "RunResult", "check", "compile_workload", "run"]

BACKENDS = ("sim", "verilator")


@dataclass(frozen=True)
class RunResult:
    """A finished run. `cycles` as docs/timing.md defines them; `seconds` of wall time, without the build."""

    backend: str
    cycles: int
    outputs: dict[str, Tensor]
    seconds: float
    build_seconds: float = 0.0
    statistics: Result | None = None
    """Where the cycles went, if the simulator ran it."""


@dataclass(frozen=True)
class Check:
    """The comparison with the reference: good if `max_abs_error` is within `bound`."""

    max_abs_error: float
    bound: float

    @property
    def good(self) -> bool:
        """Within the bound that follows from the value type (0 for integers)."""
        return self.max_abs_error <= self.bound


def compile_workload(workload: Workload, *, arch: Arch | None = None, **options: Any) -> Compiled:
    """Compiles a workload's program with room for its data; `options` as for `compile_program`."""
    options.setdefault("capacity", workload.capacity())
    return compile_program(workload.program, arch=arch, **options)


def run(
    compiled: Compiled, tensors: Mapping[str, Tensor], backend: str = "sim", *, wave: Path | None = None
) -> RunResult:
    """Loads the tensors, runs, and reads the results back.

    Args:
        wave: a file (.fst or .vcd) that records every signal of the RTL.

    Raises:
        InputError: for data that does not fit the build, or a backend that is not there.
        RunError: for a run that ends with an error.
    """
    # Coordinate lists are loaded as compressed levels.
    stored = {b.name: tensors[b.name].convert(b.format) for b in compiled.graph.tensors if b.name in tensors}
    memories, extents = load(compiled.graph, stored)
    start = time.perf_counter()
    if backend == "sim":
        result = simulate(compiled.graph, compiled.arch, memories, extents)
        seconds = time.perf_counter() - start
        outputs = unload(compiled.graph, result.memories, extents)
        return RunResult(backend, result.cycles, outputs, seconds, statistics=result)
    if backend == "verilator":
        # Imported here, since the simulator needs neither Amaranth nor a compiler.
        from samhw.targets.driver import VerilatedDesign

        design = VerilatedDesign.build(compiled.graph, compiled.arch, wave=_wave_format(wave))
        built = time.perf_counter()
        hardware = design.run(memories, extents, wave=wave)
        seconds = time.perf_counter() - built
        return RunResult(
            backend,
            hardware.cycles,
            unload(compiled.graph, hardware.memories, extents),
            seconds,
            built - start,
        )
    raise InputError(f"There is no backend '{backend}'; choose one of {', '.join(BACKENDS)}.")


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
    """Compares a result with the dense NumPy evaluation of the program on the same (encoded) values."""
    kind = value_type(compiled.graph.value)
    dense = {name: kind.decode(kind.encode(tensor.to_dense())) for name, tensor in workload.tensors.items()}
    statement = workload.statement
    expected = evaluate(statement, dense, workload.extents)
    rounding = 2.0 ** -(kind.fraction + 1) if isinstance(kind, Fixed) else 0.0
    actual = outputs[statement.lhs.tensor].to_dense()
    if actual.shape != expected.shape:
        raise RunError(
            f"The result has the shape {actual.shape}, but {expected.shape} was expected; please report "
            "this as a bug."
        )
    error = float(np.max(np.abs(actual - expected), initial=0))
    return Check(error, error_bound(statement, dense, workload.extents, rounding) if rounding else 0.0)
