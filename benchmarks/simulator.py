"""Speed of both engines of the simulator and of the Verilator build, on the same graphs and data.

All three give the same cycles, which is checked. Times are processor times, the least of some runs, when
functions and designs have been compiled; what is compared takes turns. `--data`, or `SAMHW_DATA`, names the
folder with lp_scsd1.mtx (SuiteSparse) and cora.npz (Planetoid); without it only generated graphs are run.
With `--memory` all tensors lie off chip, beside runs in which they lie on it.

Usage, from the repository's root: python -m benchmarks.simulator [--data FOLDER]
[--rtl | --memory NAME|FILE.json] [--large] [--only TEXT] [--json FILE|-]; with --flat [--plot FILE] it
measures the cost of a firing by the number of firings instead.
"""

import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import data_option, follow, parser, report
from samhw.app.workload import bind_program
from samhw.choices.fuse import FusionLevel
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.graph import OffChip, load_memory
from samhw.graph.numerics import value_type
from samhw.lang import Capacity, Program, load_kernel, load_model, model_data, parse
from samhw.sim import Engine, Result, simulate_regions
from samhw.targets.running.images import load_inputs
from samhw.tensors import Tensor, read_dataset, read_tensor, stand_in

PLAIN_FIRINGS = 20_000_000
"""Runs with more firings are not given to the plain engine."""

RTL_CYCLES = 5_000_000
"""Runs with more cycles are not given to Verilator."""

RUNS = 3
"""Of this many runs the least time counts,"""

MEASURED = 2.0
"""or of more, until they have taken this many seconds,"""

TURN = 0.1
"""in turns of about this many, since a machine may be slower for seconds at a time."""

FEATURES = 32
HIDDEN = 16
CLASSES = 7

GCN_LAYER = """
tensor A[i, k] : csr
tensor X[k, f] : csr
tensor W[f, h] : dense
tensor b[h] : dense
fuse {
  T[i, f] = A[i, k] * X[k, f]    order i, k, f
  U[i, h] = T[i, f] * W[f, h]    order i, f, h
  H[i, h] = relu(U[i, h] + b[h]) order i, h
}
"""


@dataclass
class Case:
    """A program, whose extents are bound, with data."""

    label: str
    program: Program
    tensors: dict[str, Tensor]
    results: Mapping[str, int] = field(default_factory=dict)
    """Most nonzeros of what is computed, where that is less than all entries."""
    value: str = "i32"


def dense(rows: int, columns: int, format_text: str = "dense") -> Tensor:
    """Small integers."""
    return Tensor.from_dense(np.random.default_rng(0).integers(1, 5, (rows, columns)), format_text)


def pattern(coords: np.ndarray, shape: tuple[int, ...], format_text: str) -> Tensor:
    """Small integers at given coordinates."""
    values = np.random.default_rng(1).integers(1, 5, coords.shape[1])
    return Tensor.from_coo(coords, values, shape, format_text)


def random_graph(nodes: int, edges: int) -> Tensor:
    """An adjacency matrix of about this many edges, uniform at random."""
    flat = np.unique(np.random.default_rng(2).integers(0, nodes * nodes, edges))
    return pattern(np.stack([flat // nodes, flat % nodes]), (nodes, nodes), "csr")


def bound(program: Program, tensors: Mapping[str, Tensor]) -> Program:
    """The program with the extents of the tensors."""
    return program.bind({name: tensor.shape for name, tensor in tensors.items()})


def spmm(label: str, sparse: Tensor, columns: int) -> Case:
    """A sparse matrix times a dense one of this many columns."""
    tensors = {"A": sparse, "X": dense(sparse.shape[1], columns)}
    return Case(f"SpMM, {label}, {columns} columns", bound(load_kernel("spmm"), tensors), tensors)


def sddmm(label: str, coords: np.ndarray, shape: tuple[int, ...], inner: int) -> Case:
    """A dense product of a given inner extent at the nonzeros of a matrix."""
    rows, columns = shape
    tensors = {
        "B": pattern(coords, shape, "dcsr"),
        "C": dense(rows, inner),
        "D": dense(inner, columns, "dense @ (1, 0)"),
    }
    program = bound(load_kernel("sddmm"), tensors)
    return Case(f"SDDMM, {label}, K = {inner}", program, tensors, {"X": coords.shape[1]})


def joins(kernel: str, size: int, density: float) -> Case:
    """A kernel that joins the fibers of two square matrices, uniform at random."""
    workload = bind_program(kernel, [f"random:size={size},density={density}"])
    entries = workload.capacity().entries
    results = {decl.name: entries[decl.name] for decl in workload.program.outputs}
    label = f"{kernel}, {size:,} x {size:,} at {density:.0%}"
    return Case(label, workload.program, dict(workload.tensors), results)


def product_size(a: Tensor, b: Tensor) -> int:
    """The nonzeros of a matrix product."""
    return int((a.to_scipy() @ b.to_scipy()).nnz)


def gcn_layer(label: str, adjacency: Tensor, features: Tensor) -> Case:
    """A layer of a graph convolutional network, fused, in floating point."""
    rng = np.random.default_rng(3)
    tensors = {
        "A": adjacency,
        "X": features,
        "W": Tensor.from_dense(rng.normal(size=(features.shape[1], HIDDEN)), "dense"),
        "b": Tensor.from_dense(rng.normal(size=HIDDEN), "dense"),
    }
    return Case(f"GCN layer, {label}", bound(parse(GCN_LAYER), tensors), tensors, value="f32")


def gcn(label: str, graph: Tensor, features: Tensor, fuse: FusionLevel) -> Case:
    """Two layers, in floating point."""
    tensors = model_data("gcn", graph=graph, features=features, sizes={"h": HIDDEN, "c": CLASSES})
    program = bound(Schedule(fuse=fuse).apply(load_model("gcn")), tensors)
    results = {"T1": product_size(tensors["A"], tensors["X"])}
    return Case(f"GCN of two layers, {label}, fusion {fuse}", program, tensors, results, "f32")


def attention(length: int, width: int) -> Case:
    """Attention under a BigBird mask, in floating point."""
    tensors = model_data("bigbird_attention", sizes={"i": length, "d": width})
    mask = max(len(array) for array in tensors["M"].arrays().values())
    program = bound(load_model("bigbird_attention"), tensors)
    label = f"BigBird attention, length {length}, width {width}"
    return Case(label, program, tensors, dict.fromkeys("SCEP", mask), "f32")


def small_features(nodes: int, columns: int) -> Tensor:
    """A sparse feature matrix, uniform at random, about 5 in each row."""
    flat = np.unique(np.random.default_rng(4).integers(0, nodes * columns, 5 * nodes))
    return pattern(np.stack([flat // columns, flat % columns]), (nodes, columns), "csr")


def cases(data: Path | None, large: bool) -> Iterator[Case]:
    """All cases."""
    graph = random_graph(2_000, 20_000)
    yield spmm("generated", graph, FEATURES)
    yield sddmm("generated", graph.to_coo()[0], graph.shape, FEATURES)
    yield gcn_layer("generated", random_graph(500, 2_500), small_features(500, 200))
    yield attention(256, 32)
    yield joins("spmspm_ijk", 200, 0.1)
    yield joins("spmspm_ijk", 1_000, 0.01)
    yield joins("mmadd", 1_000, 0.1)
    made_up = stand_in("cora")
    yield gcn("synthetic Cora", made_up["adjacency"], made_up["features"], "none")
    if data:
        matrix = read_tensor(data / "lp_scsd1.mtx")
        coords = matrix.to_coo(drop_zeros=True)[0]
        yield spmm("lp_scsd1", pattern(coords, matrix.shape, "csr"), FEATURES)
        yield sddmm("lp_scsd1", coords, matrix.shape, 256)
        cora = read_dataset(data / "cora.npz")
        adjacency, features = cora["adjacency"].convert("csr"), cora["features"].convert("csr")
        yield spmm("Cora, features * weights", features, HIDDEN)
        yield spmm("Cora, adjacency * hidden", adjacency, HIDDEN)
        yield gcn_layer("Cora", adjacency, features)
        yield gcn("Cora", cora["adjacency"], features, "none")
        yield gcn("Cora", cora["adjacency"], features, "partial")
    if large:
        yield spmm("generated, the size of OGB-Collab", random_graph(235_868, 2_400_000), 128)


def compiled_case(case: Case) -> Compiled:
    """The program compiled with room for its data."""
    entries = {name: max(len(a) for a in t.arrays().values()) for name, t in case.tensors.items()}
    for statement in case.program.statements:
        extents = case.program.extents(statement)
        name = statement.lhs.tensor
        entries[name] = case.results.get(name, prod(extents[index] or 1 for index in statement.lhs.names))
    return compile_job(Job(case.program, value=value_type(case.value), capacity=Capacity(entries=entries)))


def firings(results: Sequence[Result]) -> int:
    """All firings of a run."""
    return sum(a.firings for r in results for node in r.nodes.values() for a in node.actors.values())


def least(*runs: Callable[[], tuple[object, float]]) -> list[float]:
    """The least of the times that each of some runs takes; they give their results and their times."""
    times: list[list[float]] = [[] for _ in runs]
    while any(map(is_short, times)):
        for run, taken in zip(runs, times, strict=True):
            enough = sum(taken) + TURN
            while is_short(taken) and sum(taken) < enough:
                taken.append(run()[1])
    return [min(taken) for taken in times]


def is_short(times: Sequence[float]) -> bool:
    """Whether there should be more of them."""
    return sum(times) < MEASURED or (len(times) < RUNS and sum(times) < 10)


def timed_run(
    compiled: Compiled,
    memories: Mapping[str, Any],
    extents: Mapping[str, int],
    engine: Engine,
    memory: OffChip | None = None,
) -> tuple[Sequence[Result], float]:
    """The results of a run and its processor time in seconds."""
    begin = time.process_time()
    results = simulate_regions(
        compiled.design, compiled.arch, memories, extents, engine=engine, memory=memory
    )
    return results, time.process_time() - begin


def measure(case: Case, rtl: bool, memory: OffChip | None) -> dict[str, Any]:
    """A row of the table."""
    compiled = compiled_case(case)
    memories, extents = load_inputs(compiled.program, compiled.design, case.tensors)
    on_chip = partial(timed_run, compiled, memories, extents)
    run = partial(on_chip, memory=memory)
    # The first run may have to compile.
    first, _ = run("compiled")
    count, cycles = firings(first), sum(result.cycles + 1 for result in first) - 1
    clocked = rtl and cycles <= RTL_CYCLES
    if clocked:
        seconds, hardware = least_beside_rtl(compiled, memories, extents, cycles, partial(run, "compiled"))
    elif memory:
        on_chip_count = firings(on_chip("compiled")[0])
        seconds, on_chip_seconds = least(partial(run, "compiled"), partial(on_chip, "compiled"))
    else:
        (seconds,) = least(partial(run, "compiled"))
    row: dict[str, Any] = {
        "case": case.label,
        "cycles": cycles,
        "firings": count,
        "seconds": round(seconds, 4),
        "M firings/s": round(count / seconds / 1e6),
        "M cycles/s": round(cycles / seconds / 1e6, 1),
        "to the plain engine": None,
    }
    if count <= PLAIN_FIRINGS:
        plain, plain_seconds = run("plain")
        assert [(r.cycles, r.memory) for r in plain] == [(r.cycles, r.memory) for r in first]
        row["to the plain engine"] = round(plain_seconds / seconds)
    if memory:
        rate = on_chip_count / on_chip_seconds
        row["on chip, M firings/s"] = round(rate / 1e6)
        row["of on chip, %"] = round(100 * count / seconds / rate)
    if rtl:
        row["RTL, M cycles/s"] = round(cycles / hardware / 1e6, 3) if clocked else None
        row["to the RTL"] = round(hardware / seconds, 1) if clocked else None
    return row


def least_beside_rtl(
    compiled: Compiled,
    memories: Mapping[str, Any],
    extents: Mapping[str, int],
    cycles: int,
    run: Callable[[], tuple[object, float]],
) -> list[float]:
    """The least times of a run and of Verilator's, whose cycles are checked."""
    from samhw.targets.running.driver import VerilatedDesign

    with VerilatedDesign.build(compiled.design, compiled.arch, optimise=True).session() as session:

        def clocked() -> tuple[int, float]:
            done = session.run(memories, extents)
            assert done.cycles == cycles
            return done.cycles, done.seconds

        return least(run, clocked)


def flatness() -> Iterator[dict[str, Any]]:
    """The cost of a firing by the number of firings: the same product with more and more rows."""
    for rows in (57, 572, 5_720, 57_200, 572_000):
        flat = np.arange(rows * 8)
        case = spmm("flat", pattern(np.stack([flat // 8, flat % 8 * 7]), (rows, 56), "csr"), FEATURES)
        compiled = compiled_case(case)
        memories, extents = load_inputs(compiled.program, compiled.design, case.tensors)
        run = partial(timed_run, compiled, memories, extents, "compiled")
        count = firings(run()[0])
        (best,) = least(run)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield {
            "rows": rows,
            "firings": count,
            "ns per firing": round(best / count * 1e9, 2),
            "peak memory, MB": round(memory),
        }


def draw(points: Sequence[tuple[int, float]], file: Path) -> None:
    """Draws (firings, ns per firing)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3))
    axes.semilogx(*zip(*points, strict=True), "o-")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("firings of the run")
    axes.set_ylabel("ns per firing")
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


def main() -> None:
    options = parser(__doc__)
    data_option(options)
    beside = options.add_mutually_exclusive_group()
    beside.add_argument("--rtl", action="store_true", help="run the RTL under Verilator too")
    beside.add_argument("--memory", metavar="NAME|FILE", help="all tensors in this memory")
    options.add_argument("--large", action="store_true", help="also a graph of 2.4 million edges")
    options.add_argument("--flat", action="store_true", help="the cost of a firing by the number of firings")
    options.add_argument("--plot", type=Path, help="draw that cost into a file (.svg, .png)")
    options.add_argument("--only", default="", metavar="TEXT", help="the cases whose label has this text")
    given = options.parse_args()
    if given.flat:
        found = list(follow(flatness()))
        report("cost of a firing", found, given.json)
        if given.plot:
            draw([(row["firings"], row["ns per firing"]) for row in found], given.plot)
        return
    try:
        memory = OffChip(load_memory(given.memory)) if given.memory else None
    except InputError as error:
        options.error(str(error))
    known = cases(Path(given.data) if given.data else None, given.large)
    chosen = [case for case in known if given.only in case.label]
    rows = [measure(case, given.rtl, memory) for case in follow(chosen)]
    report("speed of the simulator", rows, given.json)


if __name__ == "__main__":
    main()
