"""The dependence analysis of benchmarks/intervals on loops whose initiation intervals follow by hand."""

import csv
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks import intervals
from benchmarks.intervals.__main__ import main
from benchmarks.intervals.delays import FIFO, LOGIC, Clock, Delays
from benchmarks.intervals.dependences import Dependences
from benchmarks.intervals.interval import interval
from benchmarks.intervals.ir import optimised, translated
from benchmarks.intervals.library import Unit
from benchmarks.intervals.loops import inner_loops
from samhw.graph import Arch

FADD = 6
"""Stages of an f32 sum, `--arch vitis`."""

PREAMBLE = """
#include "hls_stream.h"
struct word { static const int width = 32; ap_uint<2> kind; ap_uint<32> payload; };
typedef hls::stream<word> stream;
extern stream in, other, out;
extern unsigned table[64];
extern float sums[64];
"""

LOOP = """
extern "C" void {name}() {{
    word t;
    {before}
    do {{
#pragma HLS PIPELINE II=1
{pragma}
        t = in.read();
        {body}
    }} while (t.kind != 3);
    {after}
}}
"""


class Loop(NamedTuple):
    """A loop that reads a token an iteration, and what its interval is with a clock of 10 ns."""

    cycles: int
    body: str
    before: str = ""
    after: str = "out.write(t);"
    pragma: str = ""


LOOPS = {
    "passes_on": Loop(1, "out.write(t);", after=""),
    "counts": Loop(1, "n += t.payload;", "ap_uint<32> n = 0;", "t.payload = n; out.write(t);"),
    # What the adder gives after its last stage goes into its first one in the same cycle, of 10 ns.
    "adds_floats": Loop(
        FADD, "s = s + float(t.payload.to_uint());", "float s = 0;", "t.payload = s < 1; out.write(t);"
    ),
    # Four sums side by side: each waits for the one four iterations before.
    "adds_floats_in_turn": Loop(
        -(-FADD // 4),
        "const float next = s3 + float(t.payload.to_uint()); s3 = s2; s2 = s1; s1 = s0; s0 = next;",
        "float s0 = 0, s1 = 0, s2 = 0, s3 = 0;",
        "t.payload = s0 + s1 + s2 + s3 < 1; out.write(t);",
    ),
    # A word is read in one cycle, comes in the next, and may be read again in the one after.
    "histogram": Loop(2, "table[t.payload & 63] += 1;"),
    "histogram_apart": Loop(
        1,
        "table[t.payload & 63] += 1;",
        pragma="#pragma HLS DEPENDENCE variable=table type=inter direction=RAW distance=2 dependent=true",
    ),
    "histogram_of_floats": Loop(FADD + 2, "sums[t.payload & 63] += 1.0f;"),
    "histogram_of_floats_apart": Loop(
        2,
        "sums[t.payload & 63] += 1.0f;",
        pragma="#pragma HLS DEPENDENCE variable=sums type=inter direction=RAW distance=5 dependent=true",
    ),
    # Two ports.
    "three_places": Loop(
        2,
        "table[t.payload & 63] = table[t.payload & 7] + table[t.payload & 31];",
        pragma=("#pragma HLS DEPENDENCE variable=table type=inter direction=RAW distance=9 dependent=true"),
    ),
    "reads_twice": Loop(2, "t.payload = t.payload + in.read().payload; out.write(t);"),
    "writes_either": Loop(1, "if (t.kind == 0) out.write(t); else { t.payload = 0; out.write(t); }"),
    "writes_either_or_both": Loop(2, "if (t.kind == 0) out.write(t); if (t.payload == 0) out.write(t);"),
    # The next iteration begins only when it is known that there is one.
    "ends_late": Loop(2, "if (sums[t.payload & 63] < 5.0f) t.kind = 3;"),
}


@cache
def graphs() -> dict[str, Dependences]:
    """All loops, compiled as one unit."""
    text = PREAMBLE + "".join(LOOP.format(name=name, **loop._asdict()) for name, loop in LOOPS.items())
    module = optimised(translated({"unit.cpp": text}, "unit.cpp"))
    delays = Delays(Arch.vitis())
    found = {}
    for name in LOOPS:
        (loop,) = inner_loops(module.get_function(name))
        found[name] = Dependences(loop, delays)
    return found


@pytest.mark.parametrize("name", LOOPS)
def test_interval(name: str) -> None:
    graph = graphs()[name]
    assert graph.is_pipelined
    found = interval(graph, Clock(10))
    assert found.cycles == LOOPS[name].cycles, found
    assert (found.reason == "") == (found.cycles == 1)


@pytest.mark.parametrize(("name", "cycles"), [("counts", 1), ("histogram", 3), ("adds_floats", FADD + 1)])
def test_a_faster_clock_needs_more_cycles(name: str, cycles: int) -> None:
    """The word, its sum and its store no longer fit into one cycle, nor two stages of the adder."""
    assert interval(graphs()[name], Clock(4)).cycles == cycles


def test_period_of_a_loop_that_pipelines() -> None:
    """A read of the stream, the comparison of its kind, and what lets the next read happen."""
    found = interval(graphs()["passes_on"]).period
    assert found == pytest.approx(FIFO + 0.446 + LOGIC, abs=0.01)


def test_no_period_makes_two_accesses_one() -> None:
    assert interval(graphs()["reads_twice"]).period is None
    assert interval(graphs()["histogram"]).period is None


def test_an_unknown_operation_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no delay is known for llvm\.cos"):
        Delays(Arch.vitis()).of("llvm.cos", 32)


MEASURED = Path(intervals.__file__).with_name("intervals.csv")


def table() -> dict[str, str]:
    """The intervals that were found for each loop."""
    with MEASURED.open(encoding="utf-8", newline="") as file:
        return {f"{row['function']} {row['loop']}".strip(): row["II"] for row in csv.DictReader(file)}


def test_the_page_has_the_intervals_above_1() -> None:
    page = (Path(__file__).parents[2] / "docs" / "hls.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)`(?:, (\w+))? \| (\d[^|]*) \|", page, re.MULTILINE)
    listed = {f"{function} {loop}".strip(): cycles for function, loop, cycles in rows}
    assert listed == {loop: cycles for loop, cycles in table().items() if cycles != "1"}


def test_table_has_every_function() -> None:
    functions = {
        call.process.function for value in ("i32", "f32") for call in Unit(value, Arch.vitis()).calls
    }
    assert {row.split()[0] for row in table()} >= functions - {"root", "step_ref"}  # Without a loop.


@pytest.mark.slow
def test_table_is_what_the_benchmark_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["root", "array", "shift", "locate", "--value", "i32", "--json", "-"]
    monkeypatch.setattr(sys, "argv", ["intervals", *options])
    main()
    rows = json.loads(capsys.readouterr().out)["rows"]
    found = {row["function"]: str(row["II"]) for row in rows if row["loop"] is None}
    lines = {"line_ask", "line_read", "line_word"}
    assert found.keys() == {"discard", "array", "copy", "shift", "locate"} | lines
    assert found == {name: table()[name] for name in found}
