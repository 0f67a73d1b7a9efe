"""Memories in banks: what is in them, when their ports read, and what cannot lie in banks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.compiled import area_of, estimate_compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.placement import interleaved_lines
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.graph import Graph, Parallel, Run, block_rams, dumps, loads, unproved_circles, validate_design
from samhw.graph.banks import bank_ports
from samhw.graph.off_chip_memory import load_memory
from samhw.lang import Capacity, parse
from samhw.sim import Result, simulate, simulate_regions, total_cycles
from samhw.targets.backends import run as simulated
from samhw.targets.running.driver import VerilatedDesign
from samhw.targets.running.images import load
from samhw.tensors import Tensor
from tests.sim.small_phases import small_phases

SPMM = (
    "tensor A[i, k] : csr\ntensor X[k, j] : dense\ntensor T[i, j] : dense\n"
    "T[i, j] = A[i, k] * X[k, j]    order i, k, j\n"
)
GIVEN = np.random.default_rng(0)
MATRIX = (GIVEN.random((13, 9)) < 0.4) * GIVEN.integers(1, 9, (13, 9))
DENSE = GIVEN.integers(1, 9, (9, 7))


def compiled(text: str = SPMM, **schedule: Any) -> Compiled:
    chosen = {"lanes": {"i": 3}, "deal": {"i": "ranges"}, "interleave": ["X"], **schedule}
    return compile_job(Job(parse(text), Schedule(**chosen), capacity=Capacity({"i": 13, "k": 9, "j": 7})))


def run(compiled: Compiled, **options: Any) -> tuple[Graph, Result]:
    (graph,) = compiled.design.regions
    given = {"A": Tensor.from_dense(MATRIX, "csr"), "X": Tensor.from_dense(DENSE, "dense")}
    words, extents = load(compiled.design, given)
    return graph, simulate(graph, compiled.arch, words, extents, **options)


def test_three_readers_share_two_banks() -> None:
    found = compiled()
    (graph,) = found.design.regions
    assert {m.name: m.banks for m in found.design.memories if m.banks} == {"X.vals": 2}
    assert [(port.node, port.number) for port in bank_ports(graph)] == [
        ("array_X_i0", 0),
        ("array_X_i1", 1),
        ("array_X_i2", 2),
    ]
    assert found.design.copies["X.vals"] == 1
    assert interleaved_lines(found) == ["banks that all readers share: X.vals in 2"]
    assert loads(dumps(found.design)) == found.design
    assert not list(unproved_circles(graph, graph.extents))


@pytest.mark.parametrize("interleave", ["all", ["X"]])
def test_ports_read_when_it_is_their_turn(interleave: Any) -> None:
    """Channel by channel, the recurrence of the rule."""
    graph, result = run(compiled(deal={}, interleave=interleave), trace=True)
    seen = result.passages
    for port in bank_ports(graph):
        if port.param != "vals":
            continue
        (taken,) = (c for c in graph.channels if c.sink.node == port.node)
        given = [c for c in graph.channels if c.source.node == port.node]
        banks = graph.memory[port.memory].banks
        takes: list[int] = []
        delivers: list[int] = []
        for n, (_, asked, token) in enumerate(seen[taken.name]):
            assert n < 2 or asked > takes[n - 2]
            t = max(asked + 1, takes[-1] + 1 if n else 0, delivers[n - 6] + 1 if n >= 6 else 0)
            while token.kind.name == "VAL" and (t + port.number // 2 - token.payload) % banks:
                t += 1
            takes.append(t)
            d = max(t + 4, delivers[-1] + 1 if n else 0)
            free = [seen[c.name][n - c.depth].popped + 1 for c in given if n >= c.depth]
            delivers.append(max(d, *free, 0))
        for channel in given:
            assert [passage.pushed for passage in seen[channel.name]] == delivers


@pytest.mark.parametrize("interleave", ["all", ["X"]])
@pytest.mark.parametrize("lanes", [3, 8])
def test_both_engines_have_the_same_turns(lanes: int, interleave: Any) -> None:
    found = compiled(lanes={"i": lanes}, deal={}, interleave=interleave)
    (_, plain) = run(found, engine="plain", trace=True)
    with small_phases():
        (_, other) = run(found, engine="compiled", trace=True)
    for what in ("cycles", "nodes", "channels", "passages"):
        assert getattr(plain, what) == getattr(other, what)
    assert sum(node.spaced for stats in plain.nodes.values() for node in stats.actors.values()) > 0


def test_results_are_those_of_copies() -> None:
    copies = compiled(interleave="none")
    assert np.array_equal(run(copies)[1].memories["T.vals.0"], run(compiled())[1].memories["T.vals.0"])
    assert interleaved_lines(copies) == []


def test_fewer_readers_need_no_banks() -> None:
    found = compiled(lanes={"i": 2})
    assert found.design == compiled(lanes={"i": 2}, interleave="none").design
    assert "none, since no array has three readers" in interleaved_lines(found)[0]


def test_banks_take_the_block_rams_of_one_copy() -> None:
    capacity = Capacity({"i": 64, "k": 1024, "j": 64}, {"A": 64})
    areas = {}
    for interleave in ("none", "X"):
        schedule = Schedule(
            lanes={"i": 16}, deal={"i": "ranges"}, interleave=interleave if interleave == "none" else ["X"]
        )
        areas[interleave] = area_of(compile_job(Job(parse(SPMM), schedule, capacity=capacity)))
    # 65,536 words of 32 bits: 64 words of 18 bits a block, two for a word.
    assert block_rams(1 << 16, 32, banks=8) == 128
    saved = areas["none"].memories.block_rams - areas["X"].memories.block_rams
    assert saved == block_rams(1 << 16, 32, 16) - 128 > 800
    assert areas["X"].memories.luts > areas["none"].memories.luts


@pytest.mark.parametrize(("interleave", "slower"), [("X.vals", (1.02, 1.15)), ("A.vals", (2.5, 4.5))])
def test_waits_are_expected(interleave: str, slower: tuple[float, float]) -> None:
    """Those for rows are few. A value that is read again and again waits for all banks each time."""
    held = bind_program("spmm", ["random:size=64,density=0.1"])
    ways = [
        compile_workload(held, Schedule(lanes={"i": 8}, interleave=names)) for names in ("none", [interleave])
    ]
    copies, banks = (estimate_compiled(way, held.statistics()).cycles for way in ways)
    assert slower[0] < banks / copies < slower[1]
    assert simulated(ways[1], held.tensors).cycles == pytest.approx(banks, rel=0.1)


def beside() -> Compiled:
    return compiled(TWO, parallel="all", fuse="none", interleave="all")


def test_regions_side_by_side_have_banks_of_their_own() -> None:
    """The phase is that of the region that reads: the results, and the cycles of each, are those in turn."""
    together, in_turn = beside(), compiled(TWO, fuse="none", interleave="all")
    banked = {m.name: m.banks for m in together.design.memories if m.banks}
    assert banked == {"X.vals": 2, "Y.vals": 2}
    assert together.design.is_parallel
    given = {name: Tensor.from_dense(array, kind) for name, array, kind in GIVEN_TWO}
    runs = [simulate_regions(c.design, c.arch, *load(c.design, given)) for c in (together, in_turn)]
    assert [result.cycles for result in runs[0]] == [result.cycles for result in runs[1]]
    assert total_cycles(runs[0]) == max(result.cycles for result in runs[0])


GIVEN_TWO = [("A", MATRIX, "csr"), ("X", DENSE, "dense"), ("Y", DENSE + 1, "dense")]


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("chain", [True, False])
def test_banks_side_by_side_as_rtl(chain: bool) -> None:
    """A body may start a region, which counts from 0, while another body reads."""
    text = SPMM
    for result, factor, j in ("UYp", "VZq"):
        text += f"tensor {factor}[k, {j}=4] : dense\ntensor {result}[i, {j}] : dense\n"
        text += f"{result}[i, {j}] = A[i, k] * {factor}[k, {j}]    order i, k, {j}\n"
    made = compiled(text, parallel="all", fuse="none", interleave="all", deal={})
    design = made.design
    assert sum(m.banks > 0 for m in design.memories) == 3
    if chain:
        design = replace(design, sequence=(Parallel(((Run(0),), (Run(1), Run(2)))),))
    given = {"A": Tensor.from_dense(MATRIX, "csr")}
    given |= {name: Tensor.from_dense(array, "dense") for name, array in (("X", DENSE), ("Y", DENSE[:, :4]))}
    given["Z"] = Tensor.from_dense(DENSE[:, 3:], "dense")
    words, extents = load(design, given)
    model = simulate_regions(design, made.arch, words, extents)
    assert not chain or model[2].start < model[0].cycles
    rtl = VerilatedDesign.build(design, made.arch).run(words, extents)
    assert list(rtl.region_cycles) == [result.cycles for result in model]
    assert rtl.cycles == total_cycles(model)


def test_beside_a_memory() -> None:
    """What lies off the chip has no banks, whether the memory comes before or after; the others have theirs,
    and waits for both are expected."""
    held = bind_program("spmm", ["random:size=64,density=0.1"])
    memory = load_memory("ddr4")
    for place, banked in (({"X": "ddr"}, False), ({"A": "ddr"}, True)):
        schedule = Schedule(lanes={"i": 8}, interleave=["X"] if banked else "all", place=place)
        design = samhw.compile(held.program, schedule=schedule)
        later = design.run(held.tensors, memory=memory)
        before = compile_workload(held, schedule, memory=memory)
        for found in (before, later.compiled):
            assert (found.design.memory["X.vals"].banks > 0) == banked
        assert simulated(before, held.tensors, memory=memory).cycles == later.cycles
        assert design.estimate(memory=memory).cycles == pytest.approx(later.cycles, rel=0.03)
    refused = samhw.compile(
        held.program, schedule=Schedule(lanes={"i": 8}, interleave=["X"], place={"X": "ddr"})
    )
    with pytest.raises(InputError, match=r"X\.vals cannot be interleaved: it lies off the chip"):
        refused.run(held.tensors, memory=memory)


TWO = (
    SPMM + "tensor Y[k, j=7] : dense\ntensor U[i, j] : dense\nU[i, j] = A[i, k] * Y[k, j]    order i, k, j\n"
)


@pytest.mark.parametrize(
    ("schedule", "text", "message"),
    [
        ({"interleave": ["Z"]}, SPMM, "There is no tensor 'Z' to interleave; the program has A, X, T."),
        ({"interleave": ["X.pos1"]}, SPMM, "There is no 'X.pos1' to interleave; "),
        ({"interleave": "some"}, SPMM, "There is no tensor 'some' to interleave; "),
        ({"interleave": 3}, SPMM, "'interleave' is 3; give a list of names."),
        (
            {"parallel": "all", "fuse": "none", "interleave": ["X"]},
            SPMM + "tensor U[i, j]\nU[i, j] = 2 * A[i, k] * X[k, j]    order i, k, j\n",
            "X.vals cannot be interleaved: regions that run side by side read it",
        ),
        (
            {"share_hardware": [["T", "U"]], "fuse": "none"},
            TWO,
            "cannot share hardware, since X.vals lies in",
        ),
    ],
)
def test_refusals(schedule: dict[str, Any], text: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", "\\(")):
        compiled(text, **schedule)


def test_what_no_build_has() -> None:
    design = compiled().design
    with pytest.raises(InputError, match="one process alone has an array"):
        samhw.compile(SPMM, schedule={"lanes": {"i": 3}, "interleave": "all"}).run(
            A=MATRIX, X=DENSE, backend="hls"
        )
    for banks in (1, 3):
        damaged = [m if m.name != "X.vals" else replace(m, banks=banks) for m in design.memories]
        graphs = [replace(g, memories=tuple(damaged)) for g in design.regions]
        with pytest.raises(InputError):
            validate_design(replace(design, memories=tuple(damaged), regions=tuple(graphs)))
