"""Imports between folders point one way, models and RTL know nothing of each other, and what a kind of
primitive is, its spec alone knows."""

import ast
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

import samhw
from samhw.app.cli import COMMANDS
from samhw.app.papers import NAMES as PAPERS
from samhw.choices.schedule import CHOICES
from samhw.compiler.graph_passes import GRAPH_PASSES
from samhw.compiler.passes import pass_names
from samhw.graph import make
from samhw.graph.spec import kinds
from samhw.targets.building.elaborate import SOURCES
from samhw.tensors.formats import level_types
from tests.spec.examples import EXAMPLES

PACKAGE = Path(samhw.__file__).parent
BOARDS = PACKAGE.parent / "boards"

ALLOWED = {
    "app": set(),
    "app/api": {
        "app/checking",
        "app/report",
        "app/sweep",
        "app/workload",
        "choices",
        "compiler",
        "compiler/search",
        "cost",
        "graph",
        "graph/numerics",
        "lang",
        "targets/backends",
        "tensors",
    },
    "app/checking": {
        "app/workload",
        "choices",
        "compiler",
        "compiler/passes",
        "compiler/search",
        "cost",
        "cost/statistics",
        "graph",
        "graph/numerics",
        "lang",
        "lang/reference",
        "lang/splits",
        "sim",
        "targets/backends",
        "tensors",
    },
    "app/cli": {
        "app/checking",
        "app/papers",
        "app/report",
        "app/sweep",
        "app/workload",
        "choices",
        "compiler",
        "compiler/graph_passes",
        "compiler/passes",
        "compiler/search",
        "cost",
        "cost/statistics",
        "graph",
        "graph/numerics",
        "importers",
        "lang",
        "lang/brackets",
        "lang/cascade",
        "lang/splits",
        "sim",
        "targets/backends",
        "tensors",
    },
    "app/onnx": {
        "app/api",
        "app/checking",
        "app/report",
        "app/workload",
        "choices",
        "compiler",
        "compiler/search",
        "cost",
        "graph",
        "graph/numerics",
        "importers",
        "targets/backends",
        "tensors",
    },
    "app/papers": {
        "app/checking",
        "app/report",
        "app/sweep",
        "app/workload",
        "choices",
        "compiler",
        "compiler/search",
        "compiler/search/patterns",
        "cost",
        "graph",
        "graph/numerics",
        "lang",
        "lang/nested",
        "lang/splits",
        "targets/backends",
        "targets/building",
        "tensors",
    },
    "app/report": {
        "app/checking",
        "app/sweep",
        "app/workload",
        "choices",
        "compiler",
        "cost",
        "graph",
        "sim",
        "targets/backends",
    },
    "app/sweep": {
        "app/checking",
        "app/workload",
        "choices",
        "compiler",
        "compiler/search",
        "graph",
        "graph/numerics",
        "lang",
        "lang/splits",
        "targets/building",
    },
    "app/torch": {
        "app/api",
        "app/checking",
        "app/report",
        "app/workload",
        "choices",
        "compiler",
        "compiler/search",
        "cost",
        "graph",
        "graph/numerics",
        "importers",
        "targets/backends",
        "tensors",
    },
    "app/workload": {
        "choices",
        "compiler",
        "compiler/search",
        "cost/statistics",
        "graph",
        "graph/numerics",
        "importers",
        "lang",
        "lang/nested",
        "lang/reference",
        "lang/splits",
        "tensors",
    },
    "choices/candidates": {
        "choices",
        "compiler",
        "compiler/search",
        "cost",
        "cost/statistics",
        "graph",
        "lang",
        "lang/splits",
        "tensors",
    },
    "choices": {"lang", "lang/brackets", "lang/decision", "lang/fusion", "lang/splits", "tensors"},
    "compiler": {
        "choices",
        "compiler/graph_passes",
        "compiler/passes",
        "compiler/search",
        "cost",
        "cost/statistics",
        "graph",
        "graph/numerics",
        "graph/spec",
        "lang",
        "lang/decision",
        "lang/fusion",
        "lang/splits",
        "tensors",
    },
    "compiler/graph_passes": {"graph", "graph/spec", "lang/decision"},
    "compiler/passes": {
        "choices",
        "lang",
        "lang/cascade",
        "lang/decision",
        "lang/fusion",
        "lang/splits",
        "tensors",
    },
    "compiler/search": {
        "choices",
        "compiler",
        "compiler/passes",
        "cost",
        "cost/statistics",
        "graph",
        "graph/numerics",
        "lang",
        "lang/brackets",
        "lang/decision",
        "lang/fusion",
        "lang/splits",
        "tensors",
    },
    "cost": {"cost/statistics", "graph", "graph/numerics", "graph/spec", "tensors"},
    "cost/statistics": {"tensors"},
    "graph": {"graph/numerics", "graph/spec"},
    "graph/numerics": set(),
    "graph/spec": {"graph/numerics"},
    "hls": {"graph", "graph/numerics", "graph/spec"},
    "importers": {"graph/numerics", "lang", "tensors", "tensors/formats"},
    "lang": {"graph/numerics", "tensors", "tensors/formats"},
    "lang/brackets": {"lang", "tensors"},
    "lang/cascade": {"lang", "tensors"},
    "lang/decision": set(),
    "lang/fusion": {"lang", "lang/decision", "tensors"},
    "lang/nested": {"graph", "lang"},
    "lang/reference": {"lang", "tensors"},
    "lang/splits": {"lang", "tensors"},
    "primitives": set(),
    "primitives/component": {"graph", "graph/numerics", "rtl"},
    "primitives/hls": {"graph", "graph/numerics", "hls", "primitives/spec"},
    "primitives/model": {"graph", "graph/numerics", "graph/spec", "primitives/spec", "sim"},
    "primitives/spec": {"graph/numerics", "graph/spec"},
    "rtl": {"graph", "graph/numerics"},
    "sim": {"graph", "graph/numerics", "graph/spec", "sim/machine_code"},
    "sim/machine_code": set(),
    "targets": set(),
    "targets/backends": {
        "compiler",
        "cost",
        "graph",
        "graph/numerics",
        "hls",
        "sim",
        "targets/boards",
        "targets/building",
        "targets/link",
        "targets/running",
        "tensors",
    },
    "targets/boards": {"cost", "graph", "rtl"},
    "targets/building": {"cost", "graph", "rtl", "targets/boards"},
    "targets/link": set(),
    "targets/running": {
        "compiler",
        "compiler/passes",
        "graph",
        "graph/numerics",
        "hls",
        "lang",
        "sim",
        "targets/boards",
        "targets/building",
        "targets/link",
        "tensors",
    },
    "tensors": {"tensors/formats"},
    "tensors/formats": set(),
}
"""What each room may import: a folder of samhw, or a folder or file in it; of a primitive, a role."""

MOST_WINGS = 14

EVERYWHERE = {
    *("cache", "errors", "faces", "files", "html", "installed", "interpreter", "limits", "names", "words"),
    *("precedence", "processes", "script", "version"),
    "primitives",
}
"""The files beside the folders, below all of them; and what finds the folder of a kind."""


def imported_modules(path: Path) -> set[str]:
    """What a file imports, wherever in the file the import stands: modules, or names in them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def room_of(module: str) -> str:
    """The room that a module is in, or a name in it."""
    wing, *inner = module.split(".")[1:]
    if wing == "primitives" and len(inner) > 1:
        return f"{wing}/{inner[1]}"
    if wing == "choices":
        return "choices/candidates" if inner[1:2] == ["candidates"] else wing
    return f"{wing}/{inner[0]}" if inner and f"{wing}/{inner[0]}" in ALLOWED else wing


def imported_rooms(path: Path) -> set[str]:
    """The rooms that a file imports from."""
    return {room_of(name) for name in imported_modules(path) if name.startswith("samhw.")}


def files_of(room: str) -> list[Path]:
    """The files of a room, without those of the rooms in it."""
    return [
        path for module, path in modules(PACKAGE).items() if module != "samhw" and room_of(module) == room
    ]


@pytest.mark.parametrize("room", ALLOWED)
def test_imports_point_down(room: str) -> None:
    assert files_of(room)
    for path in files_of(room):
        excess = imported_rooms(path) - ALLOWED[room] - {room} - EVERYWHERE
        assert not excess, f"{path.relative_to(PACKAGE)} imports {', '.join(sorted(excess))}"


def test_every_room_is_known() -> None:
    wings = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    roles = {f"primitives/{path.stem}" for path in PACKAGE.glob("primitives/*/*.py")}
    assert wings == {room.split("/")[0] for room in ALLOWED}
    assert roles == {room for room in ALLOWED if room.startswith("primitives/")}
    found = {str(path.relative_to(PACKAGE).with_suffix("")) for path in PACKAGE.rglob("*")}
    assert found >= ALLOWED.keys() - roles - {"choices/candidates"}


def test_wings_are_few_and_import_one_way() -> None:
    graph: nx.DiGraph[str] = nx.DiGraph()
    for room, allowed in ALLOWED.items():
        # A search asks for the candidates of a choice by its name.
        if room != "choices/candidates":
            wing = room.split("/")[0]
            graph.add_edges_from((wing, other.split("/")[0]) for other in allowed)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    assert len(graph) <= MOST_WINGS
    assert nx.is_directed_acyclic_graph(graph)


def test_what_importers_share_knows_no_framework() -> None:
    core = PACKAGE / "importers" / "core"
    assert list(core.glob("*.py"))
    for path in core.rglob("*.py"):
        names = {name for name in imported_modules(path) if not name.startswith("samhw.importers.core.")}
        excess = {name for name in names if name.startswith(("torch", "samhw.app", "samhw.importers"))}
        assert not excess, f"{path.relative_to(PACKAGE)} imports {', '.join(sorted(excess))}"


def asked_of_specs(path: Path) -> set[str]:
    """What a file asks of the specs of nodes, and what it has of the graph that comes from them."""
    tree = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    attributes = [node for node in tree if isinstance(node, ast.Attribute)]
    asked = {a.attr for a in attributes if isinstance(a.value, ast.Attribute) and a.value.attr == "spec"}
    imports = [node for node in tree if isinstance(node, ast.ImportFrom) and node.module == "samhw.graph"]
    return asked | {alias.name for node in imports for alias in node.names} & {"latency", "levels"}


def test_hardware_has_no_cycles_from_specs() -> None:
    """A latency or a firing that model and RTL had from one place would agree, right or wrong. Words for a
    comment do no harm."""
    for path in (*files_of("rtl"), *files_of("primitives/component")):
        assert asked_of_specs(path) <= {"memories", "extents", "note", "subject"}, path


def needed(modules: Iterable[str]) -> set[str]:
    """Modules, and all that they import, directly or through others."""
    graph = imports(PACKAGE)
    return {*modules}.union(*(nx.descendants(graph, module) for module in modules))


def roles(role: str) -> set[str]:
    """The modules with a role of the primitives."""
    return {f"samhw.primitives.{path.parent.name}.{role}" for path in files_of(f"primitives/{role}")}


def test_the_wall_between_models_and_components() -> None:
    """Two implementations of one rule: neither imports the other, nor anything that imports the other."""
    models, components = roles("model"), roles("component")
    assert len(models) > 35
    assert len(components) > 35
    assert not needed(components) & models
    assert not {name for name in needed(models) if name in components or name.startswith("samhw.rtl")}


def test_generated_verilog_is_kept_by_all_that_it_comes_from() -> None:
    """Or else a change of a component would leave what was generated before it."""
    modules = needed(roles("component") | {"samhw.rtl.verilog"})
    rooms = {room for name in modules for room in name.split(".")[1:2] if (PACKAGE / room).is_dir()}
    assert rooms == {*SOURCES}


def loaded(cache: Path, code: str, *arguments: str) -> set[str]:
    """The modules that a code has loaded, in a process of its own, which finds nothing built before."""
    command = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)", *arguments]
    environment = {**os.environ, "SAMHW_CACHE": str(cache)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return {*done.stdout.splitlines()[-1].split()}


def loaded_by(cache: Path, *arguments: str) -> set[str]:
    """The modules that a command has loaded."""
    return loaded(cache, "from samhw.app.cli import main; main.main(standalone_mode=False)", *arguments)


SLOW_TO_LOAD = {"jinja2", "llvmlite", "networkx", "rich", "scipy.linalg", "scipy.sparse", "scipy.special"}
"""Each takes from a tenth to a third of a second, and `samhw run spmm` as a whole half of one."""


LATER = {"importlib.metadata", "multiprocessing", "numpy.ma", "samhw.hls"}
"""Each takes a hundredth or two."""


def test_a_simulation_loads_no_hardware(tmp_path: Path) -> None:
    found = loaded_by(tmp_path, "run", "spmv")
    assert found & roles("model")
    assert not found & (roles("component") | {"amaranth"})


def test_a_small_program_loads_nothing_that_is_slow_to_load(tmp_path: Path) -> None:
    found = loaded_by(tmp_path, "run", "spmm", "--data", "karate")
    assert "numpy" in found
    assert not found & {*SLOW_TO_LOAD, *LATER, "sympy", "torch"}


def test_the_importer_of_modules_loads_nothing_that_is_slow_to_load_after_pytorch(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    own = loaded(
        tmp_path,
        "import torch; before = {*sys.modules}; import samhw.torch; "
        "[sys.modules.pop(name) for name in before if name != 'sys']",
    )
    assert "samhw.app.torch" in own
    assert not own & {*SLOW_TO_LOAD, *LATER, "numpy.random", "sympy"}


def test_hardware_is_built_without_models(tmp_path: Path) -> None:
    found = loaded_by(
        tmp_path / "cache",
        "build",
        "spmv",
        "--extents",
        "i=4,j=4",
        "--capacity",
        "B=8",
        "--target",
        "verilog",
        "-o",
        str(tmp_path / "out"),
    )
    assert found & roles("component")
    assert not found & roles("model")


READERS_OF_TYPES = {
    *(
        "compiler/value_choice.py",
        "lang/python_form.py",
        "lang/functions.py",
        "lang/parse.py",
        "lang/parse_expr.py",
        "graph/json_form.py",
        "graph/spec/params.py",
    ),
}
"""Where the name of a value type becomes the type: after these, nothing else knows it by its name."""


def test_value_types_are_read_where_text_comes_in() -> None:
    readers = set()
    for path in PACKAGE.rglob("*.py"):
        imported = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.ImportFrom)]
        if any(alias.name == "value_type" for node in imported for alias in node.names):
            readers.add(str(path.relative_to(PACKAGE)))
    assert readers == READERS_OF_TYPES


def kinds_told_apart(path: Path) -> list[str]:
    """Where a file compares a node's kind with the name of one: `node.kind == "alu"`, `in (..)`, `match`."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
            answers: Sequence[ast.AST] = asked
        elif isinstance(node, ast.Match):
            asked = [node.subject]
            answers = [case.pattern for case in node.cases]
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


PORTS_OF_KINDS = {
    port.name
    for kind, example in EXAMPLES.items()
    for node in [make(kind, "n", example.depth, **example.params)]
    for port in (*node.inputs, *node.outputs)
}


def ports_and_parameters_by_name(path: Path) -> list[str]:
    """Where a file has the name of a port, with or without its number, or looks at a node's parameter."""
    names = PORTS_OF_KINDS | {name.rstrip("0123456789") for name in PORTS_OF_KINDS}
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Constant(value=str(name)) if name in names:
                found.append(node.lineno)
            case ast.Subscript(value=ast.Attribute(attr="params")):
                found.append(node.lineno)
            case ast.Attribute(value=ast.Attribute(attr="params"), attr="get"):
                found.append(node.lineno)
    return [f"{path.relative_to(PACKAGE)}, line {line}" for line in sorted(found)]


def test_graph_passes_and_costs_ask_specs_for_ports_and_parameters() -> None:
    files = [path for room in ("compiler/graph_passes", "cost") for path in (PACKAGE / room).rglob("*.py")]
    assert len(files) > 4
    assert not [place for path in files for place in ports_and_parameters_by_name(path)]


@pytest.mark.parametrize(
    "text",
    [
        'x = inputs["val"]',
        'x = Endpoint(node, f"ref{lane}")',
        'x = {"crd0": source}',
        'x = node.params["op"]',
        'x = node.params.get("banks")',
    ],
)
def test_ports_and_parameters_by_name_are_seen(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path)
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    assert ports_and_parameters_by_name(tmp_path / "a.py") == ["a.py, line 1"]


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
    by_name = (
        {f"samhw.primitives.{path.parent.name}.{path.stem}" for path in PACKAGE.glob("primitives/*/*.py")}
        | {f"samhw.choices.{path.parent.name}.{path.stem}" for path in PACKAGE.glob("choices/*/*.py")}
        | {f"samhw.choices.{one.name}" for one in CHOICES}
        | {f"samhw.tensors.formats.levels.{name}" for name in level_types()}
        | {f"samhw.compiler.passes.{name}" for name in pass_names()}
        | {f"samhw.compiler.graph_passes.{name}" for name in GRAPH_PASSES}
        | {f"samhw.app.cli.{name.replace('-', '_')}" for name in COMMANDS}
        | {f"samhw.app.papers.{name}" for name in PAPERS}
    )
    rooms = {f"samhw.{room.replace('/', '.')}" for room in ALLOWED}
    families = {"samhw.targets.boards.ecp5", "samhw.targets.boards.xilinx7"}  # Of the files in `boards`.
    assert alone - by_name - rooms - families == {"samhw.__main__", "samhw.onnx", "samhw.torch"}


def test_boards_know_families_and_nothing_else() -> None:
    for path in BOARDS.glob("*.py"):
        assert imported_rooms(path) == {"targets/boards"}, path


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


def definitions(package: Path) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """All classes and functions of a package, each with its file."""
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield path.relative_to(package).as_posix(), node


LONGEST = 70
"""Lines of a function."""

LONGEST_OF_ENGINES = 60
"""Of those of the compiled engine, which say more in a line than others."""

COMPILED = "sim/compiled/"


def long_functions(package: Path) -> list[str]:
    """The functions of a package that have too many lines, those of the functions in them included."""
    return [
        f"{file}: {node.name}"
        for file, node in definitions(package)
        if isinstance(node, ast.FunctionDef)
        if (node.end_lineno or 0) - node.lineno
        >= (LONGEST_OF_ENGINES if file.startswith(COMPILED) else LONGEST)
    ]


def test_functions_are_read_at_one_glance() -> None:
    assert not long_functions(PACKAGE)


def test_functions_in_a_function_add_to_its_length(tmp_path: Path) -> None:
    body = "    x = 0\n" * (LONGEST - 2)
    for name, definition in {"short": "def f():\n", "long": "def f():\n    def g(): pass\n"}.items():
        (tmp_path / f"{name}.py").write_text(f"{definition}{body}    return 0\n", encoding="utf-8")
    assert long_functions(tmp_path) == ["long.py: f"]


def test_no_two_classes_share_a_name() -> None:
    files: dict[str, set[str]] = {}
    for file, node in definitions(PACKAGE):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            files.setdefault(node.name, set()).add(file)
    for name, found in files.items():
        assert len(found) == 1, f"{name} is in {', '.join(sorted(found))}"


def test_the_picture_is_what_the_imports_are() -> None:
    docs = PACKAGE.parent / "docs"
    script = runpy.run_path(str(docs / "architecture_picture.py"))
    assert (docs / "architecture.svg").read_text(encoding="utf-8") == script["draw"](script["folders"]()), (
        "run python docs/architecture_picture.py"
    )


def test_the_files_that_the_page_names_are_there() -> None:
    root = PACKAGE.parent
    page = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:samhw|docs|tests)/[\w/]+(?:\.\w+)?/?)`", page)
    assert len(named) > 30
    assert not [name for name in named if not (root / name).exists()]


TOP = {
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "setup.py",
}
TOP |= {"benchmarks", "boards", "docs", "examples", "samhw", "tests"}


def test_nothing_strays_at_the_top() -> None:
    """What a command has written beside the sources is not part of them."""
    listed = subprocess.run(["git", "ls-files"], cwd=PACKAGE.parent, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no repository of git")
    assert {name.partition("/")[0] for name in listed.stdout.splitlines()} == TOP
