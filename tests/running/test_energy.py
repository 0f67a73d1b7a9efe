"""Energy by estimate: sums by hand from what a run counts, tables of a user's own, and figures with their
sources."""

import csv
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from samhw.app.checking.energy import TABLE, energy_of, expected_energy, load_energy
from samhw.app.workload import bind_program, compile_workload, job_of
from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.targets.backends import run
from tests.support.command import good, refused, report, samhw

SPMM = ("run", "spmm", "--data", "karate")


def test_operations_by_hand() -> None:
    """2,496 products of i32 at 3.1 pJ, and as many sums at 0.1."""
    found = report(*SPMM, "--energy")["energy"]
    assert found["parts"]["operations"] == pytest.approx(2496 * (3.1 + 0.1))
    firings = sum(node["firings"] for node in report(*SPMM, "--stats")["regions"][0]["nodes"])
    assert found["parts"]["control"] == pytest.approx(firings * 0.1)
    narrow = report(*SPMM, "--value", "i8", "--energy")["energy"]
    assert narrow["parts"]["operations"] == pytest.approx(2496 * (0.2 + 0.03))
    assert narrow["estimate"] is True


def test_words_by_hand() -> None:
    """An access goes with the root of the size below 8 KB, and meets the figures that were published."""
    for size, pj in (("8KB", 10.0), ("32KB", 20.0), ("1MB", 100.0)):
        bits = {"8KB": 8 << 13, "32KB": 32 << 13, "1MB": 1 << 23}[size]
        assert TABLE.word(64, bits) == pytest.approx(pj)
        assert TABLE.word(32, bits) == pytest.approx(pj / 2)
    assert TABLE.word(64, (8 << 13) // 4) == pytest.approx(5.0)
    assert TABLE.word(64, 4 << 23) == pytest.approx(200.0)
    assert TABLE.word(64, 16 << 13) == pytest.approx(200**0.5)
    sizes = [TABLE.word(64, 1 << n) for n in range(1, 26)]
    assert sizes == sorted(sizes)


def test_parts_add_up() -> None:
    for words in (SPMM, ("run", "gcn", "--memory", "ddr4"), ("run", "gcn", "--lanes", "i=4")):
        found = report(*words, "--energy")["energy"]
        assert found["pj"] == pytest.approx(sum(found["parts"].values()), abs=0.01)
        inner = found["parts"]["operations"] + found["parts"]["control"]
        assert sum(found["nodes"].values()) == pytest.approx(inner, abs=1)
        assert sum(found["memories"].values()) == pytest.approx(found["parts"]["memories"], abs=1)
    moved = report("run", "gcn", "--memory", "ddr4", "--energy")
    assert moved["energy"]["parts"]["memories"] == 0
    assert moved["energy"]["parts"]["off_chip"] == pytest.approx(1300 / 8 * moved["memory"]["bytes"])


def test_an_estimate_is_near_a_run() -> None:
    workload = bind_program("gcn", ["karate"])
    compiled = compile_workload(workload, Schedule(fuse="full"))
    job = job_of(workload, Schedule(fuse="full"))
    known = job.statistics(job.schedule)
    assert known is not None
    expected = expected_energy(compiled, known)
    assert expected == pytest.approx(energy_of(compiled, run(compiled, workload.tensors)).pj, rel=0.35)


def test_every_figure_has_a_source() -> None:
    assert all(figure.source for figure in TABLE.figures.values())
    published = [name for name, figure in TABLE.figures.items() if not figure.is_assumed]
    assert {"add.i32", "mul.i32", "add.f32", "mul.f32", "sram.8KB", "dram"} <= set(published)
    sources = report("run", "gcn", "--value", "bf16", "--energy")["energy"]["sources"]
    assert any("significand is wider" in source for source in sources)
    assert any(source.startswith("Horowitz") for source in sources)


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('technology = "7 nm"\n[pj]\n"mul.i32" = 1.48\n"add.i32" = 0.03\n')
    found = report(*SPMM, "--energy", path)["energy"]
    assert found["technology"] == "7 nm"
    assert found["parts"]["operations"] == pytest.approx(2496 * (1.48 + 0.03))
    assert any(source.startswith("assumed: at 45 nm") for source in found["sources"])
    for text in ('technology = "x"\nmore = 1', "[pj]\n", 'technology = "x"\n[pj]\n"mul.i33" = 1'):
        path.write_text(text)
        with pytest.raises(InputError, match=r"mine\.toml"):
            load_energy(str(path))
    assert samhw(*SPMM, "--energy", tmp_path / "none.toml").exit_code == 2


def test_integers_of_hwcomponents(monkeypatch: pytest.MonkeyPatch) -> None:
    """In joules there; a stand-in here, since it needs Python 3.12."""

    def part(action: str, each: float) -> type:
        def cost(self: Any) -> Any:
            return SimpleNamespace(energy=each * self.width)

        def begin(self: Any, tech_node: float, width: int) -> None:
            self.width = width

        return type(f"Aladdin_{action}", (), {"__init__": begin, action: cost})

    parts = {"AladdinAdder": part("add", 1e-14), "AladdinMultiplier": part("multiply", 2e-13)}
    monkeypatch.setitem(sys.modules, "hwcomponents_library", SimpleNamespace(**parts))
    monkeypatch.setattr("importlib.metadata.version", lambda name: "1.0")
    table = load_energy("hwcomponents")
    assert table.operation("mul", "integer", 16) == pytest.approx(3.2)
    assert table.operation("add", "integer", 32) == pytest.approx(0.32)
    assert table.operation("mul", "f32", 32) == TABLE.operation("mul", "f32", 32)
    assert "hwcomponents-library 1.0, scaled to 45 nm: Aladdin_multiply" in table.used
    monkeypatch.setitem(sys.modules, "hwcomponents_library", None)
    assert r"pip install samhw[energy]" in refused("run", "spmv", "--energy", "hwcomponents")


def test_comparisons_and_searches_tell_it(tmp_path: Path) -> None:
    words = ("compare", "gcn", "--data", "karate", "--fuse", "none,full")
    assert "nJ, estimated" in good(*words, "--energy").output
    rows = list(csv.DictReader(good(*words, "--csv", "-").stdout.splitlines()))
    told = report(*words)["outcomes"]
    assert [int(row["cycles"]) for row in rows] == [one["cycles"] for one in told]
    assert [float(row["energy_pj"]) for row in rows] == [one["energy_pj"] for one in told]
    path = tmp_path / "best.toml"
    found = tmp_path / "found.json"
    good(
        "tune", "gcn", "--data", "karate", "--budget", "4", "--objective", "edp", "-o", path, "--json", found
    )
    trials = json.loads(found.read_text())
    right = [one["energy_pj"] * one["cycles"] for one in trials["trials"]]
    assert trials["best"]["energy_pj"] * trials["best"]["cycles"] == min(right)


def test_lanes_do_not_change_what_is_computed() -> None:
    workload = bind_program("spmm", ["karate"])
    parts = []
    for lanes in ({}, {"i": 4}):
        compiled = compile_workload(workload, replace(Schedule(), lanes=lanes))
        parts.append(energy_of(compiled, run(compiled, workload.tensors)).parts["operations"])
    assert parts[0] == pytest.approx(parts[1])
