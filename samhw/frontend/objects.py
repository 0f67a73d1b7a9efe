"""Programs that live in a user's Python file."""

import os
import runpy
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

from samhw.errors import InputError
from samhw.frontend.build import ProgramBuilder
from samhw.frontend.check import check_program
from samhw.frontend.program import Program

__all__ = ["Example", "load_object"]


Example = Callable[[], Any]
"""A user's function that gives a module of PyTorch and its example arguments."""


def load_object(spec: str) -> Program | Example:
    """What ``file.py:object`` names: a `Program` or a `ProgramBuilder` at the file's top level, or a function
    that gives a module and its arguments, as it is.

    The file is run, with its folder on the import path as for ``python file.py``. Raises InputError when
    there is no such file or object, when running the file fails, or when the program breaks a rule.
    """
    path, _, name = spec.rpartition(":")
    if not (path and name):
        raise InputError(f"'{spec}' does not name an object in a Python file; write it as file.py:object")
    objects = _run(path)
    if name not in objects:
        raise InputError(
            f"'{path}' has no object '{name}'; name a Program or ProgramBuilder that it defines, or a "
            "function that gives a torch.nn.Module and its arguments"
        )
    found = objects[name]
    if isinstance(found, ProgramBuilder):
        return found.program()
    if isinstance(found, FunctionType):
        return found
    if not isinstance(found, Program):
        raise InputError(
            f"'{spec}' is of type {type(found).__name__}; name a Program or ProgramBuilder, or a function "
            "that gives a torch.nn.Module and its arguments"
        )
    check_program(found)
    return found


def _run(path: str) -> dict[str, Any]:
    """The global names of a Python file, once it has run."""
    if not os.path.isfile(path):  # Which takes any text, as Path.is_file does not.
        raise InputError(f"there is no file '{path}'; check the path")
    import_path = list(sys.path)
    sys.path.insert(0, str(Path(path).parent))
    try:
        return runpy.run_path(path)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{_place(path, error)}: {type(error).__name__}: {error}; mend the file") from error
    finally:
        sys.path[:] = import_path


def _place(path: str, error: BaseException) -> str:
    """The line of the user's file that failed, as ``path:line``."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"{path}:{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f"{path}:{lines[-1]}" if lines else path
