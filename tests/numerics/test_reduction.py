"""`reduce_words`: the order of accumulation, against loops over NumPy's numbers."""

from itertools import accumulate
from operator import mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.errors import InputError
from samhw.graph.numerics import (
    BLOCK,
    OVERFLOW,
    REDUCTIONS,
    Fixed,
    Integer,
    ValueType,
    neutral,
    reduce_words,
    start_word,
    value_type,
)
from tests.support.words import BF16, F32

# What is far from zero, since sums that leave the normal numbers become zero.
one_at_a_time = st.lists(
    st.floats(-1e3, 1e3, width=32).filter(lambda x: x == 0 or abs(x) > 1e-20), max_size=40
)


def blockwise(values: list[np.float32]) -> np.float32:
    """The sum as in docs/primitives.md, written down once more."""
    blocks = []
    for start in range(0, len(values), 8):
        round_ = values[start : start + 8]
        while len(round_) > 1:
            pairs = [a + b for a, b in zip(round_[::2], round_[1::2], strict=False)]
            round_ = pairs + ([round_[-1]] if len(round_) % 2 else [])
        blocks += round_
    total = blocks[0]
    for block in blocks[1:]:
        total = total + block
    return total


@given(one_at_a_time)
def test_sums_of_f32(numbers: list[float]) -> None:
    values = [np.float32(x) for x in numbers]
    want = F32.encode(blockwise(values) if values else 0.0)
    assert reduce_words(F32, "sum", F32.encode(values)) == want


def test_the_order_matters() -> None:
    """Sequence, one tree over all and blocks differ on such a fiber."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=100).astype(np.float32)
    words = F32.encode(values)
    add = F32.scalar("add")
    sequence = 0
    for word in words.tolist():
        sequence = add(sequence, word)
    tree = words
    while len(tree) > 1:
        odd = tree[len(tree) // 2 * 2 :]
        tree = np.append(F32.apply("add", tree[0 : len(tree) - len(odd) : 2], tree[1::2]), odd)
    assert len({reduce_words(F32, "sum", words), sequence, int(tree[0])}) == 3


@pytest.mark.parametrize("kind", [F32, BF16, Integer(8), Fixed(16, 8)], ids=str)
@pytest.mark.parametrize("op", REDUCTIONS)
def test_of_nothing_and_of_one(kind: Integer, op: str) -> None:
    assert reduce_words(kind, op, []) == 0
    assert reduce_words(kind, op, [77]) == 77


@given(st.lists(st.integers(-128, 127), min_size=1, max_size=30))
def test_integers(numbers: list[int]) -> None:
    """Overflow is noticed on the way, too."""
    kind = Integer(8)
    words = kind.encode(numbers)
    partial = np.cumsum(numbers)
    fits = partial.min() >= -128 and partial.max() <= 127
    assert reduce_words(kind, "sum", words) == (partial[-1] % 256 if fits else OVERFLOW)
    assert reduce_words(kind, "max", words) == max(numbers) % 256
    assert reduce_words(kind, "min", words) == min(numbers) % 256


def test_fixed_point_saturates_on_the_way() -> None:
    kind = Fixed(8, 0)
    assert kind.decode(reduce_words(kind, "sum", kind.encode([100, 100, -100]))) == 27


def test_max_of_floating_point_is_ieee() -> None:
    assert reduce_words(F32, "max", F32.encode([-0.0, 0.0, -0.0])) == 0
    assert reduce_words(F32, "min", F32.encode([1.0, np.nan, 2.0])) == F32.format.nan


def test_what_goes_in_blocks() -> None:
    assert {kind.block("sum") for kind in (F32, BF16)} == {BLOCK}
    assert {kind.block("prod") for kind in (F32, BF16, Integer(32), Fixed(16, 8))} == {BLOCK}
    assert {kind.block(op) for kind in (Integer(32), Fixed(16, 8)) for op in ("sum", "max", "min")} == {1}
    assert {F32.block(op) for op in ("max", "min")} == {1}


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_products_of_integers(numbers: list[int]) -> None:
    """In blocks of eight, pairwise; what overflows on the way is an overflow."""
    kind = Integer(8)
    blocks = []
    overflow = False
    for start in range(0, len(numbers), 8):
        parts = numbers[start : start + 8]
        while len(parts) > 1:
            pairs = [a * b for a, b in zip(parts[::2], parts[1::2], strict=False)]
            overflow |= any(not -128 <= x <= 127 for x in pairs)
            parts = pairs + ([parts[-1]] if len(parts) % 2 else [])
        blocks += parts
    partial = list(accumulate(blocks, mul))
    overflow |= any(not -128 <= x <= 127 for x in partial)
    found = reduce_words(kind, "prod", kind.encode(numbers))
    assert found == (OVERFLOW if overflow else partial[-1] % 256)


def test_what_running_reductions_begin_with() -> None:
    assert [start_word(F32, op) for op in ("sum", "max", "min")] == [0, 0, 0]
    assert F32.decode(start_word(F32, "prod")) == 1
    assert start_word(Integer(8), "prod") == 1
    # The greatest number stands for 1.
    assert start_word(Fixed(8, 7), "prod") == 127


@pytest.mark.parametrize("kind", [F32, BF16, value_type("f8e4m3"), Integer(8), Fixed(16, 8)])
@pytest.mark.parametrize("op", REDUCTIONS)
def test_what_changes_no_reduction(kind: ValueType, op: str) -> None:
    word = kind.constant(neutral(kind, op))
    for number in (kind.least, -3, 0, 1, kind.greatest):
        assert reduce_words(kind, op, [word, kind.constant(number)]) == kind.constant(number)


def test_a_type_without_a_one() -> None:
    with pytest.raises(InputError, match="fixed<8,7> has no 1"):
        neutral(Fixed(8, 7), "prod")


def test_unknown_reduction() -> None:
    with pytest.raises(InputError, match="no reduction 'mean'; the reductions are sum, max, min, prod"):
        reduce_words(F32, "mean", [])
