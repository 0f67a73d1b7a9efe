"""Imports between folders point one way, and models and RTL know nothing of each other."""

import ast
from pathlib import Path

import pytest

import samhw

PACKAGE = Path(samhw.__file__).parent

ALLOWED = {
    "tensors": set(),
    "numerics": set(),
    "graph": {"numerics", "tensors"},
    "primitives": {"graph", "numerics"},
    "frontend": {"numerics", "tensors"},
    "schedule": {"frontend", "tensors"},
    "compiler": {"frontend", "graph", "numerics", "primitives", "schedule", "tensors"},
    "workload": {"compiler", "frontend", "graph", "numerics", "schedule", "tensors"},
    "sim": {"graph", "numerics", "primitives"},
    "rtl": {"graph", "numerics"},
    "hls": {"graph", "numerics"},
    "targets": {
        *("compiler", "frontend", "graph", "hls", "numerics", "primitives", "rtl", "sim", "tensors"),
        *("schedule", "workload"),
    },
    "report": set(),
    "cli": {
        "compiler",
        "frontend",
        "graph",
        "hls",
        "report",
        "schedule",
        "sim",
        "targets",
        "tensors",
        "workload",
    },
}


def imported_rooms(path: Path) -> set[str]:
    """The folders of samhw that a file imports from, wherever in the file the import stands."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("samhw.")}
    return rooms


@pytest.mark.parametrize("room", ALLOWED)
def test_imports_point_down(room: str) -> None:
    for path in (PACKAGE / room).rglob("*.py"):
        excess = imported_rooms(path) - ALLOWED[room] - {room, "cache", "errors", "files", "limits"}
        assert not excess, f"{path.relative_to(PACKAGE)} imports {', '.join(sorted(excess))}"


def test_every_room_is_known() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert rooms == ALLOWED.keys()
