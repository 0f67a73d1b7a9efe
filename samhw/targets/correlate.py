"""Simulator against RTL: the same program and data on both, cycles and results side by side."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from operator import or_

import numpy as np

from samhw.compiler import compile_program
from samhw.errors import SamhwError
from samhw.frontend import Program
from samhw.graph import Arch
from samhw.targets.run import check, run
from samhw.targets.workload import Workload, make_workload
from samhw.tensors import Tensor

__all__ = ["Correlation", "Row", "correlate"]


@dataclass(frozen=True)
class Row:
    """One program on one data set. `checked`: both results agree, and with the reference."""

    name: str
    data: str
    model_cycles: int
    rtl_cycles: int
    checked: bool
    model_seconds: float
    rtl_seconds: float


@dataclass(frozen=True)
class Correlation:
    """All rows of a correlation."""

    rows: tuple[Row, ...]

    @property
    def exact(self) -> int:
        """Rows whose cycle counts are equal."""
        return sum(r.model_cycles == r.rtl_cycles for r in self.rows)

    @property
    def good(self) -> bool:
        """Every cycle count equal and every result right."""
        return self.exact == len(self.rows) and all(r.checked for r in self.rows)

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

    def to_json(self) -> dict[str, object]:
        """The object that `samhw correlate --json` prints."""
        keys = ("name", "data", "model_cycles", "rtl_cycles", "checked", "model_seconds", "rtl_seconds")
        kernels = [{key: getattr(row, key) for key in keys} for row in self.rows]
        return {"kernels": kernels, "total": len(self.rows), "exact": self.exact, "r2": self.r2}


def correlate(
    programs: Sequence[Program],
    data: Sequence[str],
    *,
    value: str = "i32",
    order: Sequence[str] | None = None,
    factored: bool = True,
    arch: Arch | None = None,
    jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Correlation:
    """Runs every program on every data set by simulator and RTL. A program is built once, with room for all
    its data.

    Args:
        jobs: processes that build and run; by default one for each processor.
        progress: is told the name of each program that is finished.
    """
    one = partial(
        _correlate_program, data=data, value=value, order=order, factored=factored, arch=arch or Arch()
    )
    rows: list[Row] = []
    jobs = min(jobs or os.cpu_count() or 1, len(programs))
    if jobs <= 1:
        return Correlation(tuple(_gather(map(one, programs), programs, rows, progress)))
    with ProcessPoolExecutor(jobs) as pool:
        return Correlation(tuple(_gather(pool.map(one, programs), programs, rows, progress)))


def _gather(
    results: Iterable[list[Row]],
    programs: Sequence[Program],
    rows: list[Row],
    progress: Callable[[str], None] | None,
) -> list[Row]:
    for program, found in zip(programs, results, strict=True):
        rows += found
        if progress:
            progress(program.name)
    return rows


def _correlate_program(
    program: Program,
    *,
    data: Sequence[str],
    value: str,
    order: Sequence[str] | None,
    factored: bool,
    arch: Arch,
) -> list[Row]:
    workloads = [make_workload(program, [spec], value=value) for spec in data]
    capacity = reduce(or_, [w.capacity() for w in workloads])
    compiled = compile_program(
        workloads[0].program, order=order, value=value, factored=factored, capacity=capacity, arch=arch
    )
    rows = []
    for workload in workloads:
        try:
            model = run(compiled, workload.tensors, "sim")
            rtl = run(compiled, workload.tensors, "verilator")
        except SamhwError as error:
            raise type(error)(f"{program.name} on {workload.name}: {error}") from error
        rows.append(
            Row(
                name=program.name,
                data=workload.name,
                model_cycles=model.cycles,
                rtl_cycles=rtl.cycles,
                checked=_agree(workload, model.outputs, rtl.outputs)
                and check(workload, compiled, model.outputs).good,
                model_seconds=round(model.seconds, 3),
                rtl_seconds=round(rtl.seconds, 3),
            )
        )
    return rows


def _agree(workload: Workload, model: dict[str, Tensor], rtl: dict[str, Tensor]) -> bool:
    name = workload.statement.lhs.tensor
    a, b = model[name].arrays(), rtl[name].arrays()
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)
