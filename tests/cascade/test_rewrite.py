"""Cascades as programs: what is rewritten and what is left alone, and that results stay what they are."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

import samhw
from samhw.app.cli import main
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.lang import dumps, parse
from samhw.lang.cascade import cascaded
from samhw.lang.check import check_program
from samhw.lang.reference import evaluate_program

RNG = np.random.default_rng(0)

ATTENTION = """
value f32
tensor Q[i, k]
tensor K[j, k]
tensor V[j, v]
fuse {
  S[i, j] = Q[i, k] * K[j, k]    order i, j, k
  m[i] max= S[i, j]
  E[i, j] = exp(S[i, j] - m[i])
  l[i] = E[i, j]
  P[i, j] = E[i, j] / l[i]
  O[i, v] = P[i, j] * V[j, v]    order i, j, v
}
"""

MASKED = """
value f32
tensor S[i, j] : csr
tensor M[i, j] : csr
tensor V[j, v]
fuse {
  m[i] max= S[i, j] where M[i, j]
  E[i, j] = exp(S[i, j] - m[i]) where M[i, j]
  l[i] = E[i, j]
  P[i, j] = E[i, j] / l[i]
  O[i, v] = P[i, j] * V[j, v]
}
"""

SOFTMAX = """
value f32
tensor S[i, j]
fuse {
  m[i] max= S[i, j]
  E[i, j] = exp(S[i, j] - m[i])
  l[i] = E[i, j]
  P[i, j] = E[i, j] / l[i]
}
"""

LOGSUMEXP = """
value f32
tensor S[a, b]
fuse {
  m[i] max= S[i, j]
  l[a] = exp(S[a, b] - m[a])
  y[i] = log(l[i]) + m[i]
}
"""

WEIGHTED = """
value f32
tensor a[i, j]
tensor w[j]
fuse {
  n[i] = a[i, j]
  y[i] = a[i, j] * w[j] / n[i]
  z[i] max= y[i] + a[i, j]
}
"""


def arrays(text: str) -> dict[str, np.ndarray]:
    shape = {"i": 5, "j": 12, "k": 4, "v": 6, "a": 5, "b": 12}
    given: dict[str, np.ndarray] = {}
    for decl in parse(text).inputs:
        given[decl.name] = RNG.normal(size=[shape[i] for i in decl.indices])
    if "a" in given:
        given["a"] = np.abs(given["a"]) + 0.5
    if "M" in given:
        given["M"] = (RNG.random((5, 12)) < 0.5) * 1.0
        given["M"][2] = 0
        given["S"] = given["S"] * given["M"]
    return given


@pytest.mark.parametrize("text", [ATTENTION, MASKED, SOFTMAX, LOGSUMEXP, WEIGHTED])
@pytest.mark.parametrize("mode", ["rescaled", "auto", "deferred", "off"])
def test_results_stay(text: str, mode: str) -> None:
    program = parse(text)
    found = cascaded(program, mode)
    check_program(found.program)
    assert parse(dumps(found.program)) == found.program
    assert [d.name for d in found.program.outputs] == [d.name for d in program.outputs]
    given = arrays(text)
    before, after = evaluate_program(program, given), evaluate_program(found.program, given)
    for decl in program.outputs:
        np.testing.assert_allclose(after[decl.name], before[decl.name], rtol=1e-12, atol=1e-14)
    assert (found.program == program) == (mode == "off" or not any(f.rewritten for f in found.findings))


@pytest.mark.parametrize("text", [ATTENTION, MASKED, LOGSUMEXP])
def test_runs_are_right(text: str) -> None:
    """The check knows the form that was chosen."""
    design = samhw.compile(text, schedule={"cascade": "rescaled"})
    result = design.run(arrays(text))
    assert result.check().verdict == "right"


def test_an_attention_is_one_pass() -> None:
    found = cascaded(parse(ATTENTION), "rescaled")
    text = dumps(found.program)
    assert "recur(j, m_factor[i, j], E_running[i, j] * V[j, v])" in text
    assert "O[i, v] = O_sum[i, v] / l[i]" in text
    assert "m[i] max=" not in text
    assert "P" not in found.program.tensors
    assert [f.rewritten for f in found.findings] == [True, True]


@pytest.mark.parametrize("format", ["(dense, ell(4))", "(dense, ragged)", "coo"])
def test_what_is_added_is_stored_as_a_result_can_be(format: str) -> None:
    text = f"""tensor S[i=3, j=4] : {format}
fuse {{
m[i] max= S[i, j]
l[i] = exp(S[i, j] - m[i])
}}
"""
    found = cascaded(parse(text), "rescaled").program
    assert [s.lhs.tensor for s in found.statements if s.lhs.tensor.endswith("_running")]
    check_program(found)
    assert parse(dumps(found)) == found


def test_no_channel_holds_a_row() -> None:
    """Whatever the length of the sequence is."""
    deepest = []
    for n in (64, 1024):
        program = cascaded(parse(ATTENTION).bind({"Q": (n, 16), "K": (n, 16), "V": (n, 16)}), "rescaled")
        (region,) = compile_job(Job(program.program.bind({}))).regions
        deepest.append(max(channel.depth for channel in region.graph.channels))
    assert deepest[0] == deepest[1] < 256


def test_deferred_leaves_alone_what_would_have_to_be_rescaled() -> None:
    found = cascaded(parse(ATTENTION), "deferred")
    assert not any(f.rewritten for f in found.findings)
    assert "'deferred' does not" in found.findings[0].words
    quotient = "tensor a[i, j]\nfuse {\nn[i] = a[i, j]\ny[i] = a[i, j] * a[i, j] / n[i]\n}\n"
    text = dumps(cascaded(parse(quotient), "deferred").program)
    assert "y_sum[i] = a[i, j] * a[i, j]\n" in text
    assert "y[i] = y_sum[i] / n[i]" in text


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ("m[i] max= S[i, j]\ny[i] = exp(S[i, j] * m[i])", "does not come apart into elements and m.i."),
        ("m[i] = S[i, j]\nD[i, j] = S[i, j] - m[i]\ny[i] = D[i, j] * D[i, j]", "comes apart only as"),
        ("m[i] max= S[i, j] where S[i, j]\ny[i] = exp(S[i, j] - m[i])", "do not count the same points"),
        (
            "m[i] = S[i, j]\nD[i, j] = S[i, j] - m[i] where S[i, j]\ny[i] max= D[i, j]",
            "do not count the same points",
        ),
        (
            "m[i] max= S[i, j]\ny[i] = exp(S[i, j] - m[i]) + 2 * exp(-m[i])",
            "is added once, and not at each j",
        ),
        (
            "m[i] max= abs(S[i, j])\nq[i, j] = rint(S[i, j] / m[i])\ny[i] = q[i, j] * S[i, j]",
            "rounds inside of the sum what m.i. scales.*as 'quant_gemm' does",
        ),
        ("m[i] max= S[i, j]\ny[i] prod= exp(S[i, j] - m[i])", "a product has no form"),
        ("m[i] max= S[i, j]\ny[i] max= S[i, j] * m[i]", "does not come apart"),
        ("m[i] max= S[i, j]\ny[i, r] argtop= S[i, j] * m[i]", "what is put in order does not come apart"),
        (
            "m[i] max= S[i, j]\nl[i] = exp(S[i, j] - m[i])\ny[i] = exp(S[i, j] - l[i])",
            "which would have to rescale it, is itself of earlier results",
        ),
    ],
)
def test_left_alone(statements: str, words: str) -> None:
    program = parse(f"tensor S[i, j]\nfuse {{\n{statements}\n}}\n")
    found = cascaded(program, "rescaled")
    left = found.findings[-1]
    assert not left.rewritten
    assert re.search(words, left.words)


def test_what_a_mask_leaves_out_of_an_extreme_has_no_deferred_part() -> None:
    """T - t is stored for no j of a row that the mask leaves out, and -t is not its maximum."""
    text = "tensor E[l=2]\ntensor T[l=2, j=2]\nt[l] = T[l, j]\n"
    text += "D[l, j] = T[l, j] - t[l] where E[l]\nm[l] max= D[l, j]"
    design = samhw.compile(text, schedule={"cascade": "auto", "fuse": "full"}, value="f32")
    result = design.run(E=[0, 1], T=[[0, 1], [2, 3]])
    result.check()
    assert list(result["m"]) == [0, -2]


def test_equal_extents_are_not_one_index() -> None:
    """Two reductions over different indices of one length have nothing to do with each other."""
    program = parse(
        "tensor S[i=6, j=8]\ntensor T[i=6, k=8]\nfuse {\nm[i] max= S[i, j]\ny[i] = exp(T[i, k] - m[i])\n}\n"
    )
    found = cascaded(program, "rescaled")
    assert found.program == program
    assert not found.findings


def test_scores_of_minus_infinity() -> None:
    """A weight of a score of minus infinity is 0, before any other score too; a row of them gives 0."""
    given = arrays(ATTENTION)
    scores = given["Q"] @ given["K"].T
    scores[0, :3] = scores[1, 2:] = scores[2] = -np.inf
    text = ATTENTION.replace("tensor Q[i, k]\ntensor K[j, k]\n", "tensor S[i, j]\n")
    text = text.replace("  S[i, j] = Q[i, k] * K[j, k]    order i, j, k\n", "")
    design = samhw.compile(text, schedule={"cascade": "rescaled"})
    result = design.run(S=scores, V=given["V"])
    assert result.check().good
    weights = np.exp(scores - np.where(np.isinf(scores.max(1)), 0, scores.max(1))[:, None])
    weights /= np.maximum(weights.sum(1), 1e-300)[:, None]
    np.testing.assert_allclose(result["O"], weights @ given["V"], atol=1e-5)


@pytest.mark.parametrize("kind", ["rising", "equal", "falling", "single"])
@pytest.mark.parametrize("value", ["f32", "bf16"])
def test_orders_of_scores(kind: str, value: str) -> None:
    scores = {
        "rising": np.linspace(-8, 8, 40)[None] * np.ones((2, 1)),
        "falling": np.linspace(8, -8, 40)[None] * np.ones((2, 1)),
        "equal": np.full((2, 40), 3.0),
        "single": np.full((2, 1), -50.0),
    }[kind]
    design = samhw.compile(
        LOGSUMEXP.replace("value f32\n", ""), value=value, schedule={"cascade": "rescaled"}
    )
    result = design.run(S=scores)
    assert result.check().good
    top = scores.max(1)
    expected = top + np.log(np.exp(scores - top[:, None]).sum(1))
    np.testing.assert_allclose(result["y"], expected, rtol=1e-5 if value == "f32" else 0.05)


@pytest.mark.parametrize("kind", ["rising", "equal", "falling"])
def test_a_run_says_where_the_bound_is_wider(kind: str) -> None:
    """With each rescaling it grows, and without any it is that of the plain form, or less."""
    rising = np.linspace(-8, 8, 64)[None]
    scores = {"rising": rising, "equal": 0 * rising, "falling": rising[:, ::-1]}[kind]
    checks = [
        samhw.compile(LOGSUMEXP, schedule={"cascade": mode}).run(S=scores).check()
        for mode in ("off", "rescaled")
    ]
    assert checks[0].plain_bound is None
    assert checks[1].plain_bound == checks[0].bound
    assert checks[1].is_wider == (checks[1].bound > checks[0].bound)
    assert checks[1].is_wider or kind != "rising"


def test_the_command_line_says_it() -> None:
    text = LOGSUMEXP.replace("S[a, b]", "S[a=2, b=200]", 1)
    done = CliRunner().invoke(main, ["run", text, "--data", "random", "--cascade", "rescaled"])
    assert done.exit_code == 0, done.output
    assert re.search(r"bound +\S+: wider than the \S+ of the cascades as they are written", done.output)
