"""The built-in cascades at RedFuser's shapes, divided: bytes read and cycles, fused and not.

    python -m benchmarks.cascade_programs [--json FILE] [PROGRAM ...]

Three forms of each: a region for each statement (unfused), one region as it is written (fused), and one pass.
Variance, inertia and the quantised product are one pass as they are written; each also has a form
that knows a mean, or a greatest element, before, and reads its data twice.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.common import VALUE, parser, report
from samhw.app.checking import measure
from samhw.app.workload import Workload
from samhw.choices.schedule import Schedule
from samhw.lang import Program, load_cascade, parse
from samhw.tensors import Tensor

SHAPES: Mapping[str, tuple[str, float | None, Mapping[str, tuple[int, ...]]]] = {
    "attention": ("H1, 8 of 512 queries of a head", 1.09, {"Q": (8, 64), "K": (512, 64), "V": (512, 64)}),
    "mla": ("L1 / 8, 4 of 128 heads", 1.02, {"Q": (4, 64), "R": (4, 8), "C": (128, 64), "K": (128, 8)}),
    "moe_routing": ("R6, 16 of 2,048 tokens, hidden / 16", 1.7, {"X": (16, 128), "W": (64, 128)}),
    "quant_gemm": ("4,096 by 4,096 / 32, 8 of 128 rows", 3.4, {"A": (8, 128), "W": (128, 128)}),
    "sum_sum": ("V1 / 8", None, {"W": (1, 1024), "X": (1, 1024)}),
    "variance": ("V1", None, {"X": (1, 8192)}),
    "inertia": ("I1", None, {"W": (3, 8192), "X": (3, 8192)}),
}
"""By program: which shape of the paper it is, how many times faster than the next best the paper's code is on
a GPU, on average, and the extents of the tensors. The scale is a number."""

TWO_PASSES = {
    "quant_gemm": """
        tensor A[i, k] : dense
        tensor W[k, n] : dense
        m[i] max= abs(A[i, k])
        Q[i, k] = rint(127 * (A[i, k] / m[i]))
        C[i, n] = Q[i, k] * W[k, n]
        out[i, n] = C[i, n] * (m[i] / 127)
    """,
    "variance": """
        tensor X[i, j] : dense
        sum[i] = X[i, j]
        mean[i] = sum[i] / 8192
        D[i, j] = X[i, j] - mean[i]
        squares[i] = D[i, j] * D[i, j]
        variance[i] = squares[i] / 8192
    """,
    "inertia": """
        tensor W[i, j] : dense
        tensor X[i, j] : dense
        mass[i] = W[i, j]
        moment[i] = W[i, j] * X[i, j]
        centre[i] = moment[i] / mass[i]
        D[i, j] = X[i, j] - centre[i]
        inertia[i] = W[i, j] * D[i, j] * D[i, j]
    """,
}
"""What is read again once the mean is known."""

UNFUSED = Schedule(fuse="none")


def forms(name: str) -> dict[str, tuple[Program, Schedule]]:
    """What is measured of a program, by name."""
    program = load_cascade(name)
    if name in TWO_PASSES:
        return {"unfused": (parse(TWO_PASSES[name], name=name), UNFUSED), "one pass": (program, Schedule())}
    return {
        "unfused": (program, UNFUSED),
        "fused": (program, Schedule()),
        "one pass": (program, Schedule(cascade="rescaled")),
    }


def drawn(shapes: Mapping[str, tuple[int, ...]], program: Program) -> dict[str, Tensor]:
    """Random data. Weights are positive."""
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    if program.name in ("sum_sum", "inertia"):
        arrays["W"] = np.abs(arrays["W"]) + 0.1
    if "scale" in program.tensors:
        arrays["scale"] = np.asarray(shapes["K"][1] ** -0.5)
    return {name: Tensor.from_dense(array, program.tensors[name].format) for name, array in arrays.items()}


def rows(name: str) -> list[dict[str, Any]]:
    """A line for each form of a program."""
    shape, paper, shapes = SHAPES[name]
    found: list[dict[str, Any]] = []
    for form, (program, schedule) in forms(name).items():
        tensors = drawn(shapes, program)
        extents = {tensor: each.shape for tensor, each in tensors.items()}
        taken = measure(Workload(name, program.bind(extents), tensors), schedule, value=VALUE)
        first = found[0] if found else {"bytes read": taken.bytes_read, "cycles": taken.cycles}
        found.append(
            {
                "program": name,
                "shape": shape,
                "form": form,
                "bytes read": round(taken.bytes_read),
                "cycles": taken.cycles,
                "bytes, times less": round(first["bytes read"] / taken.bytes_read, 2),
                "cycles, times fewer": round(first["cycles"] / taken.cycles, 2),
                "paper": paper,
                "error": f"{taken.max_abs_error:.1e}",
                "result": taken.result,
            }
        )
    return found


def main() -> None:
    options = parser(__doc__)
    options.add_argument("programs", nargs="*", choices=[*SHAPES, []], help="by default all")
    arguments = options.parse_args()
    report("cascades", [row for name in arguments.programs or SHAPES for row in rows(name)], arguments.json)


if __name__ == "__main__":
    main()
