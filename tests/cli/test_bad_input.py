"""One sentence with exit code 2 for each kind of bad input."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from samhw.targets.building.cpp_compiler import find_cpp_compiler
from tests.support.command import good, refused


def test_unknown_program() -> None:
    assert "There is no program 'spnn'" in refused("run", "spnn")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("rn spmv", "No such command 'rn' (did you mean 'run'?); see 'samhw --help'."),
        ("run spm", "There is no program 'spm' (did you mean 'spmv' or 'spmm'?); give"),
        ("run GCN", "There is no program 'GCN' (did you mean 'gcn'?); give"),
        ("run spmm --data kartae", "There is no data 'kartae' (did you mean 'karate'?); give karate, random"),
        ("run gcn --data kartae", "There is no data 'kartae' (did you mean 'karate'?); give karate, random"),
        ("run spmm --data sythetic:cora", "There is no data 'sythetic:cora' (did you mean 'synthetic'?)"),
        ("run spmm --data xyz", "There is no data 'xyz'; give karate, random"),
    ],
)
def test_what_a_word_may_have_been_meant_as(arguments: str, sentence: str) -> None:
    assert sentence in refused(*arguments.split())


FILE = """
from os.path import dirname
from samhw.lang import parse
from samhw.lang import ProgramBuilder
copy = parse("tensor A[i] : csf\\ntensor x[i] : csf\\nx[i] = A[i]")
def model(width=3):
    return None
def helper(width):
    return None
def _own():
    return None
"""


def test_a_python_file_without_a_name(tmp_path: Path) -> None:
    path = tmp_path / "models.py"
    path.write_text(FILE)
    named = f"name what to take of it: {path}:copy, {path}:model"
    assert refused("run", path) == f"samhw: '{path}' is a Python file; {named}\n"
    found = refused("run", f"{path}:modle")
    assert found == f"samhw: '{path}' has no object 'modle' (did you mean 'model'?); {named}\n"
    path.write_text("x = 3\n")
    assert "is a Python file; name a Program or ProgramBuilder that it defines" in refused("run", path)
    path.write_text("x = 1 / 0\n")
    assert f"{path}:1: ZeroDivisionError" in refused("run", path)


def test_a_file_that_is_called_like_no_program(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    path.write_text("y[i] = a[i]\n")
    assert f"call the file of a program {path}.ein" in refused("run", path)


@pytest.mark.parametrize("line", ["import torch", "import torch.nn", "import samhw.torch"])
def test_without_pytorch_the_extra_is_named(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, "torch")
    path = tmp_path / "m.py"
    path.write_text(f"\n{line}\ndef model(): ...\n")
    message = refused("run", f"{path}:model")
    assert message.startswith(f"samhw: {path}:2: ModuleNotFoundError: ")
    assert message.endswith("; install it with pip install 'samhw[torch]'\n")
    path.write_text("def model():\n    return 3\n")
    assert "needs PyTorch; install it with pip install 'samhw[torch]'" in refused("run", f"{path}:model")
    path.write_text("import nosuch\n")
    assert "install the package that has it, or fix the file" in refused("run", f"{path}:model")


def hide(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """As if a package were not installed."""
    own = {"samhw.torch", "samhw.app.torch", "samhw.importers.torch", "samhw.app.workload.torch_module"}
    for name in list(sys.modules):
        if name.partition(".")[0] == package or any(name == o or name.startswith(f"{o}.") for o in own):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)


def test_malformed_text(tmp_path: Path) -> None:
    path = tmp_path / "bad.ein"
    path.write_text("tensor A[i, j] : csr\nx[i] = A[i,j] * )\n")
    assert f"{path}:2:" in refused("run", path)


def test_unknown_index(tmp_path: Path) -> None:
    path = tmp_path / "bad.ein"
    path.write_text("tensor A[i=3, j=3] : csr\nx[i,q] = A[i,j]\n")
    assert "q" in refused("run", path)


def test_order_with_an_unknown_index() -> None:
    assert "does not name each index" in refused("run", "spmm", "--order", "i,k,q")


def test_discordant_order() -> None:
    assert "declare X with the mode order" in refused("run", "spmm", "--order", "i,j,k")


def test_shapes_that_disagree(tmp_path: Path) -> None:
    a, x = tmp_path / "a.mtx", tmp_path / "x.npz"
    write_mtx(a, np.ones((3, 4)))
    np.savez(x, X=np.ones((5, 2)))
    message = refused("run", "spmm", "--data", f"A={a}", "--data", f"X={x}")
    assert "k" in message
    assert "4" in message
    assert "5" in message


def test_wrong_file_format(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    path.write_text("this is no matrix\n")
    assert str(path) in refused("run", "spmm", "--data", f"A={path}")


def test_unknown_suffix(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.write_text("")
    assert ".xyz" in refused("run", "spmm", "--data", f"A={path}")


def test_missing_file() -> None:
    assert "nowhere.mtx" in refused("run", "spmm", "--data", "A=nowhere.mtx")


def test_data_for_an_unknown_tensor() -> None:
    assert "reads no tensor 'Q'" in refused("run", "spmm", "--data", "Q=a.mtx")


def test_nan_in_integer_data(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, A=np.array([[1.0, np.nan], [0.0, 2.0]]))
    assert "NaN" in refused("run", "spmm", "--value", "i32", "--data", f"A={path}")


def test_fractions_in_integer_data(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    write_mtx(path, np.array([[1.5, 0.0], [0.0, 2.0]]))
    found = refused("run", "spmm", "--value", "i32", "--data", f"A={path}")
    assert "1.5, which is no integer" in found


def test_unknown_value_type() -> None:
    assert "Unknown value type 'f99'" in refused("run", "spmm", "--value", "f99")


def test_unknown_target(tmp_path: Path) -> None:
    assert "There is no target 'asic'" in refused("build", "spmm", "--target", "asic", "-o", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_directory_that_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / "keep").write_text("")
    assert "not empty" in refused("build", "spmm", "--data", "karate", "--target", "sim", "-o", tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["keep"]


@pytest.mark.slow
def test_missing_tool_leaves_nothing_behind(tmp_path: Path) -> None:
    # In a process of its own: this one may have found its tools already.
    command = [sys.executable, "-c", "from samhw.app.cli import main; main()"]
    arguments = ["build", "spmv", "--data", "karate", "--target", "verilator", "-o", str(tmp_path / "out")]
    environment = {"PATH": str(tmp_path), "SAMHW_CACHE": str(tmp_path / "cache"), "CXX": "g++"}
    done = subprocess.run(
        [*command, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "The C++ compiler g++ was not found; set CXX" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("run spmm --backend icarus", "Icarus Verilog was not found"),
        ("run spmm --backend verilator", "Amaranth was not found"),
        ("run spmm --backend hls", "No C++ compiler was found"),
        ("run spmm --backend board:ulx3s --emulate", "Amaranth was not found"),
        ("run spmm --trace t.pftrace", "This format needs perfetto"),
        ("run spmm --trace t.fst", "FST needs pylibfst"),
        ("correlate spmm --backend verilator,icarus", "Amaranth was not found"),
        ("build spmm --data karate --target icarus -o out", "Icarus Verilog was not found"),
        ("build spmm --data karate --target verilog -o out", "Amaranth was not found"),
        ("compile spmm --dot g.svg", "Drawing SVG needs Graphviz; install its program 'dot'"),
        ("compile spmm --table --dot g.pdf", "Drawing PDF needs Graphviz; install its program 'dot'"),
    ],
)
def test_what_is_not_installed_is_said_before_any_work(
    words: str, missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*arguments: object, **options: object) -> NoReturn:
        raise AssertionError("data were read")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    found = importlib.util.find_spec
    gone = ("ziglang", "pygraphviz", *(() if "Icarus" in missing else ("amaranth",)))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in gone else found(name))
    for package in ("perfetto.protos.perfetto.trace", "pylibfst"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("samhw.app.cli.options.bind_program", work)
    find_cpp_compiler.cache_clear()
    try:
        assert refused(*words.split()).startswith(f"samhw: {missing}")
    finally:
        find_cpp_compiler.cache_clear()
    assert not list(tmp_path.iterdir())


def test_a_drawing_of_no_form(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    assert "nothing is drawn as .txt; give .svg or .png or .pdf" in refused("compile", "spmm", "--dot", path)
    assert not list(tmp_path.iterdir())


def test_a_drawing_by_its_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "dot"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "drawn by $1"\nexec cat > /dev/null\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    for suffix, begin in (("svg", "drawn by -Tsvg"), ("PNG", "drawn by -Tpng"), ("pdf", "drawn by -Tpdf")):
        path = tmp_path / f"g.{suffix}"
        good("compile", "spmm", "--data", "karate", "--dot", path)
        assert path.read_text().startswith(begin)
    for name in ("g.dot", "g.gv", "g"):
        good("compile", "spmm", "--data", "karate", "--dot", tmp_path / name)
        assert (tmp_path / name).read_text().startswith("digraph")
    assert good("compile", "spmm", "--data", "karate", "--dot", "-").stdout.startswith("digraph")


def test_correlate_needs_programs() -> None:
    assert "correlate needs programs" in refused("correlate")


def write_mtx(path: Path, array: np.ndarray) -> None:
    scipy.io.mmwrite(path, scipy.sparse.coo_array(array))
