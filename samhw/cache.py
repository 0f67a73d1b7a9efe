"""Where samhw keeps what it has made, for the user's later processes."""

import os
from pathlib import Path

__all__ = ["cache_directory"]


def cache_directory() -> Path:
    """`$SAMHW_CACHE`, else `samhw` in the user's cache folder (`$XDG_CACHE_HOME`, `~/.cache`)."""
    if chosen := os.environ.get("SAMHW_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "samhw"
