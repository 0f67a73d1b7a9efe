"""Errors that name the line of the user's function that they are about."""

import contextlib
import sys
from pathlib import Path

import numpy as np

from samhw.errors import InputError

__all__ = ["user_error", "user_place"]

_INTERNAL = (str(Path(__file__).parent), str(Path(np.__file__).parent), contextlib.__file__, "<frozen")


def user_place() -> tuple[str, int]:
    """The file and the line, outside of this package and of NumPy, that is being run."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INTERNAL):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def user_error(message: str) -> InputError:
    """`message` with the place that is being run."""
    file, line = user_place()
    return InputError(f"{file}:{line}: {message}")
