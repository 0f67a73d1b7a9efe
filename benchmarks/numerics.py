"""The greatest error of each nonlinear function, over all bf16 inputs and a sweep of f32; and the speed.

Usage, from the repository's root: python -m benchmarks.numerics [--inputs N | --every]
"""

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from samhw.graph.numerics.circular import circle_table
from samhw.graph.numerics.exponential import exp2_table
from samhw.graph.numerics.gaussian import tail_table
from samhw.graph.numerics.hyperbolic import tanh_table
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


def accuracy(inputs: int, every: bool) -> Table:
    """A row for each type and function."""
    table = Table("type", "function", "inputs", "greatest error, ulp", "at", title="accuracy")
    for kind in TYPES:
        for op in REFERENCES:
            chunks = every_f32() if every and kind.width == 32 else sweep(kind, inputs)
            found = worst(kind, op, chunks)
            table.add_row(kind.name, op, f"{found.inputs:,}", f"{found.ulp:.4f}", f"{found.at:.9g}")
    return table


def tables() -> Table:
    """The tables that the hardware holds."""
    table = Table("type", "table", "segments", "bits of c0, c1, ...", "bits", title="tables")
    for kind in TYPES:
        for name, make in TABLES.items():
            piecewise = make(kind.format)
            widths = " ".join(map(str, piecewise.widths))
            table.add_row(kind.name, name, str(len(piecewise.columns[0])), widths, f"{piecewise.bits:,}")
    return table


def speed() -> Table:
    """Time of one operation, alone and in an array."""
    table = Table("type", "operation", "alone, us", "in an array, ns", title="speed")
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
            table.add_row(kind.name, op, f"{alone * 1e6:.2f}", f"{array * 1e9:.1f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1 << 24, help="f32 inputs of each function")
    parser.add_argument(
        "--every", action="store_true", help="all 604 million f32 from 2**-28 to 2**8; an hour"
    )
    arguments = parser.parse_args()
    console = Console()
    console.print(accuracy(arguments.inputs, arguments.every))
    console.print(tables())
    console.print(speed())


if __name__ == "__main__":
    main()
