"""`samhw compare`."""

import sys
from collections.abc import Iterator, Mapping, Sequence

import click
from rich.console import Console

from samhw.app.checking import Known, Outcome
from samhw.app.checking import compare as compare_all
from samhw.app.cli.backends import CLOCK
from samhw.app.cli.memory import memory_options, off_chip_memory
from samhw.app.cli.numbers import load_arch, split_words
from samhw.app.cli.options import (
    ARCH,
    data_option,
    load_schedule,
    say_notes,
)
from samhw.app.cli.output import OUTPUT, print_json, print_table
from samhw.app.cli.pages import report_option, write_results
from samhw.app.cli.pictures import plot_option, write_plot
from samhw.app.cli.programs import complete_programs
from samhw.app.cli.progress import follow, warn_before
from samhw.app.report.comparison import Comparison
from samhw.app.report.time import beside
from samhw.app.workload import Workload, bind_program
from samhw.choices.schedule import (
    FUSION_LEVELS,
    FUSION_RULES,
    ITERATIONS,
    MODULE,
    Schedule,
    every,
    parse_order,
    regions_of,
    with_words,
)
from samhw.compiler import AUTO, asked_type
from samhw.compiler.search import in_modules
from samhw.errors import InputError
from samhw.lang.brackets import apply_brackets

__all__ = ["compare"]


@click.command()
@click.argument("program", shell_complete=complete_programs)
@click.option(
    "--schedule",
    "files",
    multiple=True,
    metavar="FILE",
    help="Schedules to compare; the following options override them.",
)
@click.option(
    "--fuse",
    metavar="LEVEL,..",
    help="Levels of fusion; without --schedule by default none,partial,full; of a module of PyTorch "
    "none,module,full.",
)
@click.option("--iteration", metavar="SPACE,..", help="factored (the default), global, or both.")
@click.option(
    "--order",
    "orders",
    multiple=True,
    metavar="i,k,j",
    help="Orders of the indices, for the levels that are one region.",
)
@click.option(
    "--lanes",
    metavar="1,i=4,i=4+j=2",
    help="Lanes, as for run, with commas between what is compared; 1 is one lane.",
)
@click.option(
    "--split",
    "splits",
    multiple=True,
    metavar="A=none,hyb(1,2),..",
    help="Rules that split A, with commas between what is compared; once for each tensor.",
)
@click.option(
    "--partial-sums",
    metavar="auto,none,T+U",
    help="The results whose terms over parts are stored, as for run, with commas between what is compared.",
)
@click.option(
    "--permute-rows",
    "row_orders",
    multiple=True,
    metavar="A=none,by length,..",
    help="Orders of the rows of A, with commas between what is compared; once for each tensor.",
)
@click.option(
    "--share",
    metavar="auto,none,T=buffer+U=store",
    help="What uses of an intermediate share, as for run, with commas between what is compared.",
)
@click.option(
    "--permute/--no-permute", default=None, help="Copy what is stored against an order, as for run."
)
@click.option("--value", default=AUTO, show_default=True, metavar="TYPE", help="Value type, as for run.")
@data_option("As for run.")
@ARCH
@click.option("--json", "json_target", type=OUTPUT, metavar="FILE|-", help="Write the result as JSON.")
@memory_options
@click.option("--clock", type=CLOCK, metavar="NMHz|Nns", help="Say how long the cycles take, as for run.")
@plot_option("Draw cycles and bytes as bars")
@report_option
def compare(
    program: str,
    files: Sequence[str],
    fuse: str | None,
    iteration: str | None,
    orders: Sequence[str],
    lanes: str | None,
    splits: Sequence[str],
    partial_sums: str | None,
    row_orders: Sequence[str],
    share: str | None,
    permute: bool | None,
    value: str,
    data: Sequence[str],
    arch: str | None,
    json_target: str | None,
    memory: str | None,
    off_chip: str | None,
    clock: float | None,
    plot: str | None,
    report: str | None,
) -> None:
    """Simulate PROGRAM under every combination of schedules and compare cost.

    A level of fusion with several regions is measured once, with the orders of its own statements; one that
    fuses nothing, with one way to share. Schedules that are compiled to the same design have one row.
    """
    levels = _choices("--fuse", fuse, (*FUSION_LEVELS, *FUSION_RULES))
    spaces = _choices("--iteration", iteration, ITERATIONS)
    dram = None
    bases = []
    for file in files or (None,):
        dram, base = off_chip_memory(memory, off_chip, load_schedule(file))
        bases.append(with_words(base, {"permute": permute}))
    dram, period = beside(dram, clock)
    asked = asked_type(value)
    workload = bind_program(program, data, value=asked)
    say_notes(workload)
    kind = workload.value(asked)
    if not files:
        # The regions of a module as they are imported are its statements.
        levels = levels or (list(FUSION_LEVELS) if workload.scopes is None else ["none", MODULE, "full"])
    axes = {
        "fuse": levels,
        "iteration": spaces,
        "order": orders,
        "lanes": lanes.split(",") if lanes else [],
        "share": share.split(",") if share else [],
        **_by_tensor("split", splits),
        "partial_sums": partial_sums.split(",") if partial_sums else [],
        **_by_tensor("permute_rows", row_orders),
    }
    schedules = [schedule for base in bases for schedule in _combined(workload, base, axes)]
    if orders and not any(s.order in [parse_order(order) for order in orders] for s in schedules):
        where = ",".join(levels) or "each of these schedules"
        raise InputError(
            f"--order is for one region, but '{program}' has several at {where}; add '--fuse full', "
            "or write the orders into the program."
        )
    warn_before([workload], times=len(schedules))
    latencies = load_arch(arch or "samhw")
    outcomes: list[Outcome] = []
    known: list[Known] = []
    for number, schedule in enumerate(schedules, 1):
        with follow(f"{schedule} ({number} of {len(schedules)})") as progress:
            options = {"memory": dram, "progress": progress}
            outcomes += compare_all(workload, [schedule], value=kind, arch=latencies, known=known, **options)
    where = ""
    if dram:
        everything = all(schedule.off_chip is None for schedule in schedules)
        where = f"{off_chip or ('all tensors' if everything else 'tensors')} in {dram.name}"
    found = Comparison(program, workload.name, kind.name, tuple(outcomes), period, where)
    _show(found, json_target, plot, report)
    if not found.good:
        sys.exit(1)


def _show(found: Comparison, json_target: str | None, plot: str | None, report: str | None) -> None:
    """Prints what was found, and writes what was asked for."""
    if json_target:
        print_json(json_target, found.to_json())
    if json_target != "-":
        print_table(Console(), found.grid(), title=found.title)
        for number, refusal in enumerate(found.refusals, 1):
            click.echo(f"  refused {number}: {refusal}")
    if plot:
        from samhw.app.report.comparison_plot import plot_comparison

        write_plot(plot, lambda: plot_comparison(found))
    if report:
        from samhw.app.report.comparison_page import comparison_results

        write_results(report, lambda: comparison_results(found), quiet=json_target == "-")


def _combined(workload: Workload, base: Schedule, axes: Mapping[str, Sequence[str]]) -> Iterator[Schedule]:
    """Every combination, with the fields of `base` where an axis has no choices, or would make no difference
    at a level of fusion."""
    for words in _every(axes, "fuse", "iteration"):
        schedule = with_words(base, words)
        program = apply_brackets(workload.program, schedule.brackets)
        regions = regions_of(program, in_modules(schedule, workload.program, workload.scopes).fuse)
        fuses = any(len(region.statements) > 1 for region in regions)
        matters = {"order": len(regions) == 1, "lanes": True, "share": fuses, "partial_sums": True}
        by_tensor = [name for name in axes if "." in name]
        inside = _every(axes, *(name for name, does in matters.items() if does), *by_tensor)
        yield from (with_words(schedule, words) for words in inside)


def _every(axes: Mapping[str, Sequence[str]], *names: str) -> Iterator[dict[str, str]]:
    return every({name: axes[name] for name in names if axes[name]})


def _by_tensor(field: str, options: Sequence[str]) -> dict[str, list[str]]:
    """The choices that options give for each tensor, such as A=none,rows(4)."""
    found: dict[str, list[str]] = {}
    for option in options:
        tensor, equals, words = (part.strip() for part in option.partition("="))
        if not equals or f"{field}.{tensor}" in found:
            raise InputError(
                f"--{field.replace('_', '-')} '{option}': give each tensor its choices once, as in A=none,.. "
                "with commas between."
            )
        found[f"{field}.{tensor}"] = split_words(words)
    return found


def _choices(option: str, text: str | None, names: Sequence[str]) -> list[str]:
    """What stands between the commas of an option."""
    chosen = text.split(",") if text else []
    for name in chosen:
        if name not in names:
            raise InputError(f"{option} {name}: there is no such choice; name some of {', '.join(names)}.")
    return chosen
