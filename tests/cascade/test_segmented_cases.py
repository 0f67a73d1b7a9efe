"""RedFuser's cases by segments and tiles, against the plain formulas in float64 and within the bound: one
element or tile at a time, and by 2, 3 and 8 segments, for rising, falling, equal, single and masked scores.

All of them, instead of a sample, in a minute:

    SAMHW_THOROUGH=1 python -m pytest tests/cascade/test_segmented_cases.py
"""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

import samhw
from samhw.lang import Program, load_cascade, parse
from tests.cascade.test_paper import CASCADE_OF_THREE
from tests.support.thorough import sample

LENGTH = 24

Arrays = Mapping[str, np.ndarray]

MASKED = parse(
    """
value f32
tensor S[i, j]
tensor M[i, j] : csr
tensor V[j, v]
fuse {
  m[i] max= S[i, j] where M[i, j]
  E[i, j] = exp(S[i, j] - m[i]) where M[i, j]
  l[i] = E[i, j]
  O[i, v] = E[i, j] / l[i] * V[j, v]
}
"""
)
SPREAD = parse(CASCADE_OF_THREE)

RISING = np.linspace(-20, 20, LENGTH)
SCORES = {
    "rising": RISING,
    "falling": RISING[::-1],
    "equal": np.full(LENGTH, 3.0),
    "single": np.where(np.arange(LENGTH) == 9, 1.0, -np.inf),
    "random": np.random.default_rng(1).normal(size=LENGTH),
}


def shares(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True))


def logsumexp(scores: np.ndarray) -> tuple[Program, Arrays, Arrays]:
    greatest = scores.max()
    wanted = np.log(np.exp(scores - greatest).sum()) + greatest
    return load_cascade("logsumexp"), {"S": scores[None]}, {"y": np.array([wanted])}


def attention(scores: np.ndarray) -> tuple[Program, Arrays, Arrays]:
    """Keys of one feature are the scores."""
    finite = np.maximum(scores, -90)
    values = np.random.default_rng(2).normal(size=(LENGTH, 3))
    arrays = {"Q": np.ones((1, 1)), "K": finite[:, None], "V": values, "scale": np.array(1.0)}
    return load_cascade("attention"), arrays, {"O": shares(finite)[None] @ values}


def mla(scores: np.ndarray) -> tuple[Program, Arrays, Arrays]:
    """The rotary part is the scores, and latents add little to it."""
    rng, finite = np.random.default_rng(3), np.maximum(scores, -90)
    latents, queries = rng.normal(size=(LENGTH, 4)), 0.1 * rng.normal(size=(2, 4))
    both = queries @ latents.T + finite
    arrays = {"Q": queries, "R": np.ones((2, 1)), "C": latents, "K": finite[:, None], "scale": np.array(1.0)}
    return load_cascade("mla"), arrays, {"O": shares(both) @ latents}


def sum_sum(scores: np.ndarray) -> tuple[Program, Arrays, Arrays]:
    weights = np.exp(np.clip(scores, -5, 5))[None]
    values = np.random.default_rng(4).normal(size=(1, LENGTH))
    return (
        load_cascade("sum_sum"),
        {"W": weights, "X": values},
        {"z": (weights * values).sum(1) / weights.sum()},
    )


def masked(scores: np.ndarray) -> tuple[Program, Arrays, Arrays]:
    """The second row has nothing in half of it, and the third nothing at all."""
    rng = np.random.default_rng(5)
    mask = rng.random((3, LENGTH)) < 0.5
    mask[0, 9], mask[1, LENGTH // 2 :], mask[1, 0], mask[2] = True, False, True, False
    rows, values = np.tile(np.maximum(scores, -90), (3, 1)), rng.normal(size=(LENGTH, 3))
    wanted = np.zeros((3, 3))
    wanted[:2] = shares(np.where(mask, rows, -np.inf)[:2]) @ values
    return MASKED, {"S": rows, "M": mask * 1.0, "V": values}, {"O": wanted}


def spread(scores: np.ndarray) -> tuple[Program, Arrays, Arrays]:
    """The variance about a softmax's mean: of finite rank after a rescaled sum."""
    values = np.random.default_rng(6).normal(size=(1, LENGTH))
    weights = shares(scores)[None]
    mean = (weights * values).sum()
    return SPREAD, {"S": scores[None], "V": values}, {"variance": (weights * (values - mean) ** 2).sum(1)}


CASES: dict[str, Callable[[np.ndarray], tuple[Program, Arrays, Arrays]]] = {
    case.__name__: case for case in (logsumexp, attention, mla, sum_sum, masked, spread)
}
PARTS = ((1, 1), (1, 2), (1, 3), (1, 8), (4, 1), (4, 2), (4, 3), (8, 1))
"""Of how many elements a tile is, and how many segments there are."""
EVERY = [(case, kind, *parts) for case in CASES for kind in SCORES for parts in PARTS]
FEW = [
    ("logsumexp", "rising", 1, 8),
    ("attention", "single", 1, 3),
    ("mla", "falling", 1, 2),
    ("sum_sum", "random", 1, 8),
    ("masked", "equal", 1, 3),
    ("spread", "single", 1, 8),
    ("attention", "rising", 4, 1),
    ("mla", "random", 8, 1),
    ("masked", "falling", 4, 3),
    ("spread", "single", 4, 2),
]


@pytest.mark.parametrize(("case", "kind", "tile", "segments"), sample(EVERY, FEW))
def test_case(case: str, kind: str, tile: int, segments: int) -> None:
    program, arrays, wanted = CASES[case](SCORES[kind])
    index = "t" if case == "mla" else "j"
    cascade = {"form": "finite" if case == "spread" else "rescaled", "tile": tile}
    schedule = {"cascade": cascade, "lanes": {index: segments}}
    result = samhw.compile(program, value="f32", schedule=schedule).run(arrays)
    check = result.check()
    assert check.verdict == "right"
    single = CASES[case](SCORES[kind].astype(np.float32).astype(float))[2]
    for tensor, plain in wanted.items():
        # Scores in f32 are off themselves, by half a unit in their last place.
        own = np.abs(single[tensor] - plain).max() + 2.0**-20 * np.abs(plain).max()
        assert np.abs(np.asarray(result[tensor]) - plain).max() <= check.bound + own


OTHER_TYPES = ("bf16", "fixed<24,8>", "f8e4m3", "f8e5m2")
OF_OTHERS = [(*given, value) for given in EVERY for value in OTHER_TYPES]
FEW_OF_OTHERS = [("attention", "rising", 4, 2, "bf16"), ("masked", "single", 1, 8, "fixed<24,8>")]


@pytest.mark.parametrize(("case", "kind", "tile", "segments", "value"), sample(OF_OTHERS, FEW_OF_OTHERS))
def test_case_in_another_type(case: str, kind: str, tile: int, segments: int, value: str) -> None:
    """Within the bound of its form, which has the values of the program as it is written."""
    program, arrays, _ = CASES[case](SCORES[kind])
    if value.startswith("fixed"):
        # They have no infinity.
        arrays = {name: np.maximum(array, -90) for name, array in arrays.items()}
    index = "t" if case == "mla" else "j"
    cascade = {"form": "finite" if case == "spread" else "rescaled", "tile": tile}
    schedule = {"cascade": cascade, "lanes": {index: segments}}
    assert samhw.compile(program, value=value, schedule=schedule).run(arrays).check().good
