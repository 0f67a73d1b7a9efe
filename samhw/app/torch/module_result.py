"""What a run of a module gives, and whether that is what the module itself gives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy.typing as npt
import scipy
import torch
from torch import nn

from samhw.app.api.imported_design import ImportedResult
from samhw.app.checking import Check, Verdict
from samhw.app.workload.torch_module import check_program, difference, leaves, outputs_of
from samhw.errors import InputError
from samhw.importers.torch import ImportedModule

__all__ = ["ModuleCheck", "ModuleResult"]


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

    @property
    def verdict(self) -> Verdict:
        """The word for the run, as `Check` has it; no module is right whose program is not."""
        return self.run.verdict if self.good else Verdict.WRONG


@dataclass(frozen=True)
class ModuleResult(ImportedResult):
    """A finished run of a module: `output` is what the module would have given, `result` the program's
    run."""

    arguments: Sequence[object] = field(repr=False)
    module: nn.Module = field(repr=False)
    imported: ImportedModule = field(repr=False)

    @cached_property
    def output(self) -> Any:
        """What the module gives, in its own structure, as the hardware has computed it."""
        held = {name: tensor.to_dense() for name, tensor in self.result.tensors.items()}
        return self.imported.outputs(held, self.arguments)

    def __getitem__(self, name: str) -> "npt.NDArray[Any] | scipy.sparse.sparray":
        """A stored tensor of the program, as `DesignResult` gives it."""
        return self.result[name]

    def check(self) -> ModuleCheck:
        """The comparison with the module itself.

        Raises:
            InputError: if the module's weights are others than those of the run.
            RunError: for a wrong result.
        """
        if not self.imported.is_of(self.module):
            raise InputError(
                f"The weights of {type(self.module).__name__} have changed since this run; run the design "
                "again, and check that."
            )
        found = self.result.check()
        program = check_program(self.module, self.imported, self.arguments, self.result.workload.tensors)
        outputs = zip(leaves(self.output), leaves(outputs_of(self.module, self.arguments)), strict=True)
        errors = [difference(ours, theirs) for ours, theirs in outputs if isinstance(theirs, torch.Tensor)]
        return ModuleCheck(max(errors, default=0.0), program, True, found)
