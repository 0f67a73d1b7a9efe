"""How far each element may be, in a table by hand."""

from math import inf, nan

import numpy as np
import pytest

from samhw.app.workload.agreement import SINGLE, differences, exactly, greatest_difference
from samhw.errors import RunError
from samhw.lang.reference import Bounded


@pytest.mark.parametrize(
    ("ours", "theirs", "apart"),
    [
        (1, 1.5, 0.5),
        (inf, inf, 0),
        (inf, -inf, inf),
        (nan, nan, 0),
        (nan, 1, inf),
        (1, nan, inf),
        (3, inf, inf),
    ],
)
def test_differences(ours: float, theirs: float, apart: float) -> None:
    assert differences([ours, 0], [theirs, 0]).tolist() == [apart, 0]


def _agrees(value: float, bound: float, is_open: bool, wanted: float, scale: float) -> bool:
    # A great element and an infinity beside it change nothing.
    found = Bounded(np.array([value, 1e30, inf]), np.array([bound, 0, 0]), np.array([is_open, False, False]))
    try:
        greatest_difference(found, [wanted, 1e30, inf], name="p", scale=scale)
    except RunError:
        return False
    return True


@pytest.mark.parametrize(
    ("value", "bound", "is_open", "wanted", "scale", "agrees"),
    [
        (1, 1e-15, False, 1 + 3e-15, 4, True),
        (1, 1e-15, False, 1 + 9e-15, 4, False),
        (1, 1e-12, False, 1.0003, SINGLE, True),
        (1, 1e-12, False, 1.001, SINGLE, False),
        (1, inf, False, 1 + 2.0**-21, SINGLE, True),
        (1, inf, False, 1.001, SINGLE, False),
        (1, nan, False, 1.001, SINGLE, False),
        (0, 0, False, 1e-20, 1, False),
        (5, 1, True, inf, 1, True),
        (5, 1, False, inf, 1, False),
        (inf, 0, True, nan, 1, True),
        (inf, 0, False, nan, 1, False),
        (5, 1, True, 9, 1, False),
    ],
)
def test_an_element_agrees(
    value: float, bound: float, is_open: bool, wanted: float, scale: float, agrees: bool
) -> None:
    assert _agrees(value, bound, is_open, wanted, scale) == agrees


def test_what_nothing_computes_is_equal() -> None:
    assert greatest_difference(exactly([1.0, nan]), [1.0, nan], name="p") == 0
    with pytest.raises(RunError, match=r"The program of 'p' is off by 0\.1 from the module; unless, please"):
        greatest_difference(exactly([1.0]), [1.1], name="p", source="module", cause="unless, ")


def test_another_shape_is_a_defect() -> None:
    with pytest.raises(RunError, match=r"The function gives the shape \(1,\), and its program \(2,\)"):
        greatest_difference(exactly([1.0, 2.0]), [1.0], name="p")
