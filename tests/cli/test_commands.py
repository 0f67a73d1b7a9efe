"""The commands: what they print and write."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samhw.app.checking import Measure, compare
from samhw.app.checking.measure import measure_compiled
from samhw.app.workload import Workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.graph_passes import GRAPH_PASSES
from samhw.compiler.passes import PROGRAM_PASSES, REGION_PASSES
from samhw.graph import DDR4
from samhw.lang import built_in_programs, load_kernel, parse
from tests.support.built import run_program
from tests.support.command import refused, report, samhw


def test_kernels_are_a_line_each() -> None:
    result = samhw("kernels")
    assert result.exit_code == 0
    said = [tuple(line.split(maxsplit=1)) for line in result.output.splitlines()]
    assert said == list(built_in_programs())


def test_run_prints_one_json_object() -> None:
    result = samhw("run", "spmm", "--data", "karate", "--json", "-")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert report["checked"]
    assert report["max_abs_error"] == 0
    assert {"program", "backend", "cycles", "seconds"} <= report.keys()


def test_run_says_what_it_did() -> None:
    output = samhw("run", "spmv", "--data", "karate").output
    assert "156 stored" in output
    assert "right" in output


def test_statistics_name_the_channels_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    output = samhw("run", "spmv", "--data", "karate", "--stats").output
    assert "array_B" in output
    assert "scan_compressed_B_j" in output


@pytest.mark.slow
@pytest.mark.verilator
def test_waveform_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "run.vcd"
    result = samhw("run", "spmv", "--backend", "verilator", "--wave", path)
    assert result.exit_code == 0, result.output
    assert path.stat().st_size > 1000


def test_waveform_needs_the_rtl() -> None:
    assert "--backend verilator" in refused("run", "spmv", "--wave", "a.fst")


def test_fixed_point_run_is_within_its_bound() -> None:
    report = json.loads(samhw("run", "sddmm", "--value", "fixed<16,8>", "--json", "-").stdout)
    assert report["checked"]


def test_result_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "x.mtx"
    assert samhw("run", "spmm", "--data", "karate", "--save", path).exit_code == 0
    assert path.exists()


def test_compile_prints_the_table_and_writes_the_graph(tmp_path: Path) -> None:
    graph, dot = tmp_path / "graph.json", tmp_path / "graph.dot"
    result = samhw("compile", "spmm", "--data", "karate", "--table", "--channels", "--dot", dot, "-o", graph)
    assert result.exit_code == 0
    assert "Red1_k[crd0]" in result.output
    assert "spmm: no circle of waits: these channels are deep enough for any data" in result.output
    assert json.loads(graph.read_text())["version"] == 4
    assert dot.read_text().startswith("digraph")


def test_compile_counts_and_lists_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Table 4 of the paper has 3.9e7 and 1.1e3 orders for GraphSAGE, and more than 2e8 for GCN."""
    monkeypatch.setenv("COLUMNS", "150")
    graphsage = samhw("compile", "graphsage", "--fuse", "full", "--orders", "3")
    assert graphsage.exit_code == 0, graphsage.output
    assert "39,916,800" in graphsage.output
    assert "1,134" in graphsage.output
    listed = [line.strip() for line in graphsage.output.splitlines() if line.startswith("  i,")]
    assert len(listed) == len(set(listed)) == 3
    assert "11,732,745,024" in samhw("compile", "gcn_softmax", "--fuse", "full", "--orders").output
    assert samhw("compile", "spmm", "--orders", str(10**20)).output.splitlines()[-1] == "  i,k,j"


def test_compile_says_why_there_are_no_orders(tmp_path: Path) -> None:
    path = tmp_path / "p.ein"
    path.write_text("tensor A[i, j] : csr\ntensor B[i, j] : csc\nX[i, j] = A[i, j] * B[i, j]\n")
    output = samhw("compile", path, "--orders").output
    assert "none: No order of indices suits the storage" in output


def test_orders_go_with_no_graph() -> None:
    assert "--orders compiles nothing" in refused("compile", "spmv", "--orders", "1", "--table")


def test_a_scan_is_left_whole_by_copies_that_are_made_before_it(tmp_path: Path) -> None:
    path, left = tmp_path / "p.ein", tmp_path / "left.ein"
    path.write_text(
        "tensor A[t=3, i=2, j=4] : dense @ (0, 2, 1)\ntensor C[j=4, i=2] : dense\n"
        "tensor H[t=3, i=2, j=4] : dense\n"
        "tensor S[i=2, j=4]\nscan t {\n  H[t, i, j] = H[t - 1, i, j] + A[t, i, j] * C[j, i]\n}\n"
        "H[-1, i, j] = S[i, j]\n"
    )
    result = samhw("compile", path, "--permute", "--after", "copy_discordant")
    assert "C_10[j, i] = C[j, i]\nscan t {" in result.output
    assert result.output.count("scan t {") == result.output.count("H[-1, i, j] =") == 1
    left.write_text(result.output)
    again = samhw("compile", left, "--after", "copy_discordant").output
    assert parse(again, "p") == parse(result.output, "p")


def test_compile_prints_the_program_after_a_pass(tmp_path: Path) -> None:
    path, left = tmp_path / "p.ein", tmp_path / "left.ein"
    path.write_text(
        "value fixed<16,8>\ntensor A[i=5, j=7] : csr\ntensor M[i, j] : csc\ntensor T[j, i] : csr\n"
        "fuse {\n  T[j, i] = 2 * A[i, j] where M[i, j]    order j, i\n  y[j] = T[j, i]\n}\n"
    )
    result = samhw("compile", path, "--permute", "--after", "copy_discordant")
    assert result.exit_code == 0, result.output
    assert result.output == (
        "# A_10 is A in the mode order (1, 0): up to 70 cycles, and an accumulator of 128 words\n"
        "value fixed<16,8>\ntensor A[i=5, j=7] : csr\ntensor M[i=5, j=7] : csc\ntensor T[j=7, i=5] : csr\n"
        "tensor y[j=7] : dense\ntensor A_10[i=5, j=7] : dcsc\nA_10[i, j] = A[i, j]\n"
        "fuse {\n  T[j, i] = 2 * A_10[i, j] where M[i, j]    order j, i\n  y[j] = T[j, i]\n}\n"
    )
    left.write_text(result.output)
    assert samhw("compile", left, "--after", "copy_discordant").output == result.output
    cycles = [
        json.loads(samhw("run", *arguments, "--data", "random", "--json", "-").output)["cycles"]
        for arguments in ((path, "--permute"), (left,))
    ]
    assert cycles[0] == cycles[1]
    spmm = samhw("compile", "spmm", "--data", "karate", "--after", "copy_discordant").output
    assert spmm.startswith("tensor A[i=34, k=34] : csr\n")


def test_after_a_pass_the_order_of_a_region_is_said(tmp_path: Path) -> None:
    result = samhw("compile", "spmm", "--data", "karate", "--order", "i,k,j", "--after", "copy_discordant")
    assert result.output.startswith("# T is computed in the order i, k, j\ntensor A"), result.output


def test_passes_are_named_and_go_with_no_graph() -> None:
    names = ", ".join((*PROGRAM_PASSES, *REGION_PASSES, *GRAPH_PASSES))
    assert f"There is no pass 'x'; the passes are, in their order, {names}." in refused(
        "compile", "spmv", "--after", "x"
    )
    assert "--after compiles nothing" in refused("compile", "spmv", "--after", "copy_discordant", "--table")
    assert "--orders compiles nothing" in refused("compile", "spmv", "--after", "copy_discordant", "--orders")


def test_build_for_the_simulator(tmp_path: Path) -> None:
    result = samhw("build", "spmm", "--data", "karate", "--target", "sim", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"graph.json", "graph.dot", "arch.json"}


@pytest.mark.parametrize("extent", ["", "=5"])
@pytest.mark.parametrize("command", [["compile"], ["build", "--target", "sim", "-o", "out"]])
def test_a_program_is_loaded_once(
    command: list[str], extent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Python file runs when it is loaded. Also without data, which its extents may make unnecessary."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.py").write_text(
        "from samhw.lang import parse\nprint('loaded')\n"
        f"copy = parse('tensor A[i{extent}] : csf\\ntensor x[i] : csf\\nx[i] = A[i]')\n"
    )
    result = samhw(*command, "p.py:copy", *(() if extent else ("--extents", "i=5")))
    assert result.exit_code == 0, result.output
    assert result.output.count("loaded") == 1


@pytest.mark.slow
@pytest.mark.verilator
def test_build_for_verilator(tmp_path: Path) -> None:
    result = samhw("build", "spmv", "--data", "karate", "--target", "verilator", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "module samhw_top" in (tmp_path / "out" / "samhw_top.v").read_text()
    assert "SAMHW_TOP" in (tmp_path / "out" / "address_map.h").read_text().upper()
    assert run_program(tmp_path / "out")["status"] == "done"
    found = np.fromfile(tmp_path / "out" / "results" / "x.vals.bin", "<i4")[:34]
    workload = make_workload(load_kernel("spmv"), ["karate"])
    assert found.tolist() == (workload.tensors["B"].to_dense() @ workload.tensors["c"].to_dense()).tolist()


@pytest.mark.slow
@pytest.mark.verilator
def test_run_on_verilator_equals_the_simulator() -> None:
    report = json.loads(
        samhw("run", "spmm", "--data", "karate", "--backend", "verilator", "--json", "-").stdout
    )
    assert report["checked"]
    assert report["cycles"] == report["model_cycles"]


@pytest.mark.slow
@pytest.mark.verilator
def test_correlate_reports(tmp_path: Path) -> None:
    data = ("--data", "karate", "--data", "random")
    result = samhw("correlate", "spmv", "mmadd", *data, "--json", "-", "--report", tmp_path / "report")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["total"] == report["exact"] == 4
    assert report["r2"] == 1
    assert all(row["checked"] for row in report["kernels"])
    assert "4 of 4 cycle counts equal" in (tmp_path / "report" / "index.html").read_text()
    assert (tmp_path / "report" / "correlation.png").exists()


@pytest.mark.parametrize("backend", ["sim", pytest.param("verilator", marks=pytest.mark.verilator)])
def test_overflow_is_named_and_never_a_wrong_result(backend: str) -> None:
    result = samhw("run", "mttkrp", "--data", "random", "--value", "i8", "--backend", backend, "--json", "-")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "overflow" in result.stderr


def test_a_model_runs_at_every_level_of_fusion() -> None:
    for level, share, regions in (
        ("none", "auto", 7),
        ("partial", "auto", 2),
        ("full", "auto", 2),
        ("full", "none", 1),
    ):
        options = ("--fuse", level, "--share", share)
        result = samhw("run", "gcn", "--data", "karate", "--value", "f32", *options, "--json", "-")
        assert result.exit_code == 0, result.output
        report = json.loads(result.stdout)
        assert report["checked"]
        assert len(report["regions"]) == regions
        assert sum(r["cycles"] + 1 for r in report["regions"]) - 1 == report["cycles"]


def test_compare_measures_every_schedule() -> None:
    result = samhw("compare", "mlp", "--fuse", "none,full", "--data", "random", "--json", "-")
    assert result.exit_code == 0, result.output
    none, full = json.loads(result.stdout)["outcomes"]
    assert (none["regions"], full["regions"]) == (8, 1)
    assert none["checked"]
    assert full["checked"]
    assert full["bytes_written"] < none["bytes_written"]


def test_compare_has_one_row_for_one_design() -> None:
    """And a refusal takes a word in its row, and a sentence below."""
    arguments = ("compare", "spmm", "--order", "i,k,j", "--order", "k,i,j", "--order", "j,k,i")
    output = samhw(*arguments).stdout
    rows = [line.split("│") for line in output.splitlines() if line.startswith("│")]
    assert [(row[1].strip(), row[-2].strip()) for row in rows] == [
        ("order i,k,j", "right"),
        ("order k,i,j", "refused 1"),
        ("order j,k,i", "refused 2"),
    ]
    assert "\nevery schedule: none = partial = full, factored\n" in output
    below = [line for line in output.splitlines() if line.startswith("  refused ")]
    assert [line.partition(" visits")[0] for line in below] == [
        "  refused 1: The order k,i,j",
        "  refused 2: The order j,k,i",
    ]
    found = report(*arguments)
    assert found["common"] == "none = partial = full, factored"
    assert [one["name"] for one in found["outcomes"]] == [row[1].strip() for row in rows]
    for one in found["outcomes"]:
        assert [one["fuse"], *(same["fuse"] for same in one["same"])] == ["none", "partial", "full"]
    table = list(csv.DictReader(samhw(*arguments, "--csv", "-").stdout.splitlines()))
    assert [(row["common"], row["schedule"]) for row in table] == [
        ("none = partial = full, factored", row[1].strip()) for row in rows
    ]
    assert "│ none = full │" in samhw("compare", "spmm", "--fuse", "none,full").stdout
    output = samhw("compare", "spmm", "--fuse", "none", "--lanes", "1,i=1,i=2").stdout
    assert "│ lanes 1 = lanes i=1 │" in output
    assert "│ lanes i=2 " in output
    assert "\nevery schedule: none, factored\n" in output


def test_compare_runs_a_design_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever else its tensors lie, it is another one."""
    ran: list[str] = []

    def counting(workload: Workload, compiled: Compiled, **options: Any) -> Measure:
        ran.append(compiled.design.name)
        return measure_compiled(workload, compiled, **options)

    monkeypatch.setattr(sys.modules["samhw.app.checking.measure"], "measure_compiled", counting)
    report("compare", "gcn")
    assert len(ran) == 2
    workload = make_workload(load_kernel("spmm"), ["karate"])
    schedules = [Schedule(place={tensor: "ddr"}) for tensor in "AXA"]
    a, x, again = (outcome.measure for outcome in compare(workload, schedules, memory=DDR4))
    assert a is again
    assert a is not None
    assert x is not None
    assert a.bytes_moved != x.bytes_moved


def test_compare_takes_ways_to_share_for_the_levels_that_fuse() -> None:
    ways = ("--fuse", "none,full", "--share", "auto,none,T1=store+U1=recompute")
    found = json.loads(samhw("compare", "gcn", *ways, "--json", "-").stdout)["outcomes"]
    named = [(outcome["schedule"]["fuse"], outcome["schedule"].get("share", "auto")) for outcome in found]
    assert named == [
        ("none", "auto"),
        ("full", "auto"),
        ("full", "none"),
        ("full", {"T1": "store", "U1": "recompute"}),
    ]
    assert [outcome["regions"] for outcome in found] == [7, 2, 1, 3]


def test_compare_takes_orders_for_the_levels_that_are_one_region(tmp_path: Path) -> None:
    path = tmp_path / "nested.ein"
    path.write_text(
        "tensor A[i=8, k=8] : csr\ntensor X[k, j=8] : csr\ntensor W[j, l=8] : dense\ntensor D[i, l] : dcsr\n"
        "T[i,j] = A[i,k] * X[k,j]\nD[i,l] = T[i,j] * W[j,l]\n"
    )
    levels = ("--fuse", "none,full", "--iteration", "factored,global", "--data", "random", "--json", "-")
    result = samhw("compare", path, *levels, "--order", "i,k,j,l", "--order", "i,k,l,j", "--order", "k,i,j,l")
    assert result.exit_code == 0, result.output
    found = [
        (o["fuse"], "".join(o["order"]), o["status"] == "refused")
        for o in json.loads(result.stdout)["outcomes"]
    ]
    assert found == [("none", "", False)] + 2 * [
        ("full", "ikjl", False),
        ("full", "iklj", True),
        ("full", "kijl", True),
    ]
    result = samhw("compare", path, *levels, "--permute", "--order", "k,i,j,l")
    assert not any(outcome["status"] == "refused" for outcome in json.loads(result.stdout)["outcomes"])
    assert "--order is for one region" in refused("compare", "gcn", "--fuse", "none", "--order", "i,k")
    assert "does not name each index" in refused("compare", "gcn", "--fuse", "full", "--order", "i,k")


def test_off_chip_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    ideal = json.loads(samhw("run", "gcn", "--data", "karate", "--value", "f32", "--json", "-").stdout)
    assert "memory" not in ideal
    options = ("run", "gcn", "--data", "karate", "--value", "f32", "--memory", "ddr4")
    result = samhw(*options, "--json", "-")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    memory = report["memory"]
    assert report["checked"]
    assert report["cycles"] > ideal["cycles"]
    assert memory["reads"] + memory["writes"] == memory["bytes"] / 64
    assert memory["row_hits"] + memory["row_misses"] + memory["row_conflicts"] == memory["bytes"] / 64
    # H1 is fused away in one region, and then there is nothing off chip.
    for fuse, lines in (("partial", True), ("full", False)):
        choices = ("--place", "H1=ddr", "--fuse", fuse, "--share", "none")
        report = json.loads(samhw(*options, *choices, "--json", "-").stdout)
        assert (report["memory"]["bytes"] > 0) is lines
    path = tmp_path / "m.json"
    path.write_text('{"preset": "hbm2", "name": "mine", "channels": 2, "ports": {"masters": 2}}')
    output = samhw("run", "spmv", "--memory", path, "--place", "B=hbm:1", "--stats").output
    assert "memory     mine: " in output
    assert "memory %" in output
    assert "ports to off-chip memory" in output


def test_off_chip_memory_is_compared() -> None:
    arguments = ("compare", "mlp", "--fuse", "none,full", "--data", "random")
    outcomes = json.loads(samhw(*arguments, "--memory", "hbm2", "--json", "-").stdout)["outcomes"]
    on_chip = json.loads(samhw(*arguments, "--json", "-").stdout)["outcomes"]
    for slow, quick in zip(outcomes, on_chip, strict=True):
        assert slow["checked"]
        assert slow["cycles"] > quick["cycles"]
        assert (slow["bytes_moved"] > 0, quick["bytes_moved"]) == (True, None)
    output = samhw(*arguments, "--memory", "hbm2", "--place", "X=hbm").output
    assert "tensors in hbm2 (X=hbm)" in " ".join(output.split())
    # A memory without a clock moves bytes, but none a second.
    output = samhw("compare", "spmv", "--data", "karate", "--memory", "constant:9").output
    assert "moved off chip" in output
    assert "GB/s" not in output


def test_off_chip_memory_is_refused(tmp_path: Path) -> None:
    assert "There is no memory 'ddr9'" in refused("run", "spmv", "--memory", "ddr9")
    assert "add '--memory ddr4'" in refused("run", "spmv", "--place", "B=ddr")
    assert "no tensor 'Q' to place" in refused("run", "spmv", "--memory", "ddr4", "--place", "Q=ddr")
    assert "is now '--place A=ddr,X=ddr'" in refused("run", "spmv", "--memory", "ddr4", "--off-chip", "B")
    assert "is now '--on-chip'" in refused("build", "spmv", "--target", "vitis-hls", "--memories", "m_axi")
    message = refused("run", "spmv", "--memory", "ddr4", "--backend", "hls")
    assert "--backend hls runs a design with its tensors on chip" in message
    message = refused("run", "spmv", "--memory", "ddr4", "--backend", "verilator", "--host", "pingpong")
    assert "'--host pingpong' needs all tensors on chip" in message
    (tmp_path / "placed.toml").write_text('place = {B = "ddr"}')
    for words, what in (
        (("build", "spmv", "--target", "verilator", "-o", str(tmp_path / "b")), "a build for verilator"),
        (("correlate", "spmv"), "a correlation"),
        (("tune", "spmv", "-o", str(tmp_path / "best.toml")), "a search"),
    ):
        message = refused(*words, "--data", "karate", "--schedule", str(tmp_path / "placed.toml"))
        assert f"{what} has all" in message
    build = ("build", "spmv", "--data", "karate", "-o", str(tmp_path / "b"))
    message = refused(*build, "--target", "cxxrtl", "--memory", "sdram")
    assert "What CXXRTL runs has no SDRAM with its controller; choose 'verilator'" in message
    message = refused(*build, "--target", "icarus", "--memory", "constant:9", "--clock", "9ns")
    assert "any clock, unless it has a DRAM or an SDRAM; leave out --clock" in message


def test_compare_refuses_unknown_choices() -> None:
    assert "--fuse some: there is no such choice" in refused("compare", "mlp", "--fuse", "some")
    assert "--iteration round" in refused("compare", "mlp", "--iteration", "round")


def test_model_data(tmp_path: Path) -> None:
    assert "has no size 'q'" in refused("run", "gcn", "--data", "random:q=3", "--value", "f32")
    assert "no whole number" in refused("run", "gcn", "--data", "random:h=x", "--value", "f32")
    weights = tmp_path / "W1.npz"
    np.savez(weights, np.zeros((16, 8)))
    assert "reads no tensor 'Z'" in refused("run", "gcn", "--data", f"Z={weights}", "--value", "f32")


def test_a_type_without_the_operation_is_named() -> None:
    assert "no operation 'exp'" in refused("run", "gat", "--data", "karate", "--value", "i32")


@pytest.mark.slow
@pytest.mark.verilator
def test_correlate_has_a_row_for_each_region(tmp_path: Path) -> None:
    program = tmp_path / "two.ein"
    program.write_text("tensor a[i=9] : csf\nt[i] = a[i] * a[i]\ny[i] = t[i] + a[i]\n")
    result = samhw("correlate", program, "--json", "-")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert [k["name"] for k in report["kernels"]] == ["two_0", "two_1", "two"]
    assert report["exact"] == 3


def test_fusion_tables_as_a_page(tmp_path: Path) -> None:
    path = tmp_path / "table.html"
    result = samhw("compile", "mlp", "--data", "random", "--value", "f32", "--html", path)
    assert result.exit_code == 0, result.output
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert all(f"mlp_{n}: " in page for n in range(3))
    assert "relu(" in page
