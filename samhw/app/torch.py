"""Modules of PyTorch in, results out (docs/pytorch.md): a module that is imported and compiled for the
arguments that it is called with, and what a call gives."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy.typing as npt
import scipy
import torch
from torch import nn
from torch.export import ExportedProgram

from samhw.app.api.arguments import OF_IMPORTED_RUNS, check_run_arguments, followed
from samhw.app.api.imported_design import ImportChoices, ImportedDesign, ImportedResult
from samhw.app.checking import Check, Verdict
from samhw.app.report.estimate import EstimateReport
from samhw.app.workload.torch_module import called, check_program, difference, leaves
from samhw.choices.fuse import FusionLevel, FusionRule
from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.graph import Arch, OffChipMemory
from samhw.graph.numerics import ValueType
from samhw.importers.torch import (
    UNROLL,
    Explanation,
    ImportedModule,
    annotate,
    check_arguments,
    explain,
    import_module,
    mapping,
    module_of,
)
from samhw.importers.torch.state import is_alike
from samhw.targets.backends import Backend
from samhw.tensors import Format

__all__ = [
    "Explanation",
    "ModuleCheck",
    "ModuleDesign",
    "ModuleResult",
    "annotate",
    "compile",
    "explain",
    "mapping",
]


# What a run of a module gives, and whether that is what the module itself gives.


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
    """A finished run of a module: `output` is what the module would have given, `buffers` what would be in
    those that it changes, `result` the program's run. The module itself stays as it was."""

    arguments: Sequence[object] = field(repr=False)
    module: nn.Module = field(repr=False)
    imported: ImportedModule = field(repr=False)

    @cached_property
    def output(self) -> Any:
        """What the module gives, in its own structure and shapes, as the hardware has computed it."""
        return self.imported.outputs(self._arrays, self.arguments)

    @cached_property
    def buffers(self) -> dict[str, torch.Tensor]:
        """The new values of the buffers that the module changes, by their names, as the hardware has computed
        them."""
        return self.imported.buffers(self._arrays, self.arguments)

    def keep_buffers(self) -> None:
        """Puts the new values into the module's buffers, as a call of the module would have: the next run
        goes on with these.

        Raises:
            InputError: if the module's weights are others than those of the run.
        """
        self._check_weights("run the design again, and keep that run's buffers")
        for path, value in self.buffers.items():
            part, _, name = path.rpartition(".")
            whole = self.module.get_submodule(part)
            held = getattr(whole, name)
            if held is not None and is_alike(held, value):
                # Other names of the same tensor see it too.
                with torch.no_grad():
                    held.copy_(value)
            else:
                setattr(whole, name, value.clone())

    @cached_property
    def _arrays(self) -> dict[str, "npt.NDArray[Any]"]:
        return {name: tensor.to_dense() for name, tensor in self.result.tensors.items()}

    def _check_weights(self, way_out: str) -> None:
        if not self.imported.is_of(self.module):
            raise InputError(
                f"The weights of {type(self.module).__name__} have changed since this run; {way_out}."
            )

    def __getitem__(self, name: str) -> "npt.NDArray[Any] | scipy.sparse.sparray":
        """A stored tensor of the program, as `DesignResult` gives it; raises as that does."""
        return self.result[name]

    def check(self) -> ModuleCheck:
        """The comparison with the module itself.

        Raises:
            InputError: if the module's weights are others than those of the run.
            RunError: for a wrong result.
        """
        self._check_weights("run the design again, and check that")
        found = self.result.check()
        program = check_program(self.module, self.imported, self.arguments, self.result.workload.tensors)
        wanted = called(self.module, self.arguments, self.imported.updates)
        pairs = zip(leaves((self.output, self.buffers)), leaves(wanted), strict=True)
        errors = [difference(ours, theirs) for ours, theirs in pairs if isinstance(theirs, torch.Tensor)]
        return ModuleCheck(max(errors, default=0.0), program, True, found)


class ModuleDesign(ImportedDesign[tuple[object, ...], ImportedModule]):
    """What `samhw.torch.compile` gives: a module, its program, and what has been compiled of it.

    Attributes:
        module: as it was given.
        arguments: the example arguments.
    """

    def __init__(self, module: nn.Module, arguments: Sequence[object], choices: ImportChoices) -> None:
        self.module = module
        super().__init__(tuple(arguments), choices)

    @property
    def name(self) -> str:
        """The class of the module."""
        return type(self.module).__name__

    def run(
        self,
        *arguments: object,
        backend: Backend | str | None = None,
        memory: OffChipMemory | Mapping[str, object] | Path | str | None = None,
        wave: Path | str | None = None,
        **others: object,
    ) -> ModuleResult:
        """Calls the module in hardware, by default with its example arguments; `RunnableDesign.run` has the
        rest.

        Arguments of other shapes are imported again, and compiled again unless they fit what there is.

        Raises:
            InputError, RunError: as `RunnableDesign.run` and `samhw.torch.compile` do.
        """
        check_run_arguments(others, OF_IMPORTED_RUNS)
        called = arguments or self.arguments
        result, imported = self._run(called, backend=backend, memory=memory, wave=wave)
        return ModuleResult(result, called, self.module, imported)

    def run_all(
        self, inputs: Iterable[Sequence[object]], *, progress: bool = False, **options: Any
    ) -> Iterator[ModuleResult]:
        """Runs on one input after the other, as `RunnableDesign.run_all` does; an input is the arguments of a
        call, (x,) for one."""
        for arguments in followed(inputs, progress):
            if not isinstance(arguments, tuple | list):
                raise InputError("An input is a tuple, the arguments of a call; give (x,) for one.")
            check_arguments(arguments)
            yield self.run(*arguments, **options)

    def estimate(self, *arguments: object) -> EstimateReport:
        """What is expected of a run, by default on the example arguments, as `RunnableDesign.estimate` says
        it."""
        return self._estimate(arguments or self.arguments)

    def _import(self, arguments: tuple[object, ...]) -> ImportedModule:
        chosen = self._choices
        made = import_module(self.module, arguments, sparsify=chosen.sparsify, unroll=chosen.unroll)
        return replace(made, program=chosen.asked(made.program))

    def _kind(self, arguments: tuple[object, ...]) -> object:
        check_arguments(arguments)
        return tuple(map(_kind, torch.utils._pytree.tree_leaves(arguments)))

    def _is_of(self, imported: ImportedModule) -> bool:
        return imported.is_of(self.module)

    def _with(self, choices: ImportChoices) -> "ModuleDesign":
        return ModuleDesign(self.module, self.arguments, choices)


def compile(
    module: nn.Module | ExportedProgram,
    arguments: Sequence[object],
    *,
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
) -> ModuleDesign:
    """A design of a module of PyTorch, in evaluation mode.

    Args:
        arguments: example arguments, whose shapes and layouts count: a sparse layout is a format.
        value: as for `samhw.compile`.
        fuse: as in a schedule; `module`: regions by the module tree; or `auto`, which chooses by
            estimate, also between these.
        types, formats: of the program's tensors, by their names there; `annotate` gives formats to the
            module's own.
        sparsify: the share of zeros from which on a weight is stored by its nonzeros; by default none is.
        unroll: loops of at most this many steps stay unrolled; longer ones are scans as far as they can be.
        schedule, arch: as for `samhw.compile`.
        permute: may tensors be copied into other mode orders where they conflict?

    Raises:
        InputError: for a module that cannot be imported, with the user's line and a way out; for an argument
            of another kind.
    """
    module = module_of(module)
    if not isinstance(arguments, tuple | list):
        raise InputError("The example arguments are a tuple; give (x,) for one.")
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
    return ModuleDesign(module, arguments, choices)


def _kind(argument: object) -> object:
    """What of an argument an import depends on."""
    if isinstance(argument, torch.Tensor):
        return tuple(argument.shape), str(argument.layout), str(argument.dtype)
    return argument
