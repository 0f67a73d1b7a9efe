"""What the code of a function depends on: its text, and what the names in it mean that it does not define
itself; all of it as one number, the same in every process, other for other code."""

import ast
import builtins
import hashlib
import inspect
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from sys import implementation
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from samhw.sim.machine_code import intrinsics
from samhw.sim.machine_code.code import machine_name
from samhw.sim.machine_code.expression_values import StandIns, Untranslatable, is_named_tuple
from samhw.sim.machine_code.intrinsics import Record

__all__ = ["definition_of", "fingerprint", "function_key", "functions_apart", "outer_values"]


@dataclass(frozen=True)
class Definition:
    """What is written between `def` and the last line."""

    arguments: tuple[str, ...]
    body: tuple[ast.stmt, ...]
    stored: Mapping[str, int]
    """How many times each name is given a value."""
    looped: Mapping[str, int]
    """Of how many loops each name is the variable."""
    returns: int
    """How many times something is returned."""

    @property
    def ends_with_its_result(self) -> bool:
        """Whether the only `return` is the last statement."""
        return self.returns == 1 and isinstance(self.body[-1], ast.Return)


def definition_of(function: FunctionType) -> Definition:
    """The definition of a function; raises `Untranslatable` if there is no text of it."""
    return _definition(function.__code__)


@cache
def _definition(code: CodeType) -> Definition:
    try:
        source = textwrap.dedent(inspect.getsource(code))
    except OSError as error:
        raise Untranslatable(f"there is no source of {code.co_qualname}") from error
    statement = ast.parse(source).body[0]
    if not isinstance(statement, ast.FunctionDef):
        raise Untranslatable(f"{code.co_qualname} is not made by def")
    nodes = [node for part in statement.body for node in ast.walk(part)]
    stored = Counter(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    looped = Counter(n.target.id for n in nodes if isinstance(n, ast.For) and isinstance(n.target, ast.Name))
    return Definition(
        tuple(argument.arg for argument in statement.args.args),
        tuple(statement.body),
        stored,
        looped,
        sum(isinstance(node, ast.Return) for node in nodes),
    )


def outer_values(function: FunctionType) -> dict[str, Any]:
    """The values of the names that a function uses and does not define."""
    code = function.__code__
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    known = {}
    for name in code.co_names:
        for names in (function.__globals__, vars(builtins)):
            if name in names:
                known[name] = names[name]
                break
    return known | dict(zip(code.co_freevars, cells, strict=True))


def function_key(function: FunctionType) -> object:
    """Equal for functions with the same code: closures made by one factory from equal values.

    Good as long as one of the functions with this key lives.
    """
    cells = tuple(_value_key(cell.cell_contents) for cell in function.__closure__ or ())
    return function.__code__, id(function.__globals__), cells


def _value_key(value: object) -> object:
    if isinstance(value, FunctionType):
        return function_key(value)
    if isinstance(value, tuple):
        # Tuples of other classes may be equal, and have other names for their items.
        return type(value), tuple(map(_value_key, value))
    return value.tobytes() if isinstance(value, np.ndarray) else value


def functions_apart(function: FunctionType, stand_ins: StandIns) -> list[FunctionType]:
    """The functions that the code of a function calls, and does not hold, each after those that it calls."""
    found: dict[FunctionType, None] = {}
    for value in _functions_in(tuple(outer_values(function).values())):
        called = stand_ins.get(value, value)
        assert isinstance(called, FunctionType)
        found |= dict.fromkeys(functions_apart(called, stand_ins))
        if "apart" in called.__dict__:
            found[called] = None
    return list(found)


def _functions_in(values: tuple[object, ...]) -> Iterator[FunctionType]:
    """The functions among some values, and in tuples among them."""
    for value in values:
        if isinstance(value, tuple):
            yield from _functions_in(value)
        elif isinstance(value, FunctionType):
            yield value


def fingerprint(function: FunctionType, stand_ins: StandIns) -> str:
    """The name of the code of a function on this machine.

    It covers the function and all that it refers to, the translator, Python, LLVM and the processor.
    """
    parts = [_translator(), implementation.cache_tag or "", machine_name(), _describe(function, stand_ins)]
    return "samhw_" + hashlib.sha256("\n".join(parts).encode()).hexdigest()[:40]


@cache
def _translator() -> str:
    """The text of this package."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _names_of_items(kind: Any) -> str:
    return str(kind._fields) if is_named_tuple(kind) else ""


def _describe(value: object, stand_ins: StandIns) -> str:
    if isinstance(value, FunctionType) and value.__module__ != intrinsics.__name__:
        function = stand_ins.get(value, value)
        assert isinstance(function, FunctionType)
        code = function.__code__
        outer = {name: _describe(v, stand_ins) for name, v in outer_values(function).items()}
        names = code.co_argcount, code.co_names, code.co_varnames, code.co_freevars
        text = f"{code.co_code.hex()} {code.co_consts} {names} {outer} {sorted(function.__dict__)}"
        return hashlib.sha256(text.encode()).hexdigest()
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        items = ", ".join(_describe(item, stand_ins) for item in value)
        return f"{_names_of_items(type(value))}({items})"
    if isinstance(value, type) and issubclass(value, Record):
        return str(value.FIELDS)
    if isinstance(value, type) and is_named_tuple(value):
        return _names_of_items(value)
    if isinstance(value, type) and issubclass(value, IntEnum):
        return str({member.name: int(member) for member in value})
    if isinstance(value, int | float):
        return repr(value)
    # Functions that the translator knows by name; and what no function in the subset can use.
    return str(getattr(value, "__qualname__", type(value).__qualname__))
