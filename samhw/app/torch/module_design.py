"""A module that is imported and compiled for the arguments that it is called with."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from samhw.app.api import Drawing, RunnableDesign
from samhw.app.api.arguments import arch_of, followed, value_of
from samhw.app.api.notebook_views import Tables
from samhw.app.torch.module_result import ModuleResult
from samhw.choices.formats import with_formats
from samhw.choices.fuse import FusionLevel, FusionRule
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.search import in_modules
from samhw.cost import DesignEstimate
from samhw.errors import InputError, shown
from samhw.graph import Arch, OffChipMemory
from samhw.graph.numerics import ValueType
from samhw.importers.torch import UNROLL, ImportedModule, check_arguments, import_module
from samhw.targets.backends import Backend
from samhw.tensors import Format

__all__ = ["ModuleDesign", "compile"]

_MOST_KEPT = 64
"""Imports for arguments that differ in what is fixed alone."""


class ModuleDesign:
    """What `samhw.torch.compile` gives: a module, its program, and what has been compiled of it.

    Attributes:
        module: as it was given.
        arguments: the example arguments.
    """

    def __init__(
        self,
        module: nn.Module,
        arguments: Sequence[object],
        schedule: Schedule,
        *,
        value: ValueType | str | None,
        formats: Mapping[str, str | Format],
        sparsify: float | None,
        unroll: int,
        arch: Arch | Mapping[str, object] | Path | str | None,
    ) -> None:
        self.module = module
        self.arguments = tuple(arguments)
        self._schedule = schedule
        self._value = value_of(value)
        self._formats = formats
        self._sparsify = sparsify
        self._unroll = unroll
        self._arch = arch_of(arch)
        self._known: dict[object, deque[tuple[ImportedModule, RunnableDesign]]] = {}
        self._for(self.arguments)

    @property
    def name(self) -> str:
        """The class of the module."""
        return type(self.module).__name__

    @property
    def imported(self) -> ImportedModule:
        """The module as a program, for the example arguments."""
        return self._for(self.arguments)[0]

    @property
    def design(self) -> RunnableDesign:
        """The program's design, for the example arguments."""
        return self._for(self.arguments)[1]

    @property
    def fixed(self) -> tuple[str, ...]:
        """The arguments whose integers or conditions decide what the module computes, by their names in
        `forward`: for other values of theirs it is imported anew, and compiled anew unless the program is the
        same."""
        return tuple(self.imported.fixed)

    @property
    def compiled(self) -> Compiled:
        """What runs on the example arguments, as the compiler gave it."""
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
        *arguments: object,
        backend: Backend | str | None = None,
        memory: OffChipMemory | Mapping[str, object] | Path | str | None = None,
        wave: Path | str | None = None,
    ) -> ModuleResult:
        """Calls the module in hardware, by default with its example arguments; `RunnableDesign.run` has the
        rest.

        Arguments of other shapes are imported again, and compiled again unless they fit what there is.

        Raises:
            InputError, RunError: as `RunnableDesign.run` and `samhw.torch.compile` do.
        """
        called = arguments or self.arguments
        imported, design = self._for(called)
        result = design.run(imported.tensors(called), backend=backend, memory=memory, wave=wave)
        return ModuleResult(result, called, self.module, imported)

    def run_all(
        self, inputs: Iterable[Sequence[object]], *, progress: bool = False, **options: Any
    ) -> Iterator[ModuleResult]:
        """Runs on one input after the other, as `RunnableDesign.run_all` does; an input is the arguments of a
        call, (x,) for one."""
        for arguments in followed(inputs, progress):
            check_arguments(arguments)
            yield self.run(*arguments, **options)

    def with_value(self, value: ValueType | str | None) -> "ModuleDesign":
        """The same module and choices in another value type; raises `InputError` for a type that there is
        not."""
        return ModuleDesign(
            self.module,
            self.arguments,
            self._schedule,
            value=value,
            formats=self._formats,
            sparsify=self._sparsify,
            unroll=self._unroll,
            arch=self._arch,
        )

    def estimate(self, *arguments: object) -> DesignEstimate:
        """What is expected of a run, by default on the example arguments, as `RunnableDesign.estimate` says
        it."""
        called = arguments or self.arguments
        imported, design = self._for(called)
        return design.estimate(imported.tensors(called))

    def save(self, program: Path | str, data: Path | str | None = None) -> None:
        """Writes the program (`.ein`) and its data for the example arguments (`.npz`), weights among them."""
        imported, design = self._for(self.arguments)
        design.save(program, data, tensors=imported.tensors(self.arguments))

    def _for(self, arguments: Sequence[object]) -> tuple[ImportedModule, RunnableDesign]:
        """What takes arguments of these shapes and layouts."""
        check_arguments(arguments)
        held = [pair for pairs in self._known.values() for pair in pairs]
        if held and not held[0][0].is_of(self.module):
            self._known.clear()
        key = tuple(map(_kind, torch.utils._pytree.tree_leaves(tuple(arguments))))
        for found in self._known.get(key, ()):
            if found[0].takes(arguments):
                return found
        imported = import_module(self.module, arguments, sparsify=self._sparsify, unroll=self._unroll)
        imported = _with_formats(imported, self._formats)
        designs = (design for other, design in held if other.program == imported.program)
        made = imported, next(designs, None) or self._design(imported, arguments)
        self._known.setdefault(key, deque(maxlen=_MOST_KEPT)).appendleft(made)
        return made

    def _design(self, imported: ImportedModule, arguments: Sequence[Any]) -> RunnableDesign:
        schedule = in_modules(self._schedule, imported.program, imported.scopes)
        schedule.apply(imported.program)
        return RunnableDesign(
            imported.program, schedule, value=self._value, arch=self._arch, scopes=imported.scopes
        )

    def __repr__(self) -> str:
        fixed = f", fixed for {', '.join(self.fixed)}" if self.fixed else ""
        return f"<ModuleDesign of {type(self.module).__name__}{fixed}: {self.design!r}>"

    def _repr_html_(self) -> str:
        return self.design._repr_html_()


def compile(
    module: nn.Module,
    arguments: Sequence[object],
    *,
    value: ValueType | str | None = None,
    fuse: FusionLevel | FusionRule | Sequence[Sequence[str]] | None = None,
    formats: Mapping[str, str | Format] | None = None,
    sparsify: float | None = None,
    unroll: int = UNROLL,
    schedule: Schedule | Mapping[str, object] | Path | str | None = None,
    permute: bool = True,
    arch: Arch | Mapping[str, object] | Path | str | None = None,
) -> ModuleDesign:
    """A design of a module of PyTorch, in evaluation mode.

    Args:
        arguments: example arguments, whose shapes and layouts count: a sparse layout is a format.
        value: as for `samhw.compile`.
        fuse: as in a schedule; `module`: regions by the module tree; or `auto`, which chooses by
            estimate, also between these.
        formats: of the program's tensors, by their names there; `annotate` gives them to the module's own.
        sparsify: the share of zeros from which on a weight is stored by its nonzeros; by default none is.
        unroll: loops of at most this many steps stay unrolled; longer ones are scans as far as they can be.
        schedule, arch: as for `samhw.compile`.
        permute: may tensors be copied into other mode orders where they conflict?

    Raises:
        InputError: for a module that cannot be imported, with the user's line and a way out; for an argument
            of another kind.
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"The module cannot be {shown(module)}; give a module of PyTorch.")
    if sparsify is not None and not (isinstance(sparsify, int | float | np.number) and 0 <= sparsify <= 1):
        raise InputError(f"'sparsify' cannot be {shown(sparsify)}; give a share of zeros, from 0 to 1.")
    if isinstance(unroll, bool) or not isinstance(unroll, int) or unroll < 0:
        raise InputError(f"'unroll' cannot be {shown(unroll)}; give a number of steps, from 0 on.")
    if not isinstance(arguments, tuple | list):
        raise InputError("The example arguments are a tuple; give (x,) for one.")
    chosen = Schedule.of(schedule)
    return ModuleDesign(
        module,
        arguments,
        replace(chosen, permute=permute, fuse=chosen.fuse if fuse is None else fuse),
        value=value,
        formats={} if formats is None else formats,
        sparsify=None if sparsify is None else float(sparsify),
        unroll=unroll,
        arch=arch,
    )


def _with_formats(imported: ImportedModule, formats: Mapping[str, str | Format]) -> ImportedModule:
    program = imported.program
    return replace(imported, program=with_formats(program, formats))


def _kind(argument: object) -> object:
    """What of an argument an import depends on."""
    if isinstance(argument, torch.Tensor):
        return tuple(argument.shape), str(argument.layout), str(argument.dtype)
    return argument
