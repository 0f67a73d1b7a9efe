"""Networks in ONNX in, results out (docs/onnx.md): a network that is imported and compiled for the data
that it is run on, and what a run gives."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import onnx

from samhw.app.api.arguments import OF_IMPORTED_RUNS, check_run_arguments, followed
from samhw.app.api.imported_design import ImportChoices, ImportedDesign, ImportedResult
from samhw.app.checking import Check
from samhw.app.report.estimate import EstimateReport
from samhw.app.workload import JUDGES
from samhw.app.workload.agreement import differences
from samhw.app.workload.onnx_model import arguments_of, difference, drawn_arguments, judged
from samhw.choices.fuse import FusionLevel, FusionRule
from samhw.choices.schedule import Schedule
from samhw.compiler import asked_type
from samhw.errors import InputError, shown
from samhw.graph import Arch, OffChipMemory
from samhw.graph.numerics import ValueType
from samhw.importers.onnx import UNROLL, Array, ImportedModel, OnnxModel, import_model, read_model
from samhw.targets.backends import Backend
from samhw.tensors import Format
from samhw.words import did_you_mean

__all__ = ["NetworkCheck", "NetworkDesign", "NetworkResult", "compile"]


# What a run of a network gives, and whether that is what ONNX says it gives.


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
        """The network's outputs by name, in their types and shapes, as the hardware has computed them."""
        held = {name: tensor.to_dense() for name, tensor in self.result.tensors.items()}
        return {output.port.name: output.of(held, self.arguments) for output in self.imported.outputs}

    def __getitem__(self, name: str) -> Array:
        """An output.

        Raises:
            InputError: for a name that is none.
        """
        if name not in self.outputs:
            raise InputError(
                f"The network has no output '{name}'{did_you_mean(name, self.outputs)}; it has "
                f"{', '.join(self.outputs)}."
            )
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
            raise InputError(
                f"'by' cannot be {shown(by)}{did_you_mean(by, JUDGES)}; give one of {', '.join(JUDGES)}."
            )
        found = self.result.check()
        wanted = judged(self.imported.model, self.arguments, by)
        program = difference(self.imported, self.arguments, self.result.workload.tensors, wanted)
        errors = None
        if wanted is not None:
            pairs = zip(self.outputs.values(), wanted, strict=True)
            errors = max((float(differences(*pair).max(initial=0.0)) for pair in pairs), default=0.0)
        return NetworkCheck(errors, program, True, found)


class NetworkDesign(ImportedDesign[dict[str, Array], ImportedModel]):
    """What `samhw.onnx.compile` gives: a network, its program, and what has been compiled of it.

    Attributes:
        model: as it is read.
        arguments: the example data, by the names of the network's inputs.
    """

    def __init__(self, model: OnnxModel, arguments: Mapping[str, Array], choices: ImportChoices) -> None:
        self.model = model
        super().__init__(dict(arguments), choices)

    @property
    def name(self) -> str:
        """That of the file, or of the graph."""
        return self.model.label

    @property
    def notes(self) -> tuple[str, ...]:
        """What is done in another way than the network says, in sentences."""
        return self.imported.notes

    def run(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        backend: Backend | str | None = None,
        memory: OffChipMemory | Mapping[str, object] | Path | str | None = None,
        wave: Path | str | None = None,
        **others: object,
    ) -> NetworkResult:
        """Runs the network in hardware, by default on its example data; `RunnableDesign.run` has the rest.

        Data of other shapes are imported again, and compiled again unless they fit what there is.

        Args:
            data: arrays by the names of inputs.

        Raises:
            InputError, RunError: as `RunnableDesign.run` and `samhw.onnx.compile` do.
        """
        check_run_arguments(others, OF_IMPORTED_RUNS)
        arguments = self._given(data)
        result, imported = self._run(arguments, backend=backend, memory=memory, wave=wave)
        return NetworkResult(result, arguments, imported)

    def run_all(
        self, inputs: Iterable[Mapping[str, Any]], *, progress: bool = False, **options: Any
    ) -> Iterator[NetworkResult]:
        """Runs on one set of data after the other, as `RunnableDesign.run_all` does."""
        for data in followed(inputs, progress):
            yield self.run(data, **options)

    def estimate(self, data: Mapping[str, Any] | None = None) -> EstimateReport:
        """What is expected of a run, by default on the example data, as `RunnableDesign.estimate` says it."""
        return self._estimate(self._given(data))

    def _given(self, data: Mapping[str, Any] | None) -> dict[str, Array]:
        return self.arguments if data is None else arguments_of(self.model, data)

    def _import(self, arguments: dict[str, Array]) -> ImportedModel:
        chosen = self._choices
        made = import_model(
            self.model, arguments, value=chosen.value, sparsify=chosen.sparsify, unroll=chosen.unroll
        )
        program = replace(chosen.asked(made.program), value=asked_type(made.element))
        return replace(made, program=program)

    def _kind(self, arguments: dict[str, Array]) -> object:
        return tuple(array.shape for array in arguments.values())

    def _with(self, choices: ImportChoices) -> "NetworkDesign":
        return NetworkDesign(self.model, self.arguments, choices)


def compile(
    model: onnx.ModelProto | Path | str,
    data: Mapping[str, Any] | None = None,
    *,
    shapes: Mapping[str, int] | None = None,
    value: ValueType | str | None = None,
    types: Mapping[str, ValueType | str] | str | None = None,
    fuse: FusionLevel | FusionRule | Sequence[Sequence[str]] | None = None,
    formats: Mapping[str, str | Format] | None = None,
    sparsify: float | None = None,
    unroll: int = UNROLL,
    schedule: Schedule | Mapping[str, object] | Path | str | None = None,
    permute: bool = True,
    arch: Arch | Mapping[str, object] | Path | str | None = None,
    **others: object,
) -> NetworkDesign:
    """A design of a network in ONNX.

    Args:
        model: a file, or what `onnx` has read.
        data: example data, arrays by the names of inputs; without them they are random.
        shapes: extents of dimensions that the network leaves open, by name, where there are no data.
        value: as for `samhw.compile`; by default f32, or i32 for a network of integers alone.
        fuse: as in a schedule.
        types, formats: of the program's tensors, by their names there.
        sparsify: the share of zeros from which on a constant is stored by its nonzeros; by default none is.
        unroll: loops of at most this many steps stay unrolled; longer ones are scans as far as they can be.
        schedule, arch: as for `samhw.compile`.
        permute: may tensors be copied into other mode orders where they conflict?

    Raises:
        InputError: for a network that cannot be imported, with the node's name and a way out.
    """
    choices = ImportChoices.of(
        schedule=schedule,
        permute=permute,
        fuse=fuse,
        value=value,
        types=types,
        formats=formats,
        sparsify=sparsify,
        unroll=unroll,
        arch=arch,
        others=others,
    )
    read = read_model(model)
    given = drawn_arguments(read, shapes or {}) if data is None else arguments_of(read, data)
    return NetworkDesign(read, given, choices)
