"""Figures measured: their points by the engine of sweeps, and their rows as result files and pages."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot
from matplotlib.ticker import FuncFormatter

from samhw.app.papers.figure import Cell, Paper, PaperColumn, PaperFigure, PaperRow, Setting
from samhw.app.papers.points import PaperPoint
from samhw.app.report.page import ResultTable, page, write_page
from samhw.app.report.plots import COLOURS, GREY, MARKERS, count_axis, new_figure, to_file
from samhw.app.report.result_file import ResultFile, measured
from samhw.app.report.run_report import Origin
from samhw.app.sweep import Journal, Shard, State, measure_all
from samhw.app.sweep.journal import read_journal
from samhw.app.sweep.outcome import Outcome
from samhw.app.sweep.workers import TaskKind
from samhw.errors import InputError
from samhw.files import write_text

__all__ = ["Measured", "chosen_figures", "file_name", "run_figures", "summary", "write_papers"]

POINTS = TaskKind("samhw.app.papers.points:PaperPoint", "samhw.app.papers.points:point_outcome")

Chosen = Sequence[tuple[Paper, PaperFigure]]


@dataclass(frozen=True)
class Measured:
    """A figure with what was measured for it."""

    paper: Paper
    figure: PaperFigure
    result: ResultFile
    data: tuple[str, ...]
    """The data sets of its rows, as `--data` has them."""


def chosen_figures(papers: Sequence[Paper], number: str | None) -> Chosen:
    """The figures of papers, or those of a number: `12` stands for `12, off chip` as well.

    Raises InputError where no paper has such a figure.
    """
    every = [(paper, figure) for paper in papers for figure in paper.figures]
    if number is None:
        return every
    wanted = number.lower()
    found = [pair for pair in every if pair[1].number.partition(",")[0].removeprefix("figure ") == wanted]
    found = [pair for pair in every if pair[1].number == wanted] or found
    if not found:
        there = ", ".join(dict.fromkeys(figure.number.partition(",")[0] for _, figure in every))
        raise InputError(f"There is no figure '{number}' of {papers[0].title}; there are {there}.")
    return found


def file_name(paper: Paper, figure: PaperFigure) -> str:
    """The name of a figure's result file, without its suffix."""
    return f"{paper.name}_{figure.number.replace(', ', '_').replace(' ', '_')}"


def run_figures(
    chosen: Chosen,
    setting: Setting,
    directory: Path,
    *,
    words: Sequence[str] = (),
    jobs: int | None = None,
    scheduler: str | None = None,
    shard: Shard | None = None,
    progress: Callable[[State], None] | None = None,
) -> list[Measured]:
    """Measures what the journals of a directory lack, and gives the figures; none if this is one shard.

    Args:
        words: further ones of the command that result files say that they come from.
        jobs, scheduler, shard, progress: as for `samhw.app.sweep.sweep`.

    Raises:
        InputError, InterruptedWorkError: as `measure_all` does.
    """
    rows = {id(figure): list(figure.rows(setting)) for _, figure in chosen}
    # Once, since a key has a hash of every file.
    keys = {point: point.key() for own in rows.values() for row in own for point in row.ways.values()}
    points = {key: point for point, key in keys.items()}
    if shard is not None:
        points = shard.of(points)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"Cannot write to {directory} ({error.strerror}); choose another directory."
        ) from None
    name = "papers" if shard is None else f"papers.{shard.number}-of-{shard.count}"
    with Journal(directory / f"{name}.journal") as journal:
        if shard is None:  # What shards have measured.
            for path in sorted(directory.glob("papers.*-of-*.journal")):
                for key, outcome in read_journal(path).outcomes.items():
                    if key in points:
                        journal.outcomes.setdefault(key, outcome)
        measure_all(points, journal, POINTS, jobs=jobs, scheduler=scheduler, progress=progress)
        found = {point: journal.outcomes[key] for key, point in points.items()}
    if shard is not None:
        return []
    return [
        Measured(
            paper,
            figure,
            measured(
                f"{paper.title}, {figure.number}: {figure.title}",
                " ".join(["samhw papers", paper.name, f"--figure {shlex.quote(figure.number)}", *words]),
                figure_rows(figure, rows[id(figure)], found),
            ),
            tuple(dict.fromkeys(part for row in rows[id(figure)] for part in _sets(row))),
        )
        for paper, figure in chosen
    ]


def _sets(row: PaperRow) -> Iterator[str]:
    """The data sets of a row."""
    for point in row.ways.values():
        yield from (spec for spec in point.configuration.specs() if not spec.startswith(("random", "auto")))


def figure_rows(
    figure: PaperFigure, rows: Sequence[PaperRow], outcomes: Mapping[PaperPoint, Outcome]
) -> list[dict[str, Cell]]:
    """What a figure shows: a row for each way of each of its rows, or for each kernel of these."""
    has_paper = any(row.paper for row in rows)
    result: list[dict[str, Cell]] = []
    for row in rows:
        first: Mapping[str, Any] = {}
        for way, point in row.ways.items():
            outcome = outcomes[point]
            own = outcome.get("figures", {})
            first = first or own
            for name, figures in _parts(figure, row.name, own):
                cells = {
                    column.name: column.of(figures, first) if figures else None for column in figure.columns
                }
                said = {"row": name, "way": way, **cells}
                if has_paper:
                    said["the paper's"] = row.paper.get(way)
                result.append({**said, "result": outcome["status"]})
    return result


def _parts(figure: PaperFigure, name: str, own: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The kernels of a point where a figure shows these, and else the point."""
    if not figure.expands or not own:
        yield name, own
        return
    for kernel, cycles, rtl in own["kernels"]:
        yield (name if kernel == name else f"{name}: {kernel}"), {"cycles": cycles, "rtl": rtl}


def summary(found: Sequence[Measured], words: Sequence[str] = ()) -> ResultFile | None:
    """What one paper's figures come to where the paper has numbers too, and how often the RTL took the
    simulator's cycles; None where there is neither.

    Args:
        words: further ones of the command.
    """
    rows: list[dict[str, Cell]] = []
    for one in found:
        number, ratio = one.figure.number, one.figure.ratio
        if any("difference" in row for row in one.result.rows):
            held = [row["difference"] for row in one.result.rows if row["difference"] is not None]
            here = f"{held.count(0)} of {len(held)}"
            rows.append({"figure": number, "what": "cycles of RTL equal", "here": here, "the paper's": None})
        groups: dict[tuple[str, str], list[Mapping[str, Cell]]] = {}
        for row in one.result.rows if ratio else ():
            if row.get("the paper's") is not None:
                before, comma, _ = str(row["row"]).partition(",")
                groups.setdefault((before if comma else "", str(row["way"])), []).append(row)
        for (group, way), own in groups.items():
            assert ratio is not None
            what = ": ".join(filter(None, (group, way)))
            here = _range([row[ratio.name] for row in own])
            theirs = _range([row["the paper's"] for row in own])
            rows.append(
                {"figure": number, "what": f"{what}, {ratio.name}", "here": here, "the paper's": theirs}
            )
    if not rows:
        return None
    title = f"{found[0].paper.title}, beside the paper's numbers"
    return measured(title, " ".join(["samhw papers", found[0].paper.name, *words]), rows)


def _range(cells: Sequence[Cell]) -> str:
    """From the least to the greatest, with the geometric mean in brackets."""
    found = [cell for cell in cells if isinstance(cell, int | float)]
    if not found:
        return "refused"
    least, most = _number(min(found)), _number(max(found))
    if least == most:
        return least
    mean = f" ({_number(geometric_mean(found))})" if min(found) > 0 else ""
    return f"{least} to {most}{mean}"


def _number(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.2f}"


# The pages of papers: a page with all that was measured, and a plot beside each figure.


_BARS = 40
"""Of more, a mark stands for each."""


def write_papers(
    directory: Path, found: Sequence[Measured], origin: Origin, words: Sequence[str] = ()
) -> Path:
    """Writes `index.html` with all figures, their plots, and `results` with their numbers.

    Args:
        words: as for `run_figures`.

    Raises:
        InputError: if they cannot be written.
    """
    plots = {file_name(one.paper, one.figure): _plotted(one) for one in found}
    try:
        (directory / "results").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot write to {directory} ({error.strerror}); choose another place.") from None
    for one in found:
        write_text(directory / "results" / f"{file_name(one.paper, one.figure)}.json", str(one.result))
    papers = {one.paper.name: one.paper for one in found}
    for name, paper in papers.items():
        own = [one for one in found if one.paper is paper]
        # Of some of its figures there is no summary of the paper.
        if len(own) == len(paper.figures) and (result := summary(own, words)):
            write_text(directory / "results" / f"{name}.json", str(result))
    text = page(
        "papers.html.j2",
        title="Figures of papers",
        papers=[
            {"paper": paper, "figures": [_shown(one, plots) for one in found if one.paper is paper]}
            for paper in papers.values()
        ],
        origin=origin,
        data='{"charts": [], "details": []}',
    )
    beside = {f"{name}.svg": plot for name, plot in plots.items() if plot}
    return write_page(directory, text, beside)


def _shown(one: Measured, plots: Mapping[str, bytes]) -> dict[str, Any]:
    """What the template says of a figure."""
    name = file_name(one.paper, one.figure)
    rows = one.result.rows
    cells = [[_text(cell) for cell in row.values()] for row in rows]
    kept = [n for n, head in enumerate(rows[0]) if head == "row" or any(line[n] for line in cells)]
    grid = [[list(rows[0])[n] for n in kept], *([line[n] for n in kept] for line in cells)]
    bad = frozenset(n for n, row in enumerate(rows) if row["result"] in ("wrong", "failed", "crashed"))
    stand_ins = [spec for spec in one.data if spec.startswith("synthetic:")]
    svg = plots[name].decode()
    return {
        "name": name,
        "figure": one.figure,
        "table": ResultTable("", grid, bad),
        "plot": Markup(svg[svg.index("<svg") :]) if svg else "",
        "data": one.data,
        "stand_ins": stand_ins,
        "refused": [n for n, row in enumerate(rows) if row["result"] == "refused"],
    }


def _text(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case int():
            return f"{cell:,}" if abs(cell) < 10**12 else f"{cell:.2e}"
        case float():
            return f"{cell:,.{2 if abs(cell) < 1000 else 0}f}" if abs(cell) < 10**12 else f"{cell:.2e}"
    return str(cell)


def _plotted(one: Measured) -> bytes:
    """The plot of the column that the paper has too, as SVG; empty where there is none."""
    column = one.figure.ratio
    if column is None:
        column = next((c for c in one.figure.columns if c.name in ("RTL", "cycles")), None)
    rows = [row for row in one.result.rows if column and isinstance(row[column.name], int | float)]
    if column is None or len(rows) < 2:
        return b""
    return to_file(lambda: _drawn(column, rows), "svg")


def _drawn(shown: PaperColumn, rows: Sequence[Mapping[str, Any]]) -> Plot:
    """Bars, or where there are many a mark for each; the paper's numbers are hollow."""
    column = shown.name
    names = list(dict.fromkeys(row["row"] for row in rows))
    ways = list(dict.fromkeys(row["way"] for row in rows))
    many = len(rows) > _BARS
    plot = new_figure(9.0, 3.6)
    axes = plot.subplots()
    alone = len(names) == 1  # Then its ways are the places.
    for number, way in enumerate([""] if alone else ways):
        own = [row for row in rows if alone or row["way"] == way]
        beside = 0.0 if many or alone else 0.8 * ((number + 0.5) / len(ways) - 0.5)
        xs = [beside + (ways.index(row["way"]) if alone else names.index(row["row"])) for row in own]
        look: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "label": way or column}
        if many:
            mark = MARKERS[number % len(MARKERS)]
            axes.plot(xs, [row[column] for row in own], linestyle="", marker=mark, markersize=4, **look)
        else:
            axes.bar(xs, [row[column] for row in own], 0.8 / (1 if alone else len(ways)), **look)
        _papers(axes, xs, own)
    places = ways if alone else names
    axes.set_xticks(range(len(places)), places)
    plot = _finished(plot, axes, column, rows)
    if shown.is_ratio:
        axes.axhline(1, color=GREY, linewidth=0.8, zorder=0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}"))
    return plot


def _papers(axes: Axes, xs: Sequence[float], rows: Sequence[Mapping[str, Any]]) -> None:
    """The paper's numbers."""
    pairs = [(x, row["the paper's"]) for x, row in zip(xs, rows, strict=True) if row.get("the paper's")]
    if pairs:
        named = any(line.get_label() == "the paper's" for line in axes.get_lines())
        label = "_nolegend_" if named else "the paper's"
        axes.plot(
            *zip(*pairs, strict=True), "D", markerfacecolor="white", color="black", markersize=5, label=label
        )


def _finished(plot: Plot, axes: Axes, column: str, rows: Sequence[Mapping[str, Any]]) -> Plot:
    numbers = [row[column] for row in rows if row[column] > 0]
    if numbers and max(numbers) > 20 * min(numbers):
        axes.set_yscale("log")
    count_axis(axes, "y")
    axes.set_ylabel(column)
    axes.tick_params(axis="x", labelrotation=45, labelsize=7)
    for label in axes.get_xticklabels():
        label.set_horizontalalignment("right")
    if axes.get_legend_handles_labels()[1]:
        plot.legend(loc="outside right upper", fontsize=8, frameon=False)
    return plot
