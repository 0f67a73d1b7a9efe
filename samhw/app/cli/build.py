"""`samhw build`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from samhw.app.checking import check
from samhw.app.cli.backends import (
    CLOCK,
    HOST,
    REGIONS,
    REGIONS_HELP,
    check_settings,
    memory_of,
    memory_option,
)
from samhw.app.cli.command import Command
from samhw.app.cli.completion import complete_programs
from samhw.app.cli.options import BUILD_DATA, CompileOptions, compile_options
from samhw.app.cli.pages import report_option, write_results
from samhw.app.cli.printed import OUTPUT, print_json
from samhw.app.cli.progress import building, follow, phase, warn_before
from samhw.app.cli.schedules import note_idle
from samhw.app.report.grids import FAMILY_NAMES, Areas, fit_words, shown_areas
from samhw.app.report.time import beside
from samhw.app.workload import Workload
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.cost import SHOWN_DEVICES
from samhw.errors import InputError, RunError
from samhw.files import check_new
from samhw.graph import Design, StreamKind
from samhw.lang import Program
from samhw.targets.backends import DERIVED, Target, find_target, run, targets
from samhw.targets.backends import build as write_build

__all__ = ["build"]


@click.command(cls=Command)
@click.argument("program", shell_complete=complete_programs)
@compile_options
@BUILD_DATA
@click.option(
    "--target",
    required=True,
    metavar="TARGET",
    shell_complete=lambda ctx, param, begun: [t.target for t in targets() if t.target.startswith(begun)],
    help=f"One of {', '.join(t.target for t in targets())}, or board:FILE.py.",
)
@click.option(
    "--check",
    "checked",
    is_flag=True,
    help="Simulate it on the data first; write nothing if that is wrong.",
)
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False), help="Directory to write.")
@click.option(
    "--part",
    help="The device of a vitis-hls project, or the name of a card or a board, such as u280 or kv260; by "
    "default that of the Alveo U55C.",
)
@click.option(
    "--clock",
    type=CLOCK,
    metavar="NMHz|Nns",
    help="Its clock, by default 4ns, or what the board of --part has; of --target board:.., by default the "
    "greatest that the design reaches.",
)
@click.option("--baud", type=int, help="Speed of a board's link; by default what it can.")
@click.option("--regions", type=click.Choice(REGIONS), help=REGIONS_HELP)
@click.option("--json", "json_target", type=OUTPUT, metavar="FILE|-", help="Write the summary as JSON.")
@report_option
@memory_option
@HOST
@click.option("--name", help="Of the top module, and of the macros of its header; by default samhw_top.")
def build(
    program: str,
    options: CompileOptions,
    data: Sequence[str],
    target: str,
    checked: bool,
    output: str,
    part: str | None,
    clock: float | None,
    baud: int | None,
    regions: str | None,
    json_target: str | None,
    report: str | None,
    memory: str | None,
    ports: str | None,
    host: str | None,
    name: str | None,
) -> None:
    """Write a build of PROGRAM to a directory.

    It has room for --data, rounded up; or for the extents of the program's text and of --extents, with
    --capacity for the entries of what is sparse.
    """
    backend = find_target(target)
    placed, _ = beside(memory_of(memory, ports), clock)
    chosen: dict[str, object] = {
        "part": part,
        "clock": clock,
        "baud": baud,
        "one_top": regions and regions == "top",
        "host": host,
        "name": name,
        "memory": placed,
    }
    chosen = {setting: value for setting, value in chosen.items() if value is not None}
    check_settings(chosen, backend, "--target")
    check_new(Path(output))
    backend.check_build(**chosen)
    given = options.load(program, data, assume=False)
    with phase("compiling"):
        compiled = compile_job(options.job(given, backend.arch, placed))
    note_idle(compiled)
    if checked:
        _check(given, compiled)
    tensors = given.tensors if isinstance(given, Workload) else None
    with building("writing the build"):
        written = write_build(compiled, backend, Path(output), tensors, **chosen)
    source = given.name if isinstance(given, Workload) else None
    sized = f"{source}, rounded up" if source else "the extents that it was given"
    if source and options.extents:
        sized += ", and for --extents"
    if json_target:
        files = [str(path.relative_to(output)) for path in written]
        print_json(json_target, _report(compiled, backend, output, files, source, checked))
    if json_target != "-":
        _print_summary(compiled, backend, Path(output), written, sized)
    if report:
        from samhw.app.report.build_page import build_results

        known = {path: what for _, what, paths in _known(backend, Path(output)) for path in paths}
        areas = shown_areas(compiled, backend.devices or SHOWN_DEVICES)
        what = compiled, backend.target, Path(output), written, known, areas
        tested = source or "" if checked else ""
        write_results(report, lambda: build_results(*what, sized=sized, checked=tested))
    if not checked:
        click.echo("samhw: nothing was checked; '--check' simulates a build on its data first.", err=True)


def _report(
    compiled: Compiled, target: Target, output: str, files: list[str], data: str | None, checked: bool
) -> dict[str, Any]:
    """What --json writes."""
    return {
        "program": compiled.program.name,
        "target": target.target,
        "value": compiled.value.name,
        "data": data,
        "extents": dict(compiled.design.extents),
        "entries": _entries(compiled.design),
        "checked": checked,
        "fits": {
            device.name: device.verdict(area.use) for device, area in shown_areas(compiled, target.devices)
        },
        "directory": output,
        "files": files,
    }


def _entries(design: Design) -> dict[str, int]:
    """By tensor, the coordinates that its largest compressed level has room for, in all shards."""
    found: dict[str, Counter[str]] = {}
    for memory in design.memories:
        if design.stored(memory).kind is StreamKind.CRD:
            found.setdefault(memory.tensor, Counter())[memory.array] += memory.capacity
    return {tensor: max(levels.values()) for tensor, levels in found.items()}


def _print_summary(
    compiled: Compiled, target: Target, directory: Path, written: Sequence[Path], sized: str
) -> None:
    """What was written, how large it is, and where to look first."""
    design = compiled.design
    click.echo(f"{directory}: {design.name} for {target.target}, {compiled.value}, {len(written)} files")
    extents = ", ".join(f"{index} {extent:,}" for index, extent in design.extents.items())
    entries = ", ".join(f"{tensor} {count:,}" for tensor, count in _entries(design).items())
    click.echo(f"  sized for  {sized}; --extents and --capacity, or other --data, change it")
    click.echo(f"  extents    up to {extents or 'none: all is scalar'}")
    if entries:
        click.echo(f"  entries    up to {entries}")
    if areas := shown_areas(compiled, target.devices):
        click.echo(f"  expected   {_area(areas)}")
    for pattern, what, paths in _known(target, directory):
        several = f", of each of {len(paths)} regions" if len(paths) > 1 else ""
        name = pattern if several else str(paths[0].relative_to(directory))
        click.echo(f"  {name:16}  {what}{several}")
    for name in sorted(target.data_files):
        if not (directory / name).exists():
            click.echo(f"  {name:16}  needs --data; {target.key_files[name]}")


def _area(areas: Areas) -> str:
    """The area that is expected of the first FPGA, and which of them have it."""
    device, area = areas[0]
    size = f"{area.use.luts:,.0f} LUTs, {area.use.block_rams:,.0f} block RAMs ({FAMILY_NAMES[device.family]})"
    return f"{size}: {fit_words(areas)}"


def _known(target: Target, directory: Path) -> Iterator[tuple[str, str, list[Path]]]:
    """The files of a build that somebody looks for first: a pattern, what they are, and where."""
    derived = {DERIVED: "how inputs that no user gives are made of those that one does"}
    for pattern, what in (target.key_files | derived).items():
        if paths := list(directory.glob(pattern)):
            yield pattern, what, paths


def _check(workload: Workload | Program, compiled: Compiled) -> None:
    """Raises `RunError` unless the simulator's results are right."""
    if not isinstance(workload, Workload):
        raise InputError("--check simulates the build on data; add '--data karate' or a file.")
    warn_before([workload])
    with follow("simulator") as progress:
        result = run(compiled, workload.tensors, progress=progress)
    found = check(workload, compiled, result.outputs)
    if not found.good:
        raise RunError(
            f"The results of '{compiled.program.name}' on {workload.name} are wrong, off by "
            f"{found.max_abs_error:g}, so that nothing was written; please report this as a bug."
        )
    click.echo(f"samhw: checked, {found.verdict.in_words(found.unproved)} on {workload.name}", err=True)
