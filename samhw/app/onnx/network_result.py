"""What a run of a network gives, and whether that is what ONNX says it gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from samhw.app.api import DesignResult, PageView
from samhw.app.checking import Check, Difference
from samhw.app.report.run_statistics import Statistics
from samhw.app.workload.onnx_model import JUDGES, difference, judged
from samhw.errors import InputError, shown
from samhw.importers.onnx import Array, ImportedModel

__all__ = ["NetworkCheck", "NetworkResult"]


@dataclass(frozen=True)
class NetworkCheck:
    """The comparison with the network.

    The run's results are compared with the program's, region by region, within the value type's bounds
    (`run`); and the program's, in float64, with what ONNX's evaluator gives in the network's own types.
    `max_abs_error` is the greatest difference of the run's outputs from the evaluator's, and `program_error`
    that of the program's; both are None where it has no such operator.
    """

    max_abs_error: float | None
    program_error: float | None
    good: bool
    run: Check


@dataclass(frozen=True)
class NetworkResult:
    """A finished run of a network: `outputs` is what the network gives, `result` the program's run."""

    result: DesignResult
    arguments: Mapping[str, Array] = field(repr=False)
    imported: ImportedModel = field(repr=False)

    @property
    def cycles(self) -> int:
        """As docs/timing.md defines them."""
        return self.result.cycles

    @cached_property
    def outputs(self) -> dict[str, Array]:
        """The network's outputs by name, in their types, as the hardware has computed them."""
        held = {name: tensor.to_dense() for name, tensor in self.result.tensors.items()}
        return {output.port.name: output.of(held, self.arguments) for output in self.imported.outputs}

    def __getitem__(self, name: str) -> Array:
        """An output.

        Raises:
            InputError: for a name that is none.
        """
        if name not in self.outputs:
            raise InputError(f"The network has no output '{name}'; it has {', '.join(self.outputs)}.")
        return self.outputs[name]

    def check(self, by: str = "reference") -> NetworkCheck:
        """The comparison with the network itself.

        Args:
            by: who computes it: ONNX's `reference` evaluator, or `onnxruntime`.

        Raises:
            InputError: for another judge, or one that is not installed.
            RunError: for a wrong result.
        """
        if by not in JUDGES:
            raise InputError(f"'by' cannot be {shown(by)}; give one of {', '.join(JUDGES)}.")
        found = self.result.check()
        wanted = judged(self.imported.model, self.arguments, by)
        program = difference(self.imported, self.arguments, self.result.workload.tensors, wanted)
        errors = None
        if wanted is not None:
            pairs = zip(self.outputs.values(), wanted, strict=True)
            errors = max((_apart(ours, np.asarray(theirs)) for ours, theirs in pairs), default=0.0)
        return NetworkCheck(errors, program, True, found)

    def differences(self) -> dict[str, Difference]:
        """How far each result of the program is from float64, as `DesignResult.differences` says it."""
        return self.result.differences()

    def microseconds(self, clock: str) -> float:
        """What the cycles take at a clock, such as 100MHz or 10ns."""
        return self.result.microseconds(clock)

    def stats(self) -> Statistics:
        """Where the cycles went, as `DesignResult.stats` says it."""
        return self.result.stats()

    def report(self, directory: Path | str) -> Path:
        """Writes a page to look at, as `DesignResult.report` does."""
        return self.result.report(directory)

    def view(self) -> PageView:
        """The page of `report`, as `DesignResult.view` shows it."""
        return self.result.view()

    def _repr_html_(self) -> str:
        return self.result._repr_html_()


def _apart(ours: Array, theirs: Array) -> float:
    """The greatest difference; none between equal infinities, or NaN on both sides."""
    one, other = ours.astype(np.float64), theirs.astype(np.float64)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return float(np.abs(np.where(same, 0.0, one - other)).max(initial=0.0))
