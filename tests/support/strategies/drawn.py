"""Random examples for a test that collects them, or that makes something costly of each."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings

__all__ = ["drawn"]


def drawn(count: int, number: int) -> Callable[[Any], Any]:
    """For a test with `given`: this many examples, the same ones for the same number. None is kept, and none
    is made smaller."""
    chosen = settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    return lambda test: seed(number)(chosen(test))
