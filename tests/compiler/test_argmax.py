"""argmax and argmin as graphs: numbers, orders, lanes, types, and their rate."""

import numpy as np
import pytest

import samhw
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.lang import parse

RNG = np.random.default_rng(0)
SCORES = RNG.integers(-2, 3, (6, 9))
INF, NAN = np.inf, np.nan


def run(text: str, value: str = "i32", schedule: object = None, **arrays: np.ndarray) -> np.ndarray:
    result = samhw.compile(text, value=value, **({"schedule": schedule} if schedule else {})).run(arrays)
    assert result.check().verdict == "right"
    return np.asarray(result["p"])


def kinds(text: str) -> list[str]:
    return [node.kind for region in compile_job(Job(parse(text))).regions for node in region.graph.nodes]


@pytest.mark.parametrize("storage", ["dense", "csr", "dcsr"])
@pytest.mark.parametrize("value", ["i32", "i8", "fixed<16,8>", "bf16", "f32"])
def test_the_first_of_several(storage: str, value: str) -> None:
    declared = f"tensor S[i=6, j=9] : {storage}\n"
    expected = SCORES.argmax(1)
    np.testing.assert_array_equal(run(f"{declared}p[i] argmax= S[i, j]", value, S=SCORES), expected)
    np.testing.assert_array_equal(run(f"{declared}p[i] argmin= S[i, j]", value, S=SCORES), SCORES.argmin(1))


def test_a_mask_leaves_points_out() -> None:
    mask = RNG.random((6, 9)) < 0.4
    mask[2] = False
    text = "tensor S[i=6, j=9] : csr\ntensor M[i, j] : csr\np[i] argmax= S[i, j] where M[i, j]"
    scores = np.where(mask, SCORES, -9)
    expected = np.where(mask.any(1), scores.argmax(1), 0)
    np.testing.assert_array_equal(run(text, S=SCORES, M=mask * 1), expected)


def test_what_is_no_number() -> None:
    scores = np.array([[1, NAN, INF, NAN], [-INF, -INF, -INF, -INF], [0, -0.0, 0, -1], [-1, INF, INF, 2]])
    text = "tensor S[i, j]\np[i] argmax= S[i, j]"
    np.testing.assert_array_equal(run(text, "f32", S=scores), [1, 0, 0, 1])
    np.testing.assert_array_equal(run(text.replace("max", "min"), "f32", S=scores), [1, 0, 3, 0])


def test_an_outer_index_is_made_the_inner_one() -> None:
    text = "tensor S[i=6, j=9]\np[j] argmax= S[i, j]"
    found = samhw.compile(text, value="i32", permute=True).run(S=SCORES)
    np.testing.assert_array_equal(found["p"], SCORES.argmax(0))
    with pytest.raises(InputError, match=r"permit|mode order"):
        samhw.compile(text, value="i32").run(S=SCORES)
    with pytest.raises(InputError, match="which runs along i, wants j outside i"):
        samhw.compile(text + "    order i, j", value="i32", permute=True).run(S=SCORES)


def test_in_a_region_with_what_it_is_of_and_what_reads_it() -> None:
    text = "tensor A[i=6, k=9] : csr\ntensor X[k, j=7]\nfuse {\nT[i, j] = A[i, k] * X[k, j]\n"
    text += "a[i] argmax= T[i, j]\np[i] = a[i] * 2 + 1\n}"
    x = RNG.integers(-3, 4, (9, 7))
    np.testing.assert_array_equal(run(text, A=SCORES, X=x), (SCORES @ x).argmax(1) * 2 + 1)


def test_only_other_types_are_converted() -> None:
    text = "tensor S[i=6, j=9]\np[i] argmax= S[i, j]"
    assert kinds(text).count("arg") == 1
    assert "alu" not in kinds(text)
    assert kinds(f"value bf16\n{text}").count("alu") == 1


@pytest.mark.parametrize(("value", "extent"), [("bf16", 256), ("i8", 128), ("fixed<16,8>", 128)])
def test_a_type_that_counts_so_far(value: str, extent: int) -> None:
    scores = np.zeros(extent)
    scores[-1] = 1
    text = f"tensor s[j={extent}]\np argmax= s[j]"
    assert run(text, value, s=scores) == extent - 1
    with pytest.raises(InputError, match=f"go up to .*, which {value} cannot count to"):
        samhw.compile(text.replace(str(extent), str(2 * extent)), value=value).run(s=np.tile(scores, 2))


def test_lanes_outside() -> None:
    text = "tensor S[i=6, j=9] : csr\np[i] argmax= S[i, j]"
    np.testing.assert_array_equal(run(text, schedule={"lanes": {"i": 3}}, S=SCORES), SCORES.argmax(1))
    with pytest.raises(InputError, match="lanes"):
        run(text, schedule={"lanes": {"j": 3}}, S=SCORES)


@pytest.mark.parametrize("value", ["i32", "bf16"])
def test_a_value_a_cycle(value: str) -> None:
    scores = RNG.integers(-9, 9, (4, 200))
    result = samhw.compile("tensor S[i, j]\np[i] argmax= S[i, j]", value=value).run(S=scores)
    assert 4 * 201 < result.cycles < 4 * 201 + 60
