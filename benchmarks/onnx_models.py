"""What networks in ONNX take: cycles, area and memory, and whether they fit an ECP5-85:

    python -m benchmarks.onnx_models FILE.onnx... [--most CYCLES]

`network.onnx:batch=1,sequence=576` gives extents that a file leaves open. Inputs are random. Cycles are the
simulator's, whose run is checked; beyond --most they are estimated. Area and block RAMs are estimates, with
all tensors on chip, and with those off chip that a DDR4 memory would hold.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import samhw.onnx
from benchmarks.common import follow, parser, report
from samhw.app.onnx import NetworkDesign
from samhw.compiler import area_of
from samhw.cost import parse_budget
from samhw.lang import OnnxFile, load_named

PART = "LFE5U-85F"


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
        yield {
            "network": design.name,
            "nodes": len(design.model.proto.graph.node),
            "statements": len(design.imported.program.statements),
            "compiled in s": round(taken, 1),
            **_cycles(design, expected, most),
            "stored, kB": round(_bytes(design) / 1000),
            "LUTs": round(use.luts),
            "block RAMs": round(use.brams),
            f"on chip of an {PART}": budget.verdict(use),
        }


def _cycles(design: NetworkDesign, expected: float, most: float) -> dict[str, Any]:
    """Those of a run that is right, or what is expected."""
    if expected > most:
        return {"cycles": round(expected), "by": "estimate"}
    result = design.run()
    assert result.check().good
    return {"cycles": result.cycles, "by": "simulator"}


def _bytes(design: NetworkDesign) -> int:
    program, held = design.design.program, design.imported.tensors(design.arguments)
    inputs = sum(tensor.nnz for tensor in held.values())
    bound = program.bind({name: tensor.shape for name, tensor in held.items()})
    made = 0
    for statement in bound.statements:
        size = 1
        for extent in bound.dimensions.shape(statement.lhs.tensor):
            size *= extent
        made += size
    return 4 * (inputs + made)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("files", nargs="+", metavar="FILE.onnx[:NAME=N,...]")
    options.add_argument("--most", type=float, default=3e6, help="cycles that are simulated")
    given = options.parse_args()
    report("networks in ONNX", list(follow(rows(given.files, given.most), len(given.files))), given.json)


if __name__ == "__main__":
    main()
