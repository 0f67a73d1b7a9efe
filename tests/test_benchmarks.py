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
    design_space,
    fusion_levels,
    iteration_spaces,
    lanes,
    off_chip_memory,
    order_sweep,
    result_files,
    row_ranges,
    same_designs,
    shared_regions,
    sparsity_sweep,
    split_lanes,
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
        ("blocks", "--size 32 --width 4 --blocks 2", "per multiplier"),
        ("choices", "mlp sae", "to the best"),
        ("compile_time", "mlp --repeats 1", "statements"),
        ("design_space", "gcn", "constrained"),
        ("fusion_levels", "mlp --nodes 0", "speed-up"),
        ("iteration_spaces", "--nodes 20 --features 4 --hidden 2", "schedule"),
        ("large_data", "--rows 1000 --nonzeros 5000", "to the first"),
        ("off_chip_memory", "hbm2 --size 20 --set= --nodes 10 --density 0.2", "open rows"),
        ("picks", "--only roll", "share of bytes"),
        ("scans", "", "with its waiting"),
        ("wavefronts", "dilated_rnn --scale small", "of cells / rounds"),
        ("wavefronts", "dilated_rnn --scale small --batched", "busiest node"),
        ("simulator", "--only mmadd", "M firings/s"),
        ("order_sweep", "--features 2 --hidden 2", "order"),
        ("stand_ins", "cora --model gcn", "bound"),
        ("sparsity_sweep", "--nodes 20 --features 4 --sparsity 0.9", "edges"),
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
    monkeypatch.setattr(sys, "argv", ["some/order_sweep.py", "--hidden", "2", "--json", target])
    report("title", [{"order": "i j", "cycles": 12_345, "part": None, "share": 1 / 3}], target)
    printed = capsys.readouterr().out
    assert (printed == "") == (target != "-")
    found = result_files.parse(printed if target == "-" else Path(target).read_text())
    assert found.title == "title"
    assert found.command == "python -m benchmarks.order_sweep --hidden 2"
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


def test_design_space_of_graphsage() -> None:
    """Table 4 of the paper has 3.9e7 and 1.1e3."""
    found = by(list(design_space.rows(["graphsage"])), "model", "fusion")["graphsage", "full"]
    assert found["any order"] == 39_916_800
    assert found["constrained"] == 1_134


def test_design_space_shrinks_with_each_constraint() -> None:
    for row in design_space.rows(["gpt3_block"]):
        assert row["any order"] > row["stored"] >= row["constrained"] > 0
        if row["fusion"] == "full":
            assert row["stored"] > row["constrained"]


def test_fusion_levels() -> None:
    """Partial fusion is best; in one region the first layer is computed once for each edge of the second."""
    found = by(list(fusion_levels.rows(["gcn"], 20, 0.1)), "model", "fusion")
    assert len(found) == 10
    for label in ("gcn", "gcn, 20 nodes"):
        names = ("none", "partial", "one region", "by columns")
        none, partial, full, across = (found[label, name] for name in names)
        assert found[label, "full"]["cycles"] == partial["cycles"]
        assert none["speed-up"] == 1
        assert partial["speed-up"] > 1.3
        assert full["speed-up"] < 1
        assert none["operations"] == partial["operations"] == across["operations"] < full["operations"]
        assert partial["bytes to unfused"] < 0.8


def test_deeper_channels_hide_the_latency_of_a_memory() -> None:
    found = by(list(off_chip_memory.rows(["ddr4"], 20, 0.1, 40, "")), "program", "memory")
    assert len(found) == 5 * 4
    for program in ("spmm, 40", "gcn, 20 nodes, none", "gcn, 20 nodes, partial"):
        chip, sized, as_deep = (
            found[program, memory] for memory in ("on chip", "ddr4", "ddr4, channels as on chip")
        )
        assert chip["cycles"] < sized["cycles"] < 1.2 * chip["cycles"] < as_deep["cycles"]
        assert chip["room"] == as_deep["room"] < sized["room"]


def test_weights_stored_by_inputs_make_full_fusion_pay() -> None:
    found = by(list(fusion_levels.rows(["sae"], 0, 0.0)), "fusion")
    assert found[("one region",)]["speed-up"] < 0.1
    assert found[("full",)]["speed-up"] > 1
    assert found[("by inputs",)]["speed-up"] > 1.5
    assert found[("by inputs",)]["operations to unfused"] == 1


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


def test_iteration_spaces() -> None:
    found = by(list(iteration_spaces.rows([60], 0.1, 8, 4)), "schedule")
    cycles = {schedule: row["cycles"] for (schedule,), row in found.items()}
    assert len(cycles) == 6
    assert min(cycles, key=cycles.__getitem__) == "fused, factored"
    assert cycles["one expression, factored"] < cycles["one expression, global"]
    # A global iteration space multiplies by the weights before it adds the neighbours up.
    operations = {schedule: row["operations"] for (schedule,), row in found.items()}
    assert operations["unfused"] == operations["fused, factored"] < operations["fused, global"]


def test_order_sweep() -> None:
    found = order_sweep.normalised(list(order_sweep.rows(4, 4)))
    assert len(by(found, "order")) == 24
    assert all(row["A X W"] for row in found)
    worst, best = order_sweep.extremes(found, "A X W")
    assert worst > 5 * best
    assert max(row["A X W, of worst"] for row in found) == 1
    # The compiler finds the better brackets, but for three orders in which they depend on the zeros.
    assert best == min(order_sweep.extremes(found, form)[1] for form in order_sweep.FORMS)
    for row in found:
        two_statements = min(row[form] for form in order_sweep.FORMS if row[form] and form != "A X W")
        assert row["A X W"] <= 1.4 * two_statements


def test_sparsity_sweep() -> None:
    found = by(list(sparsity_sweep.rows(40, 4, [0.8, 0.95], full_from=0.9)), "pattern", "sparsity")
    assert len(found) == 6
    for (_, sparsity), row in found.items():
        assert row["partial, speed-up"] > 1.2
        assert (row["full, cycles"] is None) == (sparsity < 0.9)
    assert found["uniform", 0.8]["edges"] > found["uniform", 0.95]["edges"]


def test_a_wrong_result_ends_a_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*args: Any, **options: Any) -> Iterator[Outcome]:
        for outcome in compare(*args, **options):
            assert outcome.measure is not None
            yield replace(outcome, measure=replace(outcome.measure, checked=False, result="wrong"))

    workload = bind(load_model("mlp"), model_data("mlp"))
    monkeypatch.setattr("benchmarks.common.compare", wrong)
    with pytest.raises(RunError, match=r"The result of mlp \(full, factored\) is wrong"):
        measure(workload, Schedule(fuse="full"))


def test_an_impossible_schedule_has_no_measure() -> None:
    order = ("j", "k", "l", "i")
    product = order_sweep.nested_product(order_sweep.FORMS["(A X) W"], order, order_sweep.operands(4, 4))
    assert measure(product, Schedule(fuse="partial", order=order)) is None


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


def test_split_lanes() -> None:
    (row,) = split_lanes.rows([("small", split_lanes.small())], (4,), (4,))
    assert row["cycles"] <= 1.1 * row["dealt"]
    assert row["faster"] == row["cycles"] / row["of split"]
    assert row["of order"] < row["dealt"]
    assert row["even"] <= row["cells"]
    assert row["had"] > 0


def test_ranges_of_rows() -> None:
    small = bind_program("spmv", ["random:size=64,density=0.2"])
    found = by(list(row_ranges.rows([("small", small)], (4,))), "lanes", "rows")
    one, turns, ranges = found[1, "turns"], found[4, "turns"], found[4, "ranges"]
    assert one["times"] == 1
    assert 3.5 < turns["times"] < ranges["times"] < 4
    assert ranges["block_rams"] < turns["block_rams"]
    assert ranges["hbm2"] > ranges["cycles"]


def test_lanes() -> None:
    chosen = [case for case in lanes.cases(None, 32) if not case[0].startswith("sddmm")]
    found = by(list(lanes.rows(chosen, ("i=4",), (2,))), "program", "lanes")
    programs = {program for program, _ in found}
    assert programs == {"spmm, generated", "attention, 32"}
    for program in programs:
        assert found[program, "1"]["speed-up"] == 1
        assert 2 < found[program, "i=4"]["speed-up"] <= found[program, "i=4"]["even"] <= 4
        assert found[program, "i=4"]["alone"] <= found[program, "i=4"]["cycles"]
    assert found["attention, 32", "i=2+j=2"]["speed-up"] > 2
