"""Changes samhw in twenty places, one at a time, and prints which of them the round of a minute finds.

    python -m tests.rounds.mutate --seed 1

Works on a copy of what git tracks. The places are drawn by the seed, one or two in each folder of `samhw/`.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
OTHER: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*"}
CPP = [(" + ", " - "), (" < ", " <= "), (" == ", " != "), (" && ", " || "), ("true", "false")]


@dataclass(frozen=True)
class Mutation:
    """What stands at the characters from `begin` to `end` of a file, and what comes there instead."""

    path: Path
    begin: int
    end: int
    new: str

    def applied(self, text: str) -> str:
        return text[: self.begin] + self.new + text[self.end :]

    def told(self, text: str) -> str:
        line = text.count("\n", 0, self.begin) + 1
        return f"{self.path}:{line}: {' '.join(text[self.begin : self.end].split())} -> {self.new}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--list", action="store_true", help="print the places and run nothing")
    options = parser.parse_args()
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        _copy(copy)
        for mutation in _drawn(random.Random(options.seed), options.count):
            text = (ROOT / mutation.path).read_text(encoding="utf-8")
            print(mutation.told(text), flush=True)
            if options.list:
                continue
            (copy / mutation.path).write_text(mutation.applied(text), encoding="utf-8")
            by = _found_by(copy)
            (copy / mutation.path).write_text(text, encoding="utf-8")
            print(f"    {by or 'NOT FOUND'}", flush=True)
            found += by is not None
    if not options.list:
        print(f"{found} of {options.count} found")
    return 0


def _copy(to: Path) -> None:
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in names.splitlines():
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name, follow_symlinks=False)


def _found_by(copy: Path) -> str | None:
    """The first test that fails, or what else ends the round."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "smoke", "-n", "2", "-x", "-q", "-p", "no:cacheprovider"],
        cwd=copy,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    if done.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (.*)$", done.stdout, re.MULTILINE)
    return failed[1][:150] if failed else f"pytest ends with {done.returncode}"


def _drawn(chance: random.Random, count: int) -> Iterator[Mutation]:
    """One in each folder in turn, in a file that is drawn by its length."""
    wings = sorted(path for path in (ROOT / "samhw").iterdir() if path.is_dir() and any(_sources(path)))
    chance.shuffle(wings)
    for number in range(count):
        wing = wings[number % len(wings)]
        by_file = {path: places for path in _sources(wing) if (places := list(_places(path)))}
        path = chance.choices(list(by_file), [len(places) for places in by_file.values()])[0]
        yield chance.choice(by_file[path])


def _sources(wing: Path) -> list[Path]:
    return sorted(path for ending in ("*.py", "*.j2") for path in wing.rglob(ending))


def _places(path: Path) -> Iterator[Mutation]:
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT)
    if path.suffix == ".j2":
        code = re.sub(r"//.*|/\*.*?\*/", lambda match: " " * len(match[0]), text)
        for old, new in CPP if ".hpp" in path.name else ():
            for match in re.finditer(re.escape(old), code):
                yield Mutation(name, match.start(), match.end(), new)
        return
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line.decode()))
    for begin, end, new in _changes(ast.parse(text)):
        (row, column), (last, behind) = begin, end
        lines = text.splitlines(keepends=True)
        # The parser counts bytes.
        first = starts[row - 1] + len(lines[row - 1].encode()[:column].decode())
        yield Mutation(name, first, starts[last - 1] + len(lines[last - 1].encode()[:behind].decode()), new)


Place = tuple[int, int]


def _changes(tree: ast.AST) -> Iterator[tuple[Place, Place, str]]:
    """Where code in functions decides or computes, and what to write there. What words a refusal, types and
    what people see of an object are left alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.AnnAssign):
            continue
        if isinstance(node, ast.FunctionDef):
            if node.name not in ("__repr__", "__str__"):
                for statement in node.body:
                    yield from _changes_of(statement)
        else:
            yield from _changes(node)


def _changes_of(node: ast.AST) -> Iterator[tuple[Place, Place, str]]:
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        return
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield *_between(node.left, node.comparators[0]), f" {OPPOSITE[type(node.ops[0])]} "
    elif isinstance(node, ast.BinOp) and type(node.op) in OTHER and not _is_text(node):
        yield *_between(node.left, node.right), f" {OTHER[type(node.op)]} "
    elif isinstance(node, ast.BoolOp) and len(node.values) == 2:
        yield *_between(*node.values), " or " if isinstance(node.op, ast.And) else " and "
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _begin(node), _begin(node.operand), ""
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        flipped = not node.value if isinstance(node.value, bool) else node.value + 1
        yield _begin(node), _end(node), str(flipped)
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield _begin(node.value), _end(node.value), "None"
    if isinstance(node, ast.FunctionDef):
        for statement in node.body:
            yield from _changes_of(statement)
        return
    for child in ast.iter_child_nodes(node):
        yield from _changes_of(child)


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.Constant | ast.JoinedStr) and not isinstance(getattr(side, "value", ""), int)
        for side in (node.left, node.right)
    )


def _between(left: ast.expr, right: ast.expr) -> tuple[Place, Place]:
    return _end(left), _begin(right)


def _begin(node: ast.expr) -> Place:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> Place:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


if __name__ == "__main__":
    sys.exit(main())
