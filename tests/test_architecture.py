"""Imports between folders point one way, models and RTL know nothing of each other, and what a kind of
primitive is, its spec alone knows."""

import ast
from pathlib import Path

import pytest

import samhw
from samhw.spec import kinds

PACKAGE = Path(samhw.__file__).parent

ALLOWED = {
    "tensors": set(),
    "numerics": set(),
    "spec": {"numerics"},
    "graph": {"numerics", "spec", "tensors"},
    "primitives": {"graph", "numerics", "spec"},
    "frontend": {"numerics", "tensors"},
    "compiler": {"frontend", "graph", "numerics", "spec", "tensors"},
    "sim": {"graph", "numerics", "primitives", "spec"},
    "rtl": {"graph", "numerics"},
    "hls": {"graph", "numerics", "spec"},
    "targets": {"compiler", "frontend", "graph", "hls", "numerics", "rtl", "sim", "tensors"},
    "report": set(),
    "cli": {"compiler", "frontend", "graph", "hls", "report", "sim", "targets", "tensors"},
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


def asked_of_specs(path: Path) -> set[str]:
    """What a file asks of the specs of nodes, and what it has of the graph that comes from them."""
    tree = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    attributes = [node for node in tree if isinstance(node, ast.Attribute)]
    asked = {a.attr for a in attributes if isinstance(a.value, ast.Attribute) and a.value.attr == "spec"}
    imports = [node for node in tree if isinstance(node, ast.ImportFrom) and node.module == "samhw.graph"]
    return asked | {alias.name for node in imports for alias in node.names} & {"latency", "levels"}


def test_hardware_has_no_cycles_from_specs() -> None:
    """A latency or a firing that model and RTL had from one place would agree, right or wrong."""
    for path in (PACKAGE / "rtl").rglob("*.py"):
        assert asked_of_specs(path) <= {"memories", "extents"}, path


def kinds_told_apart(path: Path) -> list[str]:
    """Where a file compares a node's kind with the name of one: `node.kind == "alu"`, `in (..)`, `match`."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare):
            asked, answers = [node.left, *node.comparators], [node]
        elif isinstance(node, ast.Match):
            asked, answers = [node.subject], [case.pattern for case in node.cases]
        else:
            continue
        names = {c.value for a in answers for c in ast.walk(a) if isinstance(c, ast.Constant)}
        if any(isinstance(a, ast.Attribute) and a.attr == "kind" for a in asked) and names & set(kinds()):
            found.append(f"{path.relative_to(PACKAGE)}, line {node.lineno}")
    return found


def test_nobody_tells_kinds_apart_but_their_specs() -> None:
    files = [path for path in PACKAGE.rglob("*.py") if "hls_templates" not in path.parts]
    assert not [place for path in files for place in kinds_told_apart(path)]


@pytest.mark.parametrize(
    "text",
    [
        'x = node.kind == "alu"',
        'x = graph.node[n].kind in ("reduce_scalar", "root")',
        'match node.kind:\n    case "array" | "alu":\n        pass',
    ],
)
def test_kinds_told_apart_are_seen(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path)
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    assert kinds_told_apart(tmp_path / "a.py") == ["a.py, line 1"]
