"""Cycles against the Sparse Abstract Machine's own idealised simulator (no memory timing, unbounded queues).

The figures of that simulator were measured with its own graphs on the same matrices. `SAMHW_DATA` names the
folder that holds lp_scsd1.mtx and bcsstm02.mtx (SuiteSparse).

Usage, from the repository's root: python -m benchmarks.anchors [--rtl] [--json FILE|-]
"""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import parser, report
from samhw.app.checking import check, weakest
from samhw.app.workload import Workload
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.lang import Capacity, load_kernel
from samhw.targets.backends import run
from samhw.tensors import Tensor, read_tensor

K = 256


def pattern(name: str) -> tuple[np.ndarray, tuple[int, int]]:
    """The coordinates (2, nnz) and the shape of a matrix."""
    folder = Path(os.environ.get("SAMHW_DATA", "data"))
    matrix = read_tensor(folder / f"{name}.mtx")
    return matrix.to_coo(drop_zeros=True)[0], (matrix.shape[0], matrix.shape[1])


def sddmm(name: str) -> tuple[str, dict[str, Tensor]]:
    coords, (rows, columns) = pattern(name)
    rng = np.random.default_rng(0)
    return "sddmm", {
        "B": Tensor.from_coo(coords, rng.integers(1, 5, coords.shape[1]), (rows, columns), "dcsr"),
        "C": Tensor.from_dense(rng.integers(1, 5, (rows, K)), "dense"),
        "D": Tensor.from_dense(rng.integers(1, 5, (K, columns)), "dense @ (1, 0)"),
    }


def mmadd(name: str) -> tuple[str, dict[str, Tensor]]:
    coords, shape = pattern(name)
    ones = np.ones(coords.shape[1], np.int64)
    shifted = np.stack([coords[0], (coords[1] + 1) % shape[1]])
    return "mmadd", {
        "B": Tensor.from_coo(coords, ones, shape, "dcsr"),
        "C": Tensor.from_coo(shifted, 2 * ones, shape, "dcsr"),
    }


def outer_product(name: str) -> tuple[str, dict[str, Tensor]]:
    coords, (rows, columns) = pattern(name)
    ones = np.ones(coords.shape[1], np.int64)
    shifted = np.stack([(coords[1] + 1) % columns, coords[0]])
    return "spmspm_kij", {
        "B": Tensor.from_coo(coords, ones, (rows, columns), "dcsc"),
        "C": Tensor.from_coo(shifted, 2 * ones, (columns, rows), "dcsr"),
    }


ANCHORS = [
    ("SDDMM, K = 256", sddmm, "lp_scsd1", 613_807),
    ("SDDMM, K = 256", sddmm, "bcsstm02", 17_042),
    ("B + C, DCSR", mmadd, "lp_scsd1", 3_177),
    ("B * C, k -> i -> j", outer_product, "lp_scsd1", 12_898),
]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rtl", action="store_true", help="run the RTL under Verilator too")
    arguments = options.parse_args()
    rows: list[dict[str, Any]] = []
    for label, make, matrix, ideal in ANCHORS:
        name, tensors = make(matrix)
        program = load_kernel(name).bind({n: t.shape for n, t in tensors.items()})
        workload = Workload(matrix, program, tensors)
        entries = {n: max(len(a) for a in t.arrays().values()) for n, t in tensors.items()} | {"X": 1 << 14}
        compiled = compile_job(Job(program, capacity=Capacity(entries=entries)))
        model = run(compiled, tensors)
        rtl = run(compiled, tensors, "verilator") if arguments.rtl else None
        verdict = weakest(check(workload, compiled, r.outputs).verdict for r in (model, rtl) if r)
        rows.append(
            {
                "kernel": label,
                "matrix": matrix,
                "idealised": ideal,
                "simulator": model.cycles,
                "RTL": rtl.cycles if rtl else None,
                "ratio": round((rtl or model).cycles / ideal, 4),
                "result": str(verdict),
            }
        )
    report("against the idealised simulator", rows, arguments.json)
    sys.exit(max(row["ratio"] for row in rows) > 1.02)


if __name__ == "__main__":
    main()
