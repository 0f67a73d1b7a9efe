"""The built-in cascades against the plain formulas in float64, in every form."""

from collections.abc import Callable, Mapping

import ml_dtypes
import numpy as np
import pytest

from samhw import compile
from samhw.lang import load_cascade, parse
from samhw.lang.cascade import cascaded

Arrays = Mapping[str, np.ndarray]
RNG = np.random.default_rng(7)


def softmax(scores: np.ndarray) -> np.ndarray:
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def mla(a: Arrays) -> Arrays:
    scores = a["scale"] * (a["Q"] @ a["C"].T + a["R"] @ a["K"].T)
    return {"O": softmax(scores) @ a["C"]}


def moe_routing(a: Arrays) -> Arrays:
    shares = softmax(a["X"] @ a["W"].T)
    experts = np.argsort(-shares, axis=-1, kind="stable")[:, :6]
    return {"gates": np.take_along_axis(shares, experts, -1), "experts": experts.astype(float)}


def sum_sum(a: Arrays) -> Arrays:
    return {"z": (a["W"] * a["X"]).sum(-1) / a["W"].sum(-1)}


def inertia(a: Arrays) -> Arrays:
    centre = (a["W"] * a["X"]).sum(-1) / a["W"].sum(-1)
    return {"inertia": (a["W"] * (a["X"] - centre[:, None]) ** 2).sum(-1)}


def quant_gemm(a: Arrays) -> Arrays:
    """Element by element, each on the grid of the greatest so far (RedFuser, equations 17 to 22)."""
    greatest, sums = np.zeros(len(a["A"])), np.zeros((len(a["A"]), a["W"].shape[1]))
    for column, weights in zip(a["A"].T, a["W"], strict=True):
        before, greatest = greatest, np.maximum(greatest, np.abs(column))
        scale = np.where(greatest > 0, greatest, 1)
        sums = sums * (before / scale)[:, None] + np.rint(127 * (column / scale))[:, None] * weights
    return {"out": sums * (greatest / 127)[:, None]}


FP8_PRODUCT = """
# Product of rows in fp8, scaled by their greatest element so far, and of weights in fp8; sums in f32
value f32
tensor A[i, k]
tensor W[k, n]
fuse {
  m[i] max= abs(A[i, k])
  greatest[i, k] = cummax(k, abs(A[i, k]))
  before[i, k] = cummax(k, abs(A[i, k]), exclusive)
  factor[i, k] = before[i, k] / greatest[i, k]
  Q[i, k] = f8e4m3(448 * (A[i, k] / greatest[i, k]))
  C[i, n] = recur(k, factor[i, k], Q[i, k] * f8e4m3(W[k, n]))    order i, k, n
  out[i, n] = C[i, n] * (m[i] / 448)
}
"""


def fp8_product(a: Arrays) -> Arrays:
    """As `quant_gemm`, with ml_dtypes's rounding, and the quotients in f32."""

    def narrow(x: np.ndarray) -> np.ndarray:
        return x.astype(np.float32).astype(ml_dtypes.float8_e4m3fn).astype(float)

    greatest, sums = np.zeros(len(a["A"])), np.zeros((len(a["A"]), a["W"].shape[1]))
    for column, weights in zip(a["A"].T, a["W"], strict=True):
        before, greatest = greatest, np.maximum(greatest, np.abs(column))
        scale = np.where(greatest > 0, greatest, 1)
        quotient = (column.astype(np.float32) / scale.astype(np.float32)) * np.float32(448)
        sums = sums * (before / scale)[:, None] + narrow(quotient)[:, None] * narrow(weights)
    return {"out": sums * (greatest / 448)[:, None]}


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


PROGRAMS: dict[str, tuple[Callable[[Arrays], Arrays], Arrays]] = {
    "mla": (
        mla,
        {"Q": normal(3, 4), "R": normal(3, 2), "C": normal(9, 4), "K": normal(9, 2), "scale": np.array(0.4)},
    ),
    "moe_routing": (moe_routing, {"X": normal(5, 4), "W": normal(8, 4)}),
    "sum_sum": (sum_sum, {"W": np.abs(normal(4, 11)) + 0.1, "X": normal(4, 11)}),
    "quant_gemm": (quant_gemm, {"A": normal(4, 24) * (np.arange(4) != 2)[:, None], "W": normal(24, 3)}),
    "inertia": (inertia, {"W": np.abs(normal(4, 11)) + 0.1, "X": normal(4, 11) + 1000}),
}


@pytest.mark.parametrize("cascade", ["off", "deferred", "rescaled", "auto"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_form(name: str, cascade: str) -> None:
    plain, arrays = PROGRAMS[name]
    result = compile(load_cascade(name), value="f32", schedule={"cascade": cascade}).run(arrays)
    check = result.check()
    assert str(check.verdict) == "right"
    single = {name: array.astype(np.float32).astype(float) for name, array in arrays.items()}
    for tensor, wanted in plain(single).items():
        found = np.asarray(result.tensors[tensor].to_dense())
        assert np.abs(found - wanted).max() <= check.bound + 1e-12


@pytest.mark.parametrize("rows", ["rising", "falling", "equal"])
@pytest.mark.parametrize("cascade", ["off", "rescaled"])
def test_routing_of_ordered_scores(cascade: str, rows: str) -> None:
    scores = {"rising": np.arange(8.0), "falling": -np.arange(8.0), "equal": np.ones(8)}[rows]
    arrays = {"X": np.ones((1, 1)), "W": scores[:, None]}
    result = compile(load_cascade("moe_routing"), value="f32", schedule={"cascade": cascade}).run(arrays)
    assert result.check().good
    # Of equal scores the first experts count.
    wanted = [7, 6, 5, 4, 3, 2] if rows == "rising" else [0, 1, 2, 3, 4, 5]
    assert result.tensors["experts"].to_dense().tolist() == [wanted]
    np.testing.assert_allclose(result.tensors["gates"].to_dense()[0], softmax(scores)[wanted], rtol=1e-5)


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "backend"),
    [pytest.param("moe_routing", "verilator", marks=pytest.mark.verilator), ("inertia", "hls")],
)
def test_in_hardware(name: str, backend: str) -> None:
    """The simulator's cycles and words, or its tokens."""
    design = compile(load_cascade(name), value="f32", schedule={"cascade": "rescaled"})
    result = design.run(PROGRAMS[name][1], backend=backend)
    assert result.check().good
    if backend == "verilator":
        assert result.cycles == design.run(PROGRAMS[name][1]).cycles


@pytest.mark.parametrize(
    "backend",
    [
        "sim",
        pytest.param("verilator", marks=[pytest.mark.slow, pytest.mark.verilator]),
        pytest.param("hls", marks=pytest.mark.slow),
    ],
)
def test_operands_in_fp8_and_sums_in_f32(backend: str) -> None:
    arrays = {name: array.astype(np.float32) for name, array in PROGRAMS["quant_gemm"][1].items()}
    design = compile(FP8_PRODUCT)
    result, simulated = design.run(arrays, backend=backend), design.run(arrays)
    assert result.check().good
    np.testing.assert_array_equal(result["out"], simulated["out"])
    np.testing.assert_allclose(result["out"], fp8_product(arrays)["out"], rtol=1e-5, atol=1e-5)
    if backend == "verilator":
        assert result.cycles == simulated.cycles


def test_a_rounding_inside_of_the_sum_is_no_schedules_to_choose() -> None:
    text = "value f32\ntensor A[i, k]\ntensor W[k, n]\nfuse {\n  m[i] max= abs(A[i, k])\n"
    text += "  Q[i, k] = f8e4m3(448 * (A[i, k] / m[i]))\n  C[i, n] = Q[i, k] * W[k, n]\n}\n"
    (finding,) = cascaded(parse(text), "auto").findings
    assert not finding.rewritten
    assert "rounds inside of the sum what m[i] scales" in finding.words


def test_inertia_does_not_cancel() -> None:
    """Far from the origin, where the sum of squares less the square of the sum has no digit left."""
    arrays = {"W": np.ones((1, 64)), "X": 1e5 + np.arange(64.0)[None]}
    result = compile(load_cascade("inertia"), value="f32").run(arrays)
    wanted = inertia(arrays)["inertia"]
    np.testing.assert_allclose(result.tensors["inertia"].to_dense(), wanted, rtol=1e-3)
