"""Lanes on the index of a cascade: it goes over segments, each with a state of its own, side by side."""

from typing import Any

import numpy as np
import pytest

import samhw
from samhw.errors import InputError
from samhw.lang import Program, dumps, load_cascade, parse
from samhw.lang.cascade import cascaded
from tests.cascade.test_rewrite import MASKED

RNG = np.random.default_rng(3)

STORED = """
value f32
tensor S[i, j] : csr
{1}fuse {{
  m[i] max= {0} where S[i, j]
  l[i] = exp({0} - m[i]) where S[i, j]
}}
"""

SOFTMAX = """
value f32
tensor S[i, j]
fuse {
  m[a] max= S[a, b]
  E[i, j] = exp(S[i, j] - m[i])
  l[i] = E[i, j]
  P[i, j] = E[i, j] / l[i]
}
"""


def softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True))


def attention(queries: int, keys: np.ndarray | int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Arrays of an attention, and what it is."""
    k = RNG.normal(size=(keys, 8)) if isinstance(keys, int) else keys
    q, v = RNG.normal(size=(queries, k.shape[1])), RNG.normal(size=(len(k), 3))
    return {"Q": q, "K": k, "V": v, "scale": np.array(0.5)}, softmax(0.5 * q @ k.T) @ v


def run(
    program: Program | str, arrays: dict[str, np.ndarray], lanes: dict[str, int], backend: str = "sim"
) -> samhw.DesignResult:
    schedule = {"cascade": "rescaled", "lanes": lanes}
    return samhw.compile(program, value="f32", schedule=schedule).run(arrays, backend=backend)


@pytest.mark.parametrize("segments", [2, 4])
def test_one_row_takes_a_lane_for_each_segment(segments: int) -> None:
    arrays, wanted = attention(1, 512)
    whole, laned = (run(load_cascade("attention"), arrays, lanes) for lanes in ({}, {"j": segments}))
    assert laned.check().verdict == "right"
    np.testing.assert_allclose(laned["O"], wanted, atol=1e-5)
    assert whole.cycles / laned.cycles > 0.7 * segments
    # Sums of segments are shorter, and rescaled less often.
    assert laned.check().bound < whole.check().bound


def test_lanes_on_queries_and_keys() -> None:
    arrays, wanted = attention(5, 24)
    laned = run(load_cascade("attention"), arrays, {"i": 2, "j": 3})
    assert laned.check().verdict == "right"
    np.testing.assert_allclose(laned["O"], wanted, atol=1e-5)


@pytest.mark.parametrize("kind", ["rising", "equal", "falling", "single"])
def test_maxima_of_segments_differ(kind: str) -> None:
    rising = np.linspace(-30, 30, 24)
    single = np.where(np.arange(24) == 7, 1.0, -np.inf)
    scores = {"rising": rising, "equal": np.ones(24), "falling": rising[::-1], "single": single}[kind]
    found = run(load_cascade("logsumexp"), {"S": scores[None]}, {"j": 3})
    assert found.check().verdict == "right"
    greatest = scores.max()
    wanted = np.log(np.exp(scores - greatest).sum()) + greatest
    np.testing.assert_allclose(found["y"], wanted, rtol=1e-5)


@pytest.mark.parametrize("segments", [2, 3])
def test_masked_rows_with_empty_segments(segments: int) -> None:
    """What is stored in other levels comes apart as it is."""
    mask = (RNG.random((5, 12)) < 0.5) * 1.0
    mask[2], mask[:, 4:8] = 0, 0
    arrays = {"M": mask, "S": mask * (RNG.normal(size=mask.shape) - 200), "V": RNG.normal(size=(12, 3))}
    found = run(MASKED, arrays, {"j": segments})
    assert found.check().verdict == "right"
    scores, result = np.where(mask > 0, arrays["S"], -np.inf), np.asarray(found["O"])
    rows = [n for n in range(5) if mask[n].any()]
    np.testing.assert_allclose(result[rows], softmax(scores[rows]) @ arrays["V"], atol=1e-5)
    assert not result[2].any()


@pytest.mark.filterwarnings("ignore:.*is added up over j")
def test_segments_of_what_is_derived_may_differ_in_length() -> None:
    scores = RNG.uniform(1, 2, (3, 13)) * (RNG.random((3, 13)) < 0.6)
    found = run(STORED.format("S[i, j]", ""), {"S": scores}, {"j": 4})
    assert found.check().verdict == "right"
    np.testing.assert_allclose(
        found["l"], (np.exp(scores - scores.max(1)[:, None]) * (scores > 0)).sum(1), rtol=1e-5
    )
    # They may not where something else is read in place.
    with pytest.raises(InputError, match="4 lanes do not divide the 13 coordinates of 'S'"):
        run(STORED.format("S[i, j] * w[j]", "tensor w[j]\n"), {"S": scores, "w": np.ones(13)}, {"j": 4})


def test_what_is_stored_along_the_index_gets_its_shape_again() -> None:
    scores = RNG.normal(size=(3, 12))
    found = run(SOFTMAX, {"S": scores}, {"j": 4})
    assert found.check().verdict == "right"
    np.testing.assert_allclose(found["P"], softmax(scores), atol=1e-6)


def test_other_indices_keep_their_lanes_alone() -> None:
    """No segments where the cascade's index has no lanes."""
    program = load_cascade("attention")
    assert cascaded(program, "rescaled", {"i": 4}).program == cascaded(program, "rescaled").program
    assert "V_segments[j, j_own, v]" in dumps(cascaded(program, "rescaled", {"j": 4}).program)
    assert not cascaded(program, "off", {"j": 4}).views


@pytest.mark.parametrize("lanes", [2, 4])
def test_a_deferred_cascade_has_segments(lanes: int) -> None:
    weights, values = RNG.uniform(0.5, 1.5, (2, 256)), RNG.normal(size=(2, 256))
    whole, laned = (
        run(load_cascade("sum_sum"), {"W": weights, "X": values}, given) for given in ({}, {"j": lanes})
    )
    assert laned.check().verdict == "right"
    wanted = (weights * values).sum(1) / weights.sum(1)
    np.testing.assert_allclose(laned["z"], wanted, rtol=1e-4, atol=1e-5)
    assert whole.cycles / laned.cycles > 0.5 * lanes


@pytest.mark.parametrize("cascade", ["off", "rescaled"])
def test_lanes_on_the_tokens_of_a_routing(cascade: str) -> None:
    """The names of an index that one use has serve the others."""
    tokens, experts = RNG.normal(size=(8, 6)), RNG.normal(size=(16, 6))
    runs = [
        samhw.compile(
            load_cascade("moe_routing"), value="f32", schedule={"cascade": cascade, "lanes": lanes}
        ).run(X=tokens, W=experts)
        for lanes in ({}, {"n": 4})
    ]
    assert runs[1].check().verdict == "right"
    np.testing.assert_array_equal(runs[1]["experts"], np.argsort(-(tokens @ experts.T), 1)[:, :6])
    assert runs[0].cycles / runs[1].cycles > 2.5


def test_extremes_of_masked_rows_are_in_the_lanes() -> None:
    """Not computed a second time beside them: so the scores are not, either."""
    mask = (RNG.random((6, 32)) < 0.5) * 1.0
    arrays = {"M": mask, "S": mask * RNG.normal(size=mask.shape), "V": RNG.normal(size=(32, 3))}
    runs = [run(MASKED, arrays, lanes) for lanes in ({}, {"j": 4})]
    assert runs[0].cycles / runs[1].cycles > 1.3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p[i] argmax= S[i, j]", "since 'p[i] argmax= S[i, j]' puts all of it in order"),
        ("r[i, j] = cumsum(j, S[i, j])", "since 'r[i, j] = cumsum(j, S[i, j])' goes along all of it"),
        ("p[i] max= S[i, j] where M[i, j]", "has a mask, of which a part may have nothing"),
    ],
)
def test_one_state_for_all_lanes_where_something_needs_all_of_the_index(text: str, words: str) -> None:
    """Lanes share the products of the scores, and what they give is reduced in the order of one lane."""
    mask = "tensor M[i, j] : csr" if "where" in text else ""
    given: dict[str, Any] = {"Q": RNG.normal(size=(3, 24)), "K": RNG.normal(size=(14, 24))}
    given |= {"M": (RNG.random((3, 14)) < 0.5) * 1.0} if mask else {}
    program = parse(
        f"""
        tensor Q[i, k]
        tensor K[j, k]
        {mask}
        fuse {{
          S[i, j] = Q[i, k] * K[j, k]
          m[i] max= S[i, j]
          l[i] = exp(S[i, j] - m[i])
          y[i] = log(l[i]) + m[i]
          {text}
        }}
        """
    )
    assert words in cascaded(program, "rescaled", {"j": 4}).findings[-1].words
    one, four = (run(program, given, lanes) for lanes in ({}, {"j": 4}))
    assert four.check().verdict == "right"
    for name, tensor in one.tensors.items():
        np.testing.assert_array_equal(four.tensors[name].to_dense(), tensor.to_dense())
    assert one.cycles / four.cycles > 2.5


def test_no_lanes_where_one_state_has_vectors() -> None:
    text = dumps(load_cascade("attention")).replace("\n}", "\n  p[i] argmax= S[i, j]\n}")
    with pytest.raises(InputError, match="puts all of it in order; give lanes to"):
        cascaded(parse(text), "rescaled", {"j": 4})


def test_what_lies_beyond_an_extent_does_not_count() -> None:
    """Zeros count for what has no mask: so segments and tiles of it are equally long, or refused."""
    program = parse(dumps(load_cascade("logsumexp")).replace("S[i, j] : dense", "S[i, j] : csr"))
    scores = -RNG.uniform(1, 2, (3, 10))
    scores[1, 3:] = 0
    found = run(program, {"S": scores}, {"j": 2})
    assert found.check().verdict == "right"
    np.testing.assert_allclose(found["y"], np.log(np.exp(scores).sum(1)), rtol=1e-5)
    with pytest.raises(InputError, match="4 lanes do not divide the 10 coordinates of 'S'"):
        run(program, {"S": scores}, {"j": 4})
    tiles = samhw.compile(program, value="f32", schedule={"cascade": {"form": "rescaled", "tile": 4}})
    with pytest.raises(InputError, match="Tiles of 4 do not divide the 10 coordinates of 'S'"):
        tiles.run({"S": scores})


def test_sums_of_finite_rank_have_segments() -> None:
    """Also where nothing is rescaled. Of integers they are exact."""
    text = "D[i, j] = 12 * X[i, j] - s[i]\nv[i] = D[i, j] * D[i, j]"
    program = parse(f"value i32\ntensor X[i, j]\nfuse {{\ns[i] = X[i, j]\n{text}\n}}\n")
    data = RNG.integers(-9, 9, (3, 12))
    schedule = {"cascade": "finite", "lanes": {"j": 3}}
    found = samhw.compile(program, schedule=schedule).run({"X": data})
    assert found.check().verdict == "right"
    np.testing.assert_array_equal(found["v"], ((12 * data - data.sum(1, keepdims=True)) ** 2).sum(1))


def test_segments_are_equally_long() -> None:
    program = load_cascade("logsumexp").bind({"S": (2, 9)})
    with pytest.raises(InputError, match="2 lanes do not divide the 9 coordinates of 'S'"):
        cascaded(program, "rescaled", {"j": 2})


def test_one_build_for_any_length() -> None:
    design = samhw.compile(
        load_cascade("logsumexp"), value="f32", schedule={"cascade": "rescaled", "lanes": {"j": 4}}
    )
    for length in (24, 16, 8):
        assert design.run({"S": RNG.normal(size=(3, length))}).check().verdict == "right"


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.parametrize("backend", [pytest.param("verilator", marks=pytest.mark.verilator), "hls"])
def test_in_hardware(backend: str) -> None:
    arrays, wanted = attention(3, 16)
    program, lanes = load_cascade("attention"), {"i": 2, "j": 2}
    found = run(program, arrays, lanes, backend)
    assert found.check().verdict == "right"
    np.testing.assert_allclose(found["O"], wanted, atol=1e-5)
    if backend == "verilator":
        assert found.cycles == run(program, arrays, lanes).cycles
