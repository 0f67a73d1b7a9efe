"""The compiled engine in short phases, so that a small graph goes through many, and much is timed again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest

from samhw.sim.compiled import compiled_engine, engine_code, image, many_firings, points, timing
from samhw.sim.compiled.image import partitions_of
from samhw.sim.machine_code import code_cache
from samhw.sim.worker import Worker

__all__ = ["small_phases"]

_functions: dict[Any, Any] = {}
_codes: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_known: dict[Any, Any] = {}
"""Code with other numbers in it, which only short phases may run."""


def some_partitions(rng: np.random.Generator, workers: Sequence[Worker]) -> list[list[Worker]]:
    """The workers in their order, cut anywhere."""
    order = [worker for partition in partitions_of(workers) for worker in partition]
    cuts = np.flatnonzero(rng.random(len(order) - 1) < rng.random()) + 1
    return [order[a:b] for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True)]


@contextmanager
def small_phases(partitions: np.random.Generator | None = None) -> Iterator[None]:
    """Inside, producers run ahead by few tokens, at first with little room, and points are close.

    Args:
        partitions: graphs go on in partitions that it draws.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_code, "_functions", _functions)
        patch.setattr(engine_code, "_codes", _codes)
        patch.setattr(code_cache, "_known", _known)
        patch.setattr(image, "PHASE", 64)
        patch.setattr(image, "AHEAD", 6)
        patch.setattr(image, "ROOM", 8)
        if partitions is not None:
            patch.setattr(image, "partitions_of", partial(some_partitions, partitions))
            # Short rounds are worth it, or are tried again soon.
            patch.setattr(compiled_engine, "FAR", 1 << int(partitions.integers(8)))
            patch.setattr(compiled_engine, "PAUSE", 1)
            # Far enough ahead, and nothing of a partition's borders can be timed for a while.
            patch.setattr(image, "AHEAD", int(partitions.choice([6, 40, 200])))
        patch.setattr(points, "SPAN", 2)
        patch.setattr(timing, "SPAN", 2)
        for module in (timing, many_firings):
            patch.setattr(module, "MANY", 4)
            patch.setattr(module, "FEW", 2)
        yield
