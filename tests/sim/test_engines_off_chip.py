"""The plain and the compiled engine give the same with tensors off chip."""

import signal
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.graph import (
    DDR4,
    HBM2,
    Arch,
    ConstantMemory,
    Design,
    Graph,
    OffChip,
    OffChipMemory,
    Ports,
    RandomMemory,
)
from samhw.lang import Program as Source
from samhw.lang import parse
from samhw.sim import InterruptedRunError, MemorySystem, Progress, Result, compiled, engine, engines, simulate
from samhw.sim.compiled import compiled_engine
from samhw.targets.running.images import load_inputs
from tests.sim.drams import SMALL, memories
from tests.sim.small_phases import small_phases
from tests.sim.test_engines import (
    RANDOM_GRAPHS,
    arch_of,
    assert_same,
    by_hand,
    kernel,
    long_vector,
    outcome,
    random_matrix,
)
from tests.sim.test_off_chip import named
from tests.support.graphs import WIDE, matrix_sum, row_minus_sum
from tests.support.program_cases import compile_or_none, random_depths, random_stalls, random_tensors
from tests.support.strategies.programs import programs

TINY = replace(
    SMALL,
    burst_bytes=4,
    row_bytes=8,
    channels=4,
    refi=150,
    ports=Ports(line=4, beat=4, lines=4, ahead=1, queue=4, masters=2),
)
"""A line is a word, and all happens often."""
MEMORIES = (TINY, SMALL, DDR4, HBM2, ConstantMemory(3, TINY.ports), RandomMemory(5, SMALL.ports))


def placed(graph: Graph, memory: OffChipMemory, rng: np.random.Generator) -> OffChip:
    """Some arrays, or all."""
    masters = memory.ports.masters
    some = {m.name: int(rng.integers(masters)) for m in graph.memories if rng.random() < 0.6}
    return OffChip(memory, some if rng.random() < 0.7 else None)


@pytest.mark.slow
@settings(max_examples=RANDOM_GRAPHS // 2, suppress_health_check=list(HealthCheck))
@given(programs(), memories() | st.sampled_from(MEMORIES), st.integers(0, 2**32 - 1))
def test_random_graphs(source: Source, memory: OffChipMemory, number: int) -> None:
    """Random programs, formats, data, placements, depths and stalls, often to a deadlock or a limit."""
    built = compile_or_none(source)
    assume(built is not None)
    assert built is not None
    rng = np.random.default_rng(number)
    words, extents = load_inputs(built.program, built.design, random_tensors(source, rng))
    graph = named(random_depths(built.design.regions[0], rng))
    data = (graph, built.arch, words, extents)
    off_chip = placed(graph, memory, rng)
    options: dict[str, Any] = {"stalls": random_stalls(graph, rng), "memory": off_chip}
    options |= {"trace": True, "check": True} if rng.random() < 0.5 else {}
    options |= {"limit": int(rng.integers(1, 400))} if rng.random() < 0.2 else {}
    plain = outcome(*data, engine="plain", **options)
    with small_phases():
        assert_same(outcome(*data, engine="compiled", **options), plain)


@pytest.mark.slow
@pytest.mark.parametrize("memory", MEMORIES, ids=lambda memory: memory.name)
def test_machine_code(memory: OffChipMemory) -> None:
    """A graph that runs twice on one memory, which goes on."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        program = matrix_sum(random_matrix(rng, 6, 6), random_matrix(rng, 6, 6))
        graph = random_depths(program.graph, rng)
        data = (graph, Arch(), program.memories, program.extents)
        plain, other = (MemorySystem(Design.of(graph), Arch(), OffChip(memory)) for _ in range(2))
        for _ in range(2):
            expected = outcome(*data, engine="plain", memory=plain)
            assert_same(outcome(*data, engine="compiled", memory=other), expected)
        assert (other.oracle, other.dram) == (plain.oracle, plain.dram)


@pytest.mark.parametrize("name", ["spmm", "sddmm", "mttkrp", "spmspm_ikj"])
def test_kernels(name: str) -> None:
    data = kernel(name)
    plain = outcome(*data, engine="plain", memory=OffChip(DDR4))
    assert isinstance(plain, Result)
    with small_phases():
        assert_same(outcome(*data, engine="compiled", memory=OffChip(DDR4)), plain)


@pytest.mark.parametrize("number", range(12))
def test_takes_over_in_the_middle(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where firings wait to be served, and late tokens are on their way."""
    rng = np.random.default_rng(number)
    taken_over: list[int] = []

    def take_over(*arguments: Any, run: Any = compiled.run) -> None:
        queues = [queue for worker in arguments[0] for queue in worker.inputs.values()]
        taken_over.append(sum(len(queue.carried) for queue in queues))
        run(*arguments)

    for program in by_hand(rng):
        graph = program.graph.with_depths({c.name: 24 - number % 22 for c in program.graph.channels})
        data = (graph, arch_of(program), program.memories, program.extents)
        options: dict[str, Any] = {"trace": True, "memory": OffChip(MEMORIES[number % len(MEMORIES)])}
        plain = outcome(*data, engine="plain", **options)
        with small_phases(), monkeypatch.context() as patch:
            patch.setattr(compiled, "run", take_over)
            patch.setattr(engine, "SLICE", 1)
            patch.setattr(engine, "TURN", 5)
            patch.setattr(engines, "SMALL", 1 + number * 40)
            assert_same(outcome(*data, engine="auto", **options), plain)
    if 1 < number < 6:
        assert any(taken_over)


def test_channels_widen_before_anybody_is_served() -> None:
    """Room that is too short must not let a later request come first."""
    rng = np.random.default_rng(0)
    for program in by_hand(rng):
        for depth in (20, 10**12):
            graph = program.graph.with_depths({c.name: depth for c in program.graph.channels})
            data = (graph, arch_of(program), program.memories, program.extents)
            plain = outcome(*data, engine="plain", memory=OffChip(TINY))
            with small_phases():
                assert_same(outcome(*data, engine="compiled", memory=OffChip(TINY)), plain)


def test_rows_of_requests_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samhw.sim.compiled.off_chip_image.KEPT", 0)
    graph, memories = long_vector(2_000)
    data = (graph, Arch(), memories, WIDE)
    plain = outcome(*data, engine="plain", memory=OffChip(TINY))
    with small_phases():
        assert_same(outcome(*data, engine="compiled", memory=OffChip(TINY)), plain)


def test_memory_goes_on_from_one_engine_to_the_other() -> None:
    text = "tensor x[i=9] : dense\ntensor y[i] : dense\ntensor z[i] : dense\n"
    design = compile_job(Job(parse(text + "y[i] = 2 * x[i]\nz[i] = y[i] + 1"))).design
    first, second = design.runs
    memories = {"x.vals": np.arange(1, 10)}
    runs = []
    for names in (("plain", "plain"), ("compiled", "plain"), ("plain", "compiled")):
        memory = MemorySystem(design, Arch(), OffChip(SMALL))
        with small_phases():
            one = simulate(first, Arch(), memories, {"i": 9}, memory=memory, engine=names[0])
            two = simulate(second, Arch(), dict(one.memories), {"i": 9}, memory=memory, engine=names[1])
        runs.append((one, two))
    for run in runs[1:]:
        assert_same(run[0], runs[0][0])
        assert_same(run[1], runs[0][1])
    assert runs[0][1].memories["z.vals"].tolist() == [2 * n + 1 for n in range(1, 10)]


def test_errors_are_the_same() -> None:
    graph, memories = long_vector(30)
    graph = named(graph)
    # The coordinate that finds no room is waited for.
    sizes = {"wc": 3}
    small = replace(
        graph, memories=tuple(replace(m, capacity=sizes.get(m.name, m.capacity)) for m in graph.memories)
    )
    program = row_minus_sum(random_matrix(np.random.default_rng(1), 5, 8))
    shallow = program.graph.with_depths({c.name: 1 for c in program.graph.channels})
    damaged = memories | {"c": np.arange(2)}
    everything, slow = OffChip(TINY), OffChip(ConstantMemory(40, TINY.ports), {"c": 0})
    for data, options, message in (
        ((small, Arch(), memories, WIDE), {"memory": slow}, "capacity at node 'w'"),
        ((graph, Arch(), memories, WIDE), {"memory": everything, "limit": 40}, "would fire in cycle"),
        ((graph, Arch(), damaged, WIDE), {"memory": everything}, "range at node 'scan'"),
        ((shallow, Arch(), program.memories, program.extents), {"memory": everything}, "Deadlock"),
    ):
        plain = outcome(*data, engine="plain", **options)
        assert isinstance(plain, str)
        assert message in plain
        with small_phases():
            assert outcome(*data, engine="compiled", **options) == plain


def test_interrupt_gives_the_memory_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_engine, "BATCH", 100)
    graph, memories = long_vector(2_000)

    def interrupt(progress: Progress) -> None:
        if progress.firings:
            signal.raise_signal(signal.SIGINT)

    with small_phases(), pytest.raises(InterruptedRunError) as error:
        simulate(graph, Arch(), memories, WIDE, engine="compiled", memory=OffChip(DDR4), progress=interrupt)
    partial = error.value.partial.memory
    assert partial is not None
    assert 0 < partial.requests < 2 * 2_000 / 16
    assert sum(port.requests for port in partial.ports.values()) == partial.requests
