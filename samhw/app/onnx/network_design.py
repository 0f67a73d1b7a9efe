"""A network in ONNX that is imported and compiled for the data that it is run on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from samhw.app.api import Drawing, RunnableDesign
from samhw.app.api.arguments import arch_of, followed, value_of
from samhw.app.api.notebook_views import Tables
from samhw.app.onnx.network_result import NetworkResult
from samhw.app.workload.onnx_model import arguments_of, drawn_arguments
from samhw.choices.formats import with_formats
from samhw.choices.fuse import FusionLevel, FusionRule
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, asked_type
from samhw.compiler.search import in_modules
from samhw.cost import DesignEstimate
from samhw.errors import InputError, shown
from samhw.graph import Arch, OffChipMemory
from samhw.graph.numerics import ValueType
from samhw.importers.onnx import UNROLL, Array, ImportedModel, OnnxModel, import_model, read_model
from samhw.targets.backends import Backend
from samhw.tensors import Format

__all__ = ["NetworkDesign", "compile"]


@dataclass(frozen=True)
class _Choices:
    """How a network is to be compiled."""

    schedule: Schedule
    value: ValueType | None
    formats: Mapping[str, str | Format]
    sparsify: float | None
    unroll: int
    arch: Arch | None


class NetworkDesign:
    """What `samhw.onnx.compile` gives: a network, its program, and what has been compiled of it.

    Attributes:
        model: as it is read.
        arguments: the example data, by the names of the network's inputs.
    """

    def __init__(self, model: OnnxModel, arguments: Mapping[str, Array], choices: _Choices) -> None:
        self.model = model
        self.arguments = dict(arguments)
        self._choices = choices
        self._known: list[tuple[ImportedModel, RunnableDesign, object]] = []
        self._for(self.arguments)

    @property
    def name(self) -> str:
        """That of the file, or of the graph."""
        return self.model.label

    @property
    def imported(self) -> ImportedModel:
        """The network as a program, for the example data."""
        return self._for(self.arguments)[0]

    @property
    def design(self) -> RunnableDesign:
        """The program's design, for the example data."""
        return self._for(self.arguments)[1]

    @property
    def fixed(self) -> tuple[str, ...]:
        """The inputs that decide what the network computes: for other values it is imported anew."""
        return tuple(self.imported.fixed)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is done in another way than the network says, in sentences."""
        return self.imported.notes

    @property
    def compiled(self) -> Compiled:
        """What runs on the example data, as the compiler gave it."""
        imported, design = self._for(self.arguments)
        return design.compile_for(design.bind(imported.tensors(self.arguments)))

    @property
    def tables(self) -> Tables:
        """The fusion table of each region, by its name."""
        return Tables({region.graph.name: region.table for region in self.compiled.regions})

    @property
    def graph(self) -> Drawing:
        """The SAMML graphs of all regions, as for `RunnableDesign`."""
        return Drawing(self.compiled.design)

    def run(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        backend: Backend | str | None = None,
        memory: OffChipMemory | Mapping[str, object] | Path | str | None = None,
        wave: Path | str | None = None,
    ) -> NetworkResult:
        """Runs the network in hardware, by default on its example data; `RunnableDesign.run` has the rest.

        Data of other shapes are imported again, and compiled again unless they fit what there is.

        Args:
            data: arrays by the names of inputs.

        Raises:
            InputError, RunError: as `RunnableDesign.run` and `samhw.onnx.compile` do.
        """
        arguments = self.arguments if data is None else arguments_of(self.model, data)
        imported, design = self._for(arguments)
        result = design.run(imported.tensors(arguments), backend=backend, memory=memory, wave=wave)
        return NetworkResult(result, arguments, imported)

    def run_all(
        self, inputs: Iterable[Mapping[str, Any]], *, progress: bool = False, **options: Any
    ) -> Iterator[NetworkResult]:
        """Runs on one set of data after the other, as `RunnableDesign.run_all` does."""
        for data in followed(inputs, progress):
            yield self.run(data, **options)

    def with_value(self, value: ValueType | str | None) -> "NetworkDesign":
        """The same network and choices in another value type; raises `InputError` for a type that there is
        not."""
        return NetworkDesign(self.model, self.arguments, replace(self._choices, value=value_of(value)))

    def estimate(self, data: Mapping[str, Any] | None = None) -> DesignEstimate:
        """What is expected of a run, by default on the example data, as `RunnableDesign.estimate` says it."""
        arguments = self.arguments if data is None else arguments_of(self.model, data)
        imported, design = self._for(arguments)
        return design.estimate(imported.tensors(arguments))

    def save(self, program: Path | str, data: Path | str | None = None) -> None:
        """Writes the program (`.ein`) and its data for the example (`.npz`), weights among them."""
        imported, design = self._for(self.arguments)
        design.save(program, data, tensors=imported.tensors(self.arguments))

    def _for(self, arguments: Mapping[str, Array]) -> tuple[ImportedModel, RunnableDesign]:
        """What takes arguments of these shapes."""
        key = tuple(array.shape for array in arguments.values())
        for imported, design, kind in self._known:
            if kind == key and imported.other(arguments) is None:
                return imported, design
        chosen = self._choices
        made = import_model(self.model, arguments, sparsify=chosen.sparsify, unroll=chosen.unroll)
        program = replace(with_formats(made.program, chosen.formats), value=asked_type(made.element))
        made = replace(made, program=program)
        same = (design for other, design, _ in self._known if other.program == program)
        found = next(same, None) or self._design(made)
        self._known.append((made, found, key))
        return made, found

    def _design(self, imported: ImportedModel) -> RunnableDesign:
        chosen = self._choices
        schedule = in_modules(chosen.schedule, imported.program, imported.scopes)
        schedule.apply(imported.program)
        return RunnableDesign(
            imported.program, schedule, value=chosen.value, arch=chosen.arch, scopes=imported.scopes
        )

    def __repr__(self) -> str:
        fixed = f", fixed for {', '.join(self.fixed)}" if self.fixed else ""
        return f"<NetworkDesign of {self.name}{fixed}: {self.design!r}>"

    def _repr_html_(self) -> str:
        return self.design._repr_html_()


def compile(
    model: onnx.ModelProto | Path | str,
    data: Mapping[str, Any] | None = None,
    *,
    shapes: Mapping[str, int] | None = None,
    value: ValueType | str | None = None,
    fuse: FusionLevel | FusionRule | Sequence[Sequence[str]] | None = None,
    formats: Mapping[str, str | Format] | None = None,
    sparsify: float | None = None,
    unroll: int = UNROLL,
    schedule: Schedule | Mapping[str, object] | Path | str | None = None,
    permute: bool = True,
    arch: Arch | Mapping[str, object] | Path | str | None = None,
) -> NetworkDesign:
    """A design of a network in ONNX.

    Args:
        model: a file, or what `onnx` has read.
        data: example data, arrays by the names of inputs; without them they are random.
        shapes: extents of dimensions that the network leaves open, by name, where there are no data.
        value: as for `samhw.compile`; by default f32, or i32 for a network of integers alone.
        fuse: as in a schedule.
        formats: of the program's tensors, by their names there.
        sparsify: the share of zeros from which on a constant is stored by its nonzeros; by default none is.
        unroll: loops of at most this many steps stay unrolled; longer ones are scans as far as they can be.
        schedule, arch: as for `samhw.compile`.
        permute: may tensors be copied into other mode orders where they conflict?

    Raises:
        InputError: for a network that cannot be imported, with the node's name and a way out.
    """
    if sparsify is not None and not (isinstance(sparsify, int | float | np.number) and 0 <= sparsify <= 1):
        raise InputError(f"'sparsify' cannot be {shown(sparsify)}; give a share of zeros, from 0 to 1.")
    if isinstance(unroll, bool) or not isinstance(unroll, int) or unroll < 0:
        raise InputError(f"'unroll' cannot be {shown(unroll)}; give a number of steps, from 0 on.")
    read = read_model(model)
    chosen = Schedule.of(schedule)
    choices = _Choices(
        replace(chosen, permute=permute, fuse=chosen.fuse if fuse is None else fuse),
        value_of(value),
        {} if formats is None else formats,
        None if sparsify is None else float(sparsify),
        unroll,
        arch_of(arch),
    )
    given = drawn_arguments(read, shapes or {}) if data is None else arguments_of(read, data)
    return NetworkDesign(read, given, choices)
