"""A function's text, and what the names in it mean that it does not define itself."""

import ast
import builtins
import inspect
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from samhw.sim.machine_code.values import Untranslatable

__all__ = ["Definition", "definition_of", "outer_values"]


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
