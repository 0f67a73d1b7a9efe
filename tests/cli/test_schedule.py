"""`--schedule` of every command: what it overrides, what overrides it, and what is refused."""

import csv
from pathlib import Path
from typing import Any

import pytest

from samhw.app.cli import main
from samhw.choices.schedule import Schedule
from tests.support.command import report, samhw

EVERY = {
    "run": ["spmm"],
    "compile": ["spmm"],
    "build": ["spmm", "--target", "sim", "-o", "out"],
    "compare": ["spmm"],
    "correlate": ["spmm"],
    "sweep": ["spmm", "-o", "table.csv"],
    "tune": ["spmm", "-o", "tuned.toml"],
    "accuracy": ["spmm"],
}
"""The commands that take a program, with what they do not go without."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str) -> Path:
    (folder / "s.toml").write_text(text, encoding="utf-8")
    return folder / "s.toml"


def test_every_command_that_takes_a_program_is_tried() -> None:
    assert {*EVERY, "examples", "hls-report", "kernels", "merge", "papers"} == set(main.list_commands(None))


@pytest.mark.parametrize("command", EVERY)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fuze = 1", "A schedule has no field 'fuze' (did you mean 'fuse'?); its fields are brackets, fuse,"),
        ("fuse", "is no TOML"),
    ],
)
def test_a_wrong_file_is_refused(command: str, text: str, message: str, folder: Path) -> None:
    result = samhw(command, *EVERY[command], "--schedule", write(folder, text))
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("command", sorted(EVERY.keys() - {"correlate"}))
def test_one_is_chosen(command: str, folder: Path) -> None:
    budget = ["--budget", "1", "--confirm", "1", "--jobs", "1"] if command == "tune" else []
    result = samhw(command, *EVERY[command], *budget, "--data", "karate", "--schedule", "auto")
    assert result.exit_code == 0, result.output


def test_a_sweep_of_brackets(folder: Path) -> None:
    arguments = ("sweep", "gcn", "--data", "karate", "--set", "brackets.U1=A*(X*W1),T1*W1", "-o", "t.csv")
    assert samhw(*arguments).exit_code == 0
    with (folder / "t.csv").open(encoding="utf-8") as file:
        rows = {row["brackets.U1"]: row for row in csv.DictReader(file)}
    assert rows.keys() == {"A*(X*W1)", "T1*W1"}
    assert all(row["status"] == "right" for row in rows.values())
    assert int(rows["A*(X*W1)"]["regions"]) == 3


def used(*arguments: object) -> dict[str, Any]:
    """The schedule of a run."""
    schedule: dict[str, Any] = report("run", *arguments)["schedule"]
    return schedule


def test_program_then_file_then_option(folder: Path) -> None:
    written = used("gcn")
    assert written["fuse"] == [["T1", "U1", "Z1", "H1"], ["T2", "U2", "Z2"]]
    assert written["formats"]["T1"] == "csr"
    file = write(
        folder,
        'fuse = [["T1", "U1"], ["Z1", "H1"]]\niteration = "global"\npermute = true\n[formats]\nT1 = "dcsr"\n',
    )
    filed = used("gcn", "--schedule", file)
    assert filed["fuse"] == [["T1", "U1"], ["Z1", "H1"], ["T2"], ["U2"], ["Z2"]]
    assert (filed["iteration"], filed["permute"]) == ("global", True)
    assert filed["formats"] == written["formats"] | {"T1": "dcsr"}
    chosen = used("gcn", "--schedule", file, "--fuse", "partial", "--iteration", "factored", "--no-permute")
    assert chosen == written | {"formats": filed["formats"], "order": chosen["order"]}


def test_an_order_of_a_file_and_of_the_option(folder: Path) -> None:
    file = write(folder, 'order = ["k", "i", "j"]\nformats = {A = "csc", T = "csr @ (1, 0)"}\n')
    assert used("spmv", "--order", "i,j")["order"] == {"x": ["i", "j"]}
    refused = samhw("run", "spmm", "--schedule", file)
    assert refused.exit_code == 2
    file = write(folder, 'order = ["j", "i", "k"]\n[formats]\nX = "dense @ (1, 0)"\nT = "csc"\n')
    assert used("spmm", "--schedule", file)["order"] == {"T": ["j", "i", "k"]}
    file = write(folder, '[order]\nT = ["j", "i", "k"]\n[formats]\nX = "dense @ (1, 0)"\nT = "csc"\n')
    assert used("spmm", "--schedule", file)["order"] == {"T": ["j", "i", "k"]}
    several = samhw("run", "gcn", "--order", "i,k")
    assert several.exit_code == 2
    assert "one order does not fit them all" in several.stderr


def test_orders_of_many_regions(folder: Path) -> None:
    file = write(folder, '[order]\nH1 = ["i", "k", "f", "h"]\nZ2 = ["i", "k", "h", "c"]\n')
    assert used("gcn", "--schedule", file)["order"] == {"H1": list("ikfh"), "Z2": list("ikhc")}


def test_what_was_used_is_a_schedule_itself(folder: Path) -> None:
    before = report("run", "gat", "--fuse", "full")
    file = write(folder, Schedule.from_fields(before["schedule"]).dumps())
    after = report("run", "gat", "--schedule", file)
    assert after["cycles"] == before["cycles"]
    assert after["schedule"] == before["schedule"]


def test_tensors_off_chip(folder: Path) -> None:
    file = write(folder, 'place = {A = "ddr"}\n')
    placed = report("run", "spmm", "--schedule", file, "--memory", "ddr4")
    assert placed["schedule"]["place"] == {"A": "ddr", "X": "chip", "T": "chip"}
    assert placed["memory"] == report("run", "spmm", "--memory", "ddr4", "--place", "A=ddr")["memory"]
    everything = report("run", "spmm", "--schedule", file, "--memory", "ddr4", "--place", "A=ddr,X=ddr,T=ddr")
    assert everything["schedule"]["place"] == {"A": "ddr", "X": "ddr", "T": "ddr"}
    assert "place" not in used("spmm")
    for command, words in EVERY.items():
        if command == "compile":  # A graph is the same wherever its memories lie.
            continue
        refused = samhw(command, *words, "--data", "karate", "--schedule", file)
        assert refused.exit_code == 2
        assert "'A' off chip" in refused.stderr or "'A' is to lie" in refused.stderr
    hardware = samhw("run", "spmm", "--schedule", file, "--memory", "ddr4", "--backend", "hls")
    assert hardware.exit_code == 2


@pytest.mark.slow
def test_schedules_are_compared(folder: Path) -> None:
    (folder / "a.toml").write_text('fuse = [["T1", "U1"]]\n', encoding="utf-8")
    (folder / "b.toml").write_text('fuse = "none"\niteration = "global"\n', encoding="utf-8")
    files = ("--schedule", "a.toml", "--schedule", "b.toml")
    found = report("compare", "gcn", *files)["outcomes"]
    assert [(o["fuse"], o["iteration"]) for o in found] == [([["T1", "U1"]], "factored"), ("none", "global")]
    assert all(o["checked"] for o in found)
    found = report("compare", "gcn", *files, "--iteration", "factored")["outcomes"]
    assert [o["iteration"] for o in found] == ["factored", "factored"]
    found = report("compare", "gcn", "--schedule", "a.toml", "--fuse", "none,full")["outcomes"]
    assert [o["fuse"] for o in found] == ["none", "full"]


def rows(*arguments: object) -> list[dict[str, str]]:
    result = samhw("sweep", *arguments, "-o", "table.csv")
    assert result.exit_code == 0, result.output
    with Path("table.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_a_sweep_varies_fields_by_name(folder: Path) -> None:
    found = rows(
        "spmm", "--data", "random:size=5", "--set", "formats.T=csr,dense", "--set", "iteration=global"
    )
    assert [row["formats.T"] for row in found] == ["csr", "dense"]
    assert {row["iteration"] for row in found} == {"global"}
    twice = samhw("sweep", "spmm", "--fuse", "none", "--set", "fuse=full", "-o", "x.csv")
    assert twice.exit_code == 2
    assert "--set fuse says what an option says too" in twice.stderr


@pytest.mark.slow
def test_a_sweep_over_schedules(folder: Path) -> None:
    (folder / "a.toml").write_text('[formats]\nA = "dcsr"\n', encoding="utf-8")
    (folder / "b.toml").write_text('iteration = "global"\npermute = true\n', encoding="utf-8")
    found = rows("spmm", "--data", "random:size=5", "--schedule", "a.toml", "--schedule", "b.toml")
    assert [(row["formats.A"], row["iteration"]) for row in found] == [("dcsr", "factored"), ("", "global")]
    assert [row["permute"] for row in found] == ["False", "True"]
    found = rows("spmm", "--data", "random:size=5", "--schedule", "b.toml", "--no-permute")
    assert [row["permute"] for row in found] == ["False"]


def test_a_sweep_varies_the_orders_of_regions(folder: Path) -> None:
    """An order has commas of its own; each --set of a name adds to its values."""
    chosen = ("--set", "order.T=i,k,j", "--set", "order.T=i,j,k", "--set", "formats.X=dense", "--permute")
    found = rows("spmm", "--data", "random:size=5", *chosen)
    assert [(row["order.T"], row["formats.X"]) for row in found] == [("i,k,j", "dense"), ("i,j,k", "dense")]
    assert {row["status"] for row in found} == {"right"}
    assert found[0]["cycles"] != found[1]["cycles"]
    found = rows("spmm", "--data", "random:size=5", "--permute", "--set", "order=i,j,k")
    assert [row["order"] for row in found] == ["i,j,k"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "order.T=i,k", "--order", "i,k,j"), "--set order.T says what an option says too"),
        (("--set", "order.T=i,k,j", "--set", "order=i,k,j"), "--set order is for programs of one region"),
        (("--set", "order.T"), "--set order.T: give a field"),
    ],
)
def test_orders_that_are_not_said(arguments: tuple[str, ...], message: str, folder: Path) -> None:
    result = samhw("sweep", "spmm", *arguments, "-o", "x.csv")
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_sweeps_file_varies_formats_and_orders(folder: Path) -> None:
    (folder / "sweep.toml").write_text(
        'program = "spmm"\ndata = "random:size=5"\npermute = true\norder.T = ["i,k,j", "i,j,k"]\n'
        '[[sweep]]\nformats.X = ["dense", "csc"]\n[[exclude]]\norder.T = "i,k,j"\nformats.X = "csc"\n',
        encoding="utf-8",
    )
    found = rows("sweep.toml")
    assert [(row["order.T"], row["formats.X"]) for row in found] == [
        ("i,k,j", "dense"),
        ("i,j,k", "dense"),
        ("i,j,k", "csc"),
    ]
    assert {row["status"] for row in found} == {"right"}
