"""How much is built: a sample, so that the suite stays short, or everything, with `SAMHW_THOROUGH=1`."""

import os
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["THOROUGH", "sample"]

T = TypeVar("T")

THOROUGH = os.environ.get("SAMHW_THOROUGH") == "1"


def sample(every: Sequence[T], few: Sequence[T]) -> Sequence[T]:
    """`few` of the cases, which are among `every` one; or all of them."""
    assert set(few) <= set(every)
    return every if THOROUGH else few
