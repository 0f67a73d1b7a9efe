"""Whether a module's results are those of the module itself."""

from dataclasses import dataclass
from typing import Any

import torch

from samhw.targets import Check
from samhw.workload.module import leaves

__all__ = ["ModuleCheck", "difference"]


@dataclass(frozen=True)
class ModuleCheck:
    """The comparison with the module.

    The run's results are compared with the program's, region by region, within the value type's bounds
    (`run`); and the program's, in float64, with the module's in float64, within PyTorch's own error in f32.
    `max_abs_error` is the greatest difference of the run's results from the module's in f32, and
    `program_error` that of the program's from the module's in float64.
    """

    max_abs_error: float
    program_error: float
    good: bool
    run: Check


def difference(ours: Any, theirs: Any) -> float:
    """The greatest, over all outputs."""
    worst = 0.0
    for mine, single in zip(leaves(ours), leaves(theirs), strict=True):
        if isinstance(single, torch.Tensor) and single.numel():
            apart = torch.abs(mine.double() - single.double())
            apart = torch.where(mine == single, torch.zeros_like(apart), apart)
            worst = max(worst, float(apart.nan_to_num(float("inf")).max()))
    return worst
