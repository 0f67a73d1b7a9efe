"""Scans as text and in Python: what they print, what they mean, and what is refused."""

import numpy as np
import pytest

from samhw.errors import InputError
from samhw.lang import ProgramBuilder, dumps, parse
from samhw.lang.functions import before, relu
from samhw.lang.reference import Rounding, evaluate_program, evaluate_with_bounds
from tests.support.recurrences import random_recurrence

HEAD = "index t=4\ntensor X[t, h=2]\ntensor I[h]\n"


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_mean_what_loops_compute(seed: int) -> None:
    made = random_recurrence(seed)
    program = parse(made.text)
    assert parse(dumps(program)) == program
    found = evaluate_program(program, made.inputs)
    for name, expected in made.expected.items():
        assert np.array_equal(found[name], expected), name
    # What rounds nothing is exact.
    bounded = evaluate_with_bounds(program, made.inputs, Rounding.fixed(32, 0))
    assert all(np.array_equal(bounded[name].value, expected) for name, expected in made.expected.items())


def test_python_says_the_same() -> None:
    p = ProgramBuilder("<text>")
    t, h, g = p.index("t", 4), p.index("h", 2), p.index("g")
    X, U, I = p.tensor("X", (t, h)), p.tensor("U", (g, h), "csr"), p.tensor("I", h)  # noqa: E741
    Z, H, S = p.tensor("Z", h), p.tensor("H", (t, h)), p.tensor("S", h)
    with p.scan(t, down=True):
        with p.fuse():
            Z[h] = X[t, h] + H[t + 1, g] * U[g, h]
            H[t, h] = relu(Z[h])
        S[h] = H[t, h] * 2
    H[before(1), h] = I[h]
    text = """index t=4
tensor X[t=4, h=2] : dense
tensor U[g, h=2] : csr
tensor I[h=2] : dense
tensor Z[h=2] : dense
tensor H[t=4, h=2] : dense
tensor S[h=2] : dense
scan t down {
  fuse {
    Z[h] = X[t, h] + H[t + 1, g] * U[g, h]
    H[t, h] = relu(Z[h])
  }
  S[h] = H[t, h] * 2
}
H[-1, h] = I[h]
"""
    assert dumps(p.program()) == text
    assert parse(text) == p.program()


def test_results_are_what_nothing_but_earlier_steps_reads() -> None:
    head = "index t=4\ntensor X[t, h=2]\n"
    program = parse(f"{head}scan t {{\n  H[t, h] = X[t, h] + H[t-1, h]\n  L[h] = H[t, h]\n}}")
    assert [decl.name for decl in program.outputs] == ["L"]
    program = parse(f"{head}scan t {{\n  H[t, h] = X[t, h] + H[t-1, h]\n}}")
    assert [decl.name for decl in program.outputs] == ["H"]
    assert [decl.name for decl in program.inputs] == ["X"]


@pytest.mark.parametrize("first", [0, 1])
def test_a_start_belongs_to_no_region(first: int) -> None:
    """What stands beside it in `fuse` is computed as if it stood alone."""
    block = "scan t {\n  H[t, h] = H[t - 1, h] + X[t, h]\n}\n"
    lines = ["H[-1, h] = I[h]", "T[t, h] = H[t, h] * 2"]
    fused = "fuse {\n  " + "\n  ".join([lines[first], lines[1 - first]]) + "\n}"
    program = parse(HEAD + block + fused)
    assert [str(start) for start in program.starts] == ["H[-1, h] = I[h]"]
    data = {"X": np.ones((4, 2)), "I": np.array([1.0, 2.0])}
    found = evaluate_program(program, data)["T"]
    np.testing.assert_array_equal(found, 2 * np.array([[2, 3], [3, 4], [4, 5], [5, 6]]))


def test_a_tensor_may_be_called_scan() -> None:
    program = parse("tensor scan[i=2]\nY[i] = scan[i] * 2")
    assert dumps(program).endswith("Y[i] = scan[i] * 2\n")
    program = parse("tensor X[i=2]\nscan max= X[i]")
    assert dumps(program).endswith("scan max= X[i]\n")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("scan t {\n}", "this scan block is empty"),
        ("scan t {\n  H[t, h] = X[t, h]\n", "this scan block is not closed"),
        ("scan t {\n  scan s {\n  }\n}", "'scan' cannot stand in a scan block"),
        (
            "scan t {\n  H[t, h] = X[t, h] + H[t+1, h]\n}",
            r"'H\[t \+ 1, h\]' is of a step to come: 'scan t' goes up",
        ),
        ("scan t down {\n  H[t, h] = X[t, h] + H[t-1, h]\n}", "of a step to come: 'scan t down' goes down"),
        ("scan t {\n  H[t, h] = X[t, h] + H[t, h]\n}", "'H' is used before the statement that writes it"),
        (
            "scan t {\n  H[t, h] = X[2*t, h] + H[t-1, h]\n}",
            r"'X\[2\*t, h\]' computes with t, which in 'scan t'",
        ),
        ("scan t {\n  H[t-1, h] = X[t, h]\n}", r"'H\[t - 1, h\]' is written at another step"),
        ("scan s {\n  H[t, h] = X[t, h]\n}", "nothing in 'scan s' has the index s"),
        ("scan t {\n  H[t, h] = X[t, h]\n  Y[t, h] = H[s, h] * X[t, h]\n}", "reads other steps of 'H'"),
        ("tensor H[t, h] : csr\nscan t {\n  H[t, h] = X[t, h]\n}", "takes dense levels; store it dense"),
        ("scan t {\n  H[t, h] = X[t, h]\n}\nH[h, -1] = I[h]", "in another mode than the one that it steps"),
        ("scan t {\n  H[t, h] = X[t, h]\n}\nH[-1, h] = I[h]\nH[-1, h] = I[h]", "is given twice"),
        (
            "scan t {\n  H[t, h] = X[t, h]\n}\nY[h] = I[h]\nH[-1, h] = Y[h]",
            "move the statement that does before",
        ),
        ("scan t {\n  Y[i] = reshape(X[t, h])\n}", "moves a whole tensor in 'scan t'"),
        ("scan t {\n  Y[h] = X[t, h]\n  Y[h] = X[t, h]\n}", "'Y' is written twice"),
    ],
)
def test_what_is_refused(body: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(f"{HEAD}{body}")
