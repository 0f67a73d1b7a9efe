"""The integer steps at the ends of their ranges, on ints and on arrays."""

import numpy as np
import pytest

from samhw.graph.numerics.straight_line import bit_length, shift_right, shift_right_sticky

EDGES = sorted({max(0, (1 << n) + d) for n in range(63) for d in (-1, 0, 1)})


def test_bit_length() -> None:
    want = [x.bit_length() for x in EDGES]
    assert bit_length(np.array(EDGES)).tolist() == want
    assert [bit_length(x) for x in EDGES] == want


@pytest.mark.parametrize("count", [0, 1, 31, 62, 63, 64, 1000])
def test_shifts(count: int) -> None:
    want = [x >> count for x in EDGES]
    assert shift_right(np.array(EDGES), np.array(count)).tolist() == want
    assert [shift_right(x, count) for x in EDGES] == want
    sticky = [x >> count | (x & (1 << count) - 1 != 0) for x in EDGES]
    assert shift_right_sticky(np.array(EDGES), count).tolist() == sticky
    assert [shift_right_sticky(x, count) for x in EDGES] == sticky
