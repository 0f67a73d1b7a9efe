"""What an importer has made a program of, such as a module or a network: imported and compiled for the
arguments that it is run on."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from samhw.app.api.arguments import OF_IMPORTS, arch_of, check_arguments, types_of, value_of
from samhw.app.api.design_result import DesignResult, Drawing, PageView, Tables
from samhw.app.api.runnable import RunnableDesign
from samhw.app.checking import Difference
from samhw.app.checking.energy import Energy
from samhw.app.checking.types_search import TunedTypes
from samhw.app.report.estimate import EstimateReport
from samhw.app.report.run_statistics import Statistics
from samhw.app.sweep.tuning import Tuned
from samhw.choices.formats import with_formats
from samhw.choices.fuse import FusionLevel, FusionRule
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.search import in_modules
from samhw.errors import InputError, shown
from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.lang import Program
from samhw.lang.typed import with_types
from samhw.tensors import Format, Tensor

__all__ = ["ImportChoices", "ImportedDesign", "ImportedResult"]

_MOST_KEPT = 64
"""Imports for arguments that differ in what is fixed alone."""


@dataclass(frozen=True)
class ImportChoices:
    """How something is to be imported and compiled."""

    schedule: Schedule
    value: ValueType | None
    types: Mapping[str, ValueType]
    formats: Mapping[str, str | Format]
    sparsify: float | None
    unroll: int
    arch: Arch | None

    @classmethod
    def of(
        cls,
        *,
        schedule: Schedule | Mapping[str, object] | Path | str | None,
        permute: bool,
        fuse: FusionLevel | FusionRule | Sequence[Sequence[str]] | None,
        value: ValueType | str | None,
        types: Mapping[str, ValueType | str] | str | None,
        formats: Mapping[str, str | Format] | None,
        sparsify: float | None,
        unroll: int,
        arch: Arch | Mapping[str, object] | Path | str | None,
        others: Mapping[str, object],
    ) -> Self:
        """From what a user gives; `others` are arguments that there are not. Raises `InputError` for what
        cannot be."""
        check_arguments(others, OF_IMPORTS)
        if sparsify is not None and not (
            isinstance(sparsify, int | float | np.number) and 0 <= sparsify <= 1
        ):
            raise InputError(f"'sparsify' cannot be {shown(sparsify)}; give a share of zeros, from 0 to 1.")
        if isinstance(unroll, bool) or not isinstance(unroll, int) or unroll < 0:
            raise InputError(f"'unroll' cannot be {shown(unroll)}; give a number of steps, from 0 on.")
        chosen = Schedule.of(schedule)
        return cls(
            replace(chosen, permute=permute, fuse=chosen.fuse if fuse is None else fuse),
            value_of(value),
            types_of(types),
            {} if formats is None else formats,
            None if sparsify is None else float(sparsify),
            unroll,
            arch_of(arch),
        )

    def asked(self, program: Program) -> Program:
        """The program with the formats and types that were asked for."""
        return with_types(with_formats(program, self.formats), self.types)


class _Imported(Protocol):
    """What an importer gives."""

    @property
    def program(self) -> Program: ...
    @property
    def scopes(self) -> Mapping[str, str]: ...
    @property
    def fixed(self) -> Mapping[str, object]: ...
    @property
    def constants(self) -> frozenset[str]: ...
    def takes(self, arguments: Any, /) -> bool: ...
    def tensors(self, arguments: Any, /) -> dict[str, Tensor]: ...


Given = TypeVar("Given")
Found = TypeVar("Found", bound=_Imported)


class ImportedDesign(Generic[Given, Found]):
    """Something that is imported, its program, and what has been compiled of it.

    Attributes:
        arguments: the example arguments.
    """

    def __init__(self, arguments: Given, choices: ImportChoices) -> None:
        self.arguments = arguments
        self._choices = choices
        self._known: dict[object, deque[tuple[Found, RunnableDesign]]] = {}
        self._for(self.arguments)

    @property
    def name(self) -> str:
        """What it is called."""
        raise NotImplementedError

    def _import(self, arguments: Given) -> Found:
        """What comes of it for some arguments."""
        raise NotImplementedError

    def _kind(self, arguments: Given) -> object:
        """What of arguments an import depends on, besides what it fixes."""
        raise NotImplementedError

    def _is_of(self, imported: Found) -> bool:
        """Whether it still is what was imported."""
        return True

    def _with(self, choices: ImportChoices) -> Self:
        """The same with other choices."""
        raise NotImplementedError

    @property
    def imported(self) -> Found:
        """It as a program, for the example arguments."""
        return self._for(self.arguments)[0]

    @property
    def design(self) -> RunnableDesign:
        """The program's design, for the example arguments."""
        return self._for(self.arguments)[1]

    @property
    def fixed(self) -> tuple[str, ...]:
        """The arguments that decide what is computed, by their names: for other values of theirs it is
        imported anew, and compiled anew unless the program is the same."""
        return tuple(self.imported.fixed)

    @property
    def compiled(self) -> Compiled:
        """What runs on the example arguments, as the compiler gave it; raises `InputError` for a program that
        cannot be lowered."""
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

    def with_value(self, value: ValueType | str | None) -> Self:
        """The same with the same choices in another value type; raises `InputError` for a type that there is
        not."""
        return self._with(replace(self._choices, value=value_of(value)))

    def save(self, program: Path | str, data: Path | str | None = None) -> None:
        """Writes the program (`.ein`) and its data for the example arguments (`.npz`), weights among them.

        Raises:
            InputError: for files that cannot be written.
        """
        imported, design = self._for(self.arguments)
        design.save(program, data, tensors=imported.tensors(self.arguments))

    def tune(self, **options: Any) -> Tuned:
        """Searches a schedule for the example arguments, and keeps it, as `RunnableDesign.tune` does with the
        same options; raises as it does."""
        imported, design = self._for(self.arguments)
        return design.tune(imported.tensors(self.arguments), **options)

    def tune_types(self, **options: Any) -> TunedTypes:
        """Searches types of tensors on the example arguments, as `RunnableDesign.tune_types` does with the
        same options; raises as it does."""
        imported, design = self._for(self.arguments)
        return design.tune_types(imported.tensors(self.arguments), **options)

    def _run(self, arguments: Given, **options: Any) -> tuple[DesignResult, Found]:
        imported, design = self._for(arguments)
        return design.run(imported.tensors(arguments), **options), imported

    def _estimate(self, arguments: Given) -> EstimateReport:
        imported, design = self._for(arguments)
        return design.estimate(imported.tensors(arguments))

    def _for(self, arguments: Given) -> tuple[Found, RunnableDesign]:
        """What takes such arguments."""
        held = [pair for pairs in self._known.values() for pair in pairs]
        if held and not self._is_of(held[0][0]):
            self._known.clear()
        key = self._kind(arguments)
        for found in self._known.get(key, ()):
            if found[0].takes(arguments):
                return found
        imported = self._import(arguments)
        designs = (design for other, design in held if other.program == imported.program)
        made = imported, next(designs, None) or self._design(imported)
        self._known.setdefault(key, deque(maxlen=_MOST_KEPT)).appendleft(made)
        return made

    def _design(self, imported: Found) -> RunnableDesign:
        chosen, program = self._choices, imported.program
        schedule = in_modules(chosen.schedule, program, imported.scopes)
        schedule.apply(program)
        return RunnableDesign(
            program,
            schedule,
            value=chosen.value,
            arch=chosen.arch,
            scopes=imported.scopes,
            constants=imported.constants,
        )

    def __repr__(self) -> str:
        fixed = f", fixed for {', '.join(self.fixed)}" if self.fixed else ""
        return f"<{type(self).__name__} of {self.name}{fixed}: {self.design!r}>"

    def _repr_html_(self) -> str:
        return self.design._repr_html_()


@dataclass(frozen=True)
class ImportedResult:
    """A finished run of it: `result` is the program's run."""

    result: DesignResult

    @property
    def cycles(self) -> int:
        """Clock cycles, as `DesignResult.cycles`."""
        return self.result.cycles

    def differences(self) -> dict[str, Difference]:
        """How far each result of the program is from float64, as `DesignResult.differences` says it."""
        return self.result.differences()

    def microseconds(self, clock: str | None = None) -> float:
        """The microseconds that the cycles take, as `DesignResult.microseconds`."""
        return self.result.microseconds(clock)

    def stats(self) -> Statistics:
        """Where the cycles went, as `DesignResult.stats` says it."""
        return self.result.stats()

    def energy(self, table: Path | str = "45nm") -> Energy:
        """An estimate of an ASIC's energy, as `DesignResult.energy` makes it."""
        return self.result.energy(table)

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
