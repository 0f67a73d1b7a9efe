"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

__all__ = ["replacing", "temporary_beside"]


def temporary_beside(path: Path) -> Path:
    """An unused, hidden name in the directory of ``path``, so that renaming it stays on one file system."""
    return path.with_name(f".{path.name}.{uuid4().hex}.tmp")


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """An open binary file that becomes ``path`` if the block succeeds, and vanishes if it fails."""
    temporary = temporary_beside(path)
    try:
        with temporary.open("xb") as file:
            yield file
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
