"""What limits a run, in the sentence of a report's first screen: bottlenecks that were planted are found, and
named."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from samhw.app.api import compile as compile_program
from samhw.app.report.run_report import RunReport, run_report
from samhw.choices.schedule import Schedule
from samhw.graph import DDR4, Arch, Dram
from samhw.sim import percents
from samhw.targets.backends import MODEL, run

SPMM = "T[i,j] = A[i,k] * X[k,j]"
"""Of which an A by rows and a dense X make a reducer of vectors."""
SLOW_SUM = Arch(reduce={**Arch().reduce, "f32": {**Arch().reduce["f32"], "sum": 8}})


@dataclass(frozen=True)
class Planted:
    """A program on random data, with one thing that must limit it."""

    program: str
    shapes: Mapping[str, tuple[int, ...]]
    says: tuple[str, ...]
    """Parts of the sentence."""
    formats: Mapping[str, str] = field(default_factory=dict)
    depths: Mapping[str, int] = field(default_factory=dict)
    stalls: Mapping[str, list[bool]] = field(default_factory=dict)
    memory: Dram | None = None
    schedule: Schedule = field(default_factory=Schedule)
    arch: Arch = field(default_factory=Arch)
    value: str = "f32"
    density: Mapping[str, float] = field(default_factory=dict)
    """Of the tensors of which not 40 % of the elements are stored."""
    heavy: bool = False
    """The first row of A has nearly all of its entries."""


def told(planted: Planted) -> RunReport:
    rng = np.random.default_rng(7)
    data = {}
    for name, shape in planted.shapes.items():
        dense = rng.integers(1, 9, shape) * (rng.random(shape) < planted.density.get(name, 0.4))
        if planted.heavy and name == "A":
            dense[1:] = 0
            dense[:, 0] = 1
            dense[0] = 1
        data[name] = dense.astype(np.int64 if planted.value.startswith("i") else np.float64)
    design = compile_program(
        planted.program,
        formats=planted.formats,
        schedule=planted.schedule,
        arch=planted.arch,
        value=planted.value,
    )
    workload = design.bind(data)
    compiled = design.compile_for(workload)
    regions = tuple(
        replace(region, graph=region.graph.with_depths(planted.depths)) for region in compiled.regions
    )
    compiled = replace(compiled, regions=regions)
    options: dict[str, Any] = {"memory": planted.memory} if planted.memory else {}
    if planted.stalls:
        options["stalls"] = planted.stalls
    model = run(compiled, workload.tensors, MODEL, **options)
    return run_report(workload, compiled, MODEL, [model], [], asked=planted.schedule)


MATRICES = {"A": (20, 20), "X": (20, 16)}
VECTORS = {"a": (400,), "b": (400,)}
CSR = {"A": "csr", "X": "dense", "T": "csr"}

PLANTED = {
    "a channel of one slot": Planted(
        SPMM,
        MATRICES,
        ("The channel mul.val->reduce_vector_t0.val limits the run", "its one slot"),
        CSR,
        depths={"mul.val->reduce_vector_t0.val": 1},
    ),
    "a channel beside a longer way": Planted(
        SPMM,
        MATRICES,
        ("The channel scan_dense_X_j.crd->reduce_vector_t0.crd0 limits the run", "one of its 3 slots"),
        CSR,
        depths={"scan_dense_X_j.crd->reduce_vector_t0.crd0": 3},
    ),
    "a busy reducer": Planted(SPMM, MATRICES, ("reduce_vector_t0 limits the run: it is busy in",), CSR),
    "a slow reducer": Planted(
        "x = a[i] * b[i]",
        VECTORS,
        ("reduce_scalar_t0 limits the run",),
        {"a": "dense", "b": "dense"},
        arch=SLOW_SUM,
    ),
    "updates of one place": Planted(
        "T[i,j] = A[i,k] * X[k,j]",
        {"A": (8, 40), "X": (40, 1)},
        ("reduce_vector_t0 limits the run: updates of one place keep their distance",),
        {"A": "dense", "X": "dense", "T": "csr"},
        schedule=Schedule(order=("i", "k", "j")),
    ),
    "a join with little in common": Planted(
        "x[i] = a[i] * b[i]",
        VECTORS,
        ("intersect_i limits the run: it is busy in",),
        {"a": "csf", "b": "csf", "x": "csf"},
    ),
    "a starved join": Planted(
        "x[i] = a[i] + b[i] * c[i]",
        {**VECTORS, "c": (400,)},
        ("intersect_i limits the run: it is busy in", "union_i waits for its tokens"),
        {"a": "csf", "b": "csf", "c": "csf", "x": "csf"},
        density={"a": 0.02, "b": 0.2, "c": 0.2},
    ),
    "a slow writer": Planted(
        SPMM,
        MATRICES,
        ("write_val_T limits the run: its stall pattern",),
        CSR,
        stalls={"write_val_T": [False, *[True] * 9]},
    ),
    "off-chip memory": Planted(
        SPMM, MATRICES, ("Off-chip memory limits the run", "ddr4 moves"), CSR, memory=replace(DDR4, cl=90)
    ),
    "a lane with all the work": Planted(
        SPMM,
        {"A": (16, 60), "X": (60, 16)},
        ("reduce_vector_t0_i0 limits the run",),
        CSR,
        schedule=Schedule(lanes={"i": 4}),
        heavy=True,
    ),
    "a run of latency": Planted(
        SPMM, {"A": (1, 1), "X": (1, 1)}, ("Latency limits the run: no node is busy for longer than",), CSR
    ),
    "the second of two regions": Planted(
        "H[i,h] = A[i,k] * W[k,h]\nT[i,c] = H[i,h] * V[h,c]",
        {"A": (12, 6), "W": (6, 12), "V": (12, 24)},
        ("The region", "_1 takes", "limits it: it is busy in"),
        {"A": "csr", "W": "dense", "V": "dense"},
        schedule=Schedule(fuse="none"),
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_was_planted_is_named(name: str) -> None:
    report = told(PLANTED[name])
    for part in PLANTED[name].says:
        assert part in report.limit
    assert report.to_json()["limit"] == report.limit


@pytest.mark.parametrize("name", PLANTED)
def test_all_cycles_of_a_node_are_told_of(name: str) -> None:
    for region in told(PLANTED[name]).regions:
        for node in region.nodes:
            causes = node.spent.causes
            assert sum(causes.values()) == node.spent.cycles == region.model_cycles
            assert min(causes.values()) >= 0
            assert causes["busy"] >= node.firings
            assert all("->" in channel for channel in (*node.spent.starved, *node.spent.blocked))
            assert sum(percents(causes).values()) == 100


@pytest.mark.parametrize("name", PLANTED)
def test_what_limits_a_region_of_several_is_not_said_to_limit_the_run(name: str) -> None:
    report = told(PLANTED[name])
    several = len(report.regions) > 1
    for region in report.regions:
        for said in (region.bottleneck.text, region.bottleneck.short):
            assert ("this region" in said, "the run" in said) == (several, not several)


@pytest.mark.parametrize("name", PLANTED)
def test_a_busier_node_is_said_not_to_limit_the_run(name: str) -> None:
    report = told(PLANTED[name])
    for region in report.regions:
        busy = {node.name: node.spent.busy for node in region.nodes}
        (base, *_) = [one.node for one in report.limits if one.region == region.name]
        for one in report.limits:
            if one.region == region.name and one.node != base:
                assert (f"waits for {base}" in one.text) == (busy[one.node] > busy[base])
