"""Rules of one's own: what is near the diagonal, and the rest, each in a format of its own; and rows in an
order of one's own.

Run it with `python examples/splits.py`, or take both on the command line: `samhw run
examples/splits.py:program --split "A=examples/splits.py:band"
--permute-rows "A=examples/splits.py:by_reach"`.
"""

from pathlib import Path

import numpy as np

from samhw.app.checking import check
from samhw.app.workload import compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.lang import ProgramBuilder
from samhw.targets.backends import run

p = ProgramBuilder("banded")
i, k = p.indices("i k")
j = p.index("j", 8)
A = p.tensor("A", (i, k), "csr")
X = p.tensor("X", (k, j), "dense")
T = p.tensor("T", (i, j), "csr")
p.assign(T[i, j], A[i, k] * X[k, j], order=(i, k, j))
program = p.program()


def band(coords, shape):
    """The entries at most four columns from the diagonal, and those further away."""
    row, column = coords
    near = abs(row - column) <= 4
    return {"near": near, "far": ~near}


def by_reach(coords, shape):
    """Rows whose last entry is far to the left first."""
    last = np.full(shape[0], -1)
    np.maximum.at(last, coords[0], coords[1])
    return np.argsort(last, kind="stable")


if __name__ == "__main__":
    workload = make_workload(program, ["karate"])
    here = Path(__file__)
    schedule = Schedule(split={"A": f"{here}:band"}, permute_rows={"A": f"{here}:by_reach"})
    compiled = compile_workload(workload, schedule)
    for name, part in workload.parts(compiled.schedule).items():
        print(name, part.nnz)
    result = run(compiled, workload.tensors)
    print(f"{result.cycles} cycles, {check(workload, compiled, result.outputs).verdict}")
