"""Programs that live in a user's Python file."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from samhw.errors import InputError
from samhw.frontend.build import ProgramBuilder
from samhw.frontend.check import check_program
from samhw.frontend.program import Program
from samhw.script import Script

__all__ = ["Example", "load_object"]

_MEND = (
    "name a Program or ProgramBuilder that it defines, or a function that gives a torch.nn.Module and its "
    "arguments"
)


@dataclass(frozen=True)
class Example:
    """A user's function that gives a module of PyTorch and its example arguments."""

    function: Callable[[], Any]
    script: Script
    """The file that it is from."""


def load_object(spec: str) -> Program | Example:
    """What ``file.py:object`` names: a `Program` or a `ProgramBuilder` at the file's top level, or a function
    that gives a module and its arguments.

    The file is run (`Script`). Raises InputError when there is no such file or object, when running the file
    fails, or when the program breaks a rule.
    """
    path, _, name = spec.rpartition(":")
    if not (path and name):
        raise InputError(f"'{spec}' does not name an object in a Python file; write it as file.py:object")
    script = Script(path)
    objects = script.objects()
    if name not in objects:
        raise InputError(f"'{path}' has no object '{name}'; {_MEND}")
    found = objects[name]
    if isinstance(found, ProgramBuilder):
        return found.program()
    # A module is callable too.
    if callable(found) and not isinstance(found, type) and not hasattr(found, "forward"):
        return Example(script.function(found), script)
    if not isinstance(found, Program):
        raise InputError(f"'{spec}' is of type {type(found).__name__}; {_MEND}")
    check_program(found)
    return found
