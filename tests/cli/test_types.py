"""`--types` and `--sparsify`, which make other programs and other formats of the same data."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from samhw.app.cli import main


def said(*words: str) -> str:
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == 0, done.output
    return done.stdout


def test_types_make_another_program_at_the_same_cycles() -> None:
    plain = json.loads(said("run", "spmm", "--data", "karate", "--json", "-"))
    found = json.loads(said("run", "spmm", "--data", "karate", "--types", "A=i8,X=i8", "--json", "-"))
    assert found["types"] == {"A": "i8", "X": "i8"}
    assert "types" not in plain
    assert (found["cycles"], found["checked"]) == (plain["cycles"], True)


@pytest.mark.parametrize(
    ("types", "told"),
    [("A=i8", "i32, A i8"), ("A=bf16,X=bf16,T=bf16", "i32 for no tensor: A bf16, X bf16, T bf16")],
)
def test_a_type_that_no_tensor_has_is_said_to_be_of_none(types: str, told: str) -> None:
    assert f"  value      {told}\n" in said("run", "spmm", "--data", "random", "--types", types)
    assert json.loads(said("run", "spmm", "--types", types, "--json", "-"))["value"] == "i32"


def test_accuracy_has_a_row_for_each_of_several_types() -> None:
    types = ("--types", "A=bf16,X=bf16", "--types", "A=f8e4m3")
    found = json.loads(said("accuracy", "spmm", "--data", "random", "--value", "f32", *types, "--json", "-"))
    assert [row["value"] for row in found["rows"]] == ["f32, A=bf16, X=bf16", "f32, A=f8e4m3"]


@pytest.mark.parametrize(
    ("types", "sentence"),
    [
        ("A", "--types A: give tensors with their types, as in W=i8,X=i8, or none;"),
        ("A=i9", "Unknown value type 'i9'"),
        ("Q=i8", "'spmm' has no tensor 'Q' to give a type; it has A, X, T."),
    ],
)
def test_types_that_cannot_be(types: str, sentence: str) -> None:
    done = CliRunner().invoke(main, ["run", "spmm", "--types", types])
    assert done.exit_code == 2
    assert sentence in done.output


def test_weights_of_zeros_are_stored_by_their_nonzeros(tmp_path: Path) -> None:
    """Rows of 64 take 64 cycles each; with a tenth of them, about as many as there are nonzeros."""
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 9, (32, 64)) * (rng.random((32, 64)) < 0.1)
    np.save(tmp_path / "W.npy", weights)
    program = tmp_path / "layer.ein"
    program.write_text("tensor W[n=32, k=64]\ntensor X[b=4, k]\nT[b, n] = X[b, k] * W[n, k]\n")
    words = ["run", str(program), "--data", "random", "--data", f"W={tmp_path / 'W.npy'}", "--json", "-"]
    dense, sparse, kept = (
        json.loads(said(*words, *more)) for more in ((), ("--sparsify", "0.5"), ("--sparsify", "0.95"))
    )
    assert dense["cycles"] == kept["cycles"] > 4 * 32 * 64
    assert 4 * np.count_nonzero(weights) <= sparse["cycles"] < dense["cycles"] / 6
    assert sparse["checked"]


TYPES = {"A": "i8", "X": "i8"}
GIVEN = ("--types", "A=i8,X=i8")


def test_schedules_are_compared_in_types(tmp_path: Path) -> None:
    page, table = tmp_path / "page", tmp_path / "table.csv"
    words = ("--fuse", "none", *GIVEN, "--csv", str(table), "--report", str(page))
    found = json.loads(said("compare", "spmm", "--data", "karate", *words, "--json", "-"))
    assert found["types"] == TYPES
    assert all(one["checked"] for one in found["outcomes"])
    assert 'i32,"A=i8,X=i8",' in table.read_text()
    assert "i32, A=i8, X=i8" in (page / "index.html").read_text()
    assert "i32, A=i8, X=i8" in said("compare", "spmm", "--data", "karate", "--fuse", "none", *GIVEN)
    plain = json.loads(said("compare", "spmm", "--data", "karate", "--fuse", "none", "--json", "-"))
    assert "types" not in plain


def test_types_are_an_axis_of_sweeps(tmp_path: Path) -> None:
    """Of a run in narrow types fewer bytes are read."""
    table = tmp_path / "table.csv"
    said("sweep", "spmm", "--data", "karate", "--types", "none", *GIVEN, "-o", str(table), "--jobs", "1")
    with table.open() as file:
        wide, narrow = csv.DictReader(file)
    assert (wide["types"], narrow["types"]) == ("", "A=i8,X=i8")
    assert (wide["status"], narrow["status"]) == ("right", "right")
    assert wide["cycles"] == narrow["cycles"]
    assert float(narrow["bytes_read"]) < float(wide["bytes_read"])


def test_a_search_is_in_types(tmp_path: Path) -> None:
    words = ("--budget", "2", "--confirm", "1", "--jobs", "1", "-o", str(tmp_path / "found.toml"))
    found = json.loads(said("tune", "spmm", "--data", "karate", *GIVEN, *words, "--json", "-"))
    assert found["types"] == TYPES
    assert found["best"]["checked"]
    assert "On karate, A=i8, X=i8: " in (tmp_path / "found.toml").read_text()


def test_no_types_are_what_none_asks_for() -> None:
    words = ("accuracy", "spmm", "--draws", "1", "--value", "f32", "--json", "-")
    rows = json.loads(said(*words, "--types", "none", "--types", "A=bf16"))["rows"]
    assert [row["value"] for row in rows] == ["f32", "f32, A=bf16"]
    assert said("run", "spmm", "--types", "none").splitlines()[2] == "  value      i32"
