"""A program that simulates a design's RTL."""

from dataclasses import dataclass
from pathlib import Path

__all__ = ["BuiltProgram"]


@dataclass(frozen=True)
class BuiltProgram:
    """A built program. `seconds` is what the build took when it was made; `reused` that this was earlier."""

    path: Path
    seconds: float
    reused: bool
