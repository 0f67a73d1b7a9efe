"""How far numbers are apart."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["difference"]


def difference(actual: NDArray[Any], expected: NDArray[Any]) -> NDArray[Any]:
    """Of each element. None where both are the same infinity, or no number; an infinite one where one of them
    is no number."""
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.abs(actual - expected)
    return np.where(same, 0.0, np.where(np.isnan(found), np.inf, found))
