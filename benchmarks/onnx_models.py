"""What networks in ONNX take: cycles, area and memory, and whether they fit an ECP5-85:

    python -m benchmarks.onnx_models FILE.onnx... [--most CYCLES]

`network.onnx:batch=1,sequence=576` gives extents that a file leaves open. Inputs are random. Cycles are the
simulator's, whose run is checked; beyond --most they are estimated. LUTs and block RAMs are estimates, with
all tensors on chip. The last columns say of what there is too much, with all tensors on chip or off it.
"""

import time
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import samhw.onnx
from benchmarks.common import follow, parser, report
from samhw.app.onnx import NetworkDesign
from samhw.compiler import Compiled, area_of
from samhw.cost import parse_budget
from samhw.graph import load_memory
from samhw.lang import OnnxFile, load_named

PART = "LFE5U-85F"
UNFIT = "does not fit: "


def rows(files: Sequence[str], most: float) -> Iterator[dict[str, Any]]:
    """A row for each network."""
    for spec in files:
        file = load_named(spec)
        assert isinstance(file, OnnxFile)
        start = time.perf_counter()
        design = samhw.onnx.compile(file.path, shapes=file.extents)
        compiled = design.compiled
        taken = time.perf_counter() - start
        expected = design.estimate().cycles
        budget, use = parse_budget(PART), area_of(compiled, "ecp5").use
        off = area_of(_off_chip(design), "ecp5").use
        yield {
            "network": "/".join(Path(file.path).with_suffix("").parts[-2:]),
            "nodes": len(design.model.proto.graph.node),
            "statements": len(design.imported.program.statements),
            "compiled in s": round(taken, 1),
            **_cycles(design, expected, most),
            "stored, kB": round(_bytes(design) / 1000),
            "LUTs": round(use.luts),
            "block RAMs": round(use.block_rams),
            "on chip": budget.verdict(use).removeprefix(UNFIT),
            "off chip": budget.verdict(off).removeprefix(UNFIT),
        }


def _off_chip(design: NetworkDesign) -> Compiled:
    """The same with all tensors in a DDR4 memory."""
    held = design.imported.tensors(design.arguments)
    return design.design.compile_for(design.design.bind(held), memory=load_memory("ddr4"))


def _cycles(design: NetworkDesign, expected: float, most: float) -> dict[str, Any]:
    """Those of a run that is right, or what is expected."""
    if expected > most:
        return {"cycles": round(expected), "by": "estimate"}
    result = design.run()
    assert result.check().good
    return {"cycles": result.cycles, "by": "simulator"}


def _bytes(design: NetworkDesign) -> int:
    """Those of all tensors that are read and written, of four for each element."""
    held = design.imported.tensors(design.arguments)
    program = design.imported.program.bind({name: tensor.shape for name, tensor in held.items()})
    extents = {name: extent or 1 for name, extent in program.dimensions.extents.items()}
    made = {s.lhs.tensor: prod(program.dimensions.shape(s.lhs.tensor, extents)) for s in program.statements}
    return 4 * (sum(tensor.nnz for tensor in held.values()) + sum(made.values()))


def main() -> None:
    options = parser(__doc__)
    options.add_argument("files", nargs="+", metavar="FILE.onnx[:NAME=N,...]")
    options.add_argument("--most", type=float, default=3e6, help="cycles that are simulated")
    given = options.parse_args()
    report("networks in ONNX", list(follow(rows(given.files, given.most), len(given.files))), given.json)


if __name__ == "__main__":
    main()
