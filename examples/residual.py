"""A program in Python: the residual of a linear system, compiled, simulated and checked.

Run it with `python examples/residual.py`, or hand it to the command line: `samhw run
examples/residual.py:program`.
"""

from samhw.app.checking import check
from samhw.app.workload import compile_workload, make_workload
from samhw.lang import ProgramBuilder
from samhw.targets.backends import run

p = ProgramBuilder("residual")
i, j = p.indices("i j")
A = p.tensor("A", (i, j), "csr")
b = p.tensor("b", (i,), "dense")
x = p.tensor("x", (j,), "dense")
r = p.tensor("r", (i,), "dense")
p.assign(r[i], b[i] - A[i, j] * x[j], order=(i, j))
program = p.program()

if __name__ == "__main__":
    workload = make_workload(program, ["karate"])
    compiled = compile_workload(workload)
    for line in compiled.regions[0].table.grid():
        print("".join(f"{cell:16}" for cell in line))
    result = run(compiled, workload.tensors)
    print(f"{result.cycles} cycles, {check(workload, compiled, result.outputs).verdict}")
