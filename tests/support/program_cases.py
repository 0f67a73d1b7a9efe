"""Random data, depths and stalls for random programs, all from one seed."""

import numpy as np

from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import ScheduleError
from samhw.graph import Arch, Graph
from samhw.graph.numerics import BLOCK
from samhw.lang import Capacity, Program
from samhw.tensors import Tensor


def random_tensors(
    program: Program, rng: np.random.Generator, low: int = -4, high: int = 4, *, integers: bool = True
) -> dict[str, Tensor]:
    """A tensor for every input of a program of known extents: empty, sparse, with empty rows, or full."""
    tensors = {}
    for decl in program.inputs:
        shape = tuple(extent or 1 for extent in decl.shape)
        present = rng.random(shape) < rng.choice([0.0, 0.2, 0.5, 1.0], p=[0.1, 0.3, 0.4, 0.2])
        if len(shape) > 1 and rng.random() < 0.3:
            present[rng.integers(shape[0])] = False
        values = rng.integers(low, high + 1, shape) if integers else rng.normal(0, high / 2, shape)
        tensors[decl.name] = Tensor.from_dense(np.where(present, values, 0), decl.format)
    return tensors


def compile_or_none(program: Program, **options: object) -> Compiled | None:
    """The compiled program, or None where the schedule is one that streams cannot follow."""
    extents = {d: n or 1 for d, n in program.dimensions.extents.items()}
    entries = dict.fromkeys(program.tensors, 4096)
    try:
        return compile_job(Job(program, capacity=Capacity(extents, entries), **options))
    except ScheduleError:
        return None


def random_depths(graph: Graph, rng: np.random.Generator) -> Graph:
    """The graph with a random depth for every channel, often the least one."""
    return graph.with_depths(
        {c.name: int(rng.choice([1, 2, 3, 5, c.depth, 3 * c.depth])) for c in graph.channels}
    )


def random_stalls(graph: Graph, rng: np.random.Generator) -> dict[str, list[bool]]:
    """A stall pattern for each root and writer."""
    patterns = {}
    for node in graph.nodes:
        if not node.inputs or not node.outputs:
            pattern = rng.random(int(rng.integers(1, 40))) < rng.choice([0.0, 0.3, 0.8])
            pattern[rng.integers(len(pattern))] = False
            patterns[node.name] = [bool(stalled) for stalled in pattern]
    return patterns


def random_arch(rng: np.random.Generator) -> Arch:
    """Latencies around the defaults, none below what the units need."""
    default = Arch()
    return Arch(
        step=default.step + int(rng.integers(3)),
        memory=default.memory + int(rng.integers(3)),
        locate=default.locate + int(rng.integers(3)),
        alu={
            family: {op: latency + int(rng.integers(3)) for op, latency in latencies.items()}
            for family, latencies in default.alu.items()
        },
        reduce={
            family: {op: _reduction(family, op, latency, rng) for op, latency in latencies.items()}
            for family, latencies in default.reduce.items()
        },
    )


def _reduction(family: str, op: str, latency: int, rng: np.random.Generator) -> int:
    """The latency of a reduction; only a floating-point sum may take longer than one cycle."""
    slack = BLOCK - latency + 1 if op == "sum" and family in ("f8", "bf16", "f32") else 1
    return latency + int(rng.integers(slack))
