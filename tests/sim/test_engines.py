"""The plain and the compiled engine give the same: tokens, cycles, statistics, errors.

Five thousand random graphs run on demand:
    SAMHW_RANDOM_GRAPHS=5000 python -m pytest tests/sim/test_engines.py -k random_graphs
"""

import os
import signal
import sys
from dataclasses import replace
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from samhw.app.workload import compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.errors import InputError, RunError
from samhw.graph import Arch, Graph, Kind, Token, make
from samhw.graph.numerics import value_type
from samhw.lang import Program as Source
from samhw.lang import kernel_names, load_kernel, parse
from samhw.sim import InterruptedRunError, Progress, Result, compiled, engine, engines, machine_code, simulate
from samhw.sim.compiled import compiled_engine, image
from samhw.sim.machine import Machine, connect
from samhw.sim.network import Actor
from samhw.sim.step import NONE, VAL, Memory, Words, firing
from samhw.sim.worker import Queue, Worker
from samhw.targets.backends import run
from samhw.targets.running.images import load_inputs
from tests.sim.small_phases import small_phases
from tests.support.bench import bench_primitive
from tests.support.graphs import WIDE, Builder, Program, gustavson, matrix_sum, row_minus_sum
from tests.support.program_cases import compile_or_none, random_depths, random_stalls, random_tensors
from tests.support.strategies.arches import arches, spaced_arches
from tests.support.strategies.programs import programs
from tests.support.stream_cases import CASES, timed, timings

RANDOM_GRAPHS = int(os.environ.get("SAMHW_RANDOM_GRAPHS", "100"))
"""How many random graphs to try."""


def outcome(graph: Graph, arch: Arch, memories: Any, extents: Any, **options: Any) -> Result | str:
    """The result of a run, or the message of its error."""
    try:
        return simulate(graph, arch, memories, extents, **options)
    except RunError as error:
        return str(error)


def assert_same(a: Result | str, b: Result | str) -> None:
    if isinstance(a, str) or isinstance(b, str):
        assert a == b
        return
    assert a.cycles == b.cycles
    assert a.nodes == b.nodes
    assert a.channels == b.channels
    assert a.memory == b.memory
    assert a.passages == b.passages
    assert {n: w.tolist() for n, w in a.memories.items()} == {n: w.tolist() for n, w in b.memories.items()}


def random_matrix(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return rng.integers(-5, 6, (rows, columns)) * (rng.random((rows, columns)) < 0.5)


def by_hand(rng: np.random.Generator) -> list[Program]:
    """The graphs of graphs.py with random data, and one of them on floating point."""
    floats = row_minus_sum(np.zeros((3, 20), np.int64))
    words = np.asarray(value_type("f32").encode(rng.normal(size=60)))
    graph = replace(floats.graph, value=value_type("f32"), extents={"i": 4, "j": 32})
    return [
        gustavson(random_matrix(rng, 6, 5), random_matrix(rng, 5, 8)),
        matrix_sum(random_matrix(rng, 6, 6), random_matrix(rng, 6, 6)),
        row_minus_sum(random_matrix(rng, 5, 8)),
        Program(graph, {"xv": words}, floats.extents, {}),
    ]


def kernel(name: str) -> tuple[Graph, Arch, Any, Any]:
    """A built-in kernel on random data, ready to be simulated."""
    workload = make_workload(load_kernel(name), ["random:size=7,density=0.3"])
    built = compile_workload(workload)
    return built.design.regions[0], built.arch, *load_inputs(built.program, built.design, workload.tensors)


SPACED = Arch(reduce={**Arch().reduce, "integer": {"sum": 5}})
"""Updates of one place of a vector reducer are five cycles apart."""


def arch_of(program: Program) -> Arch:
    """A scalar reducer of integers has no spacing."""
    kinds = {node.kind for node in program.graph.nodes}
    return SPACED if "reduce_vector" in kinds else Arch()


@pytest.mark.slow
@settings(max_examples=RANDOM_GRAPHS, suppress_health_check=list(HealthCheck))
@given(programs(), st.integers(0, 2**32 - 1))
def test_random_graphs(source: Source, number: int) -> None:
    """Random programs, formats, orders, data, depths and stalls, often to a deadlock or a limit."""
    built = compile_or_none(source)
    assume(built is not None)
    assert built is not None
    rng = np.random.default_rng(number)
    memories, extents = load_inputs(built.program, built.design, random_tensors(source, rng))
    graph = random_depths(built.design.regions[0], rng)
    data = (graph, built.arch, memories, extents)
    # Firings of actors without stalls are timed in batches.
    options: dict[str, Any] = {"stalls": random_stalls(graph, rng)} if rng.random() < 0.5 else {}
    if rng.random() < 0.5:
        options |= {"trace": True, "check": True}
    options |= {"limit": int(rng.integers(1, 400))} if rng.random() < 0.2 else {}
    plain = outcome(*data, engine="plain", **options)
    runs = Mock(wraps=image.Image)
    with small_phases(rng if rng.random() < 0.5 else None), patch.object(compiled_engine, "Image", runs):
        assert_same(outcome(*data, engine="compiled", **options), plain)
    # What ends well has not been done twice, which would hide that it went wrong.
    assert runs.call_count == 1 or not isinstance(plain, Result)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_machine_code(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for program in by_hand(rng):
        data = (random_depths(program.graph, rng), arch_of(program), program.memories, program.extents)
        plain = outcome(*data, engine="plain")
        assert_same(outcome(*data, engine="compiled"), plain)


@pytest.mark.parametrize("name", kernel_names())
def test_kernels(name: str) -> None:
    data = kernel(name)
    plain = outcome(*data, engine="plain", trace=True)
    assert isinstance(plain, Result)
    with small_phases():
        assert_same(outcome(*data, engine="compiled", trace=True), plain)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sddmm", "spmspm_kij"])
def test_kernels_in_machine_code(name: str) -> None:
    data = kernel(name)
    assert_same(outcome(*data, engine="compiled"), outcome(*data, engine="plain"))


@pytest.mark.nightly(but=12)
@pytest.mark.parametrize("kind", CASES)
def test_every_primitive(kind: str) -> None:
    @settings(max_examples=15, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def run(data: st.DataObject) -> None:
        case = data.draw(CASES[kind]())
        timing = data.draw(timings(case))
        inputs = {name: timed(tokens, timing.ready[name]) for name, tokens in case.streams().items()}
        arch = data.draw(spaced_arches if kind in ("reduce_vector", "recur_vector") else arches)
        arguments = (case.node, arch, inputs, case.memories, case.extents, timing.sinks)
        options = {
            "input_depths": timing.input_depths,
            "output_depths": timing.output_depths,
            "value": case.value,
        }
        plain = bench_primitive(*arguments, **options)
        with small_phases():
            other = bench_primitive(*arguments, **options, engine="compiled")
        assert (other.outputs, other.pushed, other.committed) == (
            plain.outputs,
            plain.pushed,
            plain.committed,
        )
        for name, words in plain.memories.items():
            assert other.memories[name].tolist() == words.tolist()

    run()


@pytest.mark.parametrize("name", ["plain", "compiled"])
def test_a_source_pushes_until_its_channel_is_full(name: Any) -> None:
    """The other operand never comes, so nothing is popped."""
    node = make("alu", "n", 0, op="add")
    tokens = {"a": [(0, Token(Kind.VAL, n)) for n in range(9)], "b": []}
    with small_phases():
        bench = bench_primitive(node, Arch(), tokens, input_depths={"a": 4}, engine=name)
    assert bench.pushed == {"a": [0, 1, 2, 3], "b": []}


@pytest.mark.parametrize("number", range(24))
def test_takes_over_in_the_middle(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(number)
    for program in by_hand(rng):
        graph = program.graph.with_depths({c.name: 24 - number % 22 for c in program.graph.channels})
        data = (graph, arch_of(program), program.memories, program.extents)
        taken_over: list[bool] = []

        def take_over(*arguments: Any, run: Any = compiled.run, done: list[bool] = taken_over) -> None:
            done.append(True)
            run(*arguments)

        # Partitions go on alone where nobody looks at tokens.
        trace = number % 2 == 0
        plain = outcome(*data, engine="plain", trace=trace)
        with small_phases(None if trace else rng), monkeypatch.context() as patches:
            patches.setattr(compiled, "run", take_over)
            # Turns and slices of the plain engine are short, so that it stops anywhere.
            patches.setattr(engine, "SLICE", 1)
            patches.setattr(engine, "TURN", 5)
            patches.setattr(engines, "SMALL", 1 + number * 40)
            assert_same(outcome(*data, engine="auto", trace=trace), plain)
        if number < 2:
            assert taken_over


@pytest.mark.parametrize("partitions", [None, 0, 1, 2])
def test_rows_of_deep_channels_grow(partitions: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the whole graph, and of partitions."""
    program = row_minus_sum(np.ones((2, 30), np.int64))
    graph = replace(program.graph, extents={"i": 2, "j": 30})
    graph = graph.with_depths({c.name: 10**12 for c in graph.channels})
    data = (graph, Arch(), program.memories, program.extents)
    rng = None if partitions is None else np.random.default_rng(partitions)
    with small_phases(rng), monkeypatch.context() as patches:
        patches.setattr(image, "ROOM", 2)
        # A row of the matrix waits for its sum, and rows of words begin with room for two phases.
        patches.setattr(image, "PHASE", 8)
        assert_same(outcome(*data, engine="compiled"), outcome(*data, engine="plain"))


@pytest.mark.parametrize("window", [(0, 1 << 62), (10, 20)])
def test_taps_see_a_window(window: tuple[int, int]) -> None:
    program = row_minus_sum(np.ones((3, 8), np.int64))
    depths = {"x.val->sub.a": 16, "j.crd->each.crd": 16}
    data = (program.graph.with_depths(depths), Arch(), program.memories, program.extents)
    plain = outcome(*data, engine="plain", trace=True, window=window)
    with small_phases():
        assert_same(outcome(*data, engine="compiled", trace=True, window=window), plain)
    assert isinstance(plain, Result)
    cycles = [passage.popped for passages in plain.passages.values() for passage in passages]
    assert window[0] <= min(cycles) <= max(cycles) < window[1]


@pytest.mark.parametrize("name", ["plain", "compiled"])
def test_a_channel_from_an_actor_to_itself(name: Any) -> None:
    """A token goes round five times, on its way for three cycles."""
    push, wait, turn, take, rest = firing(0, 0, 1), firing(1), firing(1, 1, 1), firing(1, 1), firing(0)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        n = state[0]
        if n > 5:
            return rest
        if n > 0 and kind[0] == NONE:
            return wait
        state[0] = n + 1
        out_kind[0] = VAL
        out_data[0] = n
        if n == 0:
            return push
        return turn if n < 5 else take

    worker = Worker("n", Actor("a", step, ("loop",), ("loop",), (0,)))
    queue = Queue("n/loop", 3, 2)
    connect(queue, (worker, 0), (worker, 0))
    with small_phases():
        engines.execute(Machine([worker], {}), name)
    assert (worker.firings, worker.last, queue.popped) == (6, 1 + 5 * 3, 5)


def long_vector(length: int) -> tuple[Graph, dict[str, np.ndarray]]:
    g = Builder()
    g.add("root", "root", 0)
    g.add("scan_compressed", "scan", 0, "root.out", pos="p", crd="c", extent="x")
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    return g.graph(capacity=length), {"p": np.array([0, length]), "c": np.arange(length)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "compiled"])
def test_interrupt_gives_the_statistics_so_far(name: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_engine, "BATCH", 1000)
    graph, memories = long_vector(200_000)
    seen: list[Progress] = []

    def interrupt(progress: Progress) -> None:
        seen.append(progress)
        if progress.firings:
            signal.raise_signal(signal.SIGINT)

    former = signal.getsignal(signal.SIGINT)
    with pytest.raises(InterruptedRunError, match="its latest firing was in cycle") as error:
        simulate(graph, Arch(), memories, WIDE, engine=name, progress=interrupt)
    assert signal.getsignal(signal.SIGINT) is former
    *before, progress = seen
    assert not any(p.firings for p in before)
    assert 0 < progress.firings < 400_000
    partial = error.value.partial
    firings = sum(actor.firings for node in partial.nodes.values() for actor in node.actors.values())
    assert progress.firings < firings < 600_000
    written = partial.memories["wc"]
    assert 0 < len(written) < 200_000
    assert written.tolist() == list(range(len(written)))


@pytest.mark.parametrize("name", ["plain", "compiled"])
def test_an_interrupt_behind_the_last_firing_is_not_lost(name: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller with several runs would go on with the next one."""

    def interrupted(*arguments: Any, **options: Any) -> None:
        engines.execute(*arguments, **options)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(sys.modules["samhw.sim.simulate"], "execute", interrupted)
    graph, memories = long_vector(3)
    with pytest.raises(InterruptedRunError) as error:
        simulate(graph, Arch(), memories, WIDE, engine=name)
    assert error.value.exit_code == 130


def test_unknown_engine() -> None:
    graph, memories = long_vector(3)
    with pytest.raises(InputError, match="no engine 'fast'; choose one of auto, plain, compiled"):
        simulate(graph, Arch(), memories, WIDE, engine="fast")


def test_what_cannot_be_compiled_runs_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, memories = long_vector(3)

    def untranslatable(*arguments: Any) -> Any:
        raise compiled.Untranslatable("step: lookup is a dict")

    monkeypatch.setattr(machine_code, "address_of", untranslatable)
    monkeypatch.setattr(engines, "SMALL", 0)
    monkeypatch.setattr(engine, "SLICE", 1)
    assert simulate(graph, Arch(), memories, WIDE).memories["wc"].tolist() == [0, 1, 2]
    message = "cannot run the actor 'root' of node 'root': step: lookup is a dict; use the plain engine"
    with pytest.raises(InputError, match=message):
        simulate(graph, Arch(), memories, WIDE, engine="compiled")


def test_what_running_ahead_finds_too_much_is_taken_back() -> None:
    """Producers have found more than there is room for when everybody waits."""
    program = row_minus_sum(random_matrix(np.random.default_rng(1), 5, 8))
    graph = program.graph.with_depths({c.name: 1 for c in program.graph.channels})
    data = (graph, Arch(), program.memories, program.extents)
    for options in ({}, {"stalls": {"root": [True, False]}}, {"limit": 9}):
        plain = outcome(*data, engine="plain", **options)
        assert isinstance(plain, str)
        with small_phases():
            assert outcome(*data, engine="compiled", **options) == plain


@pytest.mark.slow
def test_what_running_ahead_adds_up_is_taken_back() -> None:
    """Places of a vector reducer would overflow if anything were added to them twice."""
    program = gustavson(40_000 * np.eye(12, dtype=np.int64), np.full((12, 12), 40_000))
    data = (program.graph, SPACED, program.memories, program.extents)
    for limit in range(20, 100, 3):
        plain = outcome(*data, engine="plain", limit=limit)
        assert isinstance(plain, str)
        assert "limit" in plain
        with small_phases():
            assert outcome(*data, engine="compiled", limit=limit) == plain


@pytest.mark.parametrize("worth", [0, 1 << 20])
def test_actors_that_hold_each_other_up(worth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Phases that are timed without assumptions from the start, or with them however long it takes."""
    monkeypatch.setattr(image, "WORTH", worth)
    rng = np.random.default_rng(2)
    program = gustavson(random_matrix(rng, 6, 5), random_matrix(rng, 5, 8))
    for depth in (2, 3, 8):
        graph = program.graph.with_depths({c.name: depth for c in program.graph.channels})
        data = (graph, SPACED, program.memories, program.extents)
        plain = outcome(*data, engine="plain")
        with small_phases():
            assert_same(outcome(*data, engine="compiled"), plain)


def test_a_stalled_producer_waits_for_slots_too() -> None:
    """It may fire no later for that, but the wait is counted."""
    source = "tensor B : scalar\ntensor C : scalar\nX = B * C\n"
    workload = make_workload(parse(source), ["random:size=1,density=1"])
    built = compile_workload(workload)
    (graph,) = built.design.regions
    graph = graph.with_depths({c.name: 1 for c in graph.channels})
    data = (graph, built.arch, *load_inputs(built.program, built.design, workload.tensors))
    stalls = {"root": [False] + 9 * [True]}
    plain = outcome(*data, engine="plain", stalls=stalls)
    assert isinstance(plain, Result)
    assert sum(plain.nodes["root"].actors["root"].blocked.values()) == 1
    with small_phases():
        assert_same(outcome(*data, engine="compiled", stalls=stalls), plain)


def test_a_node_may_have_more_consumers_than_loops_are_written_out_for() -> None:
    """Of 22 parts each has two streams from the root."""
    workload = make_workload(load_kernel("spmv"), ["karate"])
    program = compile_workload(workload, Schedule(split={"B": "rows(22)"}), value=value_type("i32"))
    plain, found = (run(program, workload.tensors, engine=name) for name in ("plain", "compiled"))
    assert found.cycles == plain.cycles
    assert np.array_equal(found.outputs["x"].vals, plain.outputs["x"].vals)
