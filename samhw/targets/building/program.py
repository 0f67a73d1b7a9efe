"""A program that simulates a design's RTL, from the build cache."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from samhw.targets.building.cache import cached

__all__ = ["BuiltProgram", "built"]


@dataclass(frozen=True)
class BuiltProgram:
    """A built program. `seconds` is what the build took when it was made; `reused` that this was earlier."""

    path: Path
    seconds: float
    reused: bool


def built(kind: str, key: str, make: Callable[[Path], None]) -> BuiltProgram:
    """The program `simulate` of a cache entry; where there is none, `make` writes it into a folder."""
    begin = time.perf_counter()
    made = False

    def timed(folder: Path) -> None:
        nonlocal made
        made = True
        make(folder)
        (folder / "build.json").write_text(json.dumps({"seconds": time.perf_counter() - begin}))

    folder = cached(kind, key, timed)
    seconds = json.loads((folder / "build.json").read_text())["seconds"]
    return BuiltProgram(folder / "simulate", seconds, not made)
