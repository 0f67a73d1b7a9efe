"""Regions that share a fabric, under Verilator: cycles, words, tokens and errors as in the simulator."""

from typing import Any

import numpy as np
import pytest

import samhw
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import RunError
from samhw.graph import HostOptions
from samhw.graph.numerics import value_type
from samhw.lang import Capacity, parse
from samhw.sim import DeadlockError, simulate_regions
from samhw.sim.token_traces import traced_regions
from samhw.targets.running.driver import VerilatedDesign
from samhw.targets.running.images import load
from samhw.tensors import Tensor
from tests.running.test_regions import assert_agree
from tests.support.spent import counted, simulated

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

LAYERS = """
tensor A[i=6, k=5] : csr
tensor B[j=9, i] : csr
tensor x[k]
tensor b[i]
tensor c[j]
tensor u[i] : csf
tensor v[j] : csf
y[i] = A[i, k] * x[k] + b[i]
z[j] = B[j, i] * y[i] + c[j]
u[i] = relu(2 * y[i] - 1)
v[j] = relu(3 * z[j] - 2)
"""
"""Two pairs on two fabrics, with other extents, capacities and immediates; y reaches both readers of z."""

EXTENTS = {"i": 6, "j": 9, "k": 5}


def compiled(share: Any = "auto", value: str = "i32") -> Compiled:
    capacity = Capacity(EXTENTS, {"A": 12, "B": 20, "u": 6, "v": 4})
    schedule = Schedule(fuse="none", share_hardware=share)
    return compile_job(Job(parse(LAYERS, "layers.ein"), schedule, value=value_type(value), capacity=capacity))


def inputs(seed: int, most: int = 9) -> dict[str, Tensor]:
    """Of which z has at most four entries that v stores."""
    rng = np.random.default_rng(seed)
    i, j, k = (int(rng.integers(1, most + 1)) for most in EXTENTS.values())
    few = rng.permutation(j) < 4

    def numbers(*shape: int) -> Any:
        return rng.integers(-most, most + 1, shape)

    a, b = numbers(i, k), numbers(j, i) * few[:, None]
    a[rng.random(a.shape) < 0.6], b[rng.random(b.shape) < 0.6] = 0, 0
    return {
        "A": Tensor.from_dense(a, "csr"),
        "B": Tensor.from_dense(b, "csr"),
        "x": Tensor.from_dense(numbers(k), "dense"),
        "b": Tensor.from_dense(numbers(i), "dense"),
        "c": Tensor.from_dense(numbers(j) * few, "dense"),
    }


@pytest.fixture(scope="module")
def design() -> VerilatedDesign:
    made = compiled()
    assert made.design.fabrics == ((0, 1), (2, 3))
    return VerilatedDesign.build(made.design, made.arch, stall_ports=True, probes=True)


def test_cycles_and_words_are_those_of_the_simulator(design: VerilatedDesign) -> None:
    apart = compiled("none").design
    with design.session() as session:
        for seed in range(8):
            memories, extents = load(design.design, inputs(seed))
            rtl = session.run(memories, extents, buffers=True)
            assert_agree(rtl, list(simulate_regions(design.design, design.arch, memories, extents)))
            own = simulate_regions(apart, design.arch, memories, extents)
            assert rtl.region_cycles == tuple(result.cycles for result in own)


def test_each_region_has_its_own_tokens(design: VerilatedDesign) -> None:
    whole = design.design
    memories, extents = load(whole, inputs(3))
    rtl = design.run(memories, extents, trace=True)
    results = simulate_regions(whole, design.arch, memories, extents, trace=True)
    traced = traced_regions(zip(whole.runs, results, strict=True))
    assert rtl.traces == {
        whole.label(number, channel.name): [(p.popped, p.token) for p in region.passages(channel)]
        for number, region in enumerate(traced)
        for channel in region.graph.channels
    }


def test_one_region_is_stalled_and_not_the_other(design: VerilatedDesign) -> None:
    memories, extents = load(design.design, inputs(1))
    with design.session() as session:
        free = session.run(memories, extents).region_cycles
        pattern = np.arange(4 * sum(free)) < free[0] + 2 + 50
        stalled = session.run(memories, extents, stalls={"layers_1.root": pattern}).region_cycles
    assert stalled == (free[0], free[1] + 50, *free[2:])


def both_fail(made: Compiled, data: dict[str, Tensor]) -> list[RunError]:
    """The errors of simulator and RTL."""
    memories, extents = load(made.design, data)
    with pytest.raises(RunError) as model:
        simulate_regions(made.design, made.arch, memories, extents)
    with pytest.raises(RunError) as rtl:
        VerilatedDesign.build(made.design, made.arch).run(memories, extents)
    return [model.value, rtl.value]


def test_each_region_has_its_own_capacity() -> None:
    """v has four places of the six that its fabric has for u; what does not fit would be u's."""
    data = inputs(0) | {
        "B": Tensor.from_dense(np.zeros((9, 6), int), "csr"),
        "A": Tensor.from_dense(np.eye(6, 5, dtype=int), "csr"),
        "b": Tensor.from_dense(np.arange(6), "dense"),
        "x": Tensor.from_dense(np.arange(5), "dense"),
        "c": Tensor.from_dense(np.arange(1, 10), "dense"),
    }
    for error in both_fail(compiled(), data):
        assert "Region layers_3: capacity at node 'write" in str(error)


@pytest.mark.parametrize(("b", "region"), [(70, "layers_2: overflow at node 'mul'"), (30, "layers_3")])
def test_an_error_names_the_region_under_way(b: int, region: str) -> None:
    """2 * 70 leaves a byte in the third region, 3 * 60 in the last one."""
    data = {
        "A": Tensor.from_dense(np.zeros((1, 1), int), "csr"),
        "x": Tensor.from_dense(np.zeros(1, int), "dense"),
        "b": Tensor.from_dense(np.array([b]), "dense"),
        "B": Tensor.from_dense(np.array([[1]]), "csr"),
        "c": Tensor.from_dense(np.array([30 if b < 64 else 0]), "dense"),
    }
    for error in both_fail(compiled(value="i8"), data):
        assert f"Region {region}" in str(error)


def test_a_deadlock_names_the_channels_of_its_region(design: VerilatedDesign) -> None:
    memories, extents = load(design.design, inputs(0))
    with pytest.raises(DeadlockError) as failure:
        design.run(memories, extents, stalls={"layers_3.root": [True] * 100_000 + [False]})
    assert str(failure.value).startswith("Region layers_3: Deadlock")
    own = {channel.name for channel in design.design.regions[3].channels}
    before = {channel.name for channel in design.design.regions[2].channels}
    assert any(name in str(failure.value) for name in own)
    assert not any(name in str(failure.value) for name in before - own)


SCANS = """
tensor A[t=4, h=3]
tensor B[s=5, g=6]
scan t {
  H[t, h] = 2 * H[t-1, h] + A[t, h]
}
scan s {
  G[s, g] = 3 * G[s-1, g] + B[s, g]
}
y[t] = H[t, h]
w[s] = G[s, g]
"""


def test_scans_share_a_fabric_each_with_its_own_steps() -> None:
    """Its counters have what the nodes of all regions spend."""
    rng = np.random.default_rng(5)
    design = samhw.compile(SCANS, value="i32", schedule={"fuse": "none"})
    assert design.compiled.design.fabrics == ((0, 1), (2, 3))
    run = design.host_run(A=rng.integers(-9, 10, (4, 3)), B=rng.integers(-9, 10, (5, 6)))
    whole = simulated(run)
    assert counted(run, HostOptions.parse("axi4,recovery,counters"), times=2) == [whole, whole]
    arch = run.compiled.arch
    rtl = VerilatedDesign.build(run.compiled.design, arch).run(*run.inputs)
    model = simulate_regions(run.compiled.design, arch, dict(run.inputs.memories), run.inputs.extents)
    assert rtl.region_cycles == tuple(result.cycles for result in model)
    stored = {name: words for result in model for name, words in result.memories.items()}
    assert all(np.array_equal(words, stored[name][: len(words)]) for name, words in rtl.memories.items())
