"""Each level type, and that nothing but its own file knows it by its name."""

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import samhw
from samhw.errors import InputError
from samhw.graph.spec import spec_of
from samhw.tensors import Tensor
from samhw.tensors.formats import Format, LevelNode, LevelType, level_type, level_types

PACKAGE = Path(samhw.__file__).parent
TYPES = {name: level_type(type.notation.replace("w", "3") or name) for name, type in level_types().items()}

NAMERS = {
    "importers/mlir/attributes.py": "MLIR has attributes that are dense",
    "importers/mlir/types.py": "encodings have levels in MLIR's words",
    "importers/torch/host.py": "a user's annotation says dense, the format",
    "lang/splits/rule_text.py": "a rule of splits is called dia",
    "tensors/io/sam_directory.py": "SAM's files have a form for three of them",
    "tensors/scipy_sparse.py": "SciPy has matrices of diagonals",
}
"""The files outside of samhw/tensors/formats that name a level type, and why."""


def namings(path: Path) -> Iterator[int]:
    """The lines of a file that import a level type's class, make a level type of a name, or compare something
    with the name of one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        compared: list[ast.AST] = []
        match node:
            case ast.ImportFrom(module=str(module)) if module.startswith("samhw.tensors.formats.levels"):
                yield node.lineno
            case ast.Call(func=ast.Name(id="level_type") | ast.Attribute(attr="level_type")):
                yield node.lineno
            case ast.Compare():
                compared = [node.left, *node.comparators]
            case ast.Match():
                compared = [case.pattern for case in node.cases]
        texts = [each for root in compared for each in ast.walk(root) if isinstance(each, ast.Constant)]
        yield from (text.lineno for text in texts if text.value in TYPES)


def test_nothing_else_names_a_level_type() -> None:
    paths = [
        path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(PACKAGE / "tensors" / "formats")
    ]
    assert {path.relative_to(PACKAGE).as_posix() for path in paths if any(namings(path))} == NAMERS.keys()


@pytest.mark.parametrize(
    "text",
    [
        "from samhw.tensors.formats.levels.dense import Dense",
        'level_type("ell(4)")',
        'level.name == "dia"',
        'str(level) in ("csr", "ragged")',
        'match level.name:\n    case "dense" | "ell":\n        pass',
    ],
)
def test_namings_are_seen(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    assert any(namings(tmp_path / "a.py"))


def in_a_matrix(level: LevelType) -> Format:
    """The format of matrices with this level below dense rows."""
    return Format((Format.dense(1).levels[0], level), (0, 1))


def matrix(level: LevelType) -> np.ndarray:
    """With no row of more than three entries; with exactly one in each row, for a level that has that."""
    if level.is_branchless:
        return np.array([[0, 5, 0, 0], [0, 0, 0, 6], [7, 0, 0, 0]])
    return np.array([[0, 5, 0, 6], [0, 0, 0, 0], [7, 8, 0, 9]])


@pytest.mark.parametrize("level", TYPES.values(), ids=TYPES)
def test_what_is_packed_is_unpacked_and_fits(level: LevelType) -> None:
    dense = matrix(level)
    tensor = Tensor.from_dense(dense, in_a_matrix(level))
    tensor.check()
    assert (tensor.to_dense() == dense).all()
    arrays = tensor.arrays()
    assert arrays.keys() == {"vals", *(f"{name}1" for name in level.arrays)}
    assert (Tensor.from_arrays(dense.shape, tensor.format, arrays).to_dense() == dense).all()

    most = level.most_positions(3, 4, max(map(len, arrays.values())))
    assert len(tensor.vals) <= most
    for name, places in level.capacities(3, 4, most).items():
        assert len(arrays[f"{name}1"]) <= places


@pytest.mark.parametrize("level", TYPES.values(), ids=TYPES)
def test_what_a_level_says_of_itself_holds(level: LevelType) -> None:
    fmt = in_a_matrix(level)
    dense = matrix(level)
    coords, _ = Tensor.from_dense(dense, fmt).to_coo()
    places, entries = coords.shape[1], np.count_nonzero(dense)
    assert level.is_full == (places == dense.size)
    assert level.stores_fill == (places > entries)
    assert level.is_compact == (places == Tensor.from_dense(dense, fmt).nnz)
    assert level_type(str(level)) == level
    assert Format.parse(str(fmt), 2) == fmt
    assert level.loaded.loaded == level.loaded
    if not level.levels_by_place:
        # Another order of columns: as many places.
        assert Tensor.from_dense(dense[:, ::-1], fmt).nnz == Tensor.from_dense(dense, fmt).nnz


@pytest.mark.parametrize("level", TYPES.values(), ids=TYPES)
def test_the_nodes_of_a_level_are_primitives_that_take_its_arrays(level: LevelType) -> None:
    for node in (level.scanner, level.locator, level.writer):
        if node is not None:
            assert {*spec_of(node.kind).memories} == {*node.arrays} <= {*level.arrays}
            assert spec_of(node.kind).params.keys() >= {*node.numbers, *node.extents}


def test_nodes_say_their_parameters() -> None:
    node = LevelNode("scan_dia", ("cnt", "off"), {"w": 2}, {"rows": 1, "extent": 0})
    assert node.params("A", 3, "ijkl".__getitem__) == {
        "cnt": "A.cnt3",
        "off": "A.off3",
        "w": 2,
        "rows": "k",
        "extent": "l",
    }


def test_levels_are_equal_by_value() -> None:
    assert level_type("ell(4)") == level_type("ell( 4 )") != level_type("ell(5)")
    assert len({level_type("dense"), level_type("dense"), level_type("compressed")}) == 2


@pytest.mark.parametrize("text", ["ell", "dense(3)", "ell(1,2)", "ell(-1)", "hashed", ""])
def test_what_is_no_level_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"unknown level type .*: use .*dense.*ell\(w\)"):
        level_type(text)


def test_every_level_is_in_the_table_of_the_page() -> None:
    page = (PACKAGE.parent / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(" `"): line for line in page.splitlines() if line.startswith("| `")}
    for name, type in level_types().items():
        row = rows[type.notation or name]
        assert all(f"`{array}`" in row for array in type.arrays), name
