"""The evaluations of papers as data: a file for each says what its figures measure, and what the paper has.

`run_papers` measures their points by the engine of sweeps, and `pages` draws them.
"""

from collections.abc import Sequence
from importlib import import_module

from samhw.app.papers.figure import Paper

__all__ = ["NAMES", "load_papers"]

NAMES = ("fuseflow", "redfuser", "sparsetir", "fractaltensor", "tvm")
"""Of the papers, each in a file of its name."""


def load_papers(name: str) -> Sequence[Paper]:
    """The paper of a name, or all of them."""
    names = NAMES if name == "all" else (name,)
    return [getattr(import_module(f"samhw.app.papers.{one}"), one.upper()) for one in names]
