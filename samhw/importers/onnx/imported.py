"""A model as a program, how a run's arguments become inputs, and results the model's outputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.graph.numerics import ValueType
from samhw.importers.core import (
    Arguments,
    Build,
    Emitted,
    InputSource,
    PlacedResult,
    Value,
    as_results,
    constants_of,
    emit,
    input_sources,
    placed_result,
)
from samhw.importers.core.element_types import WHOLE
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.model import Entry, ModelPort, OnnxModel
from samhw.importers.onnx.operators.control import MOST_UNROLLED
from samhw.importers.onnx.values import Array, Held, is_float, kind_name
from samhw.importers.onnx.walk import NetworkWalk
from samhw.lang.expr import Access, Literal
from samhw.lang.program import Program
from samhw.tensors import Tensor

__all__ = ["UNROLL", "ImportedModel", "ModelOutput", "import_model"]

UNROLL = 2
"""Loops of at most this many steps stay unrolled."""


@dataclass(frozen=True)
class ModelOutput:
    """An output: a result of the program, or what the host knows.

    Attributes:
        port: its name and type.
    """

    port: ModelPort
    source: PlacedResult | Callable[[Arguments], Array]

    @property
    def is_computed(self) -> bool:
        """Whether the program computes it."""
        return isinstance(self.source, PlacedResult)

    def of(
        self, tensors: Mapping[str, npt.NDArray[Any]], arguments: Arguments, *, exact: bool = False
    ) -> Array:
        """The output, of the arrays of the program's results and the arguments of the run.

        Args:
            exact: leaves numbers in the arrays' type, instead of the model's.
        """
        if not isinstance(self.source, PlacedResult):
            return self.source(arguments)
        found = self.source.of(tensors)
        if exact:
            return found
        if not is_float(self.port.kind):
            found = np.rint(found)
        with np.errstate(invalid="ignore", over="ignore"):
            return found.astype(self.port.dtype)


@dataclass(frozen=True)
class ImportedModel:
    """A model as a program.

    Attributes:
        program: without extents, so that it fits other data of the same structure.
        inputs: the program's inputs: how each is made of a run's arguments.
        outputs: in the model's order.
        scopes: by result, the node that computes it.
        fixed: the arguments that are constants, since they have decided what is computed, by name.
        notes: what is done in another way than the model says, in sentences.
        element: the value type that it computes in: `f32`, or `i32` for integers alone.
    """

    program: Program
    inputs: Mapping[str, InputSource]
    outputs: Sequence[ModelOutput]
    scopes: Mapping[str, str]
    fixed: Mapping[str, Array]
    notes: tuple[str, ...]
    element: str
    model: OnnxModel = field(repr=False)

    @property
    def constants(self) -> frozenset[str]:
        """The inputs whose data are the same in every run, such as weights."""
        return constants_of(self.inputs)

    def takes(self, arguments: Mapping[str, Array]) -> bool:
        """Whether the arguments have the values that are fixed."""
        return self._other(arguments) is None

    def _other(self, arguments: Mapping[str, Array]) -> str | None:
        """An argument that is fixed, and has another value."""
        for name, held in self.fixed.items():
            if not np.array_equal(arguments[name], held, equal_nan=held.dtype.kind == "f"):
                return name
        return None

    def tensors(self, arguments: Mapping[str, Array]) -> dict[str, Tensor]:
        """The program's inputs for a run.

        Raises:
            InputError: for an argument that is fixed, and other than it was.
        """
        if (name := self._other(arguments)) is not None:
            raise InputError(
                f"The input '{name}' decides what the network computes, and has other values than those that "
                "it was imported with; import it anew."
            )
        return {name: made.of(arguments) for name, made in self.inputs.items()}


def import_model(
    model: OnnxModel,
    arguments: Mapping[str, Array],
    *,
    value: ValueType | None = None,
    sparsify: float | None = None,
    unroll: int = UNROLL,
) -> ImportedModel:
    """Imports a model for arguments of these shapes, of which those that decide shapes are constants.

    Args:
        value: the type that is asked for. In one of floating point integers keep types of their own.
        sparsify: the share of zeros from which on a constant is stored by its nonzeros.
        unroll: loops of at most this many steps stay unrolled.

    Raises:
        InputError: for a model that cannot be imported, with the node's name and a way out.
    """

    def imported(unroll: int) -> ImportedModel:
        of_integers = not model.has_fractions
        importer = NodeImporter(Build(), value=value, of_integers=of_integers, sparsify=sparsify)
        return _imported(model, arguments, importer, unroll)

    try:
        try:
            return imported(unroll)
        except _ScanError:
            return imported(MOST_UNROLLED)
    except InputError:
        raise
    except Exception:
        # Importers take it that a model is as ONNX says.
        model.check()
        raise


class _ScanError(Exception):
    """A refusal in a model that has scans: unrolled it may be taken."""


def _imported(
    model: OnnxModel, arguments: Mapping[str, Array], importer: NodeImporter, unroll: int
) -> ImportedModel:
    build = importer.build
    walk = NetworkWalk(model, importer, unroll)
    try:
        found = walk.run(arguments)
    except InputError as error:
        if walk.has_scans and unroll < MOST_UNROLLED:
            raise _ScanError from error
        raise
    build.scope, build.result_name = "", "output"
    entries = [_computed(importer, entry) for entry in found]
    values = [entry for entry in entries if isinstance(entry, Value)]
    made = iter(as_results(build, importer.tensors, values, "output"))
    results = [next(made) if isinstance(entry, Value) else entry for entry in entries]
    computed = [r.expr.tensor for r in results if isinstance(r, Value) and isinstance(r.expr, Access)]
    if not computed:
        raise InputError(f"'{model.label}' computes nothing of its inputs; there is nothing to compile.")
    emitted = emit(build, model.label, computed)
    outputs = [
        ModelOutput(port, _source(build, port, entry, emitted))
        for port, entry in zip(model.outputs, results, strict=True)
    ]
    fixed = {name: np.array(arguments[name]) for name in importer.fixed}
    for port in (*model.inputs, *model.outputs):
        if is_float(port.kind) and port.dtype != np.float32:
            importer.note(f"What the model has in {kind_name(port.kind)} is computed in f32.")
    program, element = _in_one_type(emitted.program)
    return ImportedModel(
        program,
        input_sources(build, emitted),
        outputs,
        emitted.scopes,
        fixed,
        (*importer.notes,),
        element,
        model,
    )


def _in_one_type(program: Program) -> tuple[Program, str]:
    """A program and the type of what has none of its own: without types if all of it has one."""
    kinds = {decl.value for decl in program.tensors.values()}
    if None in kinds:
        return program, "f32"
    if kinds != {WHOLE}:
        return program, WHOLE.name
    tensors = {name: replace(decl, value=None) for name, decl in program.tensors.items()}
    return replace(program, tensors=tensors), WHOLE.name


def _computed(importer: NodeImporter, entry: Entry) -> Entry:
    """An output; an argument that goes through as it is, is copied by the program."""
    if isinstance(entry, Held) and entry.fetch is not None and (is_float(entry.kind) or importer.of_integers):
        return importer.value(entry)
    if entry is None or isinstance(entry, Exception):
        raise entry or InputError("The model has an output that nothing computes; mend it.")
    return entry


def _source(
    build: Build, port: ModelPort, entry: Entry, emitted: Emitted
) -> PlacedResult | Callable[[Arguments], Array]:
    if isinstance(entry, Held):
        return entry.of
    assert isinstance(entry, Value)
    if isinstance(entry.expr, Literal):
        held = np.full(build.shape(entry), float(entry.expr.value)).astype(port.dtype)
        return lambda _: held
    return placed_result(build, entry, emitted)
