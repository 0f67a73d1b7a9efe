"""Bitstreams for a board: clock and area of SpMM, SDDMM and a GCN on karate, by Yosys and nextpnr (pip
install samhw[rtl,fpga]). A bitstream takes minutes; the build cache keeps it.

Usage, from the repository's root: python -m benchmarks.boards [PROGRAM ...] [--board ulx3s]
[--value TYPE ...] [--arch NAME|FILE] [--json FILE|-]
"""

from dataclasses import fields

from benchmarks.common import follow, parser, report
from samhw.app.workload import bind_program, compile_workload
from samhw.cost import Use
from samhw.errors import SamhwError
from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.targets.building.boards import BoardDesign, make_bitstream

PROGRAMS = ("spmm", "sddmm", "gcn")
VALUES = ("i32", "f32")


def measure(program: str, value: str, board: str, arch: Arch) -> dict[str, object]:
    """A row: what the bitstream of a program takes, or why there is none."""
    workload = bind_program(program, ["karate"])
    compiled = compile_workload(workload, value=value_type(value), arch=arch)
    on_board = BoardDesign.named(board, compiled.design, compiled.arch)
    made, refused = None, None
    try:
        made = make_bitstream(on_board)
    except SamhwError as error:
        refused = str(error)
    names = [field.name for field in fields(Use)]
    return {
        "program": program,
        "value": value,
        **{name.replace("_", " "): getattr(made.use, name) if made else None for name in names},
        "reached MHz": round(made.reached / 1e6, 1) if made else None,
        "clock MHz": round(made.clock / 1e6, 2) if made else None,
        "KB": round(made.path.stat().st_size / 1000) if made else None,
        "refused": refused,
    }


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"by default {', '.join(PROGRAMS)}")
    arguments.add_argument("--board", default="ulx3s", help="ulx3s (the default), another name, or FILE.py")
    arguments.add_argument("--value", action="append", metavar="TYPE", help="by default i32 and f32")
    arguments.add_argument("--arch", default="samhw", metavar="NAME|FILE", help="latencies (samhw)")
    chosen = arguments.parse_args()
    arch = Arch.load(chosen.arch)
    cases = [(p, v) for p in chosen.programs or PROGRAMS for v in chosen.value or VALUES]
    rows = [measure(program, value, chosen.board, arch) for program, value in follow(cases)]
    report(f"Bitstreams for {chosen.board}", rows, chosen.json)


if __name__ == "__main__":
    main()
