"""An imported module: its program, how a run's arguments become inputs, and results the module's outputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt
import torch
from torch import nn
from torch.export import ExportedProgram

from samhw.errors import InputError
from samhw.importers.core import Arguments, InputSource, PlacedResult, constants_of
from samhw.importers.torch.export import arguments_by_name, returned
from samhw.importers.torch.state import held_tensors, is_same
from samhw.lang.program import Program
from samhw.tensors import Tensor

__all__ = ["ImportedModule", "OutputSource"]


@dataclass(frozen=True)
class ImportedModule:
    """A module as a program.

    Attributes:
        program: without extents, so that it fits other data of the same structure.
        inputs: the program's inputs: how each is made of a run's arguments.
        results: of each output of the module, what it is: a result of the program, or known without running
            it.
        updates: likewise, of each buffer that the module changes, its new value, by its name.
        scopes: by result, the path of the module that computes it.
        fixed: the arguments that are constants, since they have decided what is computed, by name.
        state: the module's tensors that it was imported with, by their paths. Inputs that are weights, and
            constants that were computed of weights, are of these.
    """

    program: Program
    inputs: Mapping[str, InputSource]
    results: Sequence["OutputSource"]
    updates: Mapping[str, "OutputSource"]
    scopes: Mapping[str, str]
    fixed: Mapping[str, torch.Tensor]
    state: Mapping[str, torch.Tensor] = field(repr=False)
    _exported: ExportedProgram = field(repr=False)

    @property
    def exported(self) -> ExportedProgram:
        """The operators that it was imported of."""
        return self._exported

    @property
    def constants(self) -> frozenset[str]:
        """The inputs whose data are the same in every run, such as weights."""
        return constants_of(self.inputs)

    def takes(self, arguments: Sequence[object]) -> bool:
        """Whether the arguments have the values that are fixed."""
        return self._other(arguments_by_name(self._exported, arguments)) is None

    def is_of(self, module: nn.Module) -> bool:
        """Whether the module's tensors are those that it was imported with. A training step changes them, and
        so does `load_state_dict`; and a buffer of those it changes may have had no tensor yet."""
        now = held_tensors(module)
        begun = any(path in now and path not in self.state for path in self.updates)
        return not begun and all(
            path in now and is_same(now[path], held) for path, held in self.state.items()
        )

    def tensors(self, arguments: Sequence[object]) -> dict[str, Tensor]:
        """The program's inputs for a call of the module as it was imported; raises InputError for arguments
        that it cannot take."""
        env = self._arguments(arguments)
        return {name: made.of(env) for name, made in self.inputs.items()}

    def outputs(
        self, tensors: Mapping[str, npt.NDArray[Any]], arguments: Sequence[object], *, exact: bool = False
    ) -> Any:
        """What the module gives, in its own structure, of the arrays of the program's results.

        Args:
            exact: leaves numbers in the arrays' type, instead of the module's.
        """
        env = self._arguments(arguments)
        flat = [result.of(tensors, env, exact=exact) for result in self.results]
        _, structure = torch.utils._pytree.tree_flatten(returned(self._exported)[0])
        return torch.utils._pytree.tree_unflatten(flat, structure)

    def buffers(
        self, tensors: Mapping[str, npt.NDArray[Any]], arguments: Sequence[object], *, exact: bool = False
    ) -> dict[str, torch.Tensor]:
        """The new values of the buffers that the module changes, by their names; the rest as in
        `outputs`."""
        env = self._arguments(arguments)
        return {name: update.of(tensors, env, exact=exact) for name, update in self.updates.items()}

    def _arguments(self, arguments: Sequence[object]) -> Arguments:
        env = arguments_by_name(self._exported, arguments)
        if name := self._other(env):
            raise InputError(
                f"The argument '{name}' decides what the module computes, and has other values than those "
                "that it was imported with; import the module anew."
            )
        return env

    def _other(self, env: Arguments) -> str | None:
        """An argument that is fixed, and has another value."""
        for name, held in self.fixed.items():
            given = env[name]
            if not isinstance(given, torch.Tensor) or not is_same(given, held):
                return name
        return None


@dataclass(frozen=True)
class OutputSource:
    """An output: a result of the program, or what the host knows; of a type of PyTorch, if it is a
    tensor."""

    source: PlacedResult | Callable[[Arguments], object]
    kind: torch.dtype | None

    @property
    def is_computed(self) -> bool:
        """Whether the program computes it."""
        return isinstance(self.source, PlacedResult)

    def of(self, tensors: Mapping[str, npt.NDArray[Any]], arguments: Arguments, *, exact: bool) -> Any:
        """The output, of the arrays of the program's results and the arguments of the run.

        Args:
            exact: leaves numbers in the arrays' type.
        """
        if isinstance(self.source, PlacedResult):
            found: Any = torch.from_numpy(self.source.of(tensors).copy())
        else:
            found = self.source(arguments)
        is_cast = not exact and self.kind is not None and isinstance(found, torch.Tensor)
        return found.to(self.kind) if is_cast else found
