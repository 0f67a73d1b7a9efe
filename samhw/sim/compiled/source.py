"""A function with all that it closes over, as the text of a module of its own, for Numba to compile.

Numba can keep what it compiled only for functions in files, and tells whether it is still good by the file
alone. A module that holds a function with everything the function calls is therefore good for ever under a
name made from its text.
"""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from enum import IntEnum
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

__all__ = ["Untranslatable", "function_key", "module_text"]

JIT = "@njit(error_model='numpy', forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)"


class Untranslatable(Exception):
    """A function closes over something that compiled code cannot have; the message says what."""


def function_key(function: FunctionType) -> Any:
    """Equal for functions that give the same text: closures made by one factory from equal values.

    Good as long as one of the functions with this key lives.
    """
    cells = tuple(_value_key(cell.cell_contents) for cell in function.__closure__ or ())
    return function.__code__, id(function.__globals__), cells


def _value_key(value: Any) -> Any:
    if isinstance(value, FunctionType):
        return function_key(value)
    return value.tobytes() if isinstance(value, np.ndarray) else value


def module_text(
    function: FunctionType, main: str, given: Mapping[str, Any], stand_ins: Mapping[Any, str]
) -> str:
    """The text of a module that defines the function and what it needs.

    Args:
        main: decorator of the function itself.
        given: what the module's head imports, by name.
        stand_ins: names that the module's head imports, by the function that each is to be called for.

    The function is called `main` there.

    Raises:
        Untranslatable: for a value that is not an integer, a function, an int64 table or a tuple of those.
    """
    module = _Module(given, stand_ins)
    lines, definition = module.parts_of(function)
    definition.name = "main"
    # Not inside a function as the others are: Numba cannot keep closures over compiled functions.
    return "\n".join([*module.parts, *lines, "", main, ast.unparse(definition), ""])


class _Module:
    def __init__(self, given: Mapping[str, Any], stand_ins: Mapping[Any, str]):
        self.given = given
        self.stand_ins = stand_ins
        self.parts: list[str] = []
        self.names: dict[str, str] = {}
        """Of functions, by their text."""

    def define(self, function: FunctionType) -> str:
        """Writes a function down, unless the same is there already; gives its name in the module."""
        lines, definition = self.parts_of(function)
        whole = [*lines, JIT, ast.unparse(definition), f"return {definition.name}"]
        body = textwrap.indent("\n".join(whole), "    ")
        if body not in self.names:
            name = self.names[body] = f"{definition.name}_{len(self.names)}"
            self.parts.append(f"def make_{name}():\n{body}\n\n{name} = make_{name}()\n")
        return self.names[body]

    def parts_of(self, function: FunctionType) -> tuple[list[str], ast.FunctionDef]:
        """Assignments to the names that a function takes from outside, and its definition."""
        definition = _definition(function)
        values = _outer_values(function, definition)
        _Constants(values).visit(definition)
        free = {node.id for node in ast.walk(definition) if isinstance(node, ast.Name)}
        lines = []
        for name in sorted(free & set(values)):
            if self.given.get(name) is not values[name]:
                lines.append(f"{name} = {self.express(values[name], f'{function.__qualname__}: {name}')}")
        return lines, definition

    def express(self, value: Any, where: str) -> str:
        """An expression for a value that a function refers to."""
        if isinstance(value, FunctionType):
            return self.stand_ins.get(value) or self.define(value)
        if isinstance(value, BuiltinFunctionType) and value.__module__ == "math":
            return f"math.{value.__name__}"
        if isinstance(value, bool):
            return repr(value)
        if isinstance(value, int):
            return repr(int(value))
        if isinstance(value, tuple):
            return "(" + "".join(f"{self.express(item, where)}, " for item in value) + ")"
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.int64:
            return f"np.array({value.tolist()})"
        raise Untranslatable(f"{where} is {value!r}")


def _definition(function: FunctionType) -> ast.FunctionDef:
    """The definition, without what only readers need."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except OSError as error:
        raise Untranslatable(f"there is no source of {function.__qualname__}") from error
    statement = ast.parse(source).body[0]
    if not isinstance(statement, ast.FunctionDef):
        raise Untranslatable(f"{function.__qualname__} is not made by def")
    statement.decorator_list = []
    statement.returns = None
    for argument in statement.args.args:
        argument.annotation = None
    if ast.get_docstring(statement) is not None:
        del statement.body[0]
    return statement


def _outer_values(function: FunctionType, definition: ast.FunctionDef) -> dict[str, Any]:
    """What the names mean that the definition does not define."""
    code = function.__code__
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    closure = dict(zip(code.co_freevars, cells, strict=True))
    names = {node.id for node in ast.walk(definition) if isinstance(node, ast.Name)}
    outer = names - set(code.co_varnames) - set(closure)
    return closure | {name: function.__globals__[name] for name in outer if name in function.__globals__}


class _Constants(ast.NodeTransformer):
    """Writes members of enumerations as numbers."""

    def __init__(self, values: Mapping[str, Any]):
        self.values = values

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name):
            owner = self.values.get(node.value.id)
            if isinstance(owner, type) and issubclass(owner, IntEnum):
                return ast.Constant(int(owner[node.attr]))
        return node
