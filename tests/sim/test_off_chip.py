"""Graphs with off-chip memory: worked out by hand, and against the rule run with a clock."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from samhw.app.workload import bind_program, compile_workload
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, RunError
from samhw.graph import DDR4, HBM2, Arch, Graph, OffChip, OffChipMemory
from samhw.lang import Program, parse
from samhw.sim import DeadlockError, Result, bottleneck, engine, simulate, simulate_regions
from samhw.sim.worker import Worker
from samhw.targets.backends import run
from samhw.targets.running.inputs import load_inputs
from tests.sim.drams import SMALL
from tests.sim.drams import memories as memory_kinds
from tests.sim.small_phases import small_phases
from tests.sim.test_simulate import programs, vector
from tests.support.clocked import Clocked, clocked
from tests.support.graphs import WIDE, gustavson
from tests.support.program_cases import compile_or_none, random_depths, random_stalls, random_tensors
from tests.support.strategies.programs import programs as compiled_programs


@pytest.mark.slow
@settings(max_examples=80)
@given(st.data())
def test_agrees_with_the_clock(data: st.DataObject) -> None:
    """Tokens, cycles, counts of the memory, for random placements, depths and stalls; with deadlocks."""
    program, arch = data.draw(programs())
    graph = named(program.graph)
    tensors = sorted({memory.tensor for memory in graph.memories})
    placed = data.draw(st.none() | st.lists(st.sampled_from(tensors), min_size=1, unique=True).map(tuple))
    off_chip = OffChip(data.draw(memory_kinds()), placed)
    sizes = st.sampled_from([1, 2, 3, 8, 30])
    graph = graph.with_depths({c.name: data.draw(sizes) for c in graph.channels})
    patterns = st.lists(st.booleans(), max_size=5).map(lambda p: [*p, False])
    ends = [node.name for node in graph.nodes if not node.inputs or not node.outputs]
    stalls = data.draw(st.dictionaries(st.sampled_from(ends), patterns))

    agree(graph, arch, program.memories, program.extents, off_chip, stalls, program.expected)


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(compiled_programs(), memory_kinds(), st.integers(0, 2**32 - 1))
def test_programs_agree_with_the_clock(source: Program, memory: OffChipMemory, seed: int) -> None:
    """Random programs, formats and data."""
    built = compile_or_none(source)
    assume(built is not None)
    assert built is not None
    rng = np.random.default_rng(seed)
    memories, extents = load_inputs(built.program, built.design, random_tensors(source, rng))
    graph = random_depths(built.design.regions[0], rng)
    agree(graph, built.arch, memories, extents, OffChip(memory), random_stalls(graph, rng))


def agree(
    graph: Graph,
    arch: Arch,
    memories: Mapping[str, np.ndarray],
    extents: Mapping[str, int],
    off_chip: OffChip,
    stalls: Mapping[str, Sequence[bool]],
    expected: Mapping[str, list[int]] | None = None,
) -> None:
    """Both engines of the simulator do what the clocked machine does."""
    reference = clocked(graph, arch, memories, extents, stalls, off_chip)
    reference.run()
    cycles = reference.committed(graph)
    for name in ("plain", "compiled"):
        options: dict[str, Any] = {"stalls": stalls, "memory": off_chip, "engine": name}
        with small_phases():
            if cycles is None:
                with pytest.raises(DeadlockError):
                    simulate(graph, arch, memories, extents, **options)
                continue
            result = simulate(graph, arch, memories, extents, trace=True, check=True, **options)
        agrees(result, reference, cycles, expected)


def agrees(
    result: Result, reference: Clocked, cycles: int, expected: Mapping[str, list[int]] | None = None
) -> None:
    """A result is that of the clocked machine."""
    assert result.traces == {name: fifo.trace for name, fifo in reference.channels.items()}
    assert result.cycles == cycles
    if expected is not None:
        assert {name: words.tolist() for name, words in result.memories.items()} == expected
    for name, fifo in reference.channels.items():
        taken = [fifo.taken(cycle) for cycle in range(1, max(fifo.pops) + 1)]
        stats = result.channels[name]
        assert (stats.tokens, stats.high_water) == (len(fifo.tokens), max(taken)), name
        assert stats.mean == pytest.approx(sum(taken) / cycles)
    assert result.memory is not None
    assert reference.memory is not None
    if reference.memory.dram is not None:
        counts = [
            (c.reads, c.writes, c.hits, c.misses, c.conflicts, c.refreshing) for c in result.memory.channels
        ]
        assert counts == [channel.counts() for channel in reference.memory.dram.channels]
    for cell in reference.cells:
        actor = result.nodes[cell.node].actors[cell.actor.name]
        assert (actor.firings, actor.last) == (len(cell.firings), cell.firings[-1])
    for port in reference.ports:
        ours = result.memory.ports[port.port.name]
        assert ours.requests == len(port.lines)
        waited = [line.answers[-1] + port.master.ports.answer - line.asked for line in port.lines]
        assert ours.latency == pytest.approx(sum(waited) / max(1, len(waited)))
        name = port.port.name.removeprefix(f"{port.port.node}.")
        if port.port.write:
            firings = {"gather": port.gathers}
        else:
            firings = {"look": port.looks, "deliver": port.delivers}
            assert ours.vain == port.vain
        for part, cycles in firings.items():
            actor = result.nodes[port.port.node].actors[f"{name}.{part}"]
            assert (actor.firings, actor.last) == (len(cycles), cycles[-1])
    for node in result.nodes.values():
        for actor in node.actors.values():
            waits = sum(actor.starved.values()) + sum(actor.blocked.values()) + actor.spaced + actor.stalled
            assert actor.firings + waits + actor.memory == actor.last
            assert min([0, *actor.starved.values(), *actor.late.values()]) == 0


def named(graph: Graph) -> Graph:
    """The graph with a tensor for each memory."""
    return replace(graph, memories=tuple(replace(m, tensor=m.name) for m in graph.memories))


def stream(length: int) -> tuple[Graph, dict[str, np.ndarray]]:
    """The coordinates 0, 2, ... of a vector, read and written again."""
    g, memories = vector(length)
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    graph = named(g.graph(capacity=64)).with_depths({"scan.crd->w.crd": 8})
    return graph, memories


def test_a_scan_by_hand() -> None:
    """As `test_cycles_by_hand`, with the coordinates off chip. walk fires on them in 4, 5 and 6, and asks in
    4. ACT in 4, RD in 8, data until 15. They pass through the port in 2 cycles: the writer fires in 17, 18,
    19, then on S0 and DONE in 20 and 21."""
    graph, memories = stream(3)
    off_chip = OffChip(SMALL, ("c",))
    result = simulate(graph, Arch(), memories, WIDE, trace=["scan.crd->w.crd"], memory=off_chip)
    passages = result.passages["scan.crd->w.crd"]
    assert [(pushed, popped) for pushed, popped, _ in passages] == [
        (4, 17),
        (5, 18),
        (6, 19),
        (7, 20),
        (8, 21),
    ]
    assert result.cycles == 21
    assert result.channels["scan.crd->w.crd"].high_water == 5
    writer = result.nodes["w"].actors["write"]
    # The first token would have been there in 6; the writer would have fired in 6.
    assert writer.starved == {"scan.crd->w.crd": 5}
    assert writer.late == {"scan.crd->w.crd": 11}
    assert writer.memory == 11
    assert result.memory is not None
    port = result.memory.ports["scan/walk:c"]
    assert (port.words, port.requests, port.bytes, port.latency) == (3, 1, 16, 11)


def test_reading_ahead_by_hand() -> None:
    """Twelve coordinates are three lines, in two bank groups in turn. walk fires from cycle 4 on, and can do
    so eight times before the writer has taken a token, in 17.

    Without reading ahead it asks in 4, 8 and 18: the first two lines are there in 15 and 19; the third is a
    hit, RD in 18, data until 25. With a line ahead it asks for two lines in 4 and for the third in 8, which
    is there before 18."""
    graph, memories = stream(12)
    done = {}
    for prefetch in (0, 1):
        off_chip = OffChip(replace(SMALL, prefetch=prefetch), ("c",))
        result = simulate(graph, Arch(), memories, WIDE, trace=["scan.crd->w.crd"], memory=off_chip)
        assert result.memory is not None
        done[prefetch] = [result.passages["scan.crd->w.crd"][n].popped for n in (0, 4, 8)]
        assert result.memory.ports["scan/walk:c"].ahead == 2 * prefetch
    # Otherwise as they come, a cycle each, the ninth 2 + 7 cycles after its line, or as early as it may.
    assert done == {0: [17, 21, 27], 1: [17, 21, 25]}


def test_writes_are_gathered_and_posted() -> None:
    """The writer fires on the coordinates in 6, 7, ... 11, on S0 in 12, on DONE in 13. The first line is full
    in 9, in which it is asked for; DONE asks for the two words of the second one."""
    graph, memories = stream(6)
    result = simulate(graph, Arch(), memories, WIDE, memory=OffChip(SMALL, ("wc",)))
    assert result.nodes["w"].actors["write"].last == 13
    assert result.memory is not None
    port = result.memory.ports["w/write:wc"]
    assert (port.write, port.words, port.requests) == (True, 6, 2)
    # Line 1 lies in the other group: ACT in 13, WR in 17, data until 22.
    assert result.cycles == 22
    both = simulate(graph, Arch(), memories, WIDE, memory=OffChip(SMALL, ("wp", "wc")))
    assert both.memory is not None
    assert [(name, p.requests, p.words) for name, p in both.memory.ports.items()] == [
        ("w/write:wp", 1, 2),
        ("w/write:wc", 2, 6),
    ]


def test_a_writer_waits_for_places() -> None:
    """A line is a word, and two may be on their way. A WR takes 3 + 2 cycles, the first 4 more for its ACT.
    The writer asks in 6 and 7 (WR in 10 and 12, done in 15 and 17), and then in 15 and 17."""
    graph, memories = stream(4)
    slow = replace(SMALL, burst_bytes=4, outstanding=2)
    result = simulate(graph, Arch(), memories, WIDE, memory=OffChip(slow, ("wc",)), trace=["scan.crd->w.crd"])
    assert [p.popped for p in result.passages["scan.crd->w.crd"]][:4] == [6, 7, 15, 17]
    writer = result.nodes["w"].actors["write"]
    assert writer.held == writer.memory
    assert writer.held == (15 - 8) + (17 - 16)


def test_a_line_that_two_words_share_is_fetched_once() -> None:
    """`fetch` reads pos[0] and pos[1], from one line or from two."""
    graph, memories = stream(3)
    for burst_bytes, lines in ((16, 1), (4, 2)):
        off_chip = OffChip(replace(SMALL, burst_bytes=burst_bytes), ("p",))
        result = simulate(graph, Arch(), memories, WIDE, memory=off_chip)
        assert result.memory is not None
        port = result.memory.ports["scan/fetch:p"]
        assert (port.words, port.requests) == (2, lines)


def test_a_singleton_level_reads_a_coordinate_for_each_reference() -> None:
    g, memories = vector(6)
    g.add("scan_singleton", "one", 1, "scan.ref", crd="d", extent="x")
    g.add("write_compressed", "w", 2, "one.crd", pos="wp", crd="wc")
    memories["d"] = np.arange(6) * 3
    graph = named(g.graph())
    result = simulate(graph, Arch(), memories, WIDE, memory=OffChip(SMALL))
    assert result.memory is not None
    assert result.memories["wc"].tolist() == memories["d"].tolist()
    ports = result.memory.ports
    # Nobody wants the coordinates of the level above, so they are not read.
    assert list(ports) == ["scan/fetch:p", "scan/walk:c", "one/walk:d", "w/write:wp", "w/write:wc"]
    assert [(p.words, p.requests) for p in ports.values()] == [(2, 1), (0, 0), (6, 2), (7, 2), (6, 2)]
    agree(graph, Arch(), memories, WIDE, OffChip(SMALL), {})


def test_clocks_and_cycles() -> None:
    """A cycle of 10 clocks: the request of cycle 4 arrives at clock 40 + 3, its data are there 4 + 5 + 2 + 2
    clocks later, at 56, so in cycle 6. A clock of 10 cycles: at clock 1 + 3, data at 17, so in cycle 170."""
    graph, memories = stream(1)
    dram = replace(SMALL, frontend=3, backend=2)
    for change, done in (({"clock_ps": 100}, 6), ({"clock_ps": 10_000}, 170)):
        off_chip = OffChip(replace(dram, **change), ("c",))
        result = simulate(graph, Arch(), memories, WIDE, memory=off_chip, trace=["scan.crd->w.crd"])
        assert result.passages["scan.crd->w.crd"][0].popped == done + 2


def test_a_vector_in_one_line_of_a_quick_memory_costs_a_cycle() -> None:
    graph, memories = stream(40)
    graph = graph.with_depths({"scan.crd->w.crd": 64})
    ideal = simulate(graph, Arch(), memories, WIDE)
    quick = replace(SMALL, clock_ps=1, burst_bytes=1024, row_bytes=1024)
    result = simulate(graph, Arch(), memories, WIDE, memory=OffChip(quick, ("c",)))
    # The line is there a cycle after the firing that asks for it.
    assert result.cycles == ideal.cycles + 1


def test_the_same_again() -> None:
    """Two runs of one graph on new memories are the same."""
    graph, memories = stream(30)
    first, second = (simulate(graph, Arch(), memories, WIDE, memory=OffChip(SMALL)) for _ in range(2))
    assert first.memory == second.memory
    assert (first.cycles, first.nodes, first.channels) == (second.cycles, second.nodes, second.channels)


@pytest.mark.parametrize("seed", range(6))
def test_the_order_in_which_actors_run_does_not_matter(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine begins with other actors, and takes other turns."""
    rng = np.random.default_rng(seed)
    program = gustavson(*(rng.integers(0, 3, shape) for shape in ((6, 5), (5, 8))))
    data = (program.graph, Arch(), program.memories, program.extents)
    off_chip = OffChip(replace(SMALL, channels=2))
    straight = simulate(*data, trace=True, memory=off_chip)

    def shuffled(workers: list[Worker], *arguments: Any, run: Any = engine.run, **options: Any) -> bool:
        order = [workers[n] for n in rng.permutation(len(workers))]
        # Stops now and then, and begins again with whatever actors it has.
        while not run(order, *arguments, **options | {"most": 50}):
            order = [workers[n] for n in rng.permutation(len(workers))]
        return True

    monkeypatch.setattr(engine, "run", shuffled)
    monkeypatch.setattr(engine, "TURN", 1 + seed)
    monkeypatch.setattr(engine, "SLICE", 7)
    other = simulate(*data, trace=True, memory=off_chip, engine="plain")
    assert (other.cycles, other.memory) == (straight.cycles, straight.memory)
    assert (other.nodes, other.channels) == (straight.nodes, straight.channels)
    assert other.passages == straight.passages


def test_a_limit_and_an_error_end_the_run() -> None:
    """The request that would come too late is not in the way of the error."""
    graph, memories = stream(3)
    with pytest.raises(RunError, match="would fire in cycle"):
        simulate(graph, Arch(), memories, WIDE, memory=OffChip(SMALL), limit=12)
    with pytest.raises(RunError, match="range at node 'scan'"):
        simulate(graph, Arch(), memories | {"c": np.arange(2)}, WIDE, memory=OffChip(SMALL))


def test_memory_goes_on_through_regions() -> None:
    """The second region finds the row open that the first has written, unless a refresh came between."""
    text = "tensor x[i=4] : dense\ntensor y[i] : dense\ntensor z[i] : dense\n"
    design = compile_job(Job(parse(text + "y[i] = 2 * x[i]\nz[i] = y[i] + 1"))).design
    memories = {"x.vals": np.arange(1, 5)}
    results = simulate_regions(design, Arch(), memories, {"i": 4}, memory=OffChip(SMALL, ("y",)))
    first, second = (result.memory for result in results)
    assert results[1].memories["z.vals"].tolist() == [3, 5, 7, 9]
    assert first is not None
    assert second is not None
    assert (first.channels[0].writes, first.channels[0].misses) == (1, 1)
    assert (second.channels[0].reads, second.channels[0].hits) == (1, 1)
    # The writer's line is done after its DONE, and only then does the next region begin.
    last = max(a.last for a in results[0].nodes["write_val_y"].actors.values())
    # The last word comes two cycles before DONE, and is written 4 + 3 + 2 cycles later.
    assert results[0].cycles == 25 == last - 2 + 9
    # Cycle 0 of the second region is cycle 26 of the memory.
    often = replace(SMALL, rfc=2, faw=1, rrd_l=2, refi=27)
    refreshed = simulate_regions(design, Arch(), memories, {"i": 4}, memory=OffChip(often, ("y",)))[1].memory
    assert refreshed is not None
    assert (refreshed.channels[0].hits, refreshed.channels[0].misses) == (0, 1)


def test_the_bottleneck_is_the_memory() -> None:
    graph, memories = stream(40)
    slow = replace(SMALL, cl=100, burst_bytes=4)
    result = simulate(graph, Arch(), memories, WIDE, memory=OffChip(slow, ("c",)))
    found = bottleneck(graph, result)
    assert (found.node, found.reason) == ("scan", "memory")
    assert "Off-chip memory limits the run: its data for scan are waited for in" in found.text
    share = f"{160 / (result.cycles * 2):.1%}"
    assert f"{share} of its peak; its busiest channel moves {share} of its own" in found.text


def test_a_node_that_fires_less_than_half_of_the_time_is_not_the_bottleneck() -> None:
    """Of the regions of GCN with HBM2 the first has a node that fires in 71 % of its cycles, the second none
    above 41 %."""
    workload = bind_program("gcn")
    compiled = compile_workload(workload)
    regions = run(compiled, workload.tensors, memory=HBM2).regions
    busy, idle = (bottleneck(region.graph, region.statistics) for region in regions)
    assert (busy.node, busy.reason) == ("reduce_vector_t1", "firing")
    assert "Off-chip memory is waited for in 1," in busy.text
    assert "for the data of array_W1. hbm2 moves " in busy.text
    assert (idle.node, idle.reason) == ("array_H1", "memory")
    assert idle.text.startswith("Off-chip memory limits the run: its data for array_H1 are waited for in 1,")


def test_a_tensor_that_does_not_exist() -> None:
    graph, memories = stream(3)
    with pytest.raises(InputError, match="no tensor 'q' in test to place off chip; it stores c, p, wc, wp"):
        simulate(graph, Arch(), memories, WIDE, memory=OffChip(DDR4, ("q",)))
