"""Speed of both engines of the simulator and of the Verilator build, on the same graphs and data.

All three give the same cycles, which is checked. `--data`, or `SAMHW_DATA`, names the folder that holds
lp_scsd1.mtx (SuiteSparse) and cora.npz (Planetoid); without it only the generated graphs are run.

Usage: python benchmarks/simulator.py [--data FOLDER] [--rtl] [--large] [--flat]
"""

import argparse
import os
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from samhw.compiler import Capacity, Compiled, compile_program
from samhw.frontend import load_kernel
from samhw.sim import Engine, Result, simulate
from samhw.targets.images import load
from samhw.tensors import Tensor, read_dataset, read_tensor

PLAIN_FIRINGS = 20_000_000
"""Runs with more firings are not given to the plain engine."""

RTL_CYCLES = 2_000_000
"""Runs with more cycles are not given to Verilator."""

FEATURES = 32


@dataclass
class Case:
    """A built-in kernel with data."""

    label: str
    kernel: str
    tensors: dict[str, Tensor]
    result: int
    """Most nonzeros of the result."""


def dense(rows: int, columns: int, format_text: str = "dense") -> Tensor:
    """Small integers."""
    return Tensor.from_dense(np.random.default_rng(0).integers(1, 5, (rows, columns)), format_text)


def pattern(coords: np.ndarray, shape: tuple[int, ...], format_text: str) -> Tensor:
    """Small integers at given coordinates."""
    values = np.random.default_rng(1).integers(1, 5, coords.shape[1])
    return Tensor.from_coo(coords, values, shape, format_text)


def random_graph(nodes: int, edges: int) -> Tensor:
    """An adjacency matrix of about so many edges, uniform at random."""
    flat = np.unique(np.random.default_rng(2).integers(0, nodes * nodes, edges))
    return pattern(np.stack([flat // nodes, flat % nodes]), (nodes, nodes), "csr")


def spmm(label: str, sparse: Tensor, columns: int) -> Case:
    """A sparse matrix times a dense one of so many columns."""
    rows, inner = sparse.shape
    tensors = {"A": sparse, "X": dense(inner, columns)}
    return Case(f"SpMM, {label}, {columns} columns", "spmm", tensors, rows * columns)


def sddmm(label: str, coords: np.ndarray, shape: tuple[int, ...], inner: int) -> Case:
    """A dense product of a given inner extent at the nonzeros of a matrix."""
    rows, columns = shape
    tensors = {
        "B": pattern(coords, shape, "dcsr"),
        "C": dense(rows, inner),
        "D": dense(inner, columns, "dense @ (1, 0)"),
    }
    return Case(f"SDDMM, {label}, K = {inner}", "sddmm", tensors, coords.shape[1])


def cases(data: Path | None, large: bool) -> Iterator[Case]:
    """All cases. Two layers of a GCN on Cora are its four products, one after the other."""
    graph = random_graph(2_000, 20_000)
    yield spmm("generated", graph, FEATURES)
    yield sddmm("generated", graph.to_coo()[0], graph.shape, FEATURES)
    if data:
        matrix = read_tensor(data / "lp_scsd1.mtx")
        coords = matrix.to_coo(drop_zeros=True)[0]
        yield spmm("lp_scsd1", pattern(coords, matrix.shape, "csr"), FEATURES)
        yield sddmm("lp_scsd1", coords, matrix.shape, 256)
        cora = read_dataset(data / "cora.npz")
        adjacency = cora["adjacency"].convert("csr")
        yield spmm("Cora, features * weights", cora["features"].convert("csr"), 16)
        yield spmm("Cora, adjacency * hidden", adjacency, 16)
        yield spmm("Cora, hidden * weights", dense(2_708, 16).convert("csr"), 7)
        yield spmm("Cora, adjacency * classes", adjacency, 7)
    if large:
        yield spmm("generated, the size of OGB-Collab", random_graph(235_868, 2_400_000), 128)


def compiled_case(case: Case) -> Compiled:
    """The kernel compiled with room for its data."""
    program = load_kernel(case.kernel).bind({name: t.shape for name, t in case.tensors.items()})
    entries = {name: max(len(a) for a in t.arrays().values()) for name, t in case.tensors.items()}
    for tensor in program.outputs:
        entries[tensor.name] = case.result
    return compile_program(program, capacity=Capacity(entries=entries))


def firings(result: Result) -> int:
    """All firings of a run."""
    return sum(actor.firings for node in result.nodes.values() for actor in node.actors.values())


def measure(case: Case, rtl: bool) -> list[str]:
    """A row of the table."""
    compiled = compiled_case(case)
    graph, arch = compiled.graph, compiled.arch
    memories, extents = load(
        graph,
        {b.name: case.tensors[b.name].convert(b.format) for b in graph.tensors if b.name in case.tensors},
    )

    def timed(engine: Engine) -> tuple[Result, float]:
        begin = time.perf_counter()
        result = simulate(graph, arch, memories, extents, engine=engine)
        return result, time.perf_counter() - begin

    first, seconds = timed("compiled")
    count, cycles = firings(first), first.cycles
    # The first run may have had to compile.
    runs = [timed("compiled") for _ in range(3 if count < 500_000_000 else 1)]
    seconds = min([seconds, *(t for _, t in runs)])
    row = [case.label, f"{cycles:,}", f"{count:,}", f"{seconds:.3f}"]
    row += [f"{count / seconds / 1e6:,.1f}", f"{cycles / seconds / 1e6:,.2f}"]
    if count <= PLAIN_FIRINGS:
        plain, plain_seconds = timed("plain")
        assert plain.cycles == cycles
        row += [f"{count / plain_seconds / 1e6:.2f}", f"{plain_seconds / seconds:.0f} x"]
    else:
        row += ["-", "-"]
    if rtl and cycles <= RTL_CYCLES:
        from samhw.targets.driver import VerilatedDesign

        hardware = VerilatedDesign.build(graph, arch, optimise=True).run(memories, extents)
        assert hardware.cycles == cycles
        row += [f"{cycles / hardware.seconds / 1e6:.3f}", f"{hardware.seconds / seconds:.0f} x"]
    elif rtl:
        row += ["-", "-"]
    return row


def print_flatness(console: Console) -> None:
    """The cost of a firing by the number of firings: the same product with more and more rows."""
    table = Table("rows", "firings", "seconds", "ns / firing", "peak memory, MB", title="Cost of a firing")
    for rows in (50, 500, 5_000, 50_000, 500_000):
        flat = np.arange(rows * 8)
        matrix = pattern(np.stack([flat // 8, flat % 8 * 7]), (rows, 56), "csr")
        case = spmm("flat", matrix, FEATURES)
        compiled = compiled_case(case)
        stored = {
            b.name: case.tensors[b.name].convert(b.format)
            for b in compiled.graph.tensors
            if b.name in case.tensors
        }
        memories, extents = load(compiled.graph, stored)
        simulate(compiled.graph, compiled.arch, memories, extents, engine="compiled")
        # Processor time, since only the trend counts.
        begin = time.process_time()
        result = simulate(compiled.graph, compiled.arch, memories, extents, engine="compiled")
        seconds = time.process_time() - begin
        count = firings(result)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        table.add_row(
            f"{rows:,}", f"{count:,}", f"{seconds:.3f}", f"{seconds / count * 1e9:.2f}", f"{memory:.0f}"
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("SAMHW_DATA"), help="folder of the data")
    parser.add_argument("--rtl", action="store_true", help="run the RTL under Verilator too")
    parser.add_argument("--large", action="store_true", help="also a graph of 2.4 million edges")
    parser.add_argument(
        "--flat", action="store_true", help="also the cost of a firing by the number of firings"
    )
    arguments = parser.parse_args()
    columns = [
        "case",
        "cycles",
        "firings",
        "s",
        "M firings/s",
        "M cycles/s",
        "plain: M firings/s",
        "slower by",
    ]
    table = Table(*columns, *(["RTL: M cycles/s", "slower by"] if arguments.rtl else []))
    console = Console(width=180 if not sys.stdout.isatty() else None)
    for case in cases(Path(arguments.data) if arguments.data else None, arguments.large):
        console.print(case.label, style="dim")
        table.add_row(*measure(case, arguments.rtl))
    console.print(table)
    if arguments.flat:
        print_flatness(console)


if __name__ == "__main__":
    main()
