"""Rules: their words, which entry is in which part, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from samhw.errors import InputError
from samhw.lang import Program, parse
from samhw.lang.splits import PartSize, TensorSplit, check_split, parse_rule, split_program
from samhw.lang.splits.partition import Coordinates, Places
from samhw.lang.splits.rules import Rows
from samhw.tensors import Format, Tensor

BY_ROWS = "tensor A[i, k] : csr\ntensor x[k] : dense\ntensor y[i] : dense\ny[i] = A[i, k] * x[k]\n"


def program(fmt: str = "csr") -> Program:
    return parse(BY_ROWS.replace("csr", fmt))


def partition(rule: str, fmt: str = "csr") -> TensorSplit:
    return split_program(program(fmt), {"A": rule}).partitions["A"]


def rows_of_lengths(*lengths: int, columns: int = 12) -> Tensor:
    """A matrix whose rows have that many entries, from the first column on."""
    array = np.zeros((len(lengths), columns), np.int64)
    for row, length in enumerate(lengths):
        array[row, :length] = np.arange(1, length + 1)
    return Tensor.from_dense(array, "csr")


def test_a_tensor_is_cut_once_for_one_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though each compilation makes a split of its own; for another rule or format it is cut anew."""
    times = 0
    places = Rows.places

    def counted(rule: Rows, coords: Coordinates, shape: tuple[int, ...]) -> Places:
        nonlocal times
        times += 1
        return places(rule, coords, shape)

    monkeypatch.setattr(Rows, "places", counted)
    matrix = rows_of_lengths(1, 2, 3)
    first = partition("rows(3)").cut(matrix)
    assert all(part is first[name] for name, part in partition("rows(3)").cut(matrix).items())
    assert times == 1
    assert len(partition("rows(2)").cut(matrix)) == 2
    assert str(partition("rows(2)", "csc").cut(matrix)["A_0"].format) == "csc"
    assert times == 3


def test_rows_that_fill_parts_evenly() -> None:
    """The longest first, each into the part that has the fewest: 7 | 5, then 4 to the second, 3 to the first,
    and 2 to the second; rows without entries are in none."""
    parts = partition("even(2)").cut(rows_of_lengths(3, 0, 7, 4, 2, 5))
    rows = {name: np.unique(part.to_coo()[0][0]).tolist() for name, part in parts.items()}
    assert rows == {"A_0": [0, 2], "A_1": [3, 4, 5]}
    assert [part.nnz for part in parts.values()] == [10, 11]


def test_a_written_rule_is_asked_each_time(tmp_path: Path) -> None:
    """Its file may have changed."""
    path = tmp_path / "rule.py"
    path.write_text("def by(coords, shape):\n    return {'a': coords[0] >= 0}\n")
    matrix = rows_of_lengths(1, 2)
    first, second = (partition(f"{path}:by").cut(matrix)["A_a"] for _ in range(2))
    assert first is not second


def test_rows_in_equal_numbers() -> None:
    matrix = Tensor.from_dense(np.arange(1, 22).reshape(7, 3), "csr")
    parts = partition("rows(3)").cut(matrix)
    assert list(parts) == ["A_0", "A_1", "A_2"]
    assert [sorted(set(part.to_coo()[0][0].tolist())) for part in parts.values()] == [
        [0, 1, 2],
        [3, 4, 5],
        [6],
    ]
    assert {str(part.format) for part in parts.values()} == {"dcsr"}
    assert np.array_equal(sum(part.to_dense() for part in parts.values()), matrix.to_dense())


def test_columns_keep_the_other_levels() -> None:
    matrix = Tensor.from_dense(np.arange(1, 16).reshape(3, 5), "dense")
    parts = partition("columns(2)", "dense").cut(matrix)
    assert [sorted(set(part.to_coo()[0][1].tolist())) for part in parts.values()] == [[0, 1, 2], [3, 4]]
    assert {str(part.format) for part in parts.values()} == {"csr"}


def test_more_parts_than_coordinates() -> None:
    parts = partition("rows(5)").cut(rows_of_lengths(1, 2))
    assert [part.nnz for part in parts.values()] == [1, 2, 0, 0, 0]


def test_the_diagonal() -> None:
    parts = partition("diagonal + csr").cut(Tensor.from_dense(np.ones((3, 4)), "csr"))
    assert np.array_equal(parts["A_diagonal"].to_dense(), np.eye(3, 4))
    assert np.array_equal(parts["A_rest"].to_dense(), 1 - np.eye(3, 4))


def test_the_room_of_an_ell_part_counts_as_cells() -> None:
    sizes = partition("diagonal + ell(4)").sizes(Tensor.from_dense(np.ones((3, 4)), "csr"))
    assert (sizes["A_rest"].stored, sizes["A_rest"].cells) == (9, 12)  # Three of four, in three rows.


def test_diagonals_by_how_full_they_are() -> None:
    array = np.diag([1, 2, 3, 4]) + np.diag([5, 0, 0], 1) + np.diag([6], -3)
    split = partition("dia + csr")
    parts = split.cut(Tensor.from_dense(array, "csr"))
    assert parts["A_dia"].arrays()["off1"].tolist() == [-3, 0]  # Both are full.
    assert parts["A_rest"].vals.tolist() == [5]
    sizes = split.sizes(Tensor.from_dense(array, "csr"))
    assert (sizes["A_dia"].stored, sizes["A_dia"].cells, sizes["A_rest"].stored) == (5, 8, 1)
    fuller = partition("dia(density=0.3) + dcsr").cut(Tensor.from_dense(array, "csr"))
    assert fuller["A_dia"].arrays()["off1"].tolist() == [-3, 0, 1]
    assert (str(fuller["A_dia"].format), str(fuller["A_rest"].format)) == ("dia", "dcsr")


def test_blocks_by_how_full_they_are() -> None:
    """A block at the edge is as full as what lies inside of the matrix."""
    array = np.zeros((5, 5))
    array[0:2, 0:2] = [[1, 2], [3, 0]]  # 3 of 4
    array[2, 2] = 4  # 1 of 4
    array[4, 4] = 5  # 1 of 1
    parts = partition("blocks(2, density=0.75) + csr").cut(Tensor.from_dense(array, "csr"))
    assert sorted(parts["A_blocks"].vals.tolist()) == [1, 2, 3, 5]
    assert parts["A_rest"].vals.tolist() == [4]
    assert (str(parts["A_blocks"].format), str(parts["A_rest"].format)) == ("dcsr", "csr")


def test_buckets_by_the_lengths_of_rows() -> None:
    """The example by hand: rows of 1, 3, 0 and 9 entries, with up to four cells in a row of a bucket."""
    found = partition("hyb(1,2)")
    matrix = rows_of_lengths(1, 3, 0, 9)
    assert found.sizes(matrix) == {
        "A_w1": PartSize(rows=1, stored=1, cells=1),
        "A_w2": PartSize(rows=0, stored=0, cells=0),
        "A_w4": PartSize(rows=4, stored=12, cells=16),
    }
    assert sum(size.padding for size in found.sizes(matrix).values()) == 4
    assert set(found.cut(matrix)["A_w4"].to_coo()[0][0].tolist()) == {1, 3}


def test_buckets_in_each_part_of_the_columns() -> None:
    """By the definition, entry by entry."""
    rng = np.random.default_rng(0)
    array = (rng.random((30, 23)) < 0.2) * rng.integers(1, 9, (30, 23))
    parts = partition("hyb(4,2)").cut(Tensor.from_dense(array, "csr"))
    width = -(-23 // 4)
    for row, column in zip(*np.nonzero(array), strict=True):
        p = column // width
        length = np.count_nonzero(array[row, p * width : (p + 1) * width])
        bucket = next((w for w in (1, 2, 4) if w >= length), 4)
        holding = [name for name, part in parts.items() if part.to_dense()[row, column]]
        assert holding == [f"A_c{p}_w{bucket}"]


def test_a_tensor_of_rank_three_has_rows_too() -> None:
    text = "tensor A[r, i, k] : csf\ntensor x[k] : dense\ntensor y[r, i] : dense\ny[r, i] = A[r, i, k] * x[k]"
    array = np.zeros((2, 2, 4), np.int64)
    array[0, 1, :3] = array[1, 0, 2] = 1
    found = split_program(parse(text), {"A": "hyb(1,1)"}).partitions["A"]
    sizes = found.sizes(Tensor.from_dense(array, "csf"))
    assert [(size.rows, size.padding) for size in sizes.values()] == [(1, 0), (2, 1)]


def test_stored_zeros_are_entries() -> None:
    matrix = Tensor.from_coo([[0, 1], [0, 1]], [0, 3], (2, 2), "csr")
    assert [part.nnz for part in partition("rows(2)").cut(matrix).values()] == [1, 1]


def rule_file(folder: Path, body: str) -> str:
    (folder / "rules.py").write_text(f"def rule(coords, shape):\n    {body}\n", encoding="utf-8")
    return f"{folder / 'rules.py'}:rule"


def test_a_rule_of_a_file(tmp_path: Path) -> None:
    rule = rule_file(tmp_path, "return {'upper': coords[0] < coords[1], 'lower': coords[0] >= coords[1]}")
    parts = partition(rule).cut(Tensor.from_dense(np.ones((3, 3)), "csr"))
    assert np.array_equal(parts["A_upper"].to_dense(), np.triu(np.ones((3, 3)), 1))
    assert np.array_equal(parts["A_lower"].to_dense(), np.tril(np.ones((3, 3))))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return {'a': coords[0] < 1, 'b': coords[0] > 1}", r"puts the entry at \(1, 0\) into no part"),
        (
            "return {'a': coords[0] < 1, 'b': coords[0] >= 0}",
            r"the entry at \(0, 0\) into 2 parts; put every",
        ),
        ("return {'a': coords[0] * 2}", "gives an array of int64 and shape"),
        ("return {'a': coords < 1}", r"shape \(2, 0\) for the part 'a'; give booleans of shape \(0,\)"),
        ("return {'a b': coords[0] < 1}", "calls a part 'a b'; use letters"),
        ("return {}", "let it give a dictionary"),
        ("return {str(coords.shape[1]): coords[0] >= 0}", "let it give the same parts for all data"),
        ("return 1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_rule_that_breaks_the_rules(body: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        partition(rule_file(tmp_path, body)).cut(Tensor.from_dense(np.ones((3, 3)), "csr"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rows", "there is no rule 'rows' (did you mean 'rows(n)'?); the rules are rows(n), even(n)"),
        ("even(0)", "has 0 where a number from 1 to 96 belongs"),
        ("rows(0)", "has 0 where a number from 1 to 96 belongs"),
        ("rows(x)", "has x where a number"),
        ("rows()", "has nothing where a number"),
        ("rows(1,2)", "there is no rule"),
        ("rows(2) + csr", "there is no rule"),
        ("rows(2, x=1)", "there is no rule"),
        ("diagonal(density=3) + csr", "there is no rule"),
        ("hyb(2,48)", "has 48 where a number from 0 to 47 belongs"),
        ("diagonal", "there is no rule"),
        ("blocks(4) + csr", "there is no rule"),
        ("blocks(4, density=2) + csr", "has the density 2; give one above 0, and at most 1"),
        ("blocks(4, density=x) + csr", "has the density x"),
        ("bcsr(4, density=0.5) + csr", "has a part in bcsr, which is not compiled"),
        ("dia", "there is no rule"),
        ("dia(density=2) + csr", "has the density 2"),
        ("(", "'(' is no rule"),
        ("", "'' is no rule"),
    ],
)
def test_words_that_are_no_rule(text: str, message: str) -> None:
    with pytest.raises(InputError) as found:
        parse_rule(text)
    assert message in str(found.value)


@pytest.mark.parametrize("split", [3, "rows(4)", {"A": 3}, {3: "rows(4)"}, {"A": "row(4)"}])
def test_tables_of_rules_are_checked(split: object) -> None:
    with pytest.raises(InputError, match="'split'"):
        check_split(split)


@pytest.mark.parametrize(
    ("text", "split", "message"),
    [
        (BY_ROWS, {"y": "rows(2)"}, "reads no tensor 'y'; it reads A, x"),
        (BY_ROWS, {"x": "columns(2)"}, "'x' cannot be split: the rule 'columns(2)' splits tensors of rank 2"),
        (BY_ROWS, {"A": "diagonal + some"}, "'A' cannot be split: unknown format 'some'"),
        (BY_ROWS, {"A": "no.py:rule"}, "there is no file 'no.py'"),
        (BY_ROWS.replace("csr", "bcsr(4)"), {"A": "rows(2)"}, "'A' is stored in blocks"),
        (
            "tensor A[i, k] : csr\ntensor X[i, k] : dense\ntensor y[i] : dense\ny[i] = X[i, k] where A[i, k]",
            {"A": "rows(2)"},
            "'A' is the mask of 'y[i]', and cannot be split",
        ),
        (
            "tensor A[i=4, k=4] : dense\ntensor y[m] : dense\ny[m] = reshape(A[i, k])",
            {"A": "rows(2)"},
            "'A' is moved as a whole",
        ),
        (
            "tensor A[i, k] : csr\ntensor Y[i, j] : csr\nY[i, j] = A[i, k] * A[j, k]",
            {"A": "columns(10)"},
            "'Y[i, j]' would be a sum of 100 terms, and can be one of 96",
        ),
        (
            "index t=3, i=4, k=4\ntensor A[i, k] : csr\n"
            "scan t {\n  H[t, i, k] = H[t - 1, i, k] * 2\n}\nH[-1, i, k] = A[i, k]",
            {"A": "rows(2)"},
            "'A' is what a scan starts from ('H[-1, i, k] = A[i, k]'), and cannot be split",
        ),
    ],
)
def test_what_cannot_be_split(text: str, split: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as found:
        split_program(parse(text), split)
    assert message in str(found.value)


def test_names_of_parts_are_new() -> None:
    text = BY_ROWS.replace("x[k] :", "A_0[k] :").replace("x[k]\n", "A_0[k]\n")
    found = split_program(parse(text), {"A": "rows(2)"})
    assert list(found.partitions["A"].parts) == ["A_0_2", "A_1"]
    assert Format.parse("dcsr", 2) == found.program.tensors["A_0_2"].format
