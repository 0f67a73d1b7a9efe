"""Imports between folders point one way, and models and RTL know nothing of each other."""

import ast
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

import samhw
from samhw.passes import PASSES

PACKAGE = Path(samhw.__file__).parent

ALLOWED = {
    "tensors": set(),
    "numerics": set(),
    "graph": {"numerics", "tensors"},
    "primitives": {"graph", "numerics"},
    "frontend": {"graph", "numerics", "tensors"},  # Of the graph, only how names are made.
    "fusion": {"frontend", "graph", "tensors"},
    "passes": {"frontend", "fusion", "graph", "tensors"},
    "compiler": {"frontend", "fusion", "graph", "numerics", "passes", "primitives", "tensors"},
    "sim": {"graph", "numerics", "primitives"},
    "rtl": {"graph", "numerics"},
    "hls": {"graph", "numerics"},
    "targets": {
        *("compiler", "frontend", "graph", "hls", "numerics", "passes", "primitives", "rtl", "sim"),
        "tensors",
    },
    "report": set(),
    "cli": {
        *("compiler", "frontend", "fusion", "graph", "hls", "passes", "report", "sim", "targets"),
        "tensors",
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


def modules(package: Path) -> dict[str, Path]:
    """The files of a package by the names of their modules."""
    names = {path: path.relative_to(package.parent).with_suffix("").parts for path in package.rglob("*.py")}
    return {".".join(parts).removesuffix(".__init__"): path for path, parts in names.items()}


@cache
def imports(package: Path) -> "nx.DiGraph[str]":
    """Which modules of a package import which, wherever in them the imports stand: in functions and under
    TYPE_CHECKING too."""
    paths = modules(package)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(paths)
    for module, path in paths.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                graph.add_edges_from((module, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    name = f"{node.module}.{alias.name}"
                    graph.add_edge(module, name if name in paths else node.module)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


def circles(package: Path) -> set[frozenset[str]]:
    """Modules of a package that import each other, directly or through others."""
    return {frozenset(c) for c in nx.strongly_connected_components(imports(package)) if len(c) > 1}


def test_no_modules_import_each_other() -> None:
    assert circles(PACKAGE) == set()


def test_what_only_tests_import_lives_with_the_tests() -> None:
    graph = imports(PACKAGE)
    assert "hypothesis" not in graph
    assert "pytest" not in graph
    alone = {module for module, path in modules(PACKAGE).items() if graph.in_degree(module) == 0}
    by_name = {f"samhw.passes.{name}" for name in PASSES}
    rooms = {f"samhw.{room}" for room in ALLOWED}
    # Functions of expressions are imported by users.
    assert alone - by_name - rooms == {"samhw.frontend.functions"}


def test_circles_are_found_wherever_imports_stand(tmp_path: Path) -> None:
    package = tmp_path / "p"
    texts = {
        "__init__": "from p.a import A\n",
        "a": "import p.b\nimport os\n",
        "b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.c import C\n",
        "c": "def f():\n    from p import a\n",
        "d": "from p import A\n",
    }
    package.mkdir()
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    assert circles(package) == {frozenset({"p.a", "p.b", "p.c"})}
    (package / "c.py").write_text("from p import A\n")
    imports.cache_clear()
    assert circles(package) == {frozenset({"p", "p.a", "p.b", "p.c"})}
