"""Patterns as arrays."""

import numpy as np

from samhw.lang import Pattern

__all__ = ["as_array"]


def as_array(pattern: Pattern, indices: str, shape: tuple[int, ...]) -> np.ndarray:
    """Booleans, true where the pattern has something; with the axes of `indices`."""
    found = np.zeros(shape, bool)
    rows = [pattern.sparse.index(i) if i in pattern.sparse else None for i in indices]
    for entry in pattern.coords.T:
        found[tuple(slice(None) if row is None else entry[row] for row in rows)] = True
    return found
