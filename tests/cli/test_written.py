"""Commands name the files that they write, on stderr, so that pipes have results alone."""

import json
from pathlib import Path

import pytest

from samhw.tensors import read_tensor, read_tensors
from tests.support.command import good, refused

RUN = "run spmv --data karate"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (f"{RUN} --trace t.json", ["t.json"]),
        (f"{RUN} --trace t.gtkw --save t.tns", ["t.gtkw", "t.vcd", "t.tns"]),
        (f"{RUN} --json r.json --report page", ["r.json", "page/index.html"]),
        (f"{RUN} --memory ddr4 --memory-log log.txt", ["log.txt"]),
        ("compile spmv --data karate -o g.json --dot g.dot --html t.html", ["g.json", "g.dot", "t.html"]),
        ("compile spmv --data karate --estimate --dot g.dot", ["g.dot"]),
        ("compile spmv --data karate --mlir f.mlir", ["f.mlir"]),
        ("compare spmv --data karate --csv c.csv --plot c.svg", ["c.csv", "c.svg"]),
        ("sweep spmv --data karate --jobs 1 -o s.csv --plot s.svg", ["s.csv", "s.svg"]),
        ("tune spmv --data karate --jobs 1 --budget 1 -o t.toml --plot t.svg", ["t.toml", "t.csv", "t.svg"]),
        ("accuracy spmv --data karate --json a.json --plot a.svg", ["a.json", "a.svg"]),
        ("build spmv --data karate --target verilog -o b --json b.json", ["b.json"]),
    ],
)
def test_what_is_written_is_named(
    command: str, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = good(*command.split())
    said = [line.removeprefix("samhw: wrote ") for line in done.stderr.splitlines() if "wrote" in line]
    assert sorted(said) == sorted(files)
    assert all(Path(file).exists() for file in files)
    assert "wrote" not in done.stdout


def test_a_pipe_has_results_alone(tmp_path: Path) -> None:
    page = tmp_path / "page"
    done = good("run", "spmv", "--data", "karate", "--json", "-", "--report", page)
    assert json.loads(done.stdout)["status"] == "right"
    assert done.stderr == f"samhw: wrote {page / 'index.html'}\n"


def test_what_is_no_file_is_not_named() -> None:
    assert good("run", "spmv", "--data", "karate", "--json", "/dev/null").stderr == ""


@pytest.mark.parametrize("suffix", ["mtx", "tns", "npz", "npy"])
def test_a_saved_result_is_data(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{suffix}"
    good("run", "spmm", "--data", "karate", "--save", path)
    assert read_tensor(path).shape == (34, 16)
    assert "T=t" in good("run", "y[i] = T[i, j] * x[j]", "--data", f"T={path}").stdout


def test_what_cannot_be_saved_is_refused_before_the_run(tmp_path: Path) -> None:
    two = "a[i] = B[i, j] * c[j]\nd[i] = 2 * B[i, j] * c[j]"
    message = refused("run", two, "--data", "karate", "--save", tmp_path / "y.tns")
    assert "the results are a, d; give a .npz file, which has room for all." in message
    assert "unknown suffix '.csv'" in refused("run", "spmm", "--save", tmp_path / "t.csv")
    assert "cannot hold a tensor of rank 1" in refused("run", "spmv", "--save", tmp_path / "t.mtx")
    good("run", two, "--data", "karate", "--save", tmp_path / "y.npz")
    assert set(read_tensors(tmp_path / "y.npz")) == {"a", "d"}


def test_a_sweep_says_why_a_run_failed(tmp_path: Path) -> None:
    words = ("sweep", "gat", "--data", "karate", "--fuse", "full", "--depth", "4", "--jobs", "1")
    assert (
        "samhw: failed, gat on karate: Region gat_1: Deadlock"
        in good(*words, "-o", tmp_path / "s.csv").stderr
    )
