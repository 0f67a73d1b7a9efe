"""A pattern of one's own: a product that is scaled, row by row, by another tensor.

Run it with `python examples/patterns.py`, or list what matches: `samhw compile
examples/patterns.py:program --patterns examples/patterns.py:SCALED`.
"""

from samhw.app.checking import check
from samhw.app.workload import compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.compiler.search.patterns import (
    BUILT_IN,
    Match,
    StatementPattern,
    access,
    call,
    find_patterns,
    reduced,
)
from samhw.lang import ProgramBuilder
from samhw.targets.backends import run

p = ProgramBuilder("scaled")
i, k = p.indices("i k")
j = p.index("j", 8)
A = p.tensor("A", (i, k), "csr")
X = p.tensor("X", (k, j), "dense")
d = p.tensor("d", (i,), "dense")
T = p.tensor("T", (i, j), "dense")
Y = p.tensor("Y", (i, j), "dense")
p.assign(T[i, j], A[i, k] * X[k, j], order=(i, k, j))
p.assign(Y[i, j], T[i, j] * d[i], order=(i, j))
program = p.program()


def is_needed_elsewhere(match: Match) -> str:
    """Why a match is none: something else reads the product itself."""
    return f"others read {', '.join(match.uses_elsewhere)}" if match.uses_elsewhere else ""


product = reduced("sum", call("*", access("left"), access("right")))
SCALED = StatementPattern("scaled product", call("*", product, access("scale")), is_needed_elsewhere)

if __name__ == "__main__":
    found = find_patterns(program, [SCALED, *BUILT_IN])
    for match in found.matches:
        print(match.pattern, *match.results)
    workload = make_workload(program, ["karate"])
    compiled = compile_workload(workload, Schedule.from_fields(found.schedule))
    result = run(compiled, workload.tensors)
    print(f"{result.cycles} cycles, {check(workload, compiled, result.outputs).verdict}")
