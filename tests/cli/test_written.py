"""Commands name the files that they write, on stderr, so that pipes have results alone."""

import json
from pathlib import Path

import pytest

from tests.support.command import good

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
    assert json.loads(done.stdout)["result"] == "right"
    assert done.stderr == f"samhw: wrote {page / 'index.html'}\n"


def test_what_is_no_file_is_not_named() -> None:
    assert good("run", "spmv", "--data", "karate", "--json", "/dev/null").stderr == ""
