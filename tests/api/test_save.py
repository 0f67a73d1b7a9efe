"""What is saved of a design gives the same design back, and what is not that design is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from click.testing import CliRunner

import samhw
import samhw.torch
from samhw.app.cli import main
from samhw.app.workload import SavedDesign, bind_program
from samhw.errors import InputError
from samhw.graph.numerics import value_type

CHAIN = "T[i, j] = A[i, k] * X[k, j]\nU[i, j] = relu(T[i, j])\ny[i] = U[i, j] * w[j]"


def chain(seed: int, rows: int = 9) -> dict[str, Any]:
    """Data for it, the third of which are fractions."""
    rng = np.random.default_rng(seed)
    a = sp.random_array((rows, 6), density=0.3, rng=rng, format="csr")
    return {"A": a, "X": rng.integers(-3, 4, (6, 5)), "w": rng.integers(-3, 4, 5) / 4}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(*words: str) -> dict[str, Any]:
    """What the command line says of p.ein."""
    done = CliRunner().invoke(main, ["run", "p.ein", "--data", "p.npz", *words, "--json", "-"])
    assert done.exit_code == 0, done.output
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fuse": "full"},
        {"fuse": "none", "value": "bf16"},
        {"fuse": "full", "schedule": {"lanes": {"i": 2}, "iteration": "global"}},
        {"arch": "vitis", "fuse": "full"},
        {"arch": {"slack": 7}, "entries": {"A": 3000}, "formats": {"A": "dcsr", "T": "csr"}},
    ],
    ids=str,
)
def test_the_same_design_comes_back(options: dict[str, Any]) -> None:
    data = chain(0)
    design = samhw.compile(CHAIN, **{"formats": {"A": "csr"}, **options})
    result = design.run(data)
    design.save("p.ein", "p.npz")
    again = samhw.load("p.ein")
    compiled = again.compiled
    assert compiled.design == design.compiled.design
    repeated = again.run(data)
    assert again.compiled is compiled
    assert (repeated.cycles, again.program.name) == (result.cycles, design.program.name)
    np.testing.assert_array_equal(repeated["y"], result["y"])
    assert ran("--design", "p.design.json")["cycles"] == result.cycles


def test_the_schedule_counts() -> None:
    """Without it, the program that was saved is another design."""
    workload = bind_program("gcn", ["karate"])
    design = samhw.compile("gcn", fuse="full", schedule={"share": "none"})
    design.run(workload.tensors)
    design.save("p.ein", "p.npz")
    assert ran()["cycles"] == 6500
    assert ran("--design", "p.design.json")["cycles"] == 24513
    assert ran("--design", "p.design.json", "--share", "auto")["cycles"] == 6500
    assert samhw.load("p.ein").run(workload.tensors).cycles == 24513


def test_room_and_value_type_are_those_of_all_runs() -> None:
    """A design that has grown with its data is saved as it is."""
    design = samhw.compile("y[i] = 2 * A[i, j] * x[j]", formats={"A": "csr"})
    whole = {"A": np.eye(3, dtype=int), "x": [1, 2, 3]}
    design.run({"A": np.eye(40), "x": np.arange(40) / 2})
    cycles = design.run(whole).cycles
    design.save("p.ein", "p.npz")
    again = samhw.load("p.ein")
    assert again.compiled.design == design.compiled.design
    assert (again.run(whole).cycles, again.compiled.value) == (cycles, value_type("f32"))
    assert ran("--design", "p.design.json")["value"] == "f32"
    for command in (
        ["compile", "p.ein", "--design", "p.design.json", "--data", "p.npz"],
        ["build", "p.ein", "--design", "p.design.json", "--data", "p.npz", "--target", "sim", "-o", "out"],
    ):
        assert CliRunner().invoke(main, command).exit_code == 0
    built = json.loads(Path("out/graph.json").read_text())
    assert built["extents"]["i"] == 64


def test_formats_that_data_will_give_stay_open() -> None:
    design = samhw.compile("y[i] = A[i, j] * x[j]")
    design.save("p.ein")
    again = samhw.load("p.ein")
    again.run(A=sp.csr_array(np.eye(3)), x=[1, 2, 3])
    assert str(again.program.tensors["A"].format) == "csr"
    again.save("p.ein")
    assert str(samhw.load("p.ein").program.tensors["A"].format) == "csr"
    assert "A" not in SavedDesign.read(Path("p.design.json")).open


def test_a_module_comes_back_as_its_program() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    design = samhw.torch.compile(model, (torch.rand(5, 4),), fuse="module")
    result = design.run()
    design.save("p.ein", "p.npz")
    assert samhw.load("p.ein").run(result.result.workload.tensors).cycles == result.cycles
    assert ran("--design", "p.design.json")["cycles"] == result.cycles


def changed(**fields: Any) -> str:
    found = json.loads(Path("p.design.json").read_text())
    return json.dumps({**found, **fields})


def without(field: str) -> str:
    found = json.loads(Path("p.design.json").read_text())
    return json.dumps({name: value for name, value in found.items() if name != field})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (lambda: "", "is damaged, no JSON"),
        (lambda: Path("p.design.json").read_text()[:-20], "is damaged, no JSON"),
        (lambda: "[" * 100_000, "is damaged, no JSON"),
        (lambda: "[]", "is no saved design"),
        (lambda: '{"slack": 3}', "is no saved design"),
        (
            lambda: changed(samhw_design=2, samhw="9.1"),
            "of version 2, written by samhw 9.1, .* reads version 1",
        ),
        (lambda: changed(samhw_design="1"), "is no saved design"),
        (lambda: changed(colour="red"), "there is no field 'colour'"),
        (lambda: without("schedule"), "the field 'schedule' is missing"),
        (lambda: changed(open=[1]), "the field 'open' has something else than names"),
        (lambda: changed(entries_for={"A": -1}), "the field 'entries_for' has something else than counts"),
        (lambda: changed(schedule={"fuse": "fully"}), "There is no fuse 'fully'"),
        (lambda: changed(schedule={"fuse": [["Q"]]}), "'Q'"),
        (lambda: changed(arch={"slack": -1}), "Arch.slack is -1"),
        (lambda: changed(value="f33"), "Unknown value type 'f33'"),
        (lambda: changed(schedule={"fuse": "none"}), "do not give the design that was saved"),
        (lambda: changed(entries_for={"A": 1 << 14}), "do not give the design that was saved"),
    ],
)
def test_what_is_damaged_is_refused(text: Any, sentence: str) -> None:
    design = samhw.compile(CHAIN, formats={"A": "csr"}, fuse="full")
    design.run(chain(0))
    design.save("p.ein", "p.npz")
    Path("p.design.json").write_text(text())
    with pytest.raises(InputError, match=sentence) as caught:
        samhw.load("p.ein")
    assert "p.design.json" in str(caught.value)


def test_another_program_is_refused_unless_it_is_meant() -> None:
    design = samhw.compile(CHAIN, formats={"A": "csr"}, fuse="full")
    design.run(chain(0))
    design.save("p.ein")
    program = Path("p.ein")
    program.write_text("# Scaled.\n" + program.read_text().replace("relu(T[i, j])", "2 * T[i, j]"))
    with pytest.raises(InputError, match='make "fingerprint" null'):
        samhw.load("p.ein")
    Path("p.design.json").write_text(changed(fingerprint=None))
    assert samhw.load("p.ein").run(chain(0)).check().good


def test_files_that_are_not_there() -> None:
    samhw.compile(CHAIN).save("p.ein")
    Path("p.design.json").unlink()
    with pytest.raises(InputError, match=r"Cannot read p\.design\.json .*; give what 'save' of a design"):
        samhw.load("p.ein")
    samhw.compile(CHAIN).save("p.ein")
    Path("p.ein").unlink()
    with pytest.raises(InputError, match="cannot read program"):
        samhw.load("p.ein")
    done = CliRunner().invoke(main, ["run", "spmv", "--design", "q.design.json"])
    assert (done.exit_code, "Cannot read q.design.json" in done.output) == (2, True)
    done = CliRunner().invoke(main, ["run", "spmv", "--design", "p.design.json", "--schedule", "s.toml"])
    assert (done.exit_code, "leave out --schedule, or the design" in done.output) == (2, True)
    with pytest.raises(InputError, match="names no file"):
        samhw.compile(CHAIN).save("/")
