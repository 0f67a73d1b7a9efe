"""Lanes as typed: --lanes of every command, in schedules, compared and swept."""

import csv
from pathlib import Path

import pytest

from tests.support.command import refused, report, samhw


def test_a_run_with_lanes() -> None:
    one = report("run", "spmm", "--data", "karate")
    four = report("run", "spmm", "--data", "karate", "--lanes", "i=4")
    assert one["checked"]
    assert four["checked"]
    assert one["cycles"] > 3 * four["cycles"]
    assert four["schedule"]["lanes"] == {"i": 4}
    (region,) = four["regions"]
    assert region["lanes"]["node"] == "scan_dense_X_j"
    assert len(region["lanes"]["firings"]) == 4
    assert region["lanes"]["balance"] == pytest.approx(
        sum(region["lanes"]["firings"]) / 4 / max(region["lanes"]["firings"]), abs=1e-4
    )
    assert "lanes" not in one["regions"][0]


def test_statistics_fold_lanes() -> None:
    result = samhw("run", "spmm", "--data", "karate", "--lanes", "i=4", "--stats")
    assert "mul (4 lanes)" in result.output
    assert "mul_i0 " not in result.output
    assert "  lanes      4 of scan_dense_X_j: " in result.output


def test_a_file_and_an_option(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text("[lanes]\ni = 4\n", encoding="utf-8")
    by_file = report("run", "spmm", "--data", "karate", "--schedule", path)
    assert by_file["cycles"] == report("run", "spmm", "--data", "karate", "--lanes", "i=4")["cycles"]
    over = report("run", "spmm", "--data", "karate", "--schedule", path, "--lanes", "1")
    assert over["cycles"] == report("run", "spmm", "--data", "karate")["cycles"]


def test_compile_says_what_is_copied() -> None:
    result = samhw("compile", "spmm", "--data", "karate", "--lanes", "i=4")
    assert (
        "words that are read at a time from memories on chip: A.pos1 8, A.crd1 4, A.vals 4, X.vals 4"
        in result.output
    )
    assert "results in shards, one from each lane: T 4" in result.output
    assert "copies" not in samhw("compile", "spmm", "--data", "karate").output


def test_compare() -> None:
    found = report("compare", "gcn", "--fuse", "partial", "--lanes", "1,i=2,i=2+f=2,c=2")["outcomes"]
    assert [outcome["schedule"].get("lanes", {}) for outcome in found] == [
        *({}, {"i": 2}, {"i": 2, "f": 2}, {"c": 2}),
    ]
    cycles = [outcome["cycles"] for outcome in found[:3]]
    assert cycles == sorted(cycles, reverse=True)
    assert "Nothing lies inside of 'c'" in found[3]["error"]


def test_a_sweep(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    for number, lanes in enumerate((("--lanes", "1,i=2,i=2+k=2"), ("--set", "lanes=1,i=2,i=2+k=2"))):
        result = samhw("sweep", "spmm", "--data", "karate", *lanes, "-o", table.with_suffix(f".{number}.csv"))
        assert result.exit_code == 0, result.output
    read = []
    for number in range(2):
        with table.with_suffix(f".{number}.csv").open(encoding="utf-8", newline="") as file:
            read.append(list(csv.DictReader(file)))
    assert [row["lanes"] for row in read[0]] == ["1", "i=2", "i=2+k=2"]
    assert {row["status"] for row in read[0]} == {"right"}
    assert [row["cycles"] for row in read[0]] == [row["cycles"] for row in read[1]]


def test_refusals() -> None:
    assert "There is no index 'q' to have lanes; take one of i, k, j." in refused(
        "run", "spmm", "--lanes", "q=2"
    )
    assert "Nothing lies inside of 'j' that lanes could share" in refused("run", "spmm", "--lanes", "j=2")
    assert "lanes 'i=4,j=2': give each index once" in refused("run", "spmm", "--lanes", "i=4,j=2")
    assert "'lanes.i' is 0; give a whole number" in refused("run", "spmm", "--lanes", "i=0")
    assert "--suite wide has lanes of its own" in refused("correlate", "--suite", "wide", "--lanes", "i=2")
