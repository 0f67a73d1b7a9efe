"""Makes docs/primitives.md of the rules that lie beside the primitives, `samhw/primitives/<folder>/rule.md`.

A rule is a text in which the firings of an actor are rows:

    ```rows ACTOR
    head | condition | firing
    STOP(lo, hi) | lo == 0 and open | take(); push(STOP(0, hi + 1)); open = False
    ```

Cells are Python, which the proofs (`tests/formal`) read as it stands; the page has them in signs. A cell of a
head is a pattern, which may give names to what it meets; an empty one does not look at the head. A firing has
statements, with semicolons between them. All other cells are expressions.

Usage, from the repository's root: python -m docs.rules
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from samhw.primitives import FOLDER

__all__ = ["FOLDERS", "PAGE", "Rows", "made", "rows"]

PAGE = Path(__file__).with_name("primitives.md")

FOLDERS = (
    *("root", "step_ref", "walk", "scan_dense", "scan_compressed", "scan_singleton", "scan_ell"),
    *("scan_ragged", "scan_dia", "hold", "repeat", "crd_hold", "locate", "pick", "shift", "lanes", "scatter"),
    *("gather", "intersect", "union", "array", "alu", "matmul", "fold", "reduce_scalar", "running", "recur"),
    *("last", "arg", "top_k", "reduce_vector", "recur_vector", "drop_crd", "drop_val", "write_compressed"),
    *("write_dense", "write_val", "write_at"),
)
"""Those with a rule, in the order of the page."""

_BLOCK = re.compile(r"^```rows ?(.*)\n((?:.+\n)+?)```\n", re.MULTILINE)

_SIGNS = {
    " == ": " = ",
    " != ": " ≠ ",
    " >= ": " ≥ ",
    " <= ": " ≤ ",
    " ** ": "^",
    " % ": " mod ",
    " * ": "·",
    " + ": "+",
    " - ": "−",
    "True": "true",
    "False": "false",
}
"""How the page writes what Python has; after an assignment has become one."""


@dataclass(frozen=True)
class Rows:
    """Those of an actor, cell by cell.

    Attributes:
        columns: what the cells are about: a head, by the name of its port, a `condition`, or a `firing`.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def rows(folder: str, actor: str = "") -> Rows:
    """Those of an actor; without a name, of the only one.

    Raises:
        KeyError: there are none.
    """
    return {name: _read(block) for name, block in _BLOCK.findall(_text(FOLDER / folder))}[actor]


def made() -> str:
    """The page."""
    texts = [_text(folder) for folder in (FOLDER, *(FOLDER / name for name in FOLDERS))]
    return "\n".join(_BLOCK.sub(lambda found: _table(_read(found[2])), text) for text in texts)


def _text(folder: Path) -> str:
    return (folder / "rule.md").read_text(encoding="utf-8")


def _read(block: str) -> Rows:
    columns, *cells = (tuple(cell.strip() for cell in line.split("|")) for line in block.splitlines())
    return Rows(columns, tuple(cells))


def _table(block: Rows) -> str:
    lines = [_line(block.columns), "|---" * len(block.columns) + "|"]
    for row in block.rows:
        cells = zip(block.columns, row, strict=True)
        lines.append(
            _line([_firing(cell) if about == "firing" else _condition(cell) for about, cell in cells])
        )
    return "".join(f"{line}\n" for line in lines)


def _line(cells: Sequence[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def _condition(cell: str) -> str:
    return _shown(ast.parse(cell, mode="eval").body) if cell else ""


def _firing(cell: str) -> str:
    return "; ".join(_statement(one) for part in cell.split("; ") if part for one in ast.parse(part).body)


def _statement(statement: ast.stmt) -> str:
    """`push(crd=VAL(c), ref=it)` is `push crd VAL(c), ref it`."""
    match statement:
        case ast.Assign(targets=[target], value=ast.Compare() as value):
            return f"{_shown(target)} := ({_shown(value)})"
        case ast.Assign(targets=[target], value=value):
            return f"{_shown(target)} := {_shown(value)}"
        case ast.If(test=test, body=[inner]):
            return f"{_statement(inner)} if {_shown(test)}"
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=args, keywords=keywords)):
            named = [f"{keyword.arg} {_shown(keyword.value)}" for keyword in keywords if keyword.arg != "to"]
            words = [name, ", ".join([*map(_shown, args), *named])]
            words += [f"on {_shown(keyword.value)}" for keyword in keywords if keyword.arg == "to"]
            return " ".join(words).strip()
    raise ValueError(f"{ast.unparse(statement)!r} is no statement of a firing")


def _shown(expression: ast.expr) -> str:
    if isinstance(expression, ast.BoolOp) and isinstance(expression.op, ast.And):
        return ", ".join(map(_shown, expression.values))
    text = ast.unparse(expression)
    for python, sign in _SIGNS.items():
        text = text.replace(python, sign)
    return text


if __name__ == "__main__":
    PAGE.write_text(made(), encoding="utf-8")
