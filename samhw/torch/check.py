"""Whether a module's results are those of the module itself."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from samhw.errors import RunError
from samhw.frontend.torch import ImportedModule
from samhw.reference import evaluate_program
from samhw.targets import Check
from samhw.tensors import Tensor

__all__ = ["ModuleCheck", "check_program", "outputs_of"]

_F32 = 2.0**-20
"""Of the greatest element: what PyTorch's f32 may be off at the least, as sums are taken in other orders."""


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


def check_program(
    module: nn.Module, imported: ImportedModule, arguments: Sequence[Any], tensors: Mapping[str, Tensor]
) -> float:
    """How far the program is from the module, both in float64, on these data.

    Raises:
        RunError: where that is more than PyTorch's own error in f32.
    """
    ours = imported.outputs(evaluate_program(imported.program, tensors), arguments)
    theirs = outputs_of(module, arguments)
    exact = _in_double(module, arguments)
    worst = 0.0
    for mine, single, double in zip(
        _leaves(ours), _leaves(theirs), _leaves(theirs if exact is None else exact), strict=True
    ):
        if not isinstance(single, torch.Tensor):
            continue
        if tuple(mine.shape) != tuple(single.shape):
            raise RunError(
                f"The module gives the shape {tuple(single.shape)}, and its program {tuple(mine.shape)}; "
                "please report this as a bug."
            )
        wanted, found = double.double(), mine.double()
        apart = torch.abs(found - wanted)
        apart = torch.where(found == wanted, torch.zeros_like(apart), apart)
        own = torch.abs(single.double() - wanted).nan_to_num(0).max() if single.numel() else 0.0
        greatest = wanted.abs().nan_to_num(0).max() if wanted.numel() else 0.0
        allowed = float(own) * 4 + float(greatest) * _F32 * (1 if exact is not None else 16) + 1e-30
        error = float(apart.nan_to_num(float("inf")).max()) if apart.numel() else 0.0
        if not error <= allowed:
            raise RunError(
                f"The program of '{imported.program.name}' is off by {error:g} from the module; please "
                "report this as a bug."
            )
        worst = max(worst, error)
    return worst


def outputs_of(module: nn.Module, arguments: Sequence[Any]) -> Any:
    """What the module gives."""
    with torch.no_grad():
        return module(*arguments)


def difference(ours: Any, theirs: Any) -> float:
    """The greatest, over all outputs."""
    worst = 0.0
    for mine, single in zip(_leaves(ours), _leaves(theirs), strict=True):
        if isinstance(single, torch.Tensor) and single.numel():
            apart = torch.abs(mine.double() - single.double())
            apart = torch.where(mine == single, torch.zeros_like(apart), apart)
            worst = max(worst, float(apart.nan_to_num(float("inf")).max()))
    return worst


def _in_double(module: nn.Module, arguments: Sequence[Any]) -> Any:
    """What the module gives in float64; None if it cannot."""
    try:
        wide = copy.deepcopy(module).double()
        held = [a.double() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in arguments]
        return outputs_of(wide, held)
    except Exception:
        # It makes tensors of f32 on its way, which float64 does not go with.
        return None


def _leaves(outputs: Any) -> list[Any]:
    found: list[Any] = torch.utils._pytree.tree_leaves(outputs)
    return found
