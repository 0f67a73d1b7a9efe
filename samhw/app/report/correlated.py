"""Simulator and RTL, as texts by rows: the command line prints it, and its page shows it."""

from collections.abc import Mapping, Sequence
from typing import Any

from samhw.app.checking import Verdict
from samhw.targets.backends import find_backend

__all__ = ["correlation_grid"]


def correlation_grid(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Headings, and a row for each of the `kernels` of `Correlation.to_json`."""
    others = list(rows[0].get("others", {})) if rows else []
    titles = [f"{find_backend(name).label} cycles" for name in others]
    grid = [["program", "data", "value", "model cycles", "RTL cycles", *titles, "difference", "results"]]
    for row in rows:
        model, hardware = row["model_cycles"], [row["rtl_cycles"], *(row["others"][name] for name in others)]
        words = Verdict(row["result"]).in_words(row["unproved"])
        cycles = [f"{count:,}" for count in (model, *hardware)]
        furthest = max((count - model for count in hardware), key=abs)
        grid.append([row["name"], row["data"], row["value"], *cycles, str(furthest), words])
    return grid
