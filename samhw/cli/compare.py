"""`samhw compare`."""

import sys
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, cast

import click
from rich.console import Console

from samhw.cli.options import ARCH, load_arch, memory_options, off_chip_tensors, parse_order
from samhw.cli.output import print_json, print_table, verdict
from samhw.cli.progress import follow
from samhw.compiler import AUTO, ITERATIONS
from samhw.errors import InputError
from samhw.frontend import FUSION_LEVELS, FusionLevel

if TYPE_CHECKING:
    from samhw.targets import Outcome

__all__ = ["compare"]


@click.command()
@click.argument("program")
@click.option("--fuse", default="none,partial,full", show_default=True, help="Levels of fusion.")
@click.option("--iteration", default="factored", show_default=True, help="factored, global, or both.")
@click.option(
    "--order",
    "orders",
    multiple=True,
    metavar="i,k,j",
    help="Orders of the indices, for the levels that are one region.",
)
@click.option("--permute", is_flag=True, help="Copy what is stored against an order, as for run.")
@click.option("--value", default=AUTO, show_default=True, metavar="TYPE", help="Value type, as for run.")
@click.option(
    "--data",
    multiple=True,
    default=(AUTO,),
    show_default=True,
    metavar="DATA",
    help="As for run.",
)
@ARCH
@click.option("--json", "json_target", metavar="FILE|-", help="Write the result as JSON.")
@memory_options
def compare(
    program: str,
    fuse: str,
    iteration: str,
    orders: Sequence[str],
    permute: bool,
    value: str,
    data: Sequence[str],
    arch: str | None,
    json_target: str | None,
    memory: str | None,
    off_chip: str | None,
) -> None:
    """Simulate PROGRAM under every combination of schedules and compare cost.

    A level of fusion with several regions is measured once, with the orders of its own statements.
    """
    from samhw.targets import Choice
    from samhw.targets import compare as compare_all
    from samhw.workload import bind_program

    levels = [_one_of(level, FUSION_LEVELS, "--fuse") for level in fuse.split(",")]
    spaces = [_one_of(space, ITERATIONS, "--iteration") for space in iteration.split(",")]
    workload = bind_program(program, data, value=value)
    value = workload.value(value)
    placement = off_chip_tensors(memory, off_chip)
    chosen = list(map(parse_order, orders))
    choices = []
    for level, space in product(levels, spaces):
        several = len(workload.program.with_fusion(cast(FusionLevel, level)).regions) > 1
        for order in [None] if several or not chosen else chosen:
            choices.append(Choice(cast(FusionLevel, level), space == "factored", order, permute))
    if chosen and not any(choice.order for choice in choices):
        raise InputError(
            f"--order is for one region, but '{program}' has several at {fuse}; add '--fuse full', "
            "or write the orders into the program."
        )
    latencies = load_arch(arch or "samhw")
    outcomes: list[Outcome] = []
    for number, choice in enumerate(choices, 1):
        with follow(f"{choice} ({number} of {len(choices)})") as progress:
            outcomes += compare_all(
                workload, [choice], value=value, arch=latencies, memory=placement, progress=progress
            )
    if json_target:
        found = [outcome.to_json() for outcome in outcomes]
        report = {"program": program, "data": workload.name, "value": value, "outcomes": found}
        print_json(json_target, report)
    if json_target != "-":
        title = f"{program} on {workload.name}, {value}"
        if placement:
            title += f", {off_chip or 'all tensors'} in {placement.dram.name}"
        print_table(Console(), _comparison(outcomes), title=title)
    if not all(o.measure.checked for o in outcomes if o.measure):
        sys.exit(1)


def _one_of(text: str, names: Sequence[str], option: str) -> str:
    if text not in names:
        raise InputError(f"{option} {text}: there is no such choice; name some of {', '.join(names)}.")
    return text


def _comparison(outcomes: "Sequence[Outcome]") -> list[list[str]]:
    """A row for each outcome; the speedup is over the first one that could be measured."""
    rows = [
        [
            "schedule",
            "regions",
            "cycles",
            "speedup",
            "firings",
            "operations",
            "bytes read",
            "written",
            "result",
        ]
    ]
    off_chip = any(o.measure and o.measure.bytes_moved is not None for o in outcomes)
    if off_chip:
        rows[0].insert(-1, "moved off chip")
    first = next((o.measure for o in outcomes if o.measure), None)
    for outcome in outcomes:
        m = outcome.measure
        if m is None or first is None:
            rows.append([str(outcome.choice), *[""] * (len(rows[0]) - 2), f"refused: {outcome.refusal}"])
            continue
        numbers = [m.firings, m.operations, int(m.bytes_read), int(m.bytes_written)]
        if off_chip:
            numbers.append(m.bytes_moved or 0)
        rows.append(
            [
                str(outcome.choice),
                str(m.regions),
                f"{m.cycles:,}",
                f"{first.cycles / m.cycles:.2f}",
                *(f"{n:,}" for n in numbers),
                verdict(m.checked, m.unproved),
            ]
        )
    return rows
