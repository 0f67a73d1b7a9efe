"""Simulator against RTL: the same program and data on both, cycles and results side by side."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import or_
from typing import Any

import numpy as np

from samhw.app.checking.check_run import Verdict, check, weakest
from samhw.app.workload import Workload
from samhw.choices.choice import counts_text
from samhw.choices.schedule import Schedule
from samhw.compiler import choose_value
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job, in_modules
from samhw.errors import InputError, RunError, SamhwError
from samhw.lang import Capacity
from samhw.processes import ending, workers
from samhw.targets.backends import MODEL, RTL, Backend, RegionRun, RunResult, run

__all__ = ["Correlation", "Row", "agree", "correlate"]


@dataclass(frozen=True)
class Row:
    """A program on one data set, or one region of it. Seconds of wall time are those of whole programs."""

    name: str
    data: str
    model_cycles: int
    rtl_cycles: int
    result: Verdict
    """The check's, on what it stores; wrong too where simulator and RTL do not store the same words."""
    unproved: int = 0
    """Elements of the results for which the check proves nothing, as for `Check`."""
    model_seconds: float | None = None
    rtl_seconds: float | None = None
    value: str = ""
    """The name of the value type."""
    others: Mapping[str, int] = field(default_factory=dict)
    """The cycles of further simulators of the RTL, by the backend's name."""

    @property
    def is_exact(self) -> bool:
        """All have taken the same cycles."""
        return {self.rtl_cycles, *self.others.values()} == {self.model_cycles}

    def to_json(self) -> dict[str, object]:
        """One entry of the object that `samhw correlate --json` prints."""
        return {
            "name": self.name,
            "data": self.data,
            "value": self.value,
            "model_cycles": self.model_cycles,
            "rtl_cycles": self.rtl_cycles,
            "others": dict(self.others),
            "status": str(self.result),
            "checked": self.result.is_proof,
            "unproved": self.unproved,
            "model_seconds": _rounded(self.model_seconds),
            "rtl_seconds": _rounded(self.rtl_seconds),
        }


@dataclass(frozen=True)
class Correlation:
    """All rows of a correlation."""

    rows: tuple[Row, ...]

    @property
    def exact(self) -> int:
        """Rows whose cycle counts are equal."""
        return sum(row.is_exact for row in self.rows)

    @property
    def good(self) -> bool:
        """Every cycle count equal and no result wrong."""
        return self.exact == len(self.rows) and not any(r.result is Verdict.WRONG for r in self.rows)

    @property
    def r2(self) -> float:
        """Coefficient of determination of the RTL's cycles by the model's, on the parity line; 1 if all are
        equal."""
        model = np.array([r.model_cycles for r in self.rows], dtype=float)
        rtl = np.array([r.rtl_cycles for r in self.rows], dtype=float)
        residual = float(np.sum((rtl - model) ** 2))
        spread = float(np.sum((rtl - rtl.mean()) ** 2)) if len(rtl) else 0.0
        if residual == 0:
            return 1.0
        return 1 - residual / spread if spread else 0.0

    def to_json(self) -> dict[str, Any]:
        """The object that `samhw correlate --json` prints."""
        kernels = [row.to_json() for row in self.rows]
        return {"kernels": kernels, "total": len(self.rows), "exact": self.exact, "r2": self.r2}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def correlate(
    programs: Sequence[Sequence[Workload]],
    schedule: Schedule | Sequence[Schedule] | None = None,
    *,
    backends: Sequence[Backend] = (RTL,),
    jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> Correlation:
    """Runs programs by simulator and RTL, with a row for each program and, if it has several, each region.

    Args:
        programs: for each program, the data to run it on. It is built once, with room for all of it.
        schedule: of all programs, or that of each.
        backends: what runs the RTL; the first one's cycles are the row's, those of others stand beside them.
        jobs: processes that build and run; by default one for each processor.
        progress: is told the name of each program that is finished.
        options: of a `Job`: `value`, `capacity`, `entries`, `arch` and `memory`.
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"A correlation cannot have {jobs} processes; give at least 1.")
    schedules = [schedule or Schedule()] * len(programs) if not isinstance(schedule, Sequence) else schedule
    one = partial(_correlate_program, backends=backends, options=options)
    rows: list[Row] = []
    jobs = min(jobs or os.cpu_count() or 1, len(programs))
    if jobs <= 1:
        return Correlation(tuple(_gather(map(one, programs, schedules), programs, rows, progress)))
    sent = [[_checked(workload) for workload in workloads] for workloads in programs]
    try:
        with ending(workers(jobs)) as pool:
            return Correlation(tuple(_gather(pool.map(one, sent, schedules), programs, rows, progress)))
    except BrokenExecutor:
        raise RunError(
            "A process that ran a program was ended from outside (out of memory?); try fewer of them, as "
            "with '--jobs 1'."
        ) from None


def _checked(workload: Workload) -> Workload:
    """The workload without its oracle, which has been asked: another process does not have what it needs."""
    if workload.oracle is not None:
        workload.oracle()
    return replace(workload, oracle=None, judges={})


def _gather(
    results: Iterable[list[Row]],
    programs: Sequence[Sequence[Workload]],
    rows: list[Row],
    progress: Callable[[str], None] | None,
) -> list[Row]:
    for workloads, found in zip(programs, results, strict=True):
        rows += found
        if progress:
            progress(workloads[0].program.name)
    return rows


def _correlate_program(
    workloads: Sequence[Workload],
    schedule: Schedule,
    *,
    backends: Sequence[Backend],
    options: Mapping[str, Any],
) -> list[Row]:
    first = workloads[0]
    program = first.program
    schedule = in_modules(schedule, program, first.scopes)
    capacity = reduce(or_, [w.capacity(schedule) for w in workloads], options.get("capacity", Capacity()))
    # One type holds the data of all.
    data = [tensor.vals for workload in workloads for tensor in workload.tensors.values()]
    value = choose_value(options.get("value"), program, data)
    # A schedule that is open is chosen for all data alike, by their capacities.
    job = Job(program, schedule, None if schedule.is_open else first)
    compiled = compile_job(replace(job, **{**options, "capacity": capacity, "value": value}))
    memory = {"memory": compiled.memory} if compiled.memory else {}
    rows = []
    for workload in workloads:
        try:
            model = run(compiled, workload.tensors, MODEL, **memory)
            runs = [run(compiled, workload.tensors, backend, **memory) for backend in backends]
        except SamhwError as error:
            raise error.within(f"{program.name} on {workload.name}") from None
        found = check(workload, compiled, model.outputs)
        verdicts = [found.verdict]
        for ours, *theirs in zip(model.regions, *(one.regions for one in runs), strict=True):
            stored = [found.tensors[name] for name in ours.outputs if name in found.tensors]
            is_same = all(agree(ours, other) for other in theirs)
            verdicts.append(weakest(stored) if is_same else Verdict.WRONG)
            if len(model.regions) > 1:
                row = Row(ours.name, workload.name, ours.cycles, theirs[0].cycles, verdicts[-1])
                rows.append(replace(row, others=_others(backends, theirs)))
        names = compiled.design.name, workload.name
        whole = Row(*names, model.cycles, runs[0].cycles, weakest(verdicts), found.unproved)
        whole = replace(whole, model_seconds=model.seconds, rtl_seconds=runs[0].seconds)
        rows.append(replace(whole, others=_others(backends, runs)))
    lanes = f", {counts_text(schedule.lanes)}" if schedule.lanes else ""
    return [replace(row, name=f"{row.name}{lanes}", value=compiled.value.name) for row in rows]


def _others(backends: Sequence[Backend], runs: Sequence[RunResult | RegionRun]) -> dict[str, int]:
    """The cycles of all but the first."""
    return {backend.name: one.cycles for backend, one in zip(backends[1:], runs[1:], strict=True)}


def agree(model: RegionRun, rtl: RegionRun) -> bool:
    """All outputs of a region are the same words."""
    for name, tensor in model.outputs.items():
        a, b = tensor.arrays(), rtl.outputs[name].arrays()
        if a.keys() != b.keys() or not all(np.array_equal(a[k], b[k], equal_nan=True) for k in a):
            return False
    return True
