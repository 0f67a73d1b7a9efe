"""The compiled engine in short phases, so that a small graph goes through many, and much is timed again."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import pytest

from samhw.machine_code import library
from samhw.sim.compiled import firings_in_a_row, functions, image, points, timing

__all__ = ["small_phases"]

_functions: dict[Any, Any] = {}
_codes: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_known: dict[Any, Any] = {}
"""Code with other numbers in it, which none but short phases may run."""


@contextmanager
def small_phases() -> Iterator[None]:
    """Inside, producers run ahead by few tokens, at first with little room, and points are close."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(functions, "_functions", _functions)
        patch.setattr(functions, "_codes", _codes)
        patch.setattr(library, "_known", _known)
        patch.setattr(image, "PHASE", 64)
        patch.setattr(image, "AHEAD", 6)
        patch.setattr(image, "ROOM", 8)
        patch.setattr(points, "SPAN", 2)
        patch.setattr(timing, "SPAN", 2)
        for module in (timing, firings_in_a_row):
            patch.setattr(module, "MANY", 4)
            patch.setattr(module, "FEW", 2)
        yield
