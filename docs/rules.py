"""Makes docs/primitives.md of the rules that lie beside the primitives, `samhw/primitives/<folder>/rule.md`.

A rule is a text in which the firings of an actor are a block of rows:

    ```firings ACTOR
    head | condition | firing
    STOP(lo, hi) | lo == 0 and open | take(); push(STOP(0, hi + 1)); open = False
    ```

Cells are Python, which the proofs (`tests/formal`) read as it stands; the page has them in signs. A cell of a
head is a pattern, which may give names to what it meets; an empty one does not look at the head. A condition
is an expression. A firing has statements, with semicolons between them.

Usage, from the repository's root: python -m docs.rules
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from samhw.primitives import FOLDER

__all__ = ["FOLDERS", "PAGE", "Firings", "firings", "made"]

PAGE = Path(__file__).with_name("primitives.md")

FOLDERS = (
    *("root", "step_ref", "walk", "scan_dense", "scan_compressed", "scan_singleton", "scan_ell"),
    *("scan_ragged", "scan_dia", "hold", "repeat", "crd_hold", "locate", "pick", "shift", "lanes", "scatter"),
    *("gather", "intersect", "union", "array", "alu", "matmul", "fold", "reduce_scalar", "running", "recur"),
    *("last", "arg", "top_k", "reduce_vector", "recur_vector", "drop_crd", "drop_val", "write_compressed"),
    *("write_dense", "write_val", "write_at"),
)
"""Those with a rule, in the order of the page."""

_BLOCK = re.compile(r"^```firings ?(.*)\n((?:.+\n)+?)```\n", re.MULTILINE)

_SIGNS = {
    " == ": " = ",
    " != ": " ≠ ",
    " >= ": " ≥ ",
    " <= ": " ≤ ",
    " and ": ", ",
    " % ": " mod ",
    " * ": " · ",
    " + ": "+",
    " - ": "−",
    "True": "true",
    "False": "false",
}
"""How the page writes what Python has; after an assignment has become one."""


@dataclass(frozen=True)
class Firings:
    """The rows of an actor, cell by cell; the last cell is the firing.

    Attributes:
        columns: what the cells are about: the head of a port, by its name, or `condition`.
    """

    columns: Sequence[str]
    rows: tuple[tuple[str, ...], ...]


def firings(folder: str) -> Mapping[str, Firings]:
    """Those of a folder, by the name of the actor, which is empty if there is one alone."""
    return {name: _read(rows) for name, rows in _BLOCK.findall(_text(FOLDER / folder))}


def made() -> str:
    """The page."""
    texts = [_text(folder) for folder in (FOLDER, *(FOLDER / name for name in FOLDERS))]
    return "\n".join(_BLOCK.sub(lambda found: _table(_read(found[2])), text) for text in texts)


def _text(folder: Path) -> str:
    return (folder / "rule.md").read_text(encoding="utf-8")


def _read(block: str) -> Firings:
    columns, *rows = (tuple(cell.strip() for cell in line.split("|")) for line in block.splitlines())
    return Firings(columns[:-1], tuple(rows))


def _table(block: Firings) -> str:
    lines = [
        [*block.columns, "firing"],
        *([*map(_condition, row[:-1]), _firing(row[-1])] for row in block.rows),
    ]
    head, *rest = ("|" + "".join(f" {cell} |" if cell else " |" for cell in line) + "\n" for line in lines)
    return head + "|---" * (len(block.columns) + 1) + "|\n" + "".join(rest)


def _condition(cell: str) -> str:
    return _shown(ast.parse(cell, mode="eval").body) if cell else ""


def _firing(cell: str) -> str:
    return "; ".join(_statement(one) for part in cell.split("; ") if part for one in ast.parse(part).body)


def _statement(statement: ast.stmt) -> str:
    """`push(crd=VAL(c), ref=it)` is `push crd VAL(c), ref it`."""
    match statement:
        case ast.Assign(targets=[target], value=value):
            return f"{_shown(target)} := {_shown(value)}"
        case ast.If(test=test, body=[inner]):
            return f"{_statement(inner)} if {_shown(test)}"
        case ast.For(target=target, iter=ast.Name(id=of), body=[inner]):
            return f"{_statement(inner)}, for {_shown(target)} in {of}"
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=args, keywords=keywords)):
            named = [f"{keyword.arg} {_shown(keyword.value)}" for keyword in keywords]
            return " ".join([name, ", ".join([*map(_shown, args), *named])]).strip()
    raise ValueError(f"{ast.unparse(statement)!r} is no statement of a firing")


def _shown(expression: ast.expr) -> str:
    text = ast.unparse(expression)
    for python, sign in _SIGNS.items():
        text = text.replace(python, sign)
    return text


if __name__ == "__main__":
    PAGE.write_text(made(), encoding="utf-8")
