"""Programs that live in a user's Python file."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from samhw.errors import InputError
from samhw.lang.check import check_program
from samhw.lang.program import Program
from samhw.lang.python_form import ProgramBuilder
from samhw.script import Script
from samhw.words import did_you_mean

__all__ = ["Example", "MlirFile", "Named", "OnnxFile", "load_object", "name_one_of"]

_MEND = (
    "name a Program or ProgramBuilder that it defines, or a function that gives a torch.nn.Module, or a "
    "function of nested lists, and its arguments"
)


@dataclass(frozen=True)
class Example:
    """A user's function that gives a module of PyTorch, or a function of nested lists, and its example
    arguments."""

    function: Callable[[], object]
    script: Script
    """The file that it is from."""


@dataclass(frozen=True)
class MlirFile:
    """A file in MLIR, and which of its functions is meant; None for the only one."""

    path: str
    function: str | None = None


@dataclass(frozen=True)
class OnnxFile:
    """A file in ONNX, and the extents of dimensions that it leaves open, by name."""

    path: str
    extents: Mapping[str, int] = field(default_factory=dict)


Named = Program | Example | MlirFile | OnnxFile
"""What a user may name."""


def load_object(spec: str) -> Program | Example:
    """What ``file.py:object`` names: a `Program` or a `ProgramBuilder` at the file's top level, or a function
    that gives a module, or a function of nested lists, and its arguments.

    The file is run (`Script`). Raises InputError when there is no such file or object, when running the file
    fails, or when the program breaks a rule.
    """
    path, _, name = spec.rpartition(":")
    if not (path and name):
        raise InputError(f"'{spec}' does not name an object in a Python file; write it as file.py:object")
    script = Script(path)
    objects = script.objects()
    if name not in objects:
        meant = did_you_mean(name, _usable(objects))
        raise InputError(f"'{path}' has no object '{name}'{meant}; {_say_usable(path, objects)}")
    found = objects[name]
    if isinstance(found, ProgramBuilder):
        return found.program()
    if _is_function(found):
        return Example(script.function(found), script)
    if not isinstance(found, Program):
        raise InputError(f"'{spec}' is of type {type(found).__name__}; {_MEND}")
    check_program(found)
    return found


def name_one_of(path: str) -> str:
    """What a user is to name of a Python file, which is run as `load_object` does."""
    return _say_usable(path, Script(path).objects())


def _say_usable(path: str, objects: Mapping[str, object]) -> str:
    found = [f"{path}:{name}" for name in _usable(objects)]
    return f"name what to take of it: {', '.join(found)}" if found else _MEND


def _usable(objects: Mapping[str, Any]) -> list[str]:
    """The names of a file's programs, and of its own functions that take no arguments."""
    return [
        name
        for name, found in objects.items()
        if not name.startswith("_")
        and (isinstance(found, Program | ProgramBuilder) or (_is_function(found) and _is_own(found, objects)))
    ]


def _is_function(found: object) -> bool:
    # A module of PyTorch is callable too.
    return callable(found) and not isinstance(found, type) and not hasattr(found, "forward")


def _is_own(function: Callable[..., object], objects: Mapping[str, object]) -> bool:
    """Whether a function is of the file that has these objects, and can be called without arguments."""
    imported = getattr(function, "__module__", None) != objects["__name__"]
    if not isinstance(function, functools.partial) and (not inspect.isfunction(function) or imported):
        return False
    return all(
        p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        for p in inspect.signature(function).parameters.values()
    )
