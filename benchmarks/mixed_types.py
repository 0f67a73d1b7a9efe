"""Areas, cycles and value memories of one program in several types of its tensors: on an ECP5-85, without a
board's link, as benchmarks/hand.py places them (pip install samhw[fpga]).

LUTs are those that nextpnr counts once it has packed a design; placing and routing changes none of them.

Usage, from the repository's root: python -m benchmarks.mixed_types [DESIGN ...] [--json FILE|-]
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import samhw
from benchmarks.common import follow, parser, report
from benchmarks.hand import measure, synthesise_commands
from benchmarks.synthesis import design_text
from samhw.app.api import RunnableDesign
from samhw.rtl.top import Top
from samhw.targets.building.boards.bitstream import SYNTHESIS
from samhw.targets.building.boards.netlist import TOP

SPMM = "tensor A[i, k] : csr\ntensor X[k, j] : dense\nT[i, j] = A[i, k] * X[k, j]    order i, k, j"
BLOCKS = (
    "tensor A[i, k] : bcsr(4)\ntensor X[k, j] : bdense(4)\ntensor T[i, j] : bdense(4)\n"
    "T[i, j] = A[i, k] * X[k, j]"
)

DESIGNS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "spmm, i32": (SPMM, "i32", {}),
    "spmm, i8 into i32": (SPMM, "i32", {"A": "i8", "X": "i8"}),
    "spmm, f32": (SPMM, "f32", {}),
    "spmm, bf16 into f32": (SPMM, "f32", {"A": "bf16", "X": "bf16"}),
    "spmm, f16 into f32": (SPMM, "f32", {"A": "f16", "X": "f16"}),
    "spmm, f8e4m3 into f32": (SPMM, "f32", {"A": "f8e4m3", "X": "f8e4m3"}),
    "blocks of 4x4, i32": (BLOCKS, "i32", {}),
    "blocks of 4x4, i8 into i32": (BLOCKS, "i32", {"A": "i8", "X": "i8"}),
}
"""By name: a program, its value type and the types of its tensors."""


def design(name: str) -> tuple[RunnableDesign, int]:
    """One of `DESIGNS` with the cycles of a run on 36 by 36 with a tenth of them stored, and 16 columns."""
    text, value, types = DESIGNS[name]
    rng = np.random.default_rng(0)
    a = rng.integers(-8, 8, (36, 36)) * (rng.random((36, 36)) < 0.1)
    made = samhw.compile(text, value=value, types=types)
    result = made.run(A=a, X=rng.integers(-8, 8, (36, 16)))
    result.check()
    return made, result.cycles


def row(name: str) -> dict[str, Any]:
    """What one of the designs takes."""
    made, cycles = design(name)
    compiled = made.compiled
    stored = compiled.design
    bits = sum(
        memory.capacity * stored.stored(memory).width(compiled.arch.index_bits)
        for memory in stored.memories
        if memory.is_value and memory.tensor in ("A", "X")
    )
    with tempfile.TemporaryDirectory() as folder:
        text, memories = design_text(Top(compiled.design, compiled.arch), None)
        Path(folder, f"{TOP}.il").write_text(text)
        Path(folder, "memory.v").write_text(memories.text)
        synthesise_commands(Path(folder), f"read_verilog -defer memory.v\n{SYNTHESIS}")
        used = measure(Path(folder), 1, pack=True)
    return {"design": name, "cycles": cycles, "bits of A and X": bits, **used}


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("designs", nargs="*", default=[*DESIGNS], metavar="DESIGN")
    chosen = options.parse_args(arguments)
    report("Types of tensors", [row(name) for name in follow(chosen.designs)], chosen.json)


if __name__ == "__main__":
    main()
