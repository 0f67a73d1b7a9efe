"""What is translated does what Python does."""

from collections.abc import Callable, MutableSequence
from enum import IntEnum
from math import sqrt
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.sim.machine_code import (
    Record,
    Untranslatable,
    apart,
    local_words,
    real_of,
    word_of,
    words_at,
)
from tests.support.compiled import compiled, on_rows


class Place(IntEnum):
    FIRST = 0
    SECOND = 1


TABLE = np.array([3, 1, 4, 1, 5, 9, 2, 6])


def arithmetic(a: int, b: int) -> int:
    return (a + b) * 3 - (a & b | a ^ b) + (a >> 2) - (b << 1) + ~a - -b


def divisions(a: int, b: int) -> int:
    rest = a % 7 + a // 7 * 3 + a // 8 - a % 16
    return rest + (a // b * 5 - a % b if b != 0 else 1)


def conditions(a: int, b: int) -> int:
    if a < b <= 5 or not a:
        return 1
    if a in (3, 4, b + 1) and b not in (0, 7):
        return 2
    if a == b:
        return 3
    x = 1 if a > 10 else -1 if b > 10 else 0
    return x * 10 + (a >= b) + (a != 4)


def loops(a: int, b: int) -> int:
    total = 0
    for i in range(a):
        if i == b:
            continue
        if i > 50:
            break
        total += i
    n = 0
    while True:
        n += 1
        if n * n > b:
            break
    for i in range(3):
        for j in range(i, 4):
            if j == a:
                break
            total = total * 2 + i * j
    for i in range(a, b, -2):
        total -= i
    return total + n


def tuples(a: int, b: int) -> int:
    small, great = ordered(a, b)
    small, great = great, small
    c = d = small * 2 + great
    both = (c, *(d, a))
    return c * 3 + d + both[2]


def ordered(a: int, b: int) -> tuple[int, int]:
    if a < b:
        return a, b
    return b, a


def memory(a: int, b: int) -> int:
    words = local_words(4)
    for i in range(4):
        words[i] = a * i
    words[b & 3] += 7
    words[Place.SECOND] -= TABLE[a & 7]
    total = 0
    for i in range(len(words)):
        total = total * 5 + words[i]
    return total + max(a, b, 3) - min(a, words[2]) + abs_of(a)


def abs_of(x: int) -> int:
    return x if x > 0 else -x


def chosen(a: int, b: int) -> int:
    banks = local_words(2), local_words(3)
    banks[0][1], banks[1][1] = 5, 8
    bank = banks[a & 1]
    bank[1] = bank[1] + b
    return banks[0][1] * 100 + banks[1][1] + len(bank)


def roots(a: int, b: int) -> int:
    return int(sqrt(a * a + b * b))


def early(a: int, b: int) -> int:
    for i in range(5):
        if a + i > b:
            return i
    return -1


FUNCTIONS = [arithmetic, divisions, conditions, loops, tuples, memory, chosen, roots, early]
SMALL = st.integers(-20, 20)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_gives_what_python_gives(function: Callable[[int, int], int]) -> None:
    code = compiled(function)

    @settings(max_examples=200)
    @given(SMALL | st.integers(-(1 << 30), 1 << 30) if function not in (loops, roots) else SMALL, SMALL)
    def run(a: int, b: int) -> None:
        assert code(a, b) == function(a, b)

    run()


def test_a_division_by_zero_ends_well() -> None:
    def divide(a: int, b: int) -> int:
        return a // b + a % b

    compiled(divide)(5, 0)


def test_words_of_memory_are_shared() -> None:
    array = np.arange(8)

    def double(address: int, count: int) -> int:
        words = words_at(address, count)
        for n in range(count):
            words[n] *= 2
        return len(words)

    assert compiled(double)(array.ctypes.data, 8) == 8
    assert array.tolist() == list(range(0, 16, 2))
    double(array.ctypes.data, 8)
    assert array.tolist() == list(range(0, 32, 4))


class Point(Record):
    x: int
    y: int


class Spot(Point):
    next: int


def test_records_have_names() -> None:
    """In Python and in machine code; inside of the functions that are called, too."""
    words = np.array([3, 4, 0, 10, 20, 0])
    words[2] = words.ctypes.data + 24

    def moved(spot: Spot, by: int) -> None:
        spot.x += by
        spot.y = spot.x * 2

    def walk(address: int, by: int) -> int:
        sums = Point.local(2)
        sums[1].x = 1
        spot = Spot.at(address)
        total = 0
        for _ in range(2):
            sums[1].x += spot.x
            total += sums[1].x - sums[1].x + spot.x + spot.y
            moved(spot, by)
            spot = Spot.at(address + Spot.WORDS * 8)
        return total + words_at(address + Spot.offset("next"), 1)[0] - spot.x

    first = compiled(walk)(words.ctypes.data, 5)
    assert words[[0, 1, 3, 4]].tolist() == [8, 16, 15, 30]
    assert first == 37 + words[2] - 15
    words[:5] = 3, 4, words[2], 10, 20
    assert walk(words.ctypes.data, 5) == first
    assert words[[0, 1, 3, 4]].tolist() == [8, 16, 15, 30]


def test_numbers_are_rounded_to_single_precision() -> None:
    def product(a: int, b: int) -> int:
        x = real_of(a) * real_of(b)
        return word_of(x) if x == x else -1

    words = np.random.default_rng(0).integers(0, 1 << 32, (2000, 2))
    assert on_rows(product, words) == [product(int(a), int(b)) for a, b in words]


def test_closures_are_known_when_they_are_translated() -> None:
    """What cannot be reached need not be in the subset."""

    def make(inputs: int, helper: object) -> Callable[[int, int], int]:
        def function(a: int, b: int) -> int:
            if inputs > 3:
                return len({a, b})
            total = b
            for i in range(inputs):
                total += a << i
            return total

        return function

    assert compiled(make(3, None))(5, 1) == 5 + 10 + 20 + 1
    assert compiled(make(2, None))(5, 1) == 5 + 10 + 1


def test_a_loop_over_a_tuple_of_any_length_is_written_out() -> None:
    """Each of its items may be of another kind."""
    items = tuple((n, (n,)) for n in range(100))

    def function(a: int, b: int) -> int:
        total = b
        for i in range(len(items)):
            total += a * items[i][1][0]
        return total

    assert compiled(function)(3, 1) == 3 * 4950 + 1


def test_others_may_be_called_in_the_place_of_functions() -> None:
    def outer(a: int, b: int) -> int:
        return abs_of(a) + b

    def other(x: int) -> int:
        return 100

    assert compiled(outer)(-3, 1) == 4
    assert compiled(outer, {abs_of: other})(-3, 1) == 101


class Pair(NamedTuple):
    number: int
    words: MutableSequence[int]


class Both(NamedTuple):
    left: int
    right: int


class Swapped(NamedTuple):
    right: int
    left: int


def doubled(pair: Pair, more: int) -> Pair:
    pair.words[1] += more
    return Pair(pair.number * 2, pair.words)


def test_items_of_named_tuples_have_names() -> None:
    def function(a: int, b: int) -> int:
        row = local_words(2)
        row[0], row[1] = 0, b
        pair = doubled(Pair(a, row), b)
        number, words = pair
        return abs_of(*(number,)) * 10 + pair.words[1] + words[0]

    assert compiled(function)(-3, 4) == function(-3, 4) == 68


def test_named_tuples_are_known_when_functions_are_translated() -> None:
    """What cannot be reached need not be in the subset; and tuples that are equal may have other names."""

    def make(known: Both | Swapped) -> Callable[[int, int], int]:
        def function(a: int, b: int) -> int:
            if known.left and a > 0:
                return len({a, b})
            return a + known.right

        return function

    assert compiled(make(Both(0, 5)))(1, 1) == 6
    assert compiled(make(Swapped(5, 0)))(1, 1) == 6
    assert compiled(make(Both(0, 7)))(1, 1) == 8
    assert compiled(make(Swapped(7, 0)))(1, 1) == 8
    with pytest.raises(Untranslatable):
        compiled(make(Swapped(0, 5)))


@apart
def total_of(address: int, count: int) -> int:
    words = words_at(address, count)
    total = 0
    for n in range(count):
        total += words[n]
    return total


def test_functions_apart_are_called() -> None:
    words = np.arange(10)

    def halves(address: int, count: int) -> int:
        return total_of(address, count // 2) * 100 + total_of(address + 8 * (count // 2), count // 2)

    assert compiled(halves)(words.ctypes.data, 10) == halves(words.ctypes.data, 10) == 1035


@apart
def nonzero(address: int, count: int) -> int:
    words = words_at(address, count)
    found = 0
    for n in range(count):
        found += words[n] != 0
    return found


def test_functions_in_tuples_are_called() -> None:
    words = np.arange(4)
    known = abs_of, nonzero

    def function(address: int, count: int) -> int:
        return known[0](known[1](address, count) - 10)

    assert compiled(function)(words.ctypes.data, 4) == function(words.ctypes.data, 4) == 7


def test_asserts_are_left_out() -> None:
    def function(a: int, b: int) -> int:
        assert [a, b], "what stands here need not be in the subset"
        return a - b

    assert compiled(function)(5, 3) == 2
