"""Modules on the command line: `model.py:NAME` for every command, in files as users have them."""

import csv
import json
import textwrap
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from samhw.app.cli import main
from samhw.app.sweep import Configuration
from samhw.tensors import read_tensors

FILES = {
    "model.py": """
        import functools
        import torch
        from torch import nn
        from layers import Block

        print("as the file runs")
        half = functools.partial(nn.Linear, 3, 2)

        def two():
            from sizes import WIDTH
            torch.manual_seed(0)
            return nn.Sequential(Block(WIDTH), Block(WIDTH)), (torch.randn(2, WIDTH),)

        def sparse():
            torch.manual_seed(1)
            dense = (torch.rand(4, 4) < 0.4).float()
            return Product(), (dense.to_sparse_csr(), torch.randn(4, 3))

        class Product(nn.Module):
            def forward(self, a, x):
                return a @ torch.relu(x)

        def no_module():
            return torch.zeros(3)

        def no_arguments():
            return nn.Linear(2, 2), torch.zeros(1, 2)

        def asking(width):
            return nn.Linear(width, 2), ()

        def failing():
            return {}["key"]

        def failing_inside():
            return Block("a"), ()

        def counting():
            return Counting(), (torch.randn(3),)

        class Counting(nn.Module):
            def forward(self, x):
                return torch.mode(x * 2)[0]

        def wrong_shape():
            return nn.Linear(3, 2), (torch.zeros(1, 2),)

        module = nn.Linear(2, 2)
    """,
    "layers.py": """
        import torch
        from torch import nn

        class Block(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.fc = nn.Linear(width, width)

            def forward(self, x):
                from sizes import SCALE
                print("as the module runs")
                return torch.relu(self.fc(x)) * SCALE
    """,
    "sizes.py": "WIDTH, SCALE = 4, 0.5",
    "other/model.py": """
        import torch
        from layers import Block

        def other():
            return Block(2), (torch.ones(2, 2),)
    """,
    "other/layers.py": """
        from torch import nn

        class Block(nn.Linear):
            def __init__(self, width):
                super().__init__(width, width + 1)
    """,
    "package/__init__.py": "",
    "package/sizes.py": "SIZE = 3",
    "package/inner/__init__.py": "",
    "package/inner/model.py": """
        import torch
        from ..sizes import SIZE

        def linear():
            return torch.nn.Linear(SIZE, SIZE), (torch.ones(2, SIZE),)
    """,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def samhw(*arguments: str) -> Result:
    done = CliRunner().invoke(main, arguments)
    if done.exit_code not in (0, 2) and done.exception is not None:
        raise done.exception
    return done


def test_run(folder: Path) -> None:
    """A file with neighbours, which it and its functions import, and which print."""
    for fuse, regions in (("none", 4), ("module", 3), ("full", 1)):
        done = samhw("run", "model.py:two", "--fuse", fuse, "--save", "out.npz", "--json", "-")
        assert done.exit_code == 0, done.output
        report = json.loads(done.stdout)
        assert (len(report["regions"]), report["checked"]) == (regions, True)
        assert report["fuse"] == fuse
        assert "as the file runs" in done.stderr
        assert "as the module runs" in done.stderr
    ((_, stored),) = read_tensors(folder / "out.npz").items()
    assert stored.shape == (2, 4)
    assert np.any(stored.to_dense())


@pytest.mark.parametrize("spec", ["model.py:sparse", "package/inner/model.py:linear", "other/model.py:other"])
def test_other_files(folder: Path, spec: str) -> None:
    assert samhw("run", "model.py:two").exit_code == 0
    done = samhw("run", spec, "--value", "f32")
    assert done.exit_code == 0, done.output


def test_compile(folder: Path) -> None:
    done = samhw("compile", "model.py:two", "--fuse", "module", "--table", "-o", "graph.json")
    assert done.exit_code == 0, done.output
    assert [line.partition(":")[0] for line in done.output.splitlines() if " nodes, " in line] == [
        "two_0",
        "two_1",
        "two_2",
    ]
    assert json.loads((folder / "graph.json").read_text())
    (folder / "schedule.toml").write_text('fuse = "module"\n')
    done = samhw("compile", "model.py:two", "--schedule", "schedule.toml", "--json", "-")
    regions = json.loads(done.stdout)["regions"]
    assert [len(region["results"]) for region in regions] == [1, 2, 1]


def test_compare(folder: Path) -> None:
    done = samhw("compare", "model.py:two", "--json", "-")
    found = json.loads(done.stdout)["outcomes"]
    assert [(o["fuse"], o["regions"], o["checked"]) for o in found] == [
        ("none", 4, True),
        ("module", 3, True),
        ("full", 1, True),
    ]


@pytest.mark.slow
def test_sweep(folder: Path) -> None:
    done = samhw("sweep", "model.py:two", "--fuse", "none,module", "--jobs", "1", "-o", "table.csv")
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader((folder / "table.csv").open()))
    assert [(row["fuse"], row["status"], row["regions"]) for row in rows] == [
        ("none", "right", "4"),
        ("module", "right", "3"),
    ]


@pytest.mark.parametrize("edited", ["model.py", "layers.py", "sizes.py", "other/layers.py"])
def test_edited_neighbours_are_measured_again(folder: Path, edited: str) -> None:
    configuration = Configuration(f"{folder}/model.py:two")
    key = configuration.key()
    assert key == configuration.key()
    (folder / edited).write_text(f"{(folder / edited).read_text()}\n")
    assert (configuration.key() == key) == (edited == "other/layers.py")


@pytest.mark.slow
@pytest.mark.verilator
def test_correlate(folder: Path) -> None:
    """In several processes, which know nothing of PyTorch."""
    spec = "package/inner/model.py:linear"
    done = samhw("correlate", spec, spec, "--value", "fixed<16,8>", "--jobs", "2", "--json", "-")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert [(k["name"], k["checked"]) for k in report["kernels"]] == [("linear", True)] * 2
    assert report["exact"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("target", ["verilog", "vitis-hls"])
def test_build(folder: Path, target: str) -> None:
    options = ("--fuse", "module", "--value", "fixed<16,8>", "--check")
    done = samhw("build", "model.py:two", *options, "--target", target, "-o", "out")
    assert done.exit_code == 0, done.output
    assert "checked, right on example" in done.stderr
    assert any((folder / "out").rglob("*.v" if target == "verilog" else "*.cpp"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "missing",
            "'model.py' has no object 'missing'; name what to take of it: model.py:half, model.py:two",
        ),
        ("module", "'model.py:module' is of type Linear; name a Program"),
        ("Product", "'model.py:Product' is of type type; name a Program"),
        ("half", "'model.py:half' gives a Linear, and is to give a torch.nn.Module, or"),
        ("no_module", "'model.py:no_module' gives a Tensor, and is to give"),
        ("no_arguments", "'model.py:no_arguments' gives (Linear, Tensor), and is to give"),
        ("asking", "model.py: TypeError: asking() missing 1 required positional argument: 'width'"),
        ("failing", "model.py:34: KeyError: 'key'; fix the file"),
        ("failing_inside", "layers.py:8: TypeError: "),
        ("counting", "model.py:44: 'aten.mode' counts elements by their values, for which there is no"),
        ("wrong_shape", "PyTorch cannot export Linear (RuntimeError: a and b must have same reduction dim"),
    ],
)
def test_refused(folder: Path, name: str, words: str) -> None:
    for command in (("run",), ("compile",), ("build", "--target", "verilog", "-o", "out")):
        done = samhw(command[0], f"model.py:{name}", *command[1:])
        assert done.exit_code == 2
        last = [line for line in done.stderr.splitlines() if line.startswith("samhw: ")]
        assert len(last) == 1
        assert words in last[0]
        assert "Traceback" not in done.output
    assert not (folder / "out").exists()


def test_fused_by_modules_that_are_not_there(folder: Path) -> None:
    done = samhw("run", "spmm", "--fuse", "module")
    assert done.exit_code == 2
    assert "'spmm' is no module of PyTorch, by whose tree 'module' fuses; fuse it another way" in done.stderr
    done = samhw("run", "model.py:two", "--data", "karate")
    assert done.exit_code == 2
    assert "has its own data" in done.stderr
