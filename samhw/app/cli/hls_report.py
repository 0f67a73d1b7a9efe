"""`samhw hls-report`."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console

from samhw.app.cli.command import Command
from samhw.app.cli.printed import OUTPUT, print_json, print_table
from samhw.app.report.hls_reports import Report, ReportedModule, read_reports

__all__ = ["hls_report"]


@click.command("hls-report", cls=Command)
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--json", "json_target", type=OUTPUT, metavar="FILE|-", help="Write all of it as JSON.")
def hls_report(directory: Path, json_target: str | None) -> None:
    """Print what Vitis HLS reports of the project in DIRECTORY beside what was expected of it.

    It reads csynth.xml, the report of a cosimulation, and that of an implementation. No report of Vitis' own
    has tested it.
    """
    report = read_reports(directory)
    if json_target:
        print_json(json_target, asdict(report))
    if json_target == "-":
        return
    console = Console()
    asked = report.expected.get("interval", 1), report.expected.get("stages")
    rows = [["process", "interval", "asked", "stages", "latency", "ns", "LUT", "FF", "DSP", "BRAM_18K"]]
    rows += [_row(module, asked) for module in (report.top, *report.modules)]
    print_table(console, rows, f"{report.top.name}, clock {_text(report.clock)} ns")
    for line in _lines(report):
        click.echo(line)


def _row(module: ReportedModule, asked: tuple[int, int | None]) -> list[str]:
    """The slowest loop of a process stands for it."""
    intervals = [loop.interval for loop in module.loops if loop.interval is not None]
    stages = [loop.stages for loop in module.loops if loop.stages is not None]
    deep = asked[1] is not None and max(stages, default=0) > asked[1]
    return [
        module.name,
        _text(max(intervals, default=None)),
        str(asked[0]) if intervals else "-",
        _text(max(stages, default=None)) + (f" (more than {asked[1]})" if deep else ""),
        _text(module.latency),
        _text(module.period),
        *(_text(module.area.get(name)) for name in ("LUT", "FF", "DSP", "BRAM_18K")),
    ]


def _lines(report: Report) -> list[str]:
    """What is said of the whole."""
    found = [f"area        {_shares(report.top.area, report.available)}"]
    if report.implemented:
        period = report.implemented.get("period")
        area = {name: int(count) for name, count in report.implemented.items() if name != "period"}
        found.append(f"built       {_shares(area, report.available)}, {_text(period)} ns")
    cycles = report.expected.get("cycles")
    if report.cosim:
        status, latencies = report.cosim
        found.append(
            f"cosimulated {status}, {_text(latencies[-1])} cycles; the simulator has {_text(cycles)}"
        )
    elif cycles:
        found.append(f"simulator   {cycles:,} cycles; there is no cosimulation")
    return found


def _shares(area: Mapping[str, int], available: Mapping[str, int]) -> str:
    def share(name: str, count: int) -> str:
        whole = available.get(name)
        return f"{count:,} {name}" + (f" ({count / whole:.1%})" if whole else "")

    return ", ".join(share(name, count) for name, count in area.items())


def _text(number: float | None) -> str:
    return "-" if number is None else f"{number:,}" if isinstance(number, int) else f"{number:g}"
