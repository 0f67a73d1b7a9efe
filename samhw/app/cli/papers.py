"""The command line's `samhw papers`."""

import os
from collections import Counter
from pathlib import Path

import click

from samhw.app.cli.command import Command
from samhw.app.cli.printed import command_line
from samhw.app.cli.progress import line
from samhw.app.papers import NAMES, load_papers
from samhw.app.papers.figure import Setting
from samhw.app.papers.run_papers import chosen_figures, run_figures
from samhw.app.report.run_report import origin
from samhw.app.sweep import Shard, State
from samhw.errors import InputError

__all__ = ["papers"]


@click.command(cls=Command)
@click.argument("name", type=click.Choice([*NAMES, "all"]))
@click.option("--figure", metavar="N", help="One figure, as 12 or 'table 4'.")
@click.option("--quick", is_flag=True, help="Small sizes: all figures in minutes.")
@click.option(
    "-o",
    "--output",
    default="papers",
    show_default=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Where page, plots and results go.",
)
@click.option(
    "--folder",
    default=lambda: os.environ.get("SAMHW_DATA"),
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Where data sets lie, as cora.npz; by default SAMHW_DATA. Others have stand-ins.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; by default one for each processor.")
@click.option("--scheduler", metavar="ADDRESS", help="Measure on the cluster of a Dask scheduler.")
@click.option("--shard", metavar="N/COUNT", help="Measure one part; without it, all parts in DIR are used.")
def papers(
    name: str,
    figure: str | None,
    quick: bool,
    output: Path,
    folder: Path | None,
    jobs: int | None,
    scheduler: str | None,
    shard: str | None,
) -> None:
    """Measure the figures of papers, beside the papers' own numbers.

    NAME is a paper, or all. What is measured is kept in DIR: the same command goes on where the last one
    ended, and a second call takes seconds.
    """
    if scheduler and jobs is not None:
        raise InputError("--jobs is for this machine, and --scheduler for a cluster; give one of them.")
    part = None if shard is None else Shard.parse(shard)
    words = ["--quick"] if quick else []
    chosen = chosen_figures(load_papers(name), figure)
    with line("papers", "{task.completed:.0f} of {task.total} points") as shown:

        def progress(state: State) -> None:
            shown.show(state.done, state.total, f"{state.reused} from journals" if state.reused else "")

        found = run_figures(
            chosen,
            Setting(quick, folder),
            output,
            words=words,
            jobs=jobs,
            scheduler=scheduler,
            shard=part,
            progress=progress,
        )
    if part is not None:
        click.echo(f"part {part.number} of {part.count}: {output}")
        return
    from samhw.app.papers.pages import write_papers  # Matplotlib takes half a second to be imported.

    path = write_papers(output, found, origin(command_line()), words)
    counts = Counter(row["result"] for one in found for row in one.result.rows)
    said = ", ".join(f"{number} {status}" for status, number in counts.most_common())
    click.echo(f"{len(found)} figures: {said}; {path}")
    if counts["wrong"] or counts["crashed"] or counts["failed"]:
        raise SystemExit(1)
