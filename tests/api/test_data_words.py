"""Data in the words of --data, which mean in Python what they mean on the command line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import samhw
from samhw.app.cli import main
from samhw.errors import InputError


def by_command(program: str, *words: str) -> dict[str, Any]:
    """What `samhw run --json -` says of the same."""
    options = [text for word in words for text in ("--data", word)]
    done = CliRunner().invoke(main, ["run", program, *options, "--json", "-"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def shape(result: Any, name: str) -> tuple[int, ...]:
    return tuple(result[name].shape)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("spmm", ["karate"]),
        ("spmm", ["random:i=6,j=24"]),
        ("gcn", ["karate", "random:seed=3"]),
        ("gat", ["synthetic:cora,nodes=30,edges=60,features=8"]),
        ("T[i, j] = A[i, k] * X[k, j]", ["karate", "random:j=3"]),
    ],
)
def test_words_are_those_of_the_command_line(program: str, words: list[str]) -> None:
    wanted = by_command(program, *words)["cycles"]
    assert samhw.compile(program, data=words).run().cycles == wanted
    assert samhw.compile(program).run(words).cycles == wanted
    assert samhw.compile(program).run(data=words).cycles == wanted


def test_an_array_comes_before_what_the_words_give() -> None:
    """And what is drawn fits it."""
    design = samhw.compile("T[i, j] = A[i, k] * X[k, j] + b[j]", data="karate")
    assert shape(design.run(), "T") == (34, 16)
    result = design.run(X=np.ones((34, 5)))
    assert shape(result, "T") == (34, 5)
    assert result.check().good
    assert shape(samhw.compile("gcn").run("karate", A=np.eye(7)), "Z2")[0] == 7


def test_data_of_a_compile_stay_its_own() -> None:
    design = samhw.compile("spmm", data="karate")
    before = design.run()
    assert design.run("random:size=5").cycles < before.cycles
    assert design.run().cycles == before.cycles
    assert shape(design.with_value("f32").run(), "T") == (34, 16)
    assert design.estimate("random:size=5").cycles < design.tune(budget=0.1).best.cycles


def test_files_are_read(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((34, 5)))
    words = ["karate", f"X={tmp_path / 'x.npy'}"]
    assert shape(samhw.compile("spmm", data=words).run(), "T") == (34, 5)


def test_extents_are_room_for_data_to_come() -> None:
    design = samhw.compile("spmm", data="karate", extents={"i": 1000})
    assert design.compiled.design.extents["i"] == 1000
    wide = samhw.compile("spmm", extents={"i": 1000, "k": 1000, "j": 16})
    assert wide.compiled.design.extents == {"i": 1000, "k": 1000, "j": 16}
    assert wide.run("karate").compiled.design.extents == {"i": 1000, "k": 1000, "j": 16}
    with pytest.raises(InputError, match="The data has i=34, for which a build of up to 20 has no room"):
        samhw.compile("spmm", data="karate", extents={"i": 20})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"data": "karte"}, r"There is no data 'karte' \(did you mean 'karate'\?\)"),
        ({"data": {"A": 3}}, r"'data' takes the words of docs/data.md, such as 'karate', .* run\(A=array\)"),
        ({"extents": {"z": 3}}, "'spmm' has no index 'z'"),
        ({"extents": 3}, r"give numbers by index, as in {'i': 1000}"),
        ({"lanes": "i=4"}, r"give schedule={'lanes': {'i': 4}}"),
        ({"lanes": 2}, "'lanes' is 2; give a table with an entry for each index"),
        ({"backend": "verilator"}, r"run\(backend='verilator'\)"),
    ],
)
def test_other_arguments_are_refused_with_a_way_out(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        samhw.compile("spmm", **options)


def test_a_run_without_data_says_how_to_give_some() -> None:
    with pytest.raises(InputError, match=r"lacks data for A, X; .* as in run\('karate'\)"):
        samhw.compile("spmm").run()


def test_choices_are_taken_in_words() -> None:
    table = {"lanes": {"i": 2}, "formats": {"X": "csr"}}
    found, wanted = (
        samhw.compile("spmm", schedule=own) for own in ({"lanes": "i=2", "formats": "X=csr"}, table)
    )
    assert found.run("karate").cycles == wanted.run("karate").cycles


def test_energy_is_that_of_the_command() -> None:
    result = samhw.compile("spmm", data="karate").run()
    done = CliRunner().invoke(main, ["run", "spmm", "--data", "karate", "--energy", "--json", "-"])
    assert result.energy().to_json() == json.loads(done.stdout)["energy"]


def test_accuracy_takes_words() -> None:
    found = samhw.accuracy(samhw.compile("gcn"), "karate", ["f32", "bf16"]).to_json()
    assert found == samhw.accuracy(samhw.compile("gcn"), ["karate"], ["f32", "bf16"]).to_json()


def test_a_module_refuses_what_there_is_not_in_a_sentence() -> None:
    torch = pytest.importorskip("torch")
    import samhw.torch

    with pytest.raises(InputError, match=r"give schedule={'lanes': {'i': 2}}"):
        samhw.torch.compile(torch.nn.Linear(3, 2), (torch.ones(1, 3),), lanes="i=2")
