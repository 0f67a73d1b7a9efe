"""The table of a sweep, as CSV or Parquet: a row for each configuration."""

import csv
import importlib.util
import os
import tempfile
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from samhw.app.checking.measure import Measure
from samhw.app.sweep.configuration import COLUMNS
from samhw.choices.schedule import CHOICES
from samhw.errors import InputError

__all__ = ["Row", "check_suffix", "write_table"]

Row = dict[str, Any]
"""Values by column; a column that is missing is empty."""

_TYPES: dict[object, str] = {int: "int64", int | None: "int64", float: "float64", bool: "bool", str: "string"}

_MEASURED = {
    field.name: _TYPES[field.type] for field in fields(Measure) if field.name not in ("result", "seconds")
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
