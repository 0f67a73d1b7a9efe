"""Figures measured: their points by the engine of sweeps, and their rows as result files and pages."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from samhw.app.papers.figure import Cell, Paper, PaperFigure, PaperRow, Setting
from samhw.app.papers.points import PaperPoint
from samhw.app.report.result_file import ResultFile, measured
from samhw.app.sweep import Journal, Shard, State, measure_all
from samhw.app.sweep.journal import read_journal
from samhw.app.sweep.outcome import Outcome
from samhw.app.sweep.workers import TaskKind
from samhw.errors import InputError

__all__ = ["Measured", "chosen_figures", "file_name", "run_figures", "summary"]

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
