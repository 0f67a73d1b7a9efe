"""The greatest error of each nonlinear function, over all bf16 inputs and a sweep of f32. On a terminal it
also shows the tables that the hardware holds, and the speed.

Usage, from the repository's root: python -m benchmarks.numerics [--inputs N | --every] [--json FILE|-]
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.common import parser, report, show
from samhw.graph.numerics.circular import circle_table
from samhw.graph.numerics.exponential import exp2_table, tanh_table
from samhw.graph.numerics.gaussian import tail_table
from samhw.graph.numerics.logarithm import log_table
from samhw.graph.numerics.operations import OPERATIONS
from samhw.graph.numerics.reciprocal import reciprocal_table, root_table
from tests.support.accuracy import REFERENCES, every_f32, sweep, worst
from tests.support.words import TYPES

TABLES = {
    "exp2": exp2_table,
    "reciprocal": reciprocal_table,
    "root": root_table,
    "log": log_table,
    "tanh": tanh_table,
    "tail": tail_table,
    "circle": circle_table,
}
SCALAR_CALLS = 20_000


def accuracy(inputs: int, every: bool) -> Iterator[dict[str, Any]]:
    """A row for each type and function."""
    for kind in TYPES:
        for op in REFERENCES:
            chunks = every_f32() if every and kind.width == 32 else sweep(kind, inputs)
            found = worst(kind, op, chunks)
            yield {
                "type": kind.name,
                "function": op,
                "inputs": found.inputs,
                "greatest error, ulp": round(found.ulp, 4),
                "at": f"{found.at:.9g}",
            }


def tables() -> Iterator[dict[str, Any]]:
    """The tables that the hardware holds."""
    for kind in TYPES:
        for name, make in TABLES.items():
            piecewise = make(kind.format)
            yield {
                "type": kind.name,
                "table": name,
                "segments": len(piecewise.columns[0]),
                "bits of c0, c1, ...": " ".join(map(str, piecewise.widths)),
                "bits": piecewise.bits,
            }


def speed() -> Iterator[dict[str, Any]]:
    """Time of one operation, alone and in an array."""
    rng = np.random.default_rng(0)
    for kind in TYPES:
        values = kind.encode(rng.uniform(-4, 4, (3, 1 << 16)))
        for op, arity in OPERATIONS.items():
            start = time.perf_counter()
            kind.apply(op, *values[:arity])
            array = (time.perf_counter() - start) / values.shape[1]
            scalar = kind.scalar(op)
            operands = list(zip(*values[:arity, :SCALAR_CALLS].tolist(), strict=True))
            start = time.perf_counter()
            for words in operands:
                scalar(*words)
            alone = (time.perf_counter() - start) / SCALAR_CALLS
            yield {
                "type": kind.name,
                "operation": op,
                "alone, us": alone * 1e6,
                "in an array, ns": array * 1e9,
            }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--inputs", type=int, default=1 << 24, help="f32 inputs of each function")
    options.add_argument(
        "--every", action="store_true", help="all 604 million f32 from 2**-28 to 2**8; an hour"
    )
    arguments = options.parse_args()
    report("accuracy", list(accuracy(arguments.inputs, arguments.every)), arguments.json)
    if arguments.json is None:
        show("tables", list(tables()))
        show("speed", list(speed()))


if __name__ == "__main__":
    main()
