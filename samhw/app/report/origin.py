"""How what a page shows came about."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from samhw.version import __version__

__all__ = ["Origin", "origin"]


@dataclass(frozen=True)
class Origin:
    """The command, the versions and the date of what is reported."""

    command: str
    """What was typed; empty for a call from Python."""
    versions: Mapping[str, str]
    """Of what the figures follow from, by name."""
    date: str
    """When it was made: day and time of UTC, as ISO 8601 has them."""

    def to_json(self) -> dict[str, Any]:
        """Its fields as they stand in a report."""
        return {"command": self.command, "versions": dict(self.versions), "date": self.date}


def origin(command: str = "") -> Origin:
    """That of what is reported now; `command` is what was typed."""
    versions = {
        "samhw": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    return Origin(command, versions, datetime.now(UTC).isoformat(timespec="seconds"))
