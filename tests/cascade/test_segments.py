"""Keys in segments, each with a state of its own, as examples/segmented_attention.ein has them: lanes on the
segments compute them side by side."""

from pathlib import Path

import numpy as np
import pytest

import samhw

TEXT = (Path(__file__).parents[2] / "examples" / "segmented_attention.ein").read_text()


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.T
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(weights / weights.sum(1, keepdims=True) @ v)


def scores_of(kind: str, count: int) -> np.ndarray:
    """One key after another, as multiples of the first unit vector."""
    rising = np.linspace(-30, 30, count)
    return {"rising": rising, "equal": np.ones(count), "falling": rising[::-1]}[kind]


@pytest.mark.parametrize("segments", [2, 4])
def test_lanes_on_segments_of_one_row(segments: int) -> None:
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((1, 8)), rng.standard_normal((128, 8)), rng.standard_normal((128, 8))
    parts = {name: array.reshape(segments, -1, 8) for name, array in (("K", k), ("V", v))}
    whole, laned = (
        samhw.compile(TEXT, value="f32", schedule={"lanes": lanes}).run(Q=q, **parts)
        for lanes in ({}, {"s": segments})
    )
    assert laned.check().verdict == "right"
    np.testing.assert_allclose(laned["Y"], attention(q, k, v), atol=1e-5)
    assert whole.check().verdict == "right"
    assert whole.cycles / laned.cycles > 0.7 * segments


@pytest.mark.parametrize("kind", ["rising", "equal", "falling"])
def test_maxima_of_segments_differ(kind: str) -> None:
    keys = np.outer(scores_of(kind, 24), [1, 0])
    q, v = np.array([[1.0, 0.5]]), np.random.default_rng(1).standard_normal((24, 2))
    found = samhw.compile(TEXT, value="f32", schedule={"lanes": {"s": 3}}).run(
        Q=q, K=keys.reshape(3, 8, 2), V=v.reshape(3, 8, 2)
    )
    assert found.check().verdict == "right"
    np.testing.assert_allclose(found["Y"], attention(q, keys, v), atol=1e-5)
