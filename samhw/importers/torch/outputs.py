"""The outputs of a module: what the program computes for them, and how its results are put back."""

from collections.abc import Sequence

import torch

from samhw.errors import InputError
from samhw.frontend.expr import Access, Literal
from samhw.importers.core import Build, Emitted, Tensors, Value
from samhw.importers.torch.complex_pair import Complex
from samhw.importers.torch.imported import OutputSource
from samhw.importers.torch.value import Host, Known

__all__ = ["Outputs"]


class Outputs:
    """Collects a module's outputs, in its order."""

    def __init__(self, build: Build, tensors: Tensors) -> None:
        self.build = build
        self.tensors = tensors
        self._sources: list[OutputSource] = []
        self._computed: list[tuple[Access, Value]] = []

    @property
    def computed(self) -> list[str]:
        """The results that the program has to have, by name."""
        return [access.tensor for access, _ in self._computed]

    def add(self, output: object) -> None:
        """Adds an output, as the importer has it."""
        self._sources.append(self.source(output))

    def sources(self, emitted: Emitted) -> Sequence[OutputSource]:
        """The outputs, with their modes as the program stores them."""
        left = iter(self._computed)
        return [
            source if source.name is None else self._placed(source, *next(left), emitted)
            for source in self._sources
        ]

    def source(self, output: object) -> OutputSource:
        """An output; one that the hardware computes gets a statement that nobody else reads."""
        build = self.build
        if isinstance(output, Known):
            tensor = output.dense()
            return OutputSource(None, tuple(tensor.shape), fetch=lambda _: tensor)
        if isinstance(output, Host):
            return OutputSource(None, tuple(output.example.shape), fetch=output.fetch)
        if isinstance(output, Complex):
            raise InputError("An output of the module is complex; return torch.view_as_real() of it.")
        if not isinstance(output, Value):
            return OutputSource(None, (), fetch=lambda _: output)
        if output.mask is not None:
            raise InputError("An output of the module is -inf at places; mask it after the run.")
        build.scope, build.result_name = "", "output"
        value = self.tensors.materialized(output)
        if isinstance(value.expr, Literal):
            held = torch.full(build.shape(value), float(value.expr.value))
            return OutputSource(None, tuple(held.shape), fetch=lambda _: held)
        access = value.expr
        assert isinstance(access, Access)
        read = {a.tensor for made in build.statements for a in made.reads}
        taken = {other.tensor for other, _ in self._computed}
        if access.tensor in read | taken or build.stored[access.tensor].fetch is not None:
            access = build.statement(access.names, access, label="output")
        self._computed.append((access, value))
        return OutputSource(access.tensor, build.shape(value))

    def _placed(self, result: OutputSource, access: Access, value: Value, emitted: Emitted) -> OutputSource:
        """An output with the order of its modes, which is known once the program is."""
        axes = self.build.axes
        place = emitted.placed[access.tensor]
        own = axes.resolved(self.build.stored[access.tensor].modes)
        theirs = dict(zip(own, axes.resolved(access.names), strict=True))
        stored = [theirs[index] for index in place.indices]
        indices = axes.resolved(value.indices)
        order = tuple(stored.index(index) for index in indices if index in stored)
        atoms = tuple(axes.size([index]) for index in indices)
        sizes = tuple(axes.size([index]) if index in stored else 1 for index in indices)
        return OutputSource(result.name, result.shape, order, sizes, shape_of_atoms=atoms)
