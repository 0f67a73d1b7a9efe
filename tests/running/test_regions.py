"""Programs of several regions under Verilator: cycles of each, what they pass on, and their errors."""

from collections.abc import Mapping

import numpy as np
import pytest

from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import RunError
from samhw.graph import Design, MemoryRole
from samhw.graph.numerics import value_type
from samhw.lang import Capacity, parse
from samhw.sim import DeadlockError, Result, simulate_regions
from samhw.sim.token_traces import traced_regions
from samhw.targets.running.driver import VerilatedDesign, VerilatedSession
from samhw.targets.running.images import load
from samhw.targets.running.session import HardwareResult
from samhw.tensors import Tensor

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

LAYERS = """
tensor A[i=6, k=6] : dcsr
tensor X[k=6, j=4] : dense
tensor T[i, j] : dcsr
tensor U[i, j] : dcsr
tensor Y[i, j] : dcsr
T[i,j] = A[i,k] * X[k,j]
U[i,j] = relu(T[i,j])
Y[i,j] = U[i,j] + T[i,j]
"""
"""Three regions, of which the last one reads what both of the others have written."""


def layers(value: str = "i32") -> Compiled:
    capacity = Capacity({"i": 6, "k": 6, "j": 4}, {"A": 36, "T": 24, "U": 24, "Y": 24})
    return compile_job(Job(parse(LAYERS, "layers.ein"), value=value_type(value), capacity=capacity))


def random_inputs(seed: int) -> dict[str, Tensor]:
    rng = np.random.default_rng(seed)
    rows, inner, columns = rng.integers(1, 7), rng.integers(1, 7), rng.integers(1, 5)
    a = rng.integers(-9, 10, (rows, inner)) * (rng.random((rows, inner)) < 0.4)
    return {
        "A": Tensor.from_dense(a, "dcsr"),
        "X": Tensor.from_dense(rng.integers(-9, 10, (inner, columns)), "dense"),
    }


def assert_agree(rtl: HardwareResult, model: list[Result]) -> None:
    """In the cycles of each region, and in every word that a region has written."""
    assert rtl.region_cycles == tuple(result.cycles for result in model)
    assert rtl.cycles == sum(rtl.region_cycles) + len(model) - 1
    written = {name: words for result in model for name, words in result.memories.items()}
    assert written.keys() == rtl.memories.keys()
    for name, words in rtl.memories.items():
        assert np.array_equal(words, written[name][: len(words)])


@pytest.fixture(scope="module")
def design() -> VerilatedDesign:
    compiled = layers()
    return VerilatedDesign.build(compiled.design, compiled.arch, stall_ports=True, probes=True)


def run_both(
    session: VerilatedSession, design: VerilatedDesign, seed: int
) -> tuple[HardwareResult, list[Result]]:
    memories, extents = load(design.design, random_inputs(seed))
    rtl = session.run(memories, extents, buffers=True)
    return rtl, list(simulate_regions(design.design, design.arch, memories, extents))


def test_cycles_are_those_of_the_simulator_region_by_region(design: VerilatedDesign) -> None:
    assert len(design.design.regions) == 3
    with design.session() as session:
        for seed in range(5):
            assert_agree(*run_both(session, design, seed))


def test_a_trace_has_the_cycles_of_the_rtl(design: VerilatedDesign) -> None:
    """Of all tokens of all regions."""
    whole = design.design
    with design.session() as session:
        for seed in range(5):
            memories, extents = load(whole, random_inputs(seed))
            rtl = session.run(memories, extents, trace=True)
            results = simulate_regions(whole, design.arch, memories, extents, trace=True)
            traced = traced_regions(zip(whole.runs, results, strict=True))
            model = {
                whole.label(number, channel.name): [(p.popped, p.token) for p in region.passages(channel)]
                for number, region in enumerate(traced)
                for channel in region.graph.channels
            }
            assert model == rtl.traces


def test_buffers_are_read_only_if_asked_for(design: VerilatedDesign) -> None:
    memories, extents = load(design.design, random_inputs(0))
    result = design.run(memories, extents)
    assert {name.split(".")[0] for name in result.memories} == {"Y"}
    roles = {m.tensor: m.role for m in design.design.memories}
    assert roles["T"] is roles["U"] is MemoryRole.BUFFER


def test_stalls_count_the_cycles_of_the_run(design: VerilatedDesign) -> None:
    """The root of the second region is kept back for 50 cycles; that costs this region the 50 cycles."""
    memories, extents = load(design.design, random_inputs(0))
    with design.session() as session:
        free = session.run(memories, extents)
        first, second, third = free.region_cycles
        pattern = np.zeros(4 * free.cycles + 200, dtype=bool)
        pattern[: first + 2 + 50] = True
        stalled = session.run(memories, extents, stalls={"layers_1.root": pattern})
        assert stalled.region_cycles == (first, second + 50, third)
        assert session.run(memories, extents).region_cycles == free.region_cycles


def both_fail(
    compiled: Compiled, inputs: Mapping[str, Tensor], design: Design | None = None
) -> list[RunError]:
    """The errors of simulator and RTL."""
    design = design or compiled.design
    memories, extents = load(design, inputs)
    with pytest.raises(RunError) as model:
        simulate_regions(design, compiled.arch, memories, extents)
    with pytest.raises(RunError) as rtl:
        VerilatedDesign.build(design, compiled.arch).run(memories, extents)
    assert type(model.value) is type(rtl.value)
    return [model.value, rtl.value]


def test_an_error_in_a_later_region_names_its_node() -> None:
    """100 fits a byte, its double does not."""
    inputs = {
        "A": Tensor.from_dense(np.array([[100]]), "dcsr"),
        "X": Tensor.from_dense(np.array([[1]]), "dense"),
    }
    for error in both_fail(layers("i8"), inputs):
        assert "Region layers_2: overflow at node 'add'" in str(error)


def test_a_deadlock_in_a_later_region_names_channels_of_it() -> None:
    """As in test_real_design.py, with B written by a first region."""
    program = parse(
        "tensor A[i=4, j=4] : dcsr\ntensor B[i, j] : dcsr\ntensor X[i, j] : dcsr\ntensor a\n"
        "B[i,j] = relu(A[i,j])\nX[i,j] = a * B[i,j]",
        "chain.ein",
    )
    compiled = compile_job(Job(program))
    first, second = compiled.design.regions
    tight = second.with_depths(dict.fromkeys((c.name for c in second.channels), 1))
    design = Design.assemble("chain", [first, tight])
    inputs = {
        "A": Tensor.from_dense(np.zeros((4, 4), dtype=int), "dcsr"),
        "a": Tensor.from_dense(np.array(3), "dense"),
    }
    for error in both_fail(compiled, inputs, design):
        assert isinstance(error, DeadlockError)
        assert set(error.waiting) <= {c.name for c in second.channels}
        assert error.waiting
        assert str(error).startswith("Region chain_1: Deadlock")


def test_channels_of_other_regions_do_not_wait(design: VerilatedDesign) -> None:
    """Without a circle all channels that are empty are named. The second region's root never fires."""
    memories, extents = load(design.design, random_inputs(0))
    pattern = [True] * 100_000 + [False]
    with pytest.raises(DeadlockError) as failure:
        design.run(memories, extents, stalls={"layers_1.root": pattern})
    assert failure.value.waiting == []
    assert str(failure.value).startswith("Region layers_1: Deadlock")
    assert "root.out->" in str(failure.value)
    first, second, third = ({c.name for c in graph.channels} for graph in design.design.regions)
    assert not [name for name in (first | third) - second if name in str(failure.value)]
