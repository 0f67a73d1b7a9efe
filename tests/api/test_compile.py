"""`samhw.compile`: arrays of all kinds in, results as arrays, and no more compiling than data need."""

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from numpy.testing import assert_array_equal

import samhw
from samhw.app.cli import main
from samhw.errors import InputError, RunError
from samhw.graph.numerics import value_type
from samhw.tensors import Tensor

SPMM = "T[i, j] = A[i, k] * X[k, j]"


def matrix(rows: int, columns: int) -> Any:
    """Whole numbers at a fifth of the places, the same for the same shape."""
    rng = np.random.default_rng((rows, columns))
    dense = rng.integers(1, 5, (rows, columns)) * (rng.random((rows, columns)) < 0.2)
    return sp.csr_array(dense)


def features(rows: int, columns: int) -> Any:
    """Eighths, whose sums f32 holds exactly."""
    return np.random.default_rng((rows, columns)).integers(-32, 33, (rows, columns)) / 8


@pytest.mark.parametrize("kind", ["numpy", "csr", "csc", "coo", "samhw", "list"])
def test_arrays_of_every_kind(kind):
    a, x = matrix(9, 7), np.rint(features(7, 3)).astype(int)
    given = {
        "numpy": a.toarray(),
        "samhw": Tensor.from_scipy(a, "dcsr"),
        "list": a.toarray().tolist(),
    }.get(kind, a.asformat(kind) if kind in ("csr", "csc", "coo") else None)
    # By columns, some rows of the result come, and others do not.
    design = samhw.compile(SPMM, formats={"T": "dcsr"} if kind == "csc" else None)
    found: Any = design.run(A=given, X=x)["T"]
    assert_array_equal(found.toarray() if kind == "csc" else found, a @ x)
    stored = {"numpy": "dense", "list": "dense", "samhw": "dcsr", "csc": "csc"}.get(kind, "csr")
    assert str(design.program.tensors["A"].format) == stored


def test_results_have_the_type_of_their_format():
    a, x = matrix(9, 7), matrix(7, 5)
    for format, kind in (("csr", "csr"), ("csc", "csc"), ("dcsr", "csr")):
        design = samhw.compile(SPMM, formats={"A": "csr", "X": "csr", "T": format}, permute=True)
        found: Any = design.run(A=a, X=x)["T"]
        assert type(found).__name__ == f"{kind}_array"
        assert_array_equal(found.toarray(), (a @ x).toarray())
    cube = samhw.compile("y[i, j, k] = 2 * B[i, j, k]", formats={"B": "csf", "y": "csf"})
    b = np.zeros((2, 3, 4), int)
    b[1, 2, 3], b[0, 0, 1] = 5, -1
    doubled: Any = cube.run(B=b)["y"]
    assert type(doubled).__name__ == "coo_array"
    assert_array_equal(doubled.toarray(), 2 * b)


def test_data_that_fit_compile_nothing():
    design = samhw.compile(SPMM, formats={"A": "csr"}, value="f32", entries={"A": 64})
    design.run(A=matrix(12, 12), X=features(12, 3)).check()
    compiled = design.compiled
    a, x = matrix(10, 11), features(11, 2)
    result = design.run(A=a, X=x)
    assert design.compiled is compiled
    assert_array_equal(result["T"], a @ x)
    assert result.check().good
    a, x = matrix(40, 11), features(11, 2)
    assert_array_equal(design.run(A=a, X=x)["T"], a @ x)
    larger = design.compiled
    assert larger is not compiled
    # There is room for both.
    design.run(A=matrix(12, 12), X=features(12, 3))
    assert design.compiled is larger


def test_fractions_after_whole_numbers_and_whole_numbers_after_fractions():
    design = samhw.compile("y[i] = 2 * x[i]")
    design.run(x=[1, 2])
    assert design.compiled.value == value_type("i32")
    assert_array_equal(design.run(x=[0.5, 2])["y"], [1, 4])
    compiled = design.compiled
    assert compiled.value == value_type("f32")
    design.run(x=[1, 2])
    assert design.compiled is compiled


@pytest.mark.slow
@pytest.mark.verilator
def test_hardware():
    design = samhw.compile(SPMM, formats={"A": "csr"}, value="f32", fuse="full")
    a, x = matrix(8, 8), features(8, 4)
    model, hardware = design.run(A=a, X=x), design.run({"A": a}, X=x, backend="verilator")
    assert hardware.backend == "verilator"
    assert hardware.cycles == model.cycles
    assert_array_equal(hardware["T"], model["T"])
    hardware.check()


def test_what_notebooks_show():
    design = samhw.compile(SPMM, formats={"A": "csr"})
    assert "T[i, j] = A[i, k] * X[k, j]" in design._repr_html_()
    result = design.run(A=matrix(5, 5), X=np.ones((5, 2), int))
    assert "Locate" in design._repr_html_()
    (table,) = design.tables.values()
    assert "<td>Locate(⟨X_" in table._repr_html_()
    assert "scan_compressed_A_k" in design.graph._repr_html_()
    assert f"{result.cycles:,} cycles (sim)" in result._repr_html_()


def test_a_wrong_result_is_an_error(monkeypatch):
    result = samhw.compile(SPMM).run(A=np.eye(3, dtype=int), X=np.ones((3, 3), int))
    result.check()
    result.tensors["T"].vals[4] += 1
    stored = result.run.regions[0].outputs["T"]
    stored.vals[4] += 1
    with pytest.raises(RunError, match="are wrong, off by"):
        result.check()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda d: d.run(A=np.eye(3)), "lacks data for X; give each input, as in X=array"),
        (lambda d: d.run(A=np.eye(3), X=np.eye(3), Y=1), "reads no tensor 'Y'; it reads A, X"),
        (lambda d: d.run(A=np.eye(3), X=np.eye(4)), "index 'k' has extent 3 in 'A' but 4 in 'X'"),
        (lambda d: d.run(A=np.eye(3), X=np.ones(3)), "data of tensor 'X' cannot be used"),
        (lambda d: d.run(A=[["a"]], X=np.eye(3)), "data of tensor 'A' cannot be used"),
        (lambda d: d.save("p.ein", "p.npz"), "no data to save before the first run"),
        (lambda d: d.compiled, "Nothing gives the extent of index"),
        (lambda d: samhw.compile(SPMM, formats={"Q": "csr"}), "no tensor 'Q' to give a format"),
        (lambda d: samhw.compile(SPMM, formats={"A": "csx"}), "unknown format 'csx'"),
        (lambda d: samhw.compile(SPMM, value="f3"), "Unknown value type 'f3'"),
        (lambda d: samhw.compile(SPMM, entries={"T": 3}), "'T' is dense"),
        (lambda d: samhw.compile("T[i] = A[i"), "text:1:"),
        (lambda d: samhw.compile("spmn"), "There is no program 'spmn'"),
        (lambda d: d.run(A=np.eye(3)), "or draw the others, as in run('random', A=..)"),
        (lambda d: d.run(A=np.eye(3), clock="100MHz"), "as in result.microseconds('100MHz')"),
        (lambda d: d.run(A=np.eye(3), backnd="sim"), "no argument 'backnd' (did you mean 'backend'?)"),
        (
            lambda d: d.run(A=np.eye(3), lanes="i=2"),
            "give it to compile, as in schedule={'lanes': {'i': 2}}.",
        ),
        (lambda d: d.run(A=np.eye(3), entries=3), "'entries' decides the design; give it to compile"),
        (
            lambda d: samhw.compile(SPMM, capacity={"A": 3}),
            "is entries={'A': 5000}, an argument of",
        ),
        (lambda d: samhw.compile(SPMM, clock="1ns"), "Cycles are the same at any clock"),
        (lambda d: d.run(np.eye(3), np.eye(3)), "give arrays by name, as in run(A=array, X=array)"),
        (lambda d: samhw.compile(SPMM, schedule={"lane": 2}), "no field 'lane' (did you mean 'lanes'?)"),
        (lambda d: samhw.compile(SPMM, formats={"X": "dense"}, entries={"X": 3}), "extents={'k': N, 'j': N}"),
    ],
)
def test_refusals(call, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=re.escape(sentence)):
        call(samhw.compile(SPMM))


def test_what_is_saved_runs_on_the_command_line(tmp_path):
    program, data = tmp_path / "p.ein", tmp_path / "p.npz"
    design = samhw.compile(SPMM, formats={"A": "csr"})
    design.run(A=matrix(5, 6), X=np.ones((6, 2), int))
    design.save(program, data)
    done = CliRunner().invoke(main, ["run", str(program), "--data", str(data)])
    assert done.exit_code == 0, done.output
    assert "X 6x2 (12 stored)" in done.output
    assert "right" in done.output


def test_text_on_the_command_line(tmp_path):
    done = CliRunner().invoke(main, ["run", "T[i,j] = A[i,k] * X[k,j]"])
    assert done.exit_code == 0, done.output
    assert "karate: A 34x34 (156 stored), X 34x16" in done.output
    file = tmp_path / "a.npz"
    sp.save_npz(file, matrix(6, 6))
    done = CliRunner().invoke(main, ["compile", "y[i] = B[i,j] * x[j]", "--data", f"B={file}", "--table"])
    assert done.exit_code == 0, done.output
    assert "LS(⟨B_i⟩)" in done.output
    done = CliRunner().invoke(main, ["run", "y[i] = B[i,j] * x[j"])
    assert done.exit_code == 2


def test_the_package_is_light():
    """NumPy and PyTorch come with what needs them."""
    code = "import sys, samhw; assert not {'numpy', 'torch', 'click'} & set(sys.modules); samhw.compile"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError):
        samhw.nothing  # noqa: B018


def test_what_is_reshaped_is_dense_whatever_its_data_are():
    a = matrix(6, 4)
    for given in (a, a.toarray(), np.asfortranarray(a.toarray()), a.tocoo(), a.tocsc()):
        design = samhw.compile("Z[p] = reshape(A[i, j])\ny[i] = A[i, j]")
        result = design.run(A=given)
        assert_array_equal(result["Z"], a.toarray().ravel())
        assert str(design.program.tensors["A"].format) == "dense"
    turned = Tensor.from_dense(a.toarray(), "dense @ (1, 0)")
    assert_array_equal(samhw.compile("Z[p] = reshape(A[i, j])").run(A=turned)["Z"], a.toarray().ravel())


def test_a_format_that_a_reshape_cannot_have():
    sentence = "'A' is stored as csr, but a reshape goes through row-major order"
    for options in ({"formats": {"A": "csr"}}, {"schedule": samhw.Schedule(formats={"A": "csr"})}):
        with pytest.raises(InputError, match=sentence):
            samhw.compile("Z[p] = reshape(A[i, j])", **options)


def test_entries_of_an_input_whose_data_say_how_it_is_stored():
    a = matrix(16, 16)
    design = samhw.compile("y[i] = A[i, j]", entries={"A": 200})
    with pytest.raises(InputError, match="'A' is dense"):
        design.run(A=a.toarray())
    # What was refused has left no format.
    assert_array_equal(design.run(A=a)["y"], a.sum(1))
    assert a.nnz < 64 < design.compiled.design.memory["A.crd1"].capacity


def test_a_tensor_without_indices_is_stored_as_it_is() -> None:
    x = np.arange(4.0)
    design = samhw.compile("y[i] = x[i] * s", value="i32")
    assert list(design.run(x=x, s=samhw.Tensor.from_dense(np.array(3.0), "scalar"))["y"]) == [0, 3, 6, 9]


def test_what_is_not_given_is_drawn_where_that_is_asked_for():
    """As on the command line, for models too."""
    for program, given in (("gat", {"A": matrix(9, 9)}), (SPMM, {"X": np.ones((4, 3))})):
        result = samhw.compile(program).run("random", **given)
        assert result.check().verdict == "right"
        name, array = next(iter(given.items()))
        assert result.workload.tensors[name].shape == array.shape


def test_room_by_extents_and_entries():
    design = samhw.compile("spmm", data="karate", extents={"k": 1000, "j": 64}, entries={"A": 5000})
    assert design.capacities["A"] == 5000
    assert design.capacities["X"] == 64000
    assert samhw.compile("spmm", data="karate", schedule={"lanes": "i=2"}).capacities["T"] == 1024


def test_words_of_types_are_taken_too():
    design = samhw.compile("spmm", types="A=i8,X=i8", data="karate")
    assert str(design.compiled.program.tensors["A"].value) == "i8"
    found = samhw.accuracy(samhw.compile("spmm"), ["karate"], "f32, fixed<16,8>")
    assert [row.value for row in found.rows] == ["f32", "fixed<16,8>"]
