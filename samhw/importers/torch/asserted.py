"""Assertions in the source of a module: what they say of data is taken to hold."""

import ast
import linecache
from functools import lru_cache
from pathlib import Path
from types import FrameType

import torch

__all__ = ["is_asserted"]

_PASSED_BY = Path(torch.__file__).parent


def is_asserted(frame: FrameType | None) -> bool:
    """Whether the innermost call outside of PyTorch stands in an `assert` statement."""
    while frame is not None and _PASSED_BY in Path(frame.f_code.co_filename).parents:
        frame = frame.f_back
    if frame is None:
        return False
    lines = _asserted_lines(frame.f_code.co_filename)
    return any(frame.f_lineno in statement for statement in lines)


@lru_cache(64)
def _asserted_lines(file: str) -> tuple[range, ...]:
    """The lines of the assertions in a file of Python."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ()
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    return tuple(range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in found)
