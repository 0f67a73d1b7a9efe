"""A sweep: what the journal lacks is measured, and a table of everything is written."""

import csv
import importlib.util
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import samhw
from samhw.app.checking.measure import Measure
from samhw.app.sweep.configuration import COLUMNS, Configuration
from samhw.app.sweep.journal import Journal, Shard
from samhw.app.sweep.outcome import AGAIN, Outcome
from samhw.app.sweep.workers import CONFIGURATIONS, Task, TaskKind, run_locally, run_on_cluster
from samhw.choices.schedule import CHOICES
from samhw.errors import InputError, InterruptedWorkError

__all__ = ["Row", "State", "check_suffix", "journal_of", "measure_all", "row_of", "sweep", "write_table"]

# The table of a sweep, as CSV or Parquet: a row for each configuration.


Row = dict[str, Any]
"""Values by column; a column that is missing is empty."""

_TYPES: dict[object, str] = {int: "int64", int | None: "int64", float: "float64", bool: "bool", str: "string"}

_MEASURED = {
    field.name: _TYPES[field.type] for field in fields(Measure) if field.name not in ("status", "seconds")
}
"""The types of the columns of a measure. Its result is the `status`; its seconds differ from run to run, and
equal sweeps have equal tables."""
_FIXED = {
    **{one.name: _TYPES[one.kind] for one in CHOICES if one.kind is not str},
    "depth": "int64",
    **_MEASURED,
}
"""The types of the columns that are neither text nor settings of `Arch`."""


def check_suffix(path: Path) -> None:
    """Raises `InputError` for a table that could not be written in the end."""
    if path.suffix not in (".csv", ".parquet"):
        raise InputError(f"{path} is no table; give it the suffix .csv or .parquet.")
    if path.suffix == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise InputError(
            "Parquet needs pyarrow; install it with pip install 'samhw[parquet]', or write .csv."
        )


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Writes rows to a file, which is the old one until it is the whole new one.

    Raises:
        InputError: if it cannot be written.
    """
    check_suffix(path)
    names = _columns(rows)
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = Path(file.name)
        try:
            (_write_csv if path.suffix == ".csv" else _write_parquet)(temporary, names, rows)
            # As a file that is simply opened would have it: mkstemp lets nobody else read.
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"Cannot write {path} ({error.strerror}); choose another place.") from None


def _columns(rows: Sequence[Row]) -> list[str]:
    """Axes first, then what was measured; the same for any rows but for orders, formats and settings."""
    tables = [
        name
        for table in (
            "order.",
            "formats.",
            "brackets.",
            "split.",
            "permute_rows.",
            "deal.",
            "place.",
            "arch.",
        )
        for name in dict.fromkeys(name for row in rows for name in row if name.startswith(table))
    ]
    return [*COLUMNS, *tables, "status", *_MEASURED, "error", "samhw", "key"]


def _write_csv(path: Path, names: Sequence[str], rows: Sequence[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def _write_parquet(path: Path, names: Sequence[str], rows: Sequence[Row]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def kind(name: str) -> str | None:
        """Of a setting it follows from the values."""
        return None if name.startswith("arch.") else _FIXED.get(name, "string")

    columns = {name: pa.array([row.get(name) for row in rows], kind(name)) for name in names}
    pq.write_table(pa.table(columns), path)


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
