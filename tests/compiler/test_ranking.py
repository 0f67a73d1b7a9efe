"""top, bottom and their coordinates as graphs: numbers, readers, orders, lanes, types, and their rate."""

import numpy as np
import pytest
from scipy.sparse import coo_array

import samhw
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.lang import parse
from tests.reference.test_ranking import in_order

RNG = np.random.default_rng(0)
SCORES = RNG.integers(-2, 3, (6, 9))
TEXT = "tensor S[i=6, j=9]\ntensor V[i, r=4]\n"


def run(text: str, value: str = "i32", schedule: object = None, **arrays: np.ndarray) -> np.ndarray:
    result = samhw.compile(text, value=value, **({"schedule": schedule} if schedule else {})).run(arrays)
    assert result.check().verdict == "right"
    return np.asarray(result["V"])


@pytest.mark.parametrize("storage", ["dense", "csr", "dcsr"])
@pytest.mark.parametrize("value", ["i32", "i8", "fixed<16,8>", "bf16", "f32"])
def test_in_order(storage: str, value: str) -> None:
    text = TEXT.replace("]\n", f"] : {storage}\n", 1)
    for greatest, names in ((True, ("top", "argtop")), (False, ("bottom", "argbottom"))):
        for name, expected in zip(names, in_order(SCORES, 4, greatest), strict=True):
            np.testing.assert_array_equal(run(f"{text}V[i, r] {name}= S[i, j]", value, S=SCORES), expected)


def test_a_mask_leaves_points_out() -> None:
    mask = RNG.random((6, 9)) < 0.3
    mask[2] = False
    text = f"tensor M[i, j] : csr\n{TEXT}V[i, r] argtop= S[i, j] where M[i, j]"
    _, places = in_order(np.where(mask, SCORES, -9), 4, True)
    expected = np.where(np.arange(4) < mask.sum(1)[:, None], places, 0)
    np.testing.assert_array_equal(run(text, S=SCORES, M=mask * 1), expected)


@pytest.mark.parametrize("backend", ["sim", pytest.param("verilator", marks=pytest.mark.verilator)])
@pytest.mark.parametrize("storage", ["dense", "csf"])
def test_a_mask_of_rows_leaves_no_places(storage: str, backend: str) -> None:
    """A row that is left out has no best values, though zeros are in order too."""
    mask = np.arange(6) % 3
    text = f"tensor M[i] : {storage}\n{TEXT}V[i, r] argtop= S[i, j] where M[i]"
    _, places = in_order(SCORES, 4, True)
    result = samhw.compile(text, value="i32").run(S=SCORES, M=mask, backend=backend)
    np.testing.assert_array_equal(result["V"], places * (mask != 0)[:, None])
    assert result.check().verdict == "right"


def test_with_its_operand_and_its_readers_in_a_region() -> None:
    """Weights of a row's best three, by the softmax of the best alone; and a reader that sums over them."""
    text = "tensor A[i=6, k=9]\ntensor X[k, j=7]\ntensor T[i, r=3]\ntensor w[r]\n"
    text += "fuse {\nS[i, j] = A[i, k] * X[k, j]\nT[i, r] top= S[i, j]\nm[i] max= S[i, j]\n"
    text += "V[i] = (m[i] - T[i, r]) * w[r]\n}"
    x, w = RNG.integers(-3, 4, (9, 7)), np.array([1, 2, 3])
    best, _ = in_order(SCORES @ x, 3, True)
    np.testing.assert_array_equal(run(text, A=SCORES, X=x, w=w), (best[:, :1] - best) @ w)


def test_several_rows_outside_and_a_compressed_result() -> None:
    text = "tensor S[b=3, i=6, j=9] : csf\ntensor V[b, i, r=2] : csf\nV[b, i, r] top= S[b, i, j]"
    scores = RNG.integers(-2, 3, (3, 6, 9))
    expected, _ = in_order(scores.reshape(18, 9), 2, True)
    found = samhw.compile(text, value="i32").run(S=scores)
    assert found.check().verdict == "right"
    stored = found["V"]
    assert isinstance(stored, coo_array)
    np.testing.assert_array_equal(stored.toarray(), expected.reshape(3, 6, 2))


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="hardware keeps 64; declare an extent of at most 64 for r"):
        samhw.compile("tensor s[j=80]\ntensor V[r=65]\nV[r] top= s[j]", value="i32").run(s=np.zeros(80))
    text = "tensor s[j=200]\ntensor V[r=2]\nV[r] argtop= s[j]"
    with pytest.raises(InputError, match="go up to 255, which i8 cannot count to"):
        samhw.compile(text, value="i8").run(s=np.zeros(200))
    with pytest.raises(InputError, match="which runs along j, wants j outside r"):
        run(f"{TEXT}V[i, r] top= S[i, j]    order i, r, j", S=SCORES)


def test_an_outer_index_is_made_the_inner_one() -> None:
    text = "tensor S[i=6, j=9]\ntensor V[r=2, j]\nV[r, j] argtop= S[i, j]"
    found = samhw.compile(text, value="i32", permute=True).run(S=SCORES)
    np.testing.assert_array_equal(found["V"], in_order(SCORES.T, 2, True)[1].T)


@pytest.mark.parametrize("lanes", [{"i": 3}, {"i": 2, "j": 2}])
def test_lanes(lanes: dict[str, int]) -> None:
    """Of what is outside, and of the index that is gone through, where its elements are computed."""
    text = "tensor A[i=6, j=9, k=5]\ntensor V[i, r=4]\nfuse {\nS[i, j] = A[i, j, k]\nV[i, r] top= S[i, j]\n}"
    a = RNG.integers(-2, 3, (6, 9, 5))
    expected, _ = in_order(a.sum(2), 4, True)
    np.testing.assert_array_equal(run(text, schedule={"lanes": lanes}, A=a), expected)


@pytest.mark.parametrize("value", ["i32", "bf16"])
def test_a_value_a_cycle(value: str) -> None:
    scores = RNG.integers(-9, 9, (4, 200))
    text = "tensor S[i, j]\ntensor V[i, r=6]\nV[i, r] top= S[i, j]"
    result = samhw.compile(text, value=value).run(S=scores)
    assert 4 * 207 < result.cycles < 4 * 207 + 60


def test_the_estimate_knows_of_ranks() -> None:
    program = parse("tensor S[i=50, j=40]\ntensor V[i, r=8]\nV[i, r] top= S[i, j]")
    (region,) = compile_job(Job(program)).regions
    assert region.expected.cycles == pytest.approx(50 * 49, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("backend", [pytest.param("verilator", marks=pytest.mark.verilator), "hls"])
def test_hardware_agrees(backend: str) -> None:
    text = "tensor S[i=6, j=9] : csr\ntensor V[i, r=4]\ntensor P[i, r=4]\nfuse {\nV[i, r] top= S[i, j]\n"
    text += "P[i, r] argtop= S[i, j]\nY[i, r] = V[i, r] * P[i, r]\n}"
    design = samhw.compile(text, value="i32")
    model, built = design.run(S=SCORES), design.run(S=SCORES, backend=backend)
    values, places = in_order(SCORES, 4, True)
    np.testing.assert_array_equal(built["Y"], values * places)
    if backend == "verilator":
        assert built.cycles == model.cycles
