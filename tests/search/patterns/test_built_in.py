"""The built-in patterns, on the built-in models and on ways to write what they look for."""

import pytest

from samhw.app.checking import check
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler.search.patterns import BUILT_IN, find_patterns
from samhw.lang import load_model, parse
from samhw.targets.backends import run

SOFTMAX = "l[i] = E[i, j]\nY[i, j] = E[i, j] / l[i]\n"
X = "tensor X[i=4, j=5]\n"
NORM = X + "tensor n\nmean[i] = X[i, j] / n\nD[i, j] = X[i, j] - mean[i]\nvar[i] = D[i, j] * D[i, j] / n\n"
LINEAR = "tensor X[i=4, j=5]\ntensor W[j=5, k=5]\ntensor b[k=5]\n"


def matches(text: str) -> list[tuple[str, str]]:
    """The patterns, with the results that each has."""
    return [
        (match.pattern, " ".join(match.results)) for match in find_patterns(parse(text), BUILT_IN).matches
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (X + "m[i] max= X[i, j]\nE[i, j] = exp(X[i, j] - m[i])\n" + SOFTMAX, ["softmax: m E l Y"]),
        (
            X + "m[i] max= X[i, j]\nD[i, j] = X[i, j] - m[i]\nE[i, j] = exp(D[i, j])\n" + SOFTMAX,
            ["softmax: m D E l Y"],
        ),
        (X + "E[i, j] = exp(X[i, j])\n" + SOFTMAX, ["softmax: E l Y"]),
        (
            X + "mean[i] = X[i, j] * 0.2\nD[i, j] = X[i, j] - mean[i]\nvar[i] = D[i, j] * D[i, j] * 0.2\n"
            "r[i] = rsqrt(var[i] + 0.001)\nY[i, j] = D[i, j] * r[i] * 1.0 + 0.0\n",
            ["layer norm: mean D var r Y"],
        ),
        # The sum of something else.
        (X + "E[i, j] = exp(X[i, j])\nl[i] = X[i, j]\nY[i, j] = E[i, j] / l[i]\n", []),
        (NORM + "r[i] = rsqrt(var[i] + 0.001)\nY[i, j] = D[i, j] * r[i]\n", ["layer norm: mean D var r Y"]),
        (
            NORM + "s[i] = sqrt(var[i] + 0.001)\ntensor g[j=5]\nY[i, j] = D[i, j] / s[i] * g[j]\n",
            ["layer norm: mean D var s Y"],
        ),
        (
            LINEAR + "Y[i, k] = relu(U[i, k])\n".join(["U[i, k] = X[i, j] * W[j, k] + b[k]\n", ""]),
            ["bias and activation: U Y"],
        ),
        (
            LINEAR + "U[i, k] = X[i, j] * W[j, k]\nV[i, k] = b[k] + U[i, k]\nY[i, k] = gelu(V[i, k])\n",
            ["bias and activation: U V Y"],
        ),
        (LINEAR + "U[i, k] = X[i, j] * W[j, k] + b[k]\nY[i, k] = U[i, k] + X[i, k]\n", ["residual: U Y"]),
    ],
)
def test_ways_to_write_them(text: str, expected: list[str]) -> None:
    assert [f"{name}: {results}" for name, results in matches(text)] == expected


def test_a_sum_of_two_branches_is_no_residual() -> None:
    text = LINEAR + "tensor Z[i=4, k=5]\nU[i, k] = X[i, j] * W[j, k] + b[k]\nY[i, k] = U[i, k] + Z[i, k]\n"
    found = find_patterns(parse(text), BUILT_IN)
    assert not found.matches
    assert "what is added to Z does not follow from it" in [refused.why for refused in found.refused]


def test_attention_whose_weights_are_a_result_too() -> None:
    text = (
        "tensor Q[i=4, d=3]\ntensor K[j=5, d=3]\ntensor V[j=5, c=3]\nS[i, j] = Q[i, d] * 0.5 * K[j, d]\n"
        "m[i] max= S[i, j]\nE[i, j] = exp(S[i, j] - m[i])\nl[i] = E[i, j]\nP[i, j] = E[i, j] / l[i]\n"
        "O[i, c] = P[i, j] * V[j, c]\n"
    )
    assert matches(text) == [("attention", "S m E l P O")]
    found = find_patterns(parse(text + "R[i, j] = 2 * P[i, j]\n"), BUILT_IN)
    assert [match.results for match in found.matches] == [("m", "E", "l", "P")]
    assert found.refused[0].why == "other statements read P"


def test_a_decoder_block() -> None:
    found = find_patterns(load_model("gpt3_block"), BUILT_IN)
    assert [(m.pattern, m.results[-1]) for m in found.matches] == [
        ("layer norm", "N1"),
        ("attention", "O"),
        ("residual", "R"),
        ("layer norm", "N2"),
        ("bias and activation", "G"),
        ("residual", "Y"),
    ]
    attention = found.matches[1]
    assert {name: str(attention.parts[name]) for name in ("query", "key", "value")} == {
        "query": "Q[i, h, d]",
        "key": "K[h, j, d]",
        "value": "V[h, j, d]",
    }
    equal = found.equal_to(found.matches[3])
    assert equal is found.matches[0]


@pytest.mark.parametrize("model", ["bigbird_attention", "gcn_softmax"])
def test_the_schedule_gives_right_results(model: str) -> None:
    workload = bind_program(model)
    schedule = Schedule.from_fields(find_patterns(workload.program, BUILT_IN).schedule)
    compiled = compile_workload(workload, schedule)
    assert check(workload, compiled, run(compiled, workload.tensors).outputs).good
