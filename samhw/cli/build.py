"""`samhw build`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from samhw.cli.backends import CLOCK, REGIONS, REGIONS_HELP, check_settings
from samhw.cli.memory import check_on_chip
from samhw.cli.options import BUILD_DATA, CompileOptions, compile_options
from samhw.cli.progress import building, follow, warn_before
from samhw.compiler import Compiled
from samhw.errors import InputError, RunError
from samhw.frontend import Program
from samhw.targets import build as write_build
from samhw.targets import check, run
from samhw.targets.backends import find_target, targets
from samhw.workload import Workload

__all__ = ["build"]


@click.command()
@click.argument("program")
@compile_options
@BUILD_DATA
@click.option(
    "--target",
    required=True,
    metavar="TARGET",
    help=f"One of {', '.join(t.target for t in targets())}, or board:FILE.py.",
)
@click.option(
    "--check",
    "checked",
    is_flag=True,
    help="Simulate it on the data first; write nothing if that is wrong.",
)
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False), help="Directory to write.")
@click.option("--part", help="The device of a vitis-hls project; by default AWS F1's VU9P.")
@click.option(
    "--clock",
    type=CLOCK,
    metavar="NS|MHz",
    help="Its clock, by default 4 ns; of a board, by default the greatest that the design reaches.",
)
@click.option("--baud", type=int, help="Speed of a board's link; by default what it can.")
@click.option(
    "--memories", type=click.Choice(["on-chip", "m_axi"]), help="Where its tensors lie; by default on-chip."
)
@click.option("--regions", type=click.Choice(REGIONS), help=REGIONS_HELP)
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
    memories: str | None,
    regions: str | None,
    name: str | None,
) -> None:
    """Write a build of PROGRAM to a directory."""
    backend = find_target(target)
    chosen: dict[str, Any] = {
        "part": part,
        "clock": clock,
        "baud": baud,
        "on_chip": memories and memories == "on-chip",
        "one_top": regions and regions == "top",
        "name": name,
    }
    chosen = {setting: value for setting, value in chosen.items() if value is not None}
    check_settings(chosen, backend, "--target")
    check_on_chip(options.schedule, "a build")
    given = options.load(program, data)
    compiled = options.compile(given, backend.arch)
    if checked:
        _check(given, compiled)
    tensors = given.tensors if isinstance(given, Workload) else None
    with building():
        written = write_build(compiled, backend, Path(output), tensors, **chosen)
    for path in written:
        click.echo(path)
    if not checked:
        click.echo("samhw: nothing was checked; '--check' simulates a build on its data first.", err=True)


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
