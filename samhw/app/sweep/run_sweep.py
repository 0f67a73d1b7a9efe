"""A sweep: what the journal lacks is measured, and a table of everything is written."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import samhw
from samhw.app.sweep.configuration import Configuration
from samhw.app.sweep.journal import Journal
from samhw.app.sweep.outcome import AGAIN, Outcome
from samhw.app.sweep.shards import Shard
from samhw.app.sweep.sweep_table import Row, check_suffix, write_table
from samhw.app.sweep.workers import CONFIGURATIONS, Task, TaskKind, run_locally, run_on_cluster
from samhw.errors import InputError, InterruptedWorkError

__all__ = ["State", "journal_of", "measure_all", "row_of", "sweep"]


class State(NamedTuple):
    """How far a sweep is, in configurations."""

    done: int
    """Those that were in the journal included."""
    total: int
    reused: int
    """Those that were in the journal."""


def journal_of(output: Path, shard: Shard | None = None) -> Path:
    """The journal of a table, or of a part of it, beside it."""
    part = "" if shard is None else f".{shard.number}-of-{shard.count}"
    return output.with_name(f"{output.name}{part}.journal")


def measure_all(
    tasks: Mapping[str, Task],
    journal: Journal,
    work: TaskKind,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[State], None] | None = None,
) -> None:
    """Measures the tasks that a journal lacks, each of which is noted in it at once.

    Args:
        tasks: by key.
        work: what is done to each.
        jobs, scheduler, progress: as for `sweep`.

    Raises:
        InputError: as `run_on_cluster` does.
        InterruptedWorkError: after Ctrl-C.
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"A sweep cannot have {jobs} processes; give at least 1.")
    left = [
        (key, task)
        for key, task in tasks.items()
        if key not in journal.outcomes or journal.outcomes[key]["status"] in AGAIN
    ]
    done = reused = len(tasks) - len(left)
    if progress:
        progress(State(done, len(tasks), reused))
    found = run_on_cluster(left, scheduler, work) if scheduler and left else run_locally(left, jobs, work)
    try:
        with closing(found):
            for key, outcome in found:
                journal.append(key, tasks[key].to_json(), outcome)
                done += 1
                if progress:
                    progress(State(done, len(tasks), reused))
    except KeyboardInterrupt:
        raise InterruptedWorkError(
            f"The sweep was interrupted with {done} of {len(tasks)} configurations done; the same command "
            "goes on from there."
        ) from None


def sweep(
    configurations: Sequence[Configuration],
    output: Path,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    shard: Shard | None = None,
    progress: Callable[[State], None] | None = None,
) -> list[Row]:
    """Measures configurations and writes a table of them.

    Each finished one is noted at once in a journal beside the table. A sweep that is ended, however that
    happens, goes on from there when it is called again; so does one of more or of other configurations.

    Args:
        output: the table, `.csv` or `.parquet`.
        jobs: processes on this machine; by default one for each processor.
        scheduler: address of a Dask scheduler, such as `tcp://host:8786`, whose workers measure instead.
        shard: the part to measure, whose journal `merge` joins with those of the others; then no table is
            written.
        progress: is told how far the sweep is, first of all and after each configuration.

    Returns:
        The rows of the table, in the order of the configurations.

    Raises:
        InputError: for files that cannot be read or written, and what `run_on_cluster` raises.
        InterruptedWorkError: after Ctrl-C, with the table of all that was finished.
    """
    check_suffix(output)
    keyed = [(configuration.key(), configuration) for configuration in configurations]
    # Those whose results are equal by definition, such as with a setting that is the default, run once.
    tasks = dict(keyed)
    if shard is not None:
        tasks = shard.of(tasks)
    head = None if shard is None else shard.head(keyed)
    with Journal(journal_of(output, shard), head) as journal:

        def rows() -> list[Row]:
            found = journal.outcomes
            return [row_of(key, one, found[key]) for key, one in keyed if key in tasks and key in found]

        try:
            measure_all(tasks, journal, CONFIGURATIONS, jobs=jobs, scheduler=scheduler, progress=progress)
        finally:
            if shard is None and (found := rows()):
                write_table(output, found)
        return rows()


def row_of(key: str, configuration: Configuration, outcome: Outcome) -> Row:
    """The row of a configuration. It has nothing that differs from run to run, such as seconds."""
    figures = {name: figure for name, figure in outcome.items() if name != "seconds"}
    return {**configuration.columns(), **figures, "samhw": samhw.__version__, "key": key}
