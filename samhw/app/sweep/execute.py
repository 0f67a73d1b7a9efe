"""A sweep: what the journal lacks is measured, and a table of everything is written."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import samhw
from samhw.app.sweep.cluster import run_on_cluster
from samhw.app.sweep.configuration import Configuration
from samhw.app.sweep.journal import Journal
from samhw.app.sweep.local import run_locally
from samhw.app.sweep.outcome import AGAIN
from samhw.app.sweep.table import Row, check_suffix, write_table
from samhw.errors import InputError, InterruptedWorkError

__all__ = ["State", "journal_of", "sweep"]


class State(NamedTuple):
    """How far a sweep is, in configurations."""

    done: int
    """Those that were in the journal included."""
    total: int
    reused: int
    """Those that were in the journal."""


def journal_of(output: Path) -> Path:
    """The journal of a table, beside it."""
    return output.with_name(f"{output.name}.journal")


def sweep(
    configurations: Sequence[Configuration],
    output: Path,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[State], None] | None = None,
) -> list[Row]:
    """Measures configurations and writes a table of them.

    Each finished one is noted at once in a journal beside the table. A sweep that is ended, however that
    happens, goes on from there when it is called again; so does one of more or of other configurations.

    Args:
        output: the table, `.csv` or `.parquet`.
        jobs: processes on this machine; by default one for each processor.
        scheduler: address of a Dask scheduler, such as `tcp://host:8786`, whose workers measure instead.
        progress: is told how far the sweep is, first of all and after each configuration.

    Returns:
        The rows of the table, in the order of the configurations.

    Raises:
        InputError: for files that cannot be read or written, and what `run_on_cluster` raises.
        InterruptedWorkError: after Ctrl-C, with the table of all that was finished.
    """
    check_suffix(output)
    if jobs is not None and jobs < 1:
        raise InputError(f"A sweep cannot have {jobs} processes; give at least 1.")
    keyed = [(configuration.key(), configuration) for configuration in configurations]
    # Those whose results are equal by definition, such as with a setting that is the default, run once.
    keys = dict(keyed)
    with Journal(journal_of(output)) as journal:

        def rows() -> list[Row]:
            return [_row(key, c, journal) for key, c in keyed if key in journal.outcomes]

        tasks = [
            (key, configuration)
            for key, configuration in keys.items()
            if key not in journal.outcomes or journal.outcomes[key]["status"] in AGAIN
        ]
        done = reused = len(keys) - len(tasks)
        if progress:
            progress(State(done, len(keys), reused))
        outcomes = run_on_cluster(tasks, scheduler) if scheduler and tasks else run_locally(tasks, jobs)
        try:
            with closing(outcomes):
                for key, outcome in outcomes:
                    journal.append(key, keys[key], outcome)
                    done += 1
                    if progress:
                        progress(State(done, len(keys), reused))
        except KeyboardInterrupt:
            raise InterruptedWorkError(
                f"The sweep was interrupted with {len(rows())} of {len(keyed)} configurations done; the same "
                "command goes on from there."
            ) from None
        finally:
            if found := rows():
                write_table(output, found)
        return found


def _row(key: str, configuration: Configuration, journal: Journal) -> Row:
    return {**configuration.columns(), **journal.outcomes[key], "samhw": samhw.__version__, "key": key}
