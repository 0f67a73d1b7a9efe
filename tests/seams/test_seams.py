"""A sample of the programs that mix features: each runs as the oracle says, or is refused in a sentence.

`python -m tests.seams --programs 10000` runs as many as wanted, and makes what it finds small.
"""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from tests.seams.__main__ import run_seed
from tests.seams.case import Case
from tests.seams.draw import PAIRS, draw
from tests.seams.features import FEATURES, features_of
from tests.seams.run import FAULTS, run_case
from tests.seams.shrink import cause, shrunk

SEEDS = range(150)
IN_A_TEST = 10


@pytest.mark.parametrize("first", SEEDS[::IN_A_TEST])
def test_mixed_features_run_as_the_oracle_says(first: int) -> None:
    faults = []
    for seed in range(first, first + IN_A_TEST):
        outcome = run_case(draw(seed))
        if outcome.kind in FAULTS:
            faults.append(f"seed {seed}: {outcome.kind}: {outcome.message} {outcome.place}")
    assert not faults, "\n".join(faults)


def test_the_drawing_covers_pairs() -> None:
    """In the nightly's 10,000 programs every pair has to come 20 times; in a twentieth of them, most come."""
    found: Counter[frozenset[str]] = Counter()
    for seed in range(500):
        case = draw(seed)
        try:
            features = features_of(case)
        except Exception:
            # A text that is refused, as one with an extent of zero is.
            features = frozenset(case.wanted)
        found.update(frozenset(pair) for pair in combinations(features, 2))
    seen = [pair for pair in PAIRS if found[frozenset(pair)]]
    assert len(seen) > 0.75 * len(PAIRS)
    assert {name for pair in seen for name in pair} == set(FEATURES) - {"pytorch"}


def test_a_pair_is_drawn_again_where_it_is_refused() -> None:
    found = run_seed((next(n for n in range(1000) if run_case(draw(n)).kind == "refused"), None))
    assert len(found) > 1
    assert all(outcome.kind == "refused" for _, outcome in found[:-1])
    assert len({draw(seed).wanted[:2] for seed, _ in found}) == 1


def test_a_seed_gives_the_same_case_again() -> None:
    for seed in range(20):
        one, other = draw(seed), draw(seed)
        assert one.text == other.text
        assert one.schedule == other.schedule
        assert all(np.array_equal(array, other.data[name]) for name, array in one.data.items())


def test_a_result_that_is_off_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "tensor A[i=2, j=3]\ntensor x[j=3]\nT[i] = A[i, j] * x[j]\nU[i] = relu(T[i])\nV[i] = U[i] + 1"
    data = {"A": np.array([[1, 2, 0], [0, 3, 4]]), "x": np.array([1, 2, 3])}
    case = Case(text, data, data, {"fuse": "full"}, "i32")
    assert run_case(case).kind == "right"
    monkeypatch.setattr("tests.seams.arithmetic.KINKED", {"relu": lambda x: max(x, 0) + 1})
    outcome = run_case(case)
    assert outcome.kind == "wrong"
    small = shrunk(case, outcome)
    assert small.text.count(" = ") == 1
    assert "relu" in small.text
    assert cause(run_case(small)) == cause(outcome)
