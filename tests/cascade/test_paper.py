"""The rows of the test of decomposability, as RedFuser's cases have them, and what the pass makes of each.

The paper's own test takes apart neither the variance nor the moment of inertia, which are of finite rank, nor
the maximum of a softmax, which commutes.

    python -m pytest -s tests/cascade/test_paper.py    # prints them
"""

import numpy as np
import pytest

from samhw.lang import dumps, parse
from samhw.lang.cascade import cascaded
from samhw.lang.check import check_program
from samhw.lang.reference import evaluate_program

SOFTMAX = "m[i] max= x[i, j]\nE[i, j] = exp(x[i, j] - m[i])\n"

ROWS = {
    "exp(x-m), sum": (SOFTMAX + "y[i] = E[i, j]", "rescaled for m[i], G = exp(x[i, j]), H = exp(-m[i])"),
    "exp(x-m)·v, matmul": (
        SOFTMAX + "y[i, v] = E[i, j] * V[j, v]",
        "rescaled for m[i], G = V[j, v]*exp(x[i, j]), H = exp(-m[i])",
    ),
    "448·x/m·w, matmul": (
        "m[i] max= abs(x[i, j])\ny[i, v] = 448 * x[i, j] / m[i] * V[j, v]",
        "deferred for m[i], G = 448*V[j, v]*x[i, j], H = 1/m[i]",
    ),
    "x + m, max": ("m[i] max= w[i, j] * x[i, j]\ny[i] max= x[i, j] + m[i]", "of x[i, j] in its place"),
    "exp(x-m)/l, max": (
        SOFTMAX + "l[i] = E[i, j]\ny[i] max= E[i, j] / l[i]",
        "of x[i, j] in its place",
    ),
    "exp(x-m)/l, argmax": (
        SOFTMAX + "l[i] = E[i, j]\ny[i] argmax= E[i, j] / l[i]",
        "of x[i, j] in its place, which has the same order",
    ),
    "v/y1, sum": (
        "m[i] = w[i, j] * x[i, j]\ny[i] = x[i, j] / m[i]",
        "deferred for m[i], G = x[i, j], H = 1/m[i]",
    ),
    "(x-m)², sum": (
        "m[i] = x[i, j]\nD[i, j] = x[i, j] - m[i]\ny[i] = D[i, j] * D[i, j]",
        "finite rank for m[i]: (1)·(x[i, j]**2) + (-2*m[i])·(x[i, j]) + (m[i]**2)·(1)",
    ),
    "w·(x-m)², sum": (
        "m[i] = x[i, j]\nD[i, j] = x[i, j] - m[i]\ny[i] = w[i, j] * D[i, j] * D[i, j]",
        "finite rank for m[i]: (1)·(w[i, j]*x[i, j]**2) + (-2*m[i])·(w[i, j]*x[i, j]) + (m[i]**2)·(w[i, j])",
    ),
    "exp(x·m), sum": (
        "m[i] max= x[i, j]\ny[i] = exp(x[i, j] * m[i])",
        "left alone: exp(m[i]*x[i, j]) does not come apart into elements and m[i]",
    ),
}


def rows_of(text: str) -> str:
    """The program of a row."""
    names = {"x": "x[i, j]", "w": "w[i, j]", "V": "V[j, v]"}
    used = [decl for name, decl in names.items() if f"{name}[" in text]
    return "value f32\n" + "".join(f"tensor {decl}\n" for decl in used) + f"fuse {{\n{text}\n}}\n"


@pytest.mark.parametrize("name", ROWS)
def test_row(name: str) -> None:
    text, words = ROWS[name]
    program = parse(rows_of(text))
    found = cascaded(program, "finite")
    said = next(finding for finding in found.findings if finding.tensor == "y")
    print(f"{name}: {said.words}")
    assert said.words.startswith(words)
    assert said.rewritten == (not words.startswith("left alone"))
    check_program(found.program)
    assert parse(dumps(found.program)) == found.program
    rng, sizes = np.random.default_rng(0), {"i": 3, "j": 12, "v": 2}
    given = {d.name: rng.uniform(0.5, 2, [sizes[i] for i in d.indices]) for d in program.inputs}
    before, after = (evaluate_program(p, given)["y"] for p in (program, found.program))
    np.testing.assert_allclose(after, before, rtol=1e-9)


def test_finite_rank_only_where_it_is_asked_for() -> None:
    program = parse(rows_of(ROWS["(x-m)², sum"][0]))
    found = cascaded(program, "rescaled")
    assert found.program == program
    assert "sums that may cancel; ask for 'finite'" in found.findings[-1].words


CASCADE_OF_THREE = """
value f32
tensor S[i, j]
tensor V[i, j]
fuse {
  m[i] max= S[i, j]
  E[i, j] = exp(S[i, j] - m[i])
  l[i] = E[i, j]
  P[i, j] = E[i, j] / l[i]
  mean[i] = P[i, j] * V[i, j]
  D[i, j] = V[i, j] - mean[i]
  variance[i] = P[i, j] * D[i, j] * D[i, j]
}
"""


def test_softmax_mean_and_variance_are_one_pass() -> None:
    program = parse(CASCADE_OF_THREE)
    found = cascaded(program, "finite")
    assert all(finding.rewritten for finding in found.findings)
    reduced = {"m", "l", "mean", "variance", "P", "E", "D"}
    for statement in found.program.statements:
        # What goes along j knows no result of all of a row.
        if "j" in statement.indices:
            assert not reduced & {access.tensor for access in statement.reads}, statement
    rng = np.random.default_rng(0)
    given = {name: rng.normal(size=(3, 20)) for name in "SV"}
    after = evaluate_program(found.program, given)["variance"]
    shares = np.exp(given["S"]) / np.exp(given["S"]).sum(1, keepdims=True)
    mean = (shares * given["V"]).sum(1, keepdims=True)
    np.testing.assert_allclose(after, (shares * (given["V"] - mean) ** 2).sum(1), rtol=1e-9)


def test_a_mask_between_keeps_an_order_from_passing() -> None:
    """Zeros outside of a mask count for a maximum: they are no image of what is there."""
    mask = "tensor M[i, j] : csr\ntensor x[i, j]\n"
    body = (
        "m[i] max= x[i, j] where M[i, j]\nE[i, j] = exp(x[i, j] - m[i]) where M[i, j]\ny[i] argmax= E[i, j]"
    )
    found = cascaded(parse(f"value f32\n{mask}fuse {{\n{body}\n}}\n"), "rescaled")
    assert not any(finding.rewritten for finding in found.findings)
    inside = body + " where M[i, j]"
    found = cascaded(parse(f"value f32\n{mask}fuse {{\n{inside}\n}}\n"), "rescaled")
    assert found.findings[-1].words == "of x[i, j] in its place, which has the same order"
