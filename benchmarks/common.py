"""What the benchmarks share: runs that are checked, and rows as a table or as a result file."""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.result_files import measured
from samhw.app.checking import Measure, compare
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import estimate_compiled
from samhw.errors import RunError
from samhw.graph.numerics import Float
from samhw.lang import Program, load
from samhw.tensors import Tensor

__all__ = [
    "PROGRAMS",
    "VALUE",
    "bind",
    "data_option",
    "expected_cycles",
    "follow",
    "graph_options",
    "measure",
    "parser",
    "report",
    "schedules",
    "show",
]

VALUE = Float("f32")
"""The value type of every run."""

PROGRAMS = Path(__file__).parent / "programs"
"""Models under schedules of their own: MODEL_by_SCHEDULE.ein."""

Item = TypeVar("Item")


def bind(program: Program, data: Mapping[str, Tensor]) -> Workload:
    """A program with its tensors, each converted to the format that the program declares."""
    tensors = {name: tensor.convert(program.tensors[name].format) for name, tensor in data.items()}
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    return Workload(program.name, program.bind(shapes), tensors)


def schedules(model: str, data: Mapping[str, Tensor]) -> Iterator[Workload]:
    """The other schedules of a model, from benchmarks/programs, on the model's data."""
    for path in sorted(PROGRAMS.glob(f"{model}_by_*.ein")):
        program = load(path)
        names = {decl.name for decl in program.inputs}
        # B is the adjacency again, in another mode order.
        yield bind(program, {**data, **({"B": data["A"]} if "B" in names else {})})


def measure(workload: Workload, schedule: Schedule) -> Measure | None:
    """A run on the simulator, or None for a schedule that is impossible.

    Raises:
        RunError: for a run that fails, or whose result is not NumPy's.
    """
    (outcome,) = compare(workload, [schedule], value=VALUE)
    if outcome.measure is not None and outcome.measure.status == "wrong":
        raise RunError(f"The result of {workload.name} ({schedule}) is wrong; please report this as a bug.")
    return outcome.measure


def expected_cycles(workload: Workload, schedule: Schedule) -> int:
    """The cycles that are expected of a run with all tensors on chip, from exact statistics of the data."""
    compiled = compile_workload(workload, schedule, value=VALUE)
    return round(estimate_compiled(compiled, workload.statistics()).cycles)


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with the option that all benchmarks have."""
    result = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument(
        "--json", metavar="FILE|-", help="write a result file (benchmarks/result_files.py) instead of a table"
    )
    return result


def data_option(options: argparse.ArgumentParser) -> None:
    """--data, the folder of the data that no registry has; by default what SAMHW_DATA names."""
    options.add_argument("--data", type=Path, default=os.environ.get("SAMHW_DATA"), help="folder of the data")


def graph_options(options: argparse.ArgumentParser, nodes: str = "") -> None:
    """--nodes and --density of the random graph that a GCN runs on; `nodes` says more about the number."""
    options.add_argument("--nodes", type=int, default=500, help=f"of the graph for the GCN{nodes}")
    options.add_argument("--density", type=float, default=0.02, help="of that graph")


def follow(items: Iterable[Item], count: int | None = None) -> Iterator[Item]:
    """The items, with a bar on stderr where that is a terminal; `count` of them, if that is known."""
    console = Console(stderr=True)
    yield from track(items, total=count, console=console, transient=True, disable=not console.is_terminal)


def report(title: str, rows: Sequence[Mapping[str, Any]], target: str | None) -> None:
    """Prints rows with equal keys as a table; with a target (`parser`), writes them as a result file."""
    if target is None:
        show(title, rows)
    elif target == "-":
        sys.stdout.write(str(measured(title, rows)))
    else:
        Path(target).write_text(str(measured(title, rows)), encoding="utf-8")


def show(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Prints rows with equal keys as a table."""
    table = Table(title=title)
    for name in rows[0]:
        numeric = any(isinstance(row[name], int | float) for row in rows)
        table.add_column(name, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*map(_cell, row.values()))
    # A table that goes to a file keeps its columns.
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _cell(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}" if abs(value) < 10**15 else f"{value:.2e}"
        case float():
            return f"{value:,.2f}"
    return str(value)
