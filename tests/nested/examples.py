"""The functions of `examples/nested`, as tests import them."""

import runpy
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "examples" / "nested"


def example(name: str) -> dict[str, Any]:
    """What a file of the folder defines."""
    return runpy.run_path(str(FOLDER / f"{name}.py"))
