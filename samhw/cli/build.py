"""`samhw build`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from samhw.cli.options import REGIONS, REGIONS_HELP, Schedule, schedule_options
from samhw.errors import InputError

__all__ = ["build"]

TARGETS = ("sim", "verilator", "vitis-hls")


@click.command()
@click.argument("program")
@schedule_options
@click.option(
    "--data", multiple=True, metavar="DATA", help="Data that fixes extents and capacities, as for run."
)
@click.option("--target", required=True, metavar="TARGET", help="sim, verilator or vitis-hls.")
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False), help="Directory to write.")
@click.option("--part", help="The device of a vitis-hls project; by default AWS F1's VU9P.")
@click.option("--clock", type=float, help="Its clock period in ns; by default 4.")
@click.option(
    "--memories", type=click.Choice(["on-chip", "m_axi"]), help="Where its tensors lie; by default on-chip."
)
@click.option("--regions", type=click.Choice(REGIONS), help=REGIONS_HELP)
def build(
    program: str,
    schedule: Schedule,
    data: Sequence[str],
    target: str,
    output: str,
    part: str | None,
    clock: float | None,
    memories: str | None,
    regions: str | None,
) -> None:
    """Write a build of PROGRAM to a directory."""
    from samhw.hls import Options
    from samhw.targets import build as write_build

    if target not in TARGETS:
        raise InputError(f"There is no target '{target}'; choose one of {', '.join(TARGETS)}.")
    chosen: dict[str, Any] = {
        "part": part,
        "clock": clock,
        "on_chip": memories and memories == "on-chip",
        "one_top": regions and regions == "top",
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if chosen and target != "vitis-hls":
        raise InputError(
            "--part, --clock, --memories and --regions belong to '--target vitis-hls'; leave them out."
        )
    workload = schedule.workload(program, data) if data else None
    compiled = schedule.compile(program, workload, arch="vitis" if target == "vitis-hls" else "samhw")
    tensors = workload.tensors if workload else None
    for path in write_build(compiled, target, Path(output), tensors, Options(**chosen)):
        click.echo(path)
