"""Drawings of designs, laid out by Graphviz."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence

from samhw.errors import InputError, RunError
from samhw.graph.design import Design
from samhw.graph.dot import to_dot

__all__ = ["DRAWINGS", "draw", "draw_text", "to_svg"]

DRAWINGS = ("svg", "png", "pdf")
"""The forms in which Graphviz draws a design."""

# In a process of its own: the library prints what it likes, and cannot be interrupted.
_PYGRAPHVIZ = (
    "import sys, pygraphviz; "
    "drawing = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode()); "
    "sys.stdout.buffer.write(drawing.draw(format=sys.argv[1], prog='dot'))"
)


def draw(design: Design, form: str) -> bytes:
    """The drawing of a design in one of `DRAWINGS`; raises as `draw_text` does."""
    return draw_text(to_dot(design), form)


def draw_text(text: str, form: str) -> bytes:
    """What a text in the DOT language draws, in one of `DRAWINGS`, by Graphviz's program `dot`, or else by
    the package `pygraphviz`, which brings Graphviz with it.

    Raises:
        InputError: if neither is installed, or the package lacks a library of the system.
        RunError: if it fails.
    """
    run = subprocess.run(_drawer(form), input=text.encode(), capture_output=True, check=False)
    if run.returncode != 0:
        reason = run.stderr.decode(errors="replace").strip()
        if "ImportError: " in reason:
            missing = reason.rpartition("ImportError: ")[2]
            raise InputError(
                f"The package 'pygraphviz' cannot be loaded ({missing}); install Graphviz's program 'dot' "
                "(package 'graphviz'), or write DOT text, as to graph.dot."
            )
        raise RunError(f"The program 'dot' failed: {reason}; write DOT text instead.")
    return run.stdout


def _drawer(form: str) -> Sequence[str]:
    """The command that draws DOT text."""
    if program := shutil.which("dot"):
        return [program, f"-T{form}"]
    if importlib.util.find_spec("pygraphviz"):
        return [sys.executable, "-c", _PYGRAPHVIZ, form]
    raise InputError(
        f"Drawing {form.upper()} needs Graphviz; install its program 'dot' (package 'graphviz'), or run pip "
        "install 'samhw[graph]', or write DOT text, as to graph.dot."
    )


def to_svg(design: Design) -> str:
    """The drawing as SVG; raises as `draw` does."""
    return draw(design, "svg").decode()
