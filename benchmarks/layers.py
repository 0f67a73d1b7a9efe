"""Layers of a decoder on a ULX3S, with nodes in common and all tensors in the SDRAM: what is expected, and
what nextpnr gives in some 20 minutes for each (pip install samhw[rtl,fpga,torch]).

Usage, from the repository's root: python -m benchmarks.layers [--json FILE|-]
"""

from collections.abc import Iterator
from typing import Any

from benchmarks.common import follow, parser, report
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import area_of
from samhw.compiler.placement import arrays_off_chip
from samhw.graph import SdramMemory
from samhw.graph.numerics import value_type
from samhw.targets.building.boards import BoardDesign, make_bitstream

PROGRAMS = {1: "examples/pytorch/decoder.py:one", 12: "examples/pytorch/decoder.py:twelve"}
SCHEDULE = Schedule(fuse="none", share_hardware="all", fixed_extents=True)


def rows() -> Iterator[dict[str, Any]]:
    """A row for each number of layers."""
    for layers, program in PROGRAMS.items():
        memory = SdramMemory()
        compiled = compile_workload(bind_program(program), SCHEDULE, value=value_type("f32"), memory=memory)
        off_chip = tuple(arrays_off_chip(compiled, memory))
        on_board = BoardDesign.named(
            "ulx3s", compiled.design, compiled.arch, memory=memory, off_chip=off_chip
        )
        made = make_bitstream(on_board)
        yield {
            "layers": layers,
            "regions": len(compiled.design.regions),
            "fabrics": len(compiled.design.groups),
            "expected": area_of(compiled, "ecp5").use.luts,
            "LUTs": made.use.luts,
            "block RAMs": made.use.block_rams,
            "multipliers": made.use.multipliers,
            "MHz": made.reached / 1e6,
        }


def main() -> None:
    given = parser(__doc__).parse_args()
    report("layers on a board", list(follow(rows(), len(PROGRAMS))), given.json)


if __name__ == "__main__":
    main()
