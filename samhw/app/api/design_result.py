"""What a run gives to a user, and what notebooks show of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt
import scipy

from samhw.app.api.arguments import path_of, window_of
from samhw.app.checking import Check, Difference, check, differences
from samhw.app.checking.energy import Energy, energy_of, load_energy
from samhw.app.report.recorded import check_trace, is_short, write_trace
from samhw.app.report.run_report import run_report
from samhw.app.report.run_statistics import Statistics, statistics
from samhw.app.report.time import beside, microseconds, period_of
from samhw.app.workload import Workload
from samhw.compiler import Compiled, FusionTable
from samhw.errors import InputError, RunError
from samhw.graph import Design, OffChipMemory, to_dot, to_svg
from samhw.targets.backends import MODEL, RunResult, find_backend
from samhw.targets.backends import run as simulate
from samhw.tensors import Tensor
from samhw.words import html_frame, html_line, html_scroll, html_section, html_table, html_text

__all__ = ["DesignResult", "Drawing", "PageView", "Tables"]


# What notebooks show of a design or a run, at the size of a cell, and its graphs.


@dataclass(frozen=True, repr=False)
class PageView:
    """A page of a report in a cell: it answers to clicks, searches and zooms as the page does by itself.

    Attributes:
        title: what it is of, in a line.
        page: as HTML.
    """

    title: str
    page: str

    def __repr__(self) -> str:
        return f"<PageView of {self.title}; a notebook shows it>"

    def _repr_html_(self) -> str:
        return html_frame(self.page)


class Tables(dict[str, FusionTable]):
    """The fusion table of each region, by its name."""

    def __init__(self, tables: Mapping[str, FusionTable]) -> None:
        super().__init__(tables)

    def __repr__(self) -> str:
        return f"<Tables of {', '.join(self)}>"

    def __str__(self) -> str:
        return "\n\n".join(f"{name}\n{table}" for name, table in self.items())

    def _repr_html_(self) -> str:
        parts = (html_section(name, table._repr_html_()) for name, table in self.items())
        return html_scroll("".join(parts))


@dataclass(frozen=True)
class Drawing:
    """The graphs of a design: drawn where there is a Graphviz, else as the text that it would draw."""

    design: Design

    @property
    def dot(self) -> str:
        """In Graphviz's language."""
        return to_dot(self.design)

    def __repr__(self) -> str:
        return f"<Drawing of {self.design.name}, {self.design.summary}; .dot is its text>"

    def _repr_html_(self) -> str:
        try:
            return html_scroll(to_svg(self.design))
        except InputError:
            return html_scroll(html_text(self.dot))


@dataclass(frozen=True)
class DesignResult:
    """A finished run: `result["T"]` is a tensor that it has computed.

    `run` is what the backend gave, `compiled` what it ran, `workload` on what, and `memory` what held tensors
    off chip, if anything did.
    """

    run: RunResult
    compiled: Compiled
    workload: Workload
    memory: OffChipMemory | None = None

    @property
    def cycles(self) -> int:
        """Clock cycles from the start of the first region to the end of the last, as docs/timing.md defines
        them."""
        return self.run.cycles

    @property
    def seconds(self) -> float:
        """Seconds of wall time that the backend took, without the build."""
        return self.run.seconds

    @property
    def backend(self) -> str:
        """What ran it."""
        return self.run.backend

    @property
    def tensors(self) -> dict[str, Tensor]:
        """What the run has stored, by name: results, and what passed between regions; in the shapes that the
        data give their indices."""
        return self.run.outputs

    def __getitem__(self, name: str) -> "npt.NDArray[Any] | scipy.sparse.sparray":
        """A stored tensor: a NumPy array if it is dense, else a SciPy array, by rows or, if the format is, by
        columns; a list of coordinates where the rank is not 2.

        Raises:
            KeyError: for a name that the run has not stored.
        """
        if name not in self.tensors:
            raise KeyError(f"the run has stored no tensor '{name}', but {', '.join(self.tensors)}")
        tensor = self.tensors[name]
        if tensor.format.is_all_dense:
            return tensor.to_dense()
        if tensor.rank == 2:
            matrix = tensor.to_scipy()
            return matrix.tocsc() if tensor.format.mode_order == (1, 0) else matrix
        coords, vals = tensor.to_coo(drop_zeros=tensor.format.stores_fill)
        array: scipy.sparse.sparray = scipy.sparse.coo_array((vals, tuple(coords)), shape=tensor.shape)
        return array

    def keys(self) -> tuple[str, ...]:
        """The names of the program's results."""
        return tuple(decl.name for decl in self.workload.program.outputs)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def check(self) -> Check:
        """The comparison of everything that is stored with NumPy, within what the value type promises.

        Raises:
            RunError: for a wrong result.
        """
        found = check(self.workload, self.compiled, self.tensors)
        if not found.good:
            raise RunError(
                f"The results of '{self.workload.program.name}' are wrong, off by {found.max_abs_error:g}; "
                "please report this as a bug."
            )
        return found

    def differences(self) -> dict[str, Difference]:
        """How far each result is from the program's in float64, by name, the rounding of its inputs counted:
        what the value type costs. Absolute errors have the units of the result, relative ones are shares of
        its norm. Whether the hardware is right, `check` says."""
        return differences(self.workload, self.tensors)

    def microseconds(self, clock: str | None = None) -> float:
        """The microseconds that the cycles take at a clock, such as 100MHz or 10ns; by default at that of the
        memory off the chip.

        Raises:
            InputError: for what is not a clock, or without one where the memory has none.
        """
        _, period = beside(self.memory, None)
        if clock is not None:
            period = period_of(clock)
        if period is None:
            raise InputError("microseconds() needs a clock, as in microseconds('100MHz').")
        return microseconds(self.cycles, period)

    def stats(self) -> Statistics:
        """Where the cycles went, node by node, of a run of the simulator.

        Raises:
            InputError: for a run of another backend.
        """
        return statistics(self.compiled, self.run)

    def energy(self, table: Path | str = "45nm") -> Energy:
        """An estimate of the energy that an ASIC takes (docs/choosing.md), of a run of the simulator.

        Args:
            table: what --energy takes: `45nm`, `hwcomponents`, or a TOML file.

        Raises:
            InputError: for a table that there is not, and a run of another backend.
        """
        self.stats()
        return energy_of(self.compiled, self.run, load_energy(str(table)))

    def trace(self, path: Path | str, window: tuple[int, int] | None = None) -> Path:
        """Writes the tokens of the run, cycle by cycle: `.json` or `.pftrace` for Perfetto, `.vcd` or `.fst`
        as waves. The simulator, which takes the same cycles, runs once more to record them; returns the path.

        Args:
            window: the first cycle, and the one after the last; by default all.

        Raises:
            InputError: for a path with another suffix, one that cannot be written, or an empty window.
        """
        found = check_trace(path_of("The trace", path))
        part = {} if window is None else {"window": window_of(window)}
        write_trace(found, self._simulated(trace=True, **part))
        return found

    def report(self, directory: Path | str) -> Path:
        """Writes a page to look at, `index.html`, into a directory, which may be new (docs/report.md). The
        simulator runs once more, and the results are compared with NumPy's; returns the page's path.

        Raises:
            InputError: if it cannot be written.
        """
        folder = path_of("The directory of the report", directory)
        from samhw.app.report.page import write_page  # Jinja takes its time to be imported.

        return write_page(folder, self._page())

    def view(self) -> PageView:
        """The page of `report`, for a notebook to show in a cell; the same work."""
        return PageView(f"{self.workload.program.name}: {self.cycles:,} cycles", self._page())

    def _page(self) -> str:
        """As `report` says it."""
        from samhw.app.report.run_page import run_page  # Jinja takes its time to be imported.

        model = self._simulated(trace=is_short(self.workload))
        backend = find_backend(self.backend)
        runs = [model] if backend is MODEL else [model, self.run]
        checks = [check(self.workload, self.compiled, run.outputs) for run in runs]
        asked = self.compiled.schedule
        told = run_report(self.workload, self.compiled, backend, runs, checks, asked=asked)
        return run_page(told)

    def _simulated(self, **options: Any) -> RunResult:
        """The run by the simulator, with these options of its."""
        return simulate(self.compiled, self.workload.tensors, MODEL, memory=self.memory, **options)

    def __repr__(self) -> str:
        results = ", ".join(f"{name} {self.tensors[name]!r}" for name in self.keys())
        name = self.workload.program.name
        return f"<DesignResult of {name} by {self.backend}: {self.cycles:,} cycles; {results}>"

    def _repr_html_(self) -> str:
        rows = [["region", "cycles", "tensors"]]
        for region in self.run.regions:
            held = ", ".join(f"{name} {tensor!r}" for name, tensor in region.outputs.items())
            rows.append([region.name, f"{region.cycles:,}", held])
        counted = all(region.statistics is not None for region in self.run.regions)
        limit = html_line(self.stats().limit) if counted else ""
        title = f"{self.cycles:,} cycles ({self.backend})"
        return html_section(title, limit + html_scroll(html_table(rows)))
