"""A program that is compiled for the data that it is run on, and only as often as they need it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from samhw.api.data import Data, as_tensor, natural_format
from samhw.api.drawing import Drawing
from samhw.api.result import DesignResult
from samhw.compiler import AUTO, Compiled, FusionTable, compile_program
from samhw.errors import InputError
from samhw.files import write_text
from samhw.frontend import Capacity, Program, check_size
from samhw.graph import Arch, Dram
from samhw.html import html_section, html_table, html_text
from samhw.numerics import Integer, value_type
from samhw.schedule import Schedule
from samhw.targets import run
from samhw.tensors import Format, Tensor, write_tensors
from samhw.workload import Workload

__all__ = ["RunnableDesign"]


class RunnableDesign:
    """What `samhw.compile` gives.

    Extents, capacities and, with `auto`, the value type come with the data, so the first run compiles; a
    later one does so again only if its data do not fit.

    Attributes:
        program: as it was written; an input without a format gets that of its first data.
        schedule: what was chosen beside it.
        value: the value type that was asked for.
        arch: the latencies.
        entries: by tensor, the entries of its compressed levels that a build must hold at least.

    Raises:
        InputError: for a value type that there is not.
    """

    def __init__(
        self,
        program: Program,
        schedule: Schedule,
        *,
        value: str = AUTO,
        arch: Arch | None = None,
        entries: Mapping[str, int] | None = None,
    ) -> None:
        if value != AUTO:
            value_type(value)
        self.program = program
        self.schedule = schedule
        self.value = value
        self.arch = arch or Arch()
        self.entries = dict(entries or {})
        self._compiled: Compiled | None = None
        self._capacity = Capacity()
        self._last: Workload | None = None

    @property
    def compiled(self) -> Compiled:
        """What runs, as the compiler gave it.

        Raises:
            InputError: before the first run, if the program does not say how large everything is.
        """
        if self._compiled is None:
            self._compiled = compile_program(
                self.program, self.schedule, value=self.value, entries=self.entries, arch=self.arch
            )
        return self._compiled

    def run(
        self,
        data: Mapping[str, Data] | None = None,
        /,
        *,
        backend: str = "sim",
        memory: Dram | str | None = None,
        wave: Path | str | None = None,
        **tensors: Data,
    ) -> DesignResult:
        """Runs on data: NumPy arrays, SciPy and PyTorch tensors of any layout, tensors of samhw.

        Args:
            data: the inputs by name; those whose names are Python's may be given as keywords instead.
            backend: `sim`, `verilator`, or another that `samhw run --backend` takes.
            memory: what holds tensors off chip, in the simulator (docs/memory.md): an object, or as --memory.
            wave: a file (.fst or .vcd) for the signals of the RTL.

        Raises:
            InputError: for inputs that are missing or unknown, or whose shapes disagree; for a program that
                cannot be lowered.
            RunError: for a run that ends with an error.
        """
        workload = self.bind({**(data or {}), **tensors})
        compiled = self.compile_for(workload)
        options: dict[str, object] = {}
        if memory is not None:
            options["memory"] = memory if isinstance(memory, Dram) else Dram.load(memory)
        if wave is not None:
            options["wave"] = Path(wave)
        self._last = workload
        return DesignResult(run(compiled, workload.tensors, backend, **options), compiled, workload)

    def bind(self, data: Mapping[str, Data]) -> Workload:
        """The program with these data; raises as `run` does."""
        for name in data:
            self.program.check_operand(name)
        operands = {decl.name: decl for decl in self.program.operands}
        if missing := [name for name in operands if name not in data]:
            raise InputError(
                f"The run lacks data for {', '.join(missing)}; give each input, as in {missing[0]}=array."
            )
        program = self._with_formats_of({name: data[name] for name, d in operands.items() if d.implied})
        held = {name: as_tensor(name, data[name], program.tensors[name].format) for name in operands}
        bound = program.bind({name: tensor.shape for name, tensor in held.items()})
        check_size(bound)
        return Workload("data", bound, held)

    def _with_formats_of(self, data: Mapping[str, Data]) -> Program:
        """The program with the formats of the data, of inputs whose format nobody has given."""
        tensors = dict(self.program.tensors)
        for name, held in data.items():
            decl = tensors[name]
            fmt = Format.of(natural_format(held), decl.rank) if decl.rank else decl.format
            tensors[name] = replace(decl, format=fmt, implied=False)
        return replace(self.program, tensors=tensors)

    def compile_for(self, workload: Workload) -> Compiled:
        """What runs that workload: what there is if it fits, else compiled with room for both."""
        stored = self.schedule.apply(workload.program)
        needed = workload.capacity(self.schedule) | Capacity().with_entries(stored, self.entries)
        value = self._value(workload)
        fits = needed | self._capacity == self._capacity
        if self._compiled is None or not fits or value != self._compiled.value:
            both = needed | self._capacity
            program = workload.program.unbound
            self._compiled = compile_program(
                program, self.schedule, value=value, capacity=both, arch=self.arch
            )
            self._capacity = both
            self.program = program
        return self._compiled

    def _value(self, workload: Workload) -> str:
        """The value type for a workload: one that was compiled for fractions takes whole numbers too."""
        value = workload.value(self.value)
        held = AUTO if self._compiled is None else self._compiled.value
        return (
            held if self.value == AUTO and held != AUTO and isinstance(value_type(value), Integer) else value
        )

    def save(
        self,
        program: Path | str,
        data: Path | str | None = None,
        *,
        tensors: Mapping[str, Tensor] | None = None,
    ) -> None:
        """Writes the program (`.ein`), and data (`.npz`), by default those of the last run, for the command
        line: `samhw run PROGRAM --data DATA`.

        Raises:
            InputError: for data before the first run, or files that cannot be written.
        """
        write_text(Path(program), self.program.unbound.text)
        if data is None:
            return
        if tensors is None:
            if self._last is None:
                raise InputError("There are no data to save before the first run; run the design first.")
            tensors = self._last.tensors
        write_tensors(Path(data), tensors)

    @property
    def tables(self) -> dict[str, FusionTable]:
        """The fusion table of each region, by its name."""
        return {region.graph.name: region.table for region in self.compiled.regions}

    @property
    def graph(self) -> Drawing:
        """The SAMML graphs of all regions, as a notebook shows them; `compiled.design` has them as data."""
        return Drawing(self.compiled.design)

    def __repr__(self) -> str:
        held = self._compiled
        what = f"{self.value}, not compiled yet" if held is None else f"{held.value}, {held.design.summary}"
        return f"<RunnableDesign of {self.program.summary}; {what}>"

    def _repr_html_(self) -> str:
        tables = {} if self._compiled is None else self.tables
        parts = [html_section(name, html_table(table.grid())) for name, table in tables.items()]
        return "".join([html_section(self.program.name, html_text(self.program.text)), *parts])
