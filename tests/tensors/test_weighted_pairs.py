"""Pairs that are drawn by weight: the first distinct ones of a sequence of draws, whatever way is taken."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.errors import InputError
from samhw.tensors import weighted_pairs
from samhw.tensors.weighted_pairs import pairs_one_by_one


def one_at_a_time(rng: np.random.Generator, weights: np.ndarray, count: int, above: bool) -> list[int]:
    """The rule, without anything clever: rounds of draws, of which each new pair is kept until there are
    enough."""
    ends, found = np.cumsum(weights), dict[int, None]()
    while len(found) < count:
        draws = 2 * (count - len(found)) + 64
        rows, columns = (
            [min(int(np.count_nonzero(ends <= x)), len(ends) - 1) for x in rng.random(draws) * ends[-1]]
            for _ in range(2)
        )
        for row, column in zip(rows, columns, strict=True):
            if len(found) < count and (row < column or not above):
                found.setdefault(row * len(ends) + column)
    return sorted(found)


@given(
    nodes=st.integers(2, 60),
    share=st.floats(0, 0.3),
    skew=st.sampled_from((0, 0.58, 2)),
    above=st.booleans(),
    together=st.sampled_from((1, 7, 1 << 18)),
    seed=st.integers(0, 1 << 30),
)
@settings(deadline=None, max_examples=60)
def test_the_first_distinct_draws_are_kept(
    nodes: int, share: float, skew: float, above: bool, together: int, seed: int
) -> None:
    weights = np.random.default_rng(seed).permutation(np.arange(1.0, nodes + 1) ** -skew)
    count = int(share * (nodes * (nodes - 1) // 2 if above else nodes**2))
    allowed = (lambda row, column: row < column) if above else None
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(weighted_pairs, "_TOGETHER", together)
        try:
            found = pairs_one_by_one(np.random.default_rng(seed), weights, count, allowed)
        except InputError:  # A few pairs have nearly all of the weight.
            assert skew == 2
            return
    assert found.tolist() == one_at_a_time(np.random.default_rng(seed), weights, count, above)
