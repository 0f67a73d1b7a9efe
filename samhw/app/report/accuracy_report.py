"""What value types make of a program's results, over several inputs: table, JSON, and what notebooks show."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from samhw.app.checking import Difference
from samhw.app.report.time import microseconds, say_clock
from samhw.words import html_section, html_table, in_columns

__all__ = ["Accuracy", "AccuracyRow"]


@dataclass(frozen=True)
class AccuracyRow:
    """One result of one run: in which value type, on which input, and how far from float64."""

    value: str
    input: str
    result: str
    cycles: int
    """Of the whole run."""
    difference: Difference


@dataclass(frozen=True)
class Accuracy:
    """The results of runs of one program, in several value types and on several inputs, beside float64."""

    program: str
    rows: tuple[AccuracyRow, ...]
    period: float | None = None
    """Of the clock, in ns; None without one."""

    @property
    def title(self) -> str:
        """What was compared, in a line."""
        inputs = len({row.input for row in self.rows})
        clock = f", at {say_clock(self.period)}" if self.period is not None else ""
        return f"{self.program} on {inputs} {'input' if inputs == 1 else 'inputs'}, beside float64{clock}"

    @cached_property
    def groups(self) -> dict[tuple[str, str], tuple[AccuracyRow, ...]]:
        """The rows of all inputs, by value type and result."""
        found: dict[tuple[str, str], list[AccuracyRow]] = {}
        for row in self.rows:
            found.setdefault((row.value, row.result), []).append(row)
        return {key: tuple(rows) for key, rows in found.items()}

    def grid(self) -> list[list[str]]:
        """Texts by rows, headings first: a row for each value type and result, over all inputs."""
        time = ["µs, mean"] if self.period is not None else []
        errors = ["largest error", "relative, mean", "relative, worst", "SNR, worst"]
        grid = [["value", "result", *errors, "same argmax", "cycles, mean", *time]]
        for (value, result), rows in self.groups.items():
            found = [row.difference for row in rows]
            worst = max(found, key=lambda one: one.relative_error)
            argmax = [one.same_argmax for one in found if one.same_argmax is not None]
            cycles = fmean(row.cycles for row in rows)
            grid.append(
                [
                    *(value, result),
                    f"{max(one.max_abs_error for one in found):.3g}",
                    f"{fmean(one.relative_error for one in found):.3g}",
                    f"{worst.relative_error:.3g}",
                    "exact" if worst.relative_error == 0 else f"{worst.signal_to_noise:.1f} dB",
                    f"{fmean(argmax):.1%}" if argmax else "",
                    f"{cycles:,.0f}",
                    *([] if self.period is None else [f"{cycles * self.period / 1e3:,.3f}"]),
                ]
            )
        return grid

    def to_json(self) -> dict[str, Any]:
        """What `samhw accuracy --json` prints: an object for each row, with microseconds where there is a
        clock."""
        return {"program": self.program, "rows": [self._row(row) for row in self.rows]}

    def _row(self, row: AccuracyRow) -> dict[str, Any]:
        time = {} if self.period is None else {"microseconds": microseconds(row.cycles, self.period)}
        names = {"value": row.value, "input": row.input, "result": row.result, "cycles": row.cycles}
        return {**names, **time, **row.difference.to_json()}

    def plot(self, path: Path | str, width: float | None = None) -> Path:
        """Draws the relative errors by value type, a point for each input; returns the path. The width is in
        inches, by default the plot's own.

        Raises:
            InputError: for a suffix other than .png, .svg and .pdf, or a file that cannot be written.
        """
        # Matplotlib takes half a second to be imported.
        from samhw.app.report.plots import plot_accuracy, write_figure

        points = [(row.value, row.result, row.difference.relative_error) for row in self.rows]
        return write_figure(Path(path), lambda: plot_accuracy(self.title, points), width)

    def __repr__(self) -> str:
        return f"<Accuracy of {self.title}: {', '.join(dict.fromkeys(row.value for row in self.rows))}>"

    def __str__(self) -> str:
        return in_columns(self.grid())

    def _repr_html_(self) -> str:
        return html_section(self.title, html_table(self.grid()))
