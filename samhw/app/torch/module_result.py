"""What a run of a module gives, and whether that is what the module itself gives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy.typing as npt
import scipy
import torch
from torch import nn

from samhw.app.api import DesignResult, PageView
from samhw.app.checking import Check, Difference
from samhw.app.report.run_statistics import Statistics
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


@dataclass(frozen=True)
class ModuleResult:
    """A finished run of a module: `output` is what the module would have given, `result` the program's
    run."""

    result: DesignResult
    arguments: Sequence[object] = field(repr=False)
    module: nn.Module = field(repr=False)
    imported: ImportedModule = field(repr=False)

    @property
    def cycles(self) -> int:
        """As docs/timing.md defines them."""
        return self.result.cycles

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

    def differences(self) -> dict[str, Difference]:
        """How far each result of the program is from float64, as `DesignResult.differences` says it."""
        return self.result.differences()

    def microseconds(self, clock: str) -> float:
        """What the cycles take at a clock, such as 100MHz or 10ns."""
        return self.result.microseconds(clock)

    def stats(self) -> Statistics:
        """Where the cycles went, as `DesignResult.stats` says it."""
        return self.result.stats()

    def trace(self, path: Path | str, window: tuple[int, int] | None = None) -> Path:
        """Writes the tokens of the run, as `DesignResult.trace` does."""
        return self.result.trace(path, window)

    def report(self, directory: Path | str) -> Path:
        """Writes a page to look at, as `DesignResult.report` does."""
        return self.result.report(directory)

    def view(self) -> PageView:
        """The page of `report`, as `DesignResult.view` shows it."""
        return self.result.view()

    def _repr_html_(self) -> str:
        return self.result._repr_html_()
