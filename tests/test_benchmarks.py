"""The benchmarks run, and give what the pages say; on sizes that take seconds."""

import importlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import (
    choices,
    compile_time,
    off_chip_memory,
    result_files,
    row_ranges,
    same_designs,
    shared_regions,
    synthesis_designs,
)
from benchmarks.common import PROGRAMS, bind, measure, report, schedules
from samhw.app.checking import Outcome, compare
from samhw.app.workload import bind_program
from samhw.choices.schedule import Schedule
from samhw.errors import RunError
from samhw.graph import Arch
from samhw.lang import load_model, model_data, model_names

pytestmark = pytest.mark.slow


def by(rows: list[dict[str, Any]], *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows under the values of some columns, which no two share."""
    found = {tuple(row[key] for key in keys): row for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize(
    ("name", "arguments", "column"),
    [
        ("choices", "mlp sae", "to the best"),
        ("compile_time", "mlp --repeats 1", "statements"),
        ("large_data", "--rows 1000 --nonzeros 5000", "to the first"),
        ("off_chip_memory", "hbm2 --size 20 --set= --nodes 10 --density 0.2", "open rows"),
        ("picks", "--only roll", "share of bytes"),
        ("scans", "", "with its waiting"),
        ("simulator", "--only mmadd", "M firings/s"),
        ("layer_time", "--rounds 1", "of one"),
    ],
)
def test_command(
    name: str,
    arguments: str,
    column: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [name, *arguments.split()])
    importlib.import_module(f"benchmarks.{name}").main()
    printed = capsys.readouterr().out
    assert column in printed
    assert "│" in printed


@pytest.mark.parametrize("target", ["-", "rows.json"])
def test_json(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result file, with the command that runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["some/anchors.py", "--hidden", "2", "--json", target])
    report("title", [{"order": "i j", "cycles": 12_345, "part": None, "share": 1 / 3}], target)
    printed = capsys.readouterr().out
    assert (printed == "") == (target != "-")
    found = result_files.parse(printed if target == "-" else Path(target).read_text())
    assert found.title == "title"
    assert found.command == "python -m benchmarks.anchors --hidden 2"
    assert found.rows == [{"order": "i j", "cycles": 12_345, "part": None, "share": 0.3333}]


def test_what_is_chosen_is_as_fast_as_the_best_level() -> None:
    for row in choices.rows(["bigbird_attention", "gcn", "gpt3_block", "graphsage"], ["auto"]):
        assert row["to the best"] <= 1.05


def test_compile_time_of_each_model_and_level() -> None:
    found = by(list(compile_time.rows(["gcn", "mlp"], 1)), "model", "fusion")
    assert len(found) == 6
    assert found["gcn", "none"]["regions"] == 7
    assert found["gcn", "full"]["regions"] == 2
    assert all(row["ms"] > 0 and row["nodes"] > 0 for row in found.values())


def test_deeper_channels_hide_the_latency_of_a_memory() -> None:
    found = by(list(off_chip_memory.rows(["ddr4"], 20, 0.1, 40, "")), "program", "memory")
    assert len(found) == 5 * 4
    for program in ("spmm, 40", "gcn, 20 nodes, none", "gcn, 20 nodes, partial"):
        chip, sized, as_deep = (
            found[program, memory] for memory in ("on chip", "ddr4", "ddr4, channels as on chip")
        )
        assert chip["cycles"] < sized["cycles"] < 1.2 * chip["cycles"] < as_deep["cycles"]
        assert chip["room"] == as_deep["room"] < sized["room"]


def test_every_program_is_a_schedule_of_a_model() -> None:
    """It has the model's statements, but for their orders and the adjacency's copy."""
    seen = set()
    for model in model_names():
        for other in schedules(model, model_data(model)):
            seen.add(other.name)
            texts = [str(replace(statement, order=None)) for statement in other.program.statements]
            assert [re.sub(r"\bB\b", "A", text) for text in texts] == [
                str(replace(statement, order=None)) for statement in load_model(model).statements
            ]
    assert seen == {path.stem for path in PROGRAMS.glob("*_by_*.ein")}


def test_a_wrong_result_ends_a_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*args: Any, **options: Any) -> Iterator[Outcome]:
        for outcome in compare(*args, **options):
            assert outcome.measure is not None
            yield replace(outcome, measure=replace(outcome.measure, checked=False, status="wrong"))

    workload = bind(load_model("mlp"), model_data("mlp"))
    monkeypatch.setattr("benchmarks.common.compare", wrong)
    with pytest.raises(RunError, match=r"The result of mlp \(full, factored\) is wrong"):
        measure(workload, Schedule(fuse="full"))


def test_an_impossible_schedule_has_no_measure() -> None:
    product = bind_program("spmm", ["random:size=4"])
    assert measure(product, Schedule(order={"T": ("j", "i", "k")})) is None


def test_designs_of_types_that_lack_an_operation_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    cases = [("bigbird_attention", "i32"), ("spmm", "i32")]
    designs = synthesis_designs.compiled_designs(cases, Arch())
    assert [(program, value) for program, value, _ in designs] == cases[1:]
    assert "left out: bigbird_attention in i32. i32 has no operation 'exp'" in capsys.readouterr().err


VERILOG = """
module top(a, b);
  /* node A */ (* src = 1 *) assign b = a; // IDENTITY
  assign c = 32'd77;
endmodule
"""


def test_same_designs_sees_past_names_and_nothing_else() -> None:
    named = VERILOG.replace("(a, b)", "(x, b)").replace("= a", "= x").replace("32'd77", "32'd5")
    assert same_designs.nameless(VERILOG, 77) == same_designs.nameless(named, 5)
    for change in (("= a", "= b"), ("assign c", "assign b"), ("32'd77", "32'd78"), ("assign c", "wire c")):
        other = VERILOG.replace(*change)
        assert other != VERILOG
        assert same_designs.nameless(VERILOG, 77) != same_designs.nameless(other, 77)


def test_same_designs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A checkout equals itself, and what it gave before, until one of the two differs."""
    root = Path(same_designs.__file__).parents[1]
    kept = tmp_path / "kept.json"
    arguments = ["--only", "mmadd", "--fuse", "full"]

    def exit_code(*more: object) -> object:
        monkeypatch.setattr(sys, "argv", ["same_designs", *map(str, more), *arguments])
        with pytest.raises(SystemExit) as end:
            same_designs.main()
        return end.value.code

    assert exit_code(root, root, "--keep", kept) == 0
    assert exit_code(kept, root) == 0
    other = json.loads(kept.read_text())
    other["mmadd full"]["cycles"][0] += 1
    kept.write_text(json.dumps(other))
    assert exit_code(kept, root) == 1
    assert "345" in capsys.readouterr().out


def test_no_fused_region_loses() -> None:
    """Fused as the compiler chooses, nothing takes more than 1.02 times the cycles of its statements."""
    found = {row["program"]: row for row in shared_regions.rows(["gcn", "mlp"])}
    assert {"residual_norm", "block_tail", "block_joint"} <= found.keys()
    assert all(row["fused"] <= 1.02 * row["unfused"] for row in found.values())
    assert min(found[name]["speed-up"] for name in ("block_tail", "block_joint")) >= 1.5
    assert found["block_joint"]["ends"] == "N3"
    assert found["gcn"]["one region"] > 2 * found["gcn"]["unfused"]


def test_ranges_of_rows() -> None:
    small = bind_program("spmv", ["random:size=64,density=0.2"])
    found = by(list(row_ranges.rows([("small", small)], (4,))), "lanes", "rows")
    one, turns, ranges = found[1, "turns"], found[4, "turns"], found[4, "ranges"]
    assert one["times"] == 1
    assert 3.5 < turns["times"] < ranges["times"] < 4
    assert ranges["block_rams"] < turns["block_rams"]
    assert ranges["hbm2"] > ranges["cycles"]
