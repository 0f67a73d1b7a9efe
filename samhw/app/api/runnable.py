"""A program that is compiled for the data that it is run on, and only as often as they need it."""

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import prod
from pathlib import Path
from time import monotonic
from typing import Any

from samhw.app.api.arguments import (
    OF_RUNS,
    Data,
    Words,
    as_tensor,
    check_run_arguments,
    followed,
    host_of,
    memory_of,
    natural_format,
    path_of,
    words_of,
)
from samhw.app.api.compiled_for_data import CompiledForData
from samhw.app.api.design_result import DesignResult, Drawing, Tables
from samhw.app.checking import Verdict, measure
from samhw.app.checking.types_search import PRICES, Price, TunedTypes, tune_types
from samhw.app.report.estimate import EstimateReport
from samhw.app.sweep.tuning import (
    OBJECTIVES,
    Objective,
    Trial,
    Tuned,
    search,
)
from samhw.app.workload import SavedDesign, Workload, bind_program, fingerprint
from samhw.compiler import asked_text, estimate_compiled, types_text
from samhw.errors import InputError, shown
from samhw.faces import in_words
from samhw.files import write_text
from samhw.graph import OffChipMemory
from samhw.graph.numerics import ValueType
from samhw.lang import Capacity, Program, check_size
from samhw.targets.backends import MODEL, Backend, HostRun, check_options, check_places, run
from samhw.tensors import Format, Tensor, write_tensors
from samhw.words import did_you_mean, html_scroll, html_section, html_text

__all__ = ["RunnableDesign"]

_TAKEN = (*OF_RUNS, "self")
"""Names of tensors that `run` does not take as keywords."""


class RunnableDesign(CompiledForData):
    """What `samhw.compile` gives.

    Extents, capacities and, with `auto`, the value type come with the data, so the first run compiles; a
    later one does so again only if its data do not fit.

    Attributes:
        program: as it was written; an input without a format gets that of its first data.
        schedule: what was given beside it.
        value: the value type that was asked for; None leaves it to the program and its data.
        arch: the latencies.
        extents: by index, the greatest extent that a build must have room for at least.
        entries: by tensor, the entries of its compressed levels that a build must hold at least.
        source: the name of the built-in model that it is, whose data are drawn as such.
        scopes, constants: of a program that was made of something else, as `Workload` has them.

    Raises:
        InputError: for a value type, latencies or entries that there cannot be.
    """

    _words: tuple[str, ...] | None = None
    _own: Workload | None = None
    """The data that it was compiled for, in the words of --data and bound."""

    def keep(self, data: Words) -> None:
        """Compiles for data in the words of --data, on which runs then are that give no other. Raises
        `InputError` for what is none, and as `run` does."""
        self._words = words_of(data)
        if self._words is None:
            raise InputError(
                f"'data' takes the words of docs/data.md, such as 'karate', and cannot be {shown(data)}; "
                "give arrays to "
                "the run, as in run(A=array)."
            )
        self._own = self._last = self.bind(self._words)
        self.compile_for(self._own)

    def run(
        self,
        data: Mapping[str, Data] | Words | None = None,
        /,
        *more: Data,
        backend: Backend | str | None = None,
        memory: OffChipMemory | Mapping[str, object] | Path | str | None = None,
        wave: Path | str | None = None,
        host: str | None = None,
        **tensors: Data,
    ) -> DesignResult:
        """Runs on data: NumPy arrays, SciPy and PyTorch tensors of any layout, tensors of samhw.

        Args:
            data: the inputs by name, arrays with a mode for each index, which has one extent in all of them;
                a scalar has no mode. Those whose names are Python's may be given as keywords instead. Or what
                --data takes, such as `karate`, of which keywords stand for single tensors.
            backend: by default `sim`; `verilator`, or another that `samhw run --backend` takes.
            memory: what holds tensors off chip (docs/memory.md): an object, its fields, or
                as --memory.
            more: nothing; arrays have names.
            wave: a file (.fst or .vcd) for the signals of the RTL.
            host: what the port of the RTL has beyond the least, as --host.

        Raises:
            InputError: for inputs that are missing or unknown, or whose shapes disagree; for a program that
                cannot be lowered; for an argument of another kind.
            RunError: for a run that ends with an error.
        """
        if more:
            raise self._unnamed(data)
        read = self.program.tensors.keys() | {"data"}
        check_run_arguments({n: held for n, held in tensors.items() if n not in read}, are_tensors=True)
        options: dict[str, object] = {}
        held = None if memory is None else memory_of(memory)
        if held is not None:
            options["memory"] = held
        if wave is not None:
            options["wave"] = path_of("The file of the wave", wave)
        if host is not None:
            options["host"] = host_of(host)
        chosen = MODEL.name if backend is None else backend
        if not isinstance(chosen, str | Backend):
            raise InputError(f"The backend cannot be {shown(backend)}; give its name, such as 'verilator'.")
        runs = check_options(chosen, **options)
        workload = self._bound(data, tensors)
        compiled = self.compile_for(workload, held)
        check_places(compiled, runs, held)
        self._last = workload
        return DesignResult(run(compiled, workload.tensors, chosen, **options), compiled, workload, held)

    def run_all(
        self, inputs: Iterable[Mapping[str, Data] | Words], *, progress: bool = False, **options: Any
    ) -> Iterator[DesignResult]:
        """Runs on one input after the other, and gives each result as it comes. An input that needs more room
        than those before it has the design compiled again.

        Args:
            inputs: of each run the data, as `run` has them.
            progress: whether a line on stderr, or beneath the cell of a notebook, says how far it is.
            options: `backend`, `memory`, `wave` and `host`, as `run` has them.

        Raises:
            InputError, RunError: as `run` does.
        """
        for data in followed(inputs, progress):
            yield self.run(data, **options)

    def host_run(self, data: Mapping[str, Data] | Words | None = None, /, **tensors: Data) -> HostRun:
        """What a host of one's own writes for a run, and how it reads the results (docs/host_port.md).

        Args:
            data, tensors: as for `run`.

        Raises:
            InputError: as `run` does.
        """
        workload = self._bound(data, tensors)
        return HostRun.of(self.compile_for(workload), workload.tensors)

    def with_value(self, value: ValueType | str | None) -> "RunnableDesign":
        """The same program and schedule in another value type, not compiled yet; raises `InputError` for a
        type that there is not."""
        chosen = self._chosen or self.schedule
        found = RunnableDesign(
            self.program,
            chosen,
            value=value,
            arch=self.arch,
            extents=self.extents,
            entries=self.entries,
            scopes=self.scopes,
            constants=self.constants,
            source=self.source,
        )
        found._words = self._words
        return found

    def estimate(
        self,
        data: Mapping[str, Data] | Words | None = None,
        /,
        *,
        memory: OffChipMemory | Mapping[str, object] | Path | str | None = None,
    ) -> EstimateReport:
        """The operations, bytes and cycles that are expected of a run, by the statistics of its data, without
        running anything (docs/compiler.md); printed, with the nodes and the area.

        Args:
            data: as for `run`; by default those of the last run.
            memory: what is to hold tensors off chip, as for `run`.

        Raises:
            InputError: as `run` does, and where there are no data yet.
        """
        workload = self._last if data is None else self.bind(data)
        if workload is None:
            raise InputError("An estimate counts what data store; give data, or run the design first.")
        held = None if memory is None else memory_of(memory)
        compiled = self.compile_for(workload, held)
        return EstimateReport.of(compiled, estimate_compiled(compiled, workload.statistics(is_open=True)))

    def tune(
        self,
        data: Mapping[str, Data] | Words | None = None,
        /,
        *,
        budget: float = 60.0,
        objective: Objective = "cycles",
        lanes: bool = False,
        blocks: bool = False,
        parallel: bool = False,
        area: str | None = None,
        confirm: int = 8,
        memory: OffChipMemory | Mapping[str, object] | Path | str | None = None,
    ) -> Tuned:
        """Searches a schedule for data, by estimate and then by simulation, and keeps the best for the runs
        to come (docs/choosing.md).

        Args:
            data: as for `run`; by default those of the last run.
            budget: seconds that it may take.
            objective: what is to become small: `cycles`; `area-delay`, cycles times LUTs; `energy`, in
                picojoules; or `edp`, energy times cycles.
            lanes: whether lanes are tried too.
            blocks: whether blocks are.
            parallel: whether regions side by side are.
            area: how much of an FPGA the design may take, by estimate: its name, or limits of an ECP5 such as
                `luts=20000,brams=56`. Lanes and regions side by side are then tried too.
            confirm: how many of the best by estimate are simulated.
            memory: what is to hold tensors off chip, as for `run`.

        Raises:
            InputError: as `run` does, and for an objective or an area that there is not.
            RunError: for a simulation that ends with an error.
        """
        if objective not in OBJECTIVES:
            raise InputError(
                f"There is no objective {shown(objective)}{did_you_mean(objective, OBJECTIVES)}; give "
                f"{' or '.join(OBJECTIVES)}."
            )
        workload, end = self._known(data), monotonic() + budget
        value = self._value(workload)
        grown = {"lanes": lanes, "blocks": blocks, "parallel": parallel}
        held = None if memory is None else memory_of(memory)
        found, looked = search(
            workload,
            self.schedule,
            budget,
            objective,
            grown=[name for name, is_tried in grown.items() if is_tried],
            area=area,
            confirm=confirm,
            value=value,
            arch=self.arch,
            entries=self.entries,
            memory=held,
        )
        trials: list[Trial] = []
        for one in found:
            if len(trials) > 1 and monotonic() > end:
                break
            measured = measure(workload, one.schedule, value=value, arch=self.arch, memory=held)
            verdict = Verdict(measured.status)
            trials.append(Trial(one, measured.cycles, verdict, measured.unproved, measured.energy_pj))
        tuned = Tuned(workload.name, tuple(trials), looked, objective, types_text(workload.types))
        self._chosen, self._why, self._is_tuned = tuned.best.found.schedule, (), True
        self._compiled, self._capacity = None, Capacity()
        return tuned

    def tune_types(
        self,
        data: Mapping[str, Data] | Words | None = None,
        /,
        *,
        error: float,
        objective: Price = "area",
        budget: float = 60.0,
    ) -> TunedTypes:
        """Searches types for single tensors, as narrow as an error of the results on data permits
        (docs/choosing.md). Types make another program: `samhw.compile(.., types=found.types)` takes the best.

        Args:
            data: as for `run`; by default those of the last run.
            error: the greatest error of a result, relative to float64 by norm.
            objective: what is to become small: the LUTs (`area`), `cycles`, or `bytes` that are moved.
            budget: seconds that it may take.

        Raises:
            InputError: as `run` does, for an objective that there is not, and a value type that has no
                narrower ones.
            RunError: for a run in the program's own types that ends with an error.
        """
        if objective not in PRICES:
            raise InputError(
                f"There is no objective {shown(objective)}{did_you_mean(objective, PRICES)}; give "
                f"{' or '.join(PRICES)}."
            )
        workload = self._known(data)
        return tune_types(
            workload,
            self._chosen or self.schedule,
            value=self._value(workload),
            limit=error,
            objective=objective,
            seconds=budget,
        )

    def _known(self, data: Mapping[str, Data] | Words | None) -> Workload:
        """The program with these data, or else with those of the last run."""
        return self._last if data is None and self._last is not None else self._bound(data, {})

    def _unnamed(self, data: object) -> InputError:
        """The refusal of arrays without names."""
        named = ", ".join(f"{decl.name}=array" for decl in self.program.operands) or "A=array"
        return InputError(f"The data cannot be {shown(data)}; give arrays by name, as in run({named}).")

    def _bound(self, data: Mapping[str, Data] | Words | None, tensors: Mapping[str, Data]) -> Workload:
        """The program with the data of a run, or else its own, and single tensors of these."""
        if data is None and (named := words_of(tensors.get("data"))):  # No tensor is made of words.
            data, tensors = named, {name: held for name, held in tensors.items() if name != "data"}
        if data is None and self._own is not None and not tensors:
            return self._own
        words = words_of(data)
        if words is None and not isinstance(data, Mapping | None):
            raise self._unnamed(data)
        given = {**(data if isinstance(data, Mapping) else {}), **tensors}
        is_all = all(decl.name in given for decl in self.program.operands)
        words = words if words or data is not None or is_all else self._words
        return self.bind(given) if words is None else self.bind(words, given)

    def bind(self, data: Mapping[str, Data] | Words, given: Mapping[str, Data] | None = None) -> Workload:
        """The program with these data; raises as `run` does.

        Args:
            data: by name, or in the words of --data.
            given: beside such words, single tensors by name.
        """
        if words := words_of(data):
            for name in given or {}:
                self.program.check_operand(name)
            own = {name: as_tensor(name, array) for name, array in (given or {}).items()}
            found = bind_program(self.source, words, value=self.value, loaded=self.program, given=own)
            for note in found.notes:
                warnings.warn(in_words(note), stacklevel=3)
            return replace(self._with_data(found.tensors), name=found.name, drawn=found.drawn)
        assert isinstance(data, Mapping)
        return self._with_data(data)

    def _with_data(self, data: Mapping[str, Data]) -> Workload:
        for name in data:
            self.program.check_operand(name)
        operands = {decl.name: decl for decl in self.program.operands}
        if missing := [name for name in operands if name not in data]:
            first = missing[0]
            how = f'run({{"{first}": array}})' if first in _TAKEN else f"{first}=array"
            drawn = ", ".join(["'random'" if data else "'karate'", *(f"{name}=.." for name in data)])
            raise InputError(
                f"The run lacks data for {', '.join(missing)}; give each input, as in {how}, or draw "
                f"the others, as in run({drawn})."
            )
        program = self._with_formats_of({name: data[name] for name, d in operands.items() if d.implied})
        held = {name: as_tensor(name, data[name], program.tensors[name].format) for name in operands}
        bound = program.bind({name: tensor.shape for name, tensor in held.items()})
        check_size(bound)
        found = Workload("data", bound, held, scopes=self.scopes, constants=self.constants)
        return found.with_extents(self.extents) if self.extents else found

    def _with_formats_of(self, data: Mapping[str, Data]) -> Program:
        """The program with the formats of the data, of inputs whose format nobody has given."""
        tensors = dict(self.program.tensors)
        for name, held in data.items():
            decl = tensors[name]
            fmt = Format.of(natural_format(held), decl.rank) if decl.rank else decl.format
            tensors[name] = replace(decl, format=fmt, implied=False)
        return replace(self.program, tensors=tensors)

    def save(
        self,
        program: Path | str,
        data: Path | str | None = None,
        *,
        tensors: Mapping[str, Tensor] | None = None,
    ) -> None:
        """Writes the program (`.ein`), what else decides the design beside it (`.design.json`), and data
        (`.npz`), by default those of the last run: for `samhw.load`, and for the command line, as
        `samhw run p.ein --design p.design.json --data p.npz`.

        Raises:
            InputError: for data before the first run, or files that cannot be written.
        """
        path = path_of("The program's file", program)
        beside = SavedDesign.beside(path)
        if data is not None:
            data_path = path_of("The data's file", data)
            if tensors is None:
                if self._last is None:
                    raise InputError("There are no data to save before the first run; run the design first.")
                tensors = self._last.tensors
            write_tensors(data_path, tensors)
        write_text(path, self.program.unbound.text)
        self._saved().write(beside)

    def _saved(self) -> SavedDesign:
        return SavedDesign(
            name=self.program.name,
            open=tuple(decl.name for decl in self.program.operands if decl.implied),
            schedule=self._chosen or self.schedule,
            value=self.value,
            arch=self.arch,
            entries=self.entries,
            capacity=self._capacity,
            compiled=None if self._compiled is None else self._compiled.value,
            fingerprint=None if self._compiled is None else fingerprint(self._compiled),
        )

    @classmethod
    def restored(cls, program: Program, saved: SavedDesign, path: Path) -> "RunnableDesign":
        """The design that was saved with this program; `path` is its file, for errors.

        Raises:
            InputError: if it does not give the design that was saved.
        """
        tensors = {name: replace(decl, implied=name in saved.open) for name, decl in program.tensors.items()}
        program = replace(program, name=saved.name or program.name, tensors=tensors)
        try:
            design = cls(program, saved.schedule, value=saved.value, arch=saved.arch, entries=saved.entries)
            if saved.compiled is not None:
                saved.check(design._compile(program, saved.compiled, saved.capacity), path)
        except InputError as error:
            raise error.within(str(path)) from None
        return design

    @property
    def capacities(self) -> dict[str, int]:
        """How many values it has room for, of each tensor in memory. `extents` gives dense ones more, and
        `entries` the others. Raises as `compiled` does."""
        room: Counter[str] = Counter()
        for memory in self.compiled.design.memories:
            if memory.is_value:
                room[memory.tensor] += memory.capacity * prod(memory.block)
        return dict(room)

    @property
    def tables(self) -> Tables:
        """The fusion table of each region, by its name; raises as `compiled` does."""
        return Tables({region.graph.name: region.table for region in self.compiled.regions})

    @property
    def graph(self) -> Drawing:
        """The SAMML graphs of all regions, as a notebook shows them; `compiled.design` has them as data.
        Raises as `compiled` does."""
        return Drawing(self.compiled.design)

    def __repr__(self) -> str:
        held = self._compiled
        what = f"{asked_text(self.value)}, not compiled yet"
        if held is not None:
            what = f"{held.value}, {held.design.summary}"
        return f"<RunnableDesign of {self.program.summary}; {what}>"

    def _repr_html_(self) -> str:
        text = html_section(self.program.name, html_scroll(html_text(self.program.text)))
        return text if self._compiled is None else text + self.tables._repr_html_()
