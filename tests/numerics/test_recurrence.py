"""`recurrence_word`: against a loop over numbers, and the order of its blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.graph.numerics import OVERFLOW, Fixed, Integer, recurrence_word
from tests.support.words import BF16, F32

pairs = st.lists(st.tuples(st.integers(-2, 2), st.integers(-9, 9)), min_size=1, max_size=40)


@given(pairs)
def test_integers(elements: list[tuple[int, int]]) -> None:
    """Where nothing overflows, it is the loop."""
    kind = Integer(32)
    factors, words = (kind.encode(column).tolist() for column in zip(*elements, strict=True))
    h = 0
    for r, x in elements:
        h = h * r + x
    found = recurrence_word(kind, factors, words)
    assert found in (OVERFLOW, h & 0xFFFFFFFF)
    assert found != OVERFLOW or len(elements) > 24 or abs(h) > 2**20


def test_overflow_of_factors_alone() -> None:
    kind = Integer(8)
    assert recurrence_word(kind, [0, 0, 100, 100], [0, 0, 0, 0]) == OVERFLOW
    assert recurrence_word(kind, [100], [5]) == 5


@pytest.mark.parametrize("kind", [F32, BF16, Fixed(16, 8)], ids=str)
def test_a_factor_of_one_gives_the_sum_of_blocks(kind: Integer) -> None:
    rng = np.random.default_rng(0)
    words = kind.encode(rng.normal(size=40)).tolist()
    one = int(kind.encode(1.0))
    add = kind.scalar("add")

    def tree(part: list[int]) -> int:
        while len(part) > 1:
            odd = part[len(part) // 2 * 2 :]
            part = [add(a, b) for a, b in zip(part[::2], part[1::2], strict=False)] + odd
        return part[0]

    expected = add(add(tree(words[:16]), tree(words[16:32])), tree(words[32:]))
    assert recurrence_word(kind, [one] * 40, words) == expected


def test_close_to_the_loop_in_floating_point() -> None:
    rng = np.random.default_rng(1)
    factors, values = rng.uniform(0.5, 1, 100), rng.normal(size=100)
    h = 0.0
    for r, x in zip(factors, values, strict=True):
        h = h * r + x
    found = F32.decode(recurrence_word(F32, F32.encode(factors).tolist(), F32.encode(values).tolist()))
    assert found == pytest.approx(h, rel=1e-5)
