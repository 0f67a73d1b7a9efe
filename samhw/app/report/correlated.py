"""Simulator and RTL, as texts by rows: the command line prints it, and its page shows it."""

from collections.abc import Mapping, Sequence
from typing import Any

from samhw.app.checking import Verdict

__all__ = ["correlation_grid"]


def correlation_grid(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Headings, and a row for each of the `kernels` of `Correlation.to_json`."""
    grid = [["program", "data", "value", "model cycles", "RTL cycles", "difference", "results"]]
    for row in rows:
        model, rtl = row["model_cycles"], row["rtl_cycles"]
        words = Verdict(row["result"]).in_words(row["unproved"])
        grid.append(
            [row["name"], row["data"], row["value"], f"{model:,}", f"{rtl:,}", str(rtl - model), words]
        )
    return grid
