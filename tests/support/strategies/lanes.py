"""Random lanes for a program that is compiled already."""

import numpy as np

from samhw.compiler import Compiled

__all__ = ["random_lanes"]


def random_lanes(compiled: Compiled, rng: np.random.Generator, most: int = 5) -> dict[str, int]:
    """Lanes on one or two of the indices of its regions that have another one inside of them."""
    indices = sorted({index for region in compiled.regions if not region.copy for index in region.order[:-1]})
    if not indices:
        return {}
    count = min(len(indices), int(rng.choice([1, 1, 2])))
    chosen = rng.choice(indices, count, replace=False)
    return {str(index): int(rng.integers(2, most + 1)) for index in chosen}
