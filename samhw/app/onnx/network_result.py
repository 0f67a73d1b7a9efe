"""What a run of a network gives, and whether that is what ONNX says it gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from samhw.app.api.imported_design import ImportedResult
from samhw.app.checking import Check
from samhw.app.workload import JUDGES
from samhw.app.workload.agreement import differences
from samhw.app.workload.onnx_model import difference, judged
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
class NetworkResult(ImportedResult):
    """A finished run of a network: `outputs` is what the network gives, `result` the program's run."""

    arguments: Mapping[str, Array] = field(repr=False)
    imported: ImportedModel = field(repr=False)

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
            errors = max((float(differences(*pair).max(initial=0.0)) for pair in pairs), default=0.0)
        return NetworkCheck(errors, program, True, found)
