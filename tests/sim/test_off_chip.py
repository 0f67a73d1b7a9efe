"""Graphs with off-chip memory: worked out by hand, and against the rule run with a clock."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from samhw.app.workload import bind_program, compile_workload
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, RunError
from samhw.graph import (
    DDR4,
    Arch,
    ConstantMemory,
    Design,
    Graph,
    OffChip,
    OffChipMemory,
    Ports,
    RandomMemory,
    RecordedMemory,
    with_ports,
)
from samhw.lang import Program, parse
from samhw.sim import DeadlockError, MemorySystem, Result, bottleneck, engine, simulate, simulate_regions
from samhw.sim.oracle import logged
from samhw.sim.worker import Worker
from samhw.targets.running.images import load_inputs
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
    memory = data.draw(memory_kinds())
    names = st.sampled_from([m.name for m in graph.memories])
    masters = st.integers(0, memory.ports.masters - 1)
    off_chip = OffChip(memory, data.draw(st.none() | st.dictionaries(names, masters, min_size=1)))
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
        for part, fired in firings.items():
            actor = result.nodes[port.port.node].actors[f"{name}.{part}"]
            assert (actor.firings, actor.last) == (len(fired), fired[-1])
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


BY_HAND = ConstantMemory(10, Ports(line=16, beat=4, lines=4, ahead=0, queue=16))
"""Lines of four words and of four beats, which come from 10 cycles after the acceptance on."""


def run_of(
    graph: Graph, memories: Mapping[str, np.ndarray], off_chip: OffChip
) -> tuple[Result, list[tuple[int, ...]]]:
    """The result of a run; and of each request (address, offer, acceptance, each answer)."""
    system = MemorySystem(Design.of(graph), Arch(), replace(off_chip, log=Path("unused")))
    result = simulate(graph, Arch(), memories, WIDE, trace=["scan.crd->w.crd"], memory=system)
    assert system.entries is not None
    entries = logged(system.entries, system.ports.beats)
    return result, [(e.address, e.offered, e.accepted, *e.answers) for e in entries]


def test_a_scan_by_hand() -> None:
    """As `test_cycles_by_hand`, with the coordinates off chip. walk fires on them in 4, 5 and 6, then on S0
    and DONE in 7 and 8; look fires a cycle after each, and asks in 5. The request is offered and accepted in
    9; its beats come from 19 on, and serve 2 cycles later. deliver fires on them in 21, 22 and 23, on S0 and
    DONE in 24 and 25, and the writer 2 cycles after each."""
    graph, memories = stream(3)
    result, requests = run_of(graph, memories, OffChip(BY_HAND, {"c": 0}))
    passages = [(pushed, popped) for pushed, popped, _ in result.passages["scan.crd->w.crd"]]
    assert requests == [(0, 9, 9, 19, 20, 21, 22)]
    assert passages == [(21, 23), (22, 24), (23, 25), (24, 26), (25, 27)]
    assert result.cycles == 27
    assert result.memory is not None
    port = result.memory.ports["scan.crd"]
    # From 5 until the last beat serves, in 24.
    assert (port.accesses, port.requests, port.bytes, port.latency) == (3, 1, 16, 19)
    # The first token would have been there in 6, the second in 7: it comes while deliver is at the first.
    deliver = result.nodes["scan"].actors["crd.deliver"]
    assert deliver.late == {"scan/crd.wait": 15}
    assert (deliver.firings, deliver.starved, deliver.last) == (5, {"scan/crd.wait": 5}, 25)


def test_reading_ahead_by_hand() -> None:
    """Twelve coordinates are three lines of sixteen. look fires on them from 5 on. Without reading ahead it
    asks in 5, 9 and 13. With a line ahead it also asks in 6, when it has a second word of line 0; in 9 and
    13, at the first words of lines 1 and 2, for the line after. Nobody reads line 3."""
    graph, memories = stream(12)
    for ahead, addresses, offers in ((0, [0, 16, 32], [9, 13, 17]), (1, [0, 16, 32, 48], [9, 10, 13, 17])):
        memory = with_ports(BY_HAND, replace(BY_HAND.ports, ahead=ahead))
        result, requests = run_of(graph, memories, OffChip(memory, {"c": 0}))
        assert [request[0] for request in requests] == addresses
        assert [request[1] for request in requests] == offers
        # The bus has a beat in each cycle from 19 on, and so has deliver from 21 on.
        assert [p.pushed for p in result.passages["scan.crd->w.crd"]][:12] == [*range(21, 33)]
        # The writer fires on DONE in 36; the last beat, of line 2 or 3, serves in 32 or 36.
        assert result.cycles == 36
        assert result.memory is not None
        port = result.memory.ports["scan.crd"]
        assert (port.ahead, port.vain) == ((3, 1) if ahead else (0, 0))


def test_a_look_waits_for_places() -> None:
    """A line is a word, and two are stored. look asks in 5 and 6; the words come in 19 and 20, and deliver
    fires on them in 21 and 22. The place of the first is free once deliver has fired on the second: look asks
    in 23, and deliver fires 16 cycles later, in 39; so the place of the second is free in 40."""
    graph, memories = stream(4)
    memory = with_ports(BY_HAND, Ports(line=4, beat=4, lines=2, ahead=0, queue=16))
    result, requests = run_of(graph, memories, OffChip(memory, {"c": 0}))
    assert [request[1] - 4 for request in requests] == [5, 6, 23, 40]
    assert [p.pushed for p in result.passages["scan.crd->w.crd"]][:4] == [21, 22, 39, 56]


def test_writes_are_gathered_by_hand() -> None:
    """The writer fires on the coordinates in 6 to 11, on S0 in 12, on DONE in 13; gather a cycle after
    each. Line 0 is complete in 10: AW is offered in 14, the beats in 15 to 18; B comes in 28. gather asks for
    line 1 in 14, when it looks at DONE. It is offered in 19, after line 0; its last beat is accepted in 23,
    and B comes in 33, which serves in 35."""
    graph, memories = stream(6)
    result, requests = run_of(graph, memories, OffChip(BY_HAND, {"wc": 0}))
    assert requests == [(0, 14, 18, 28), (16, 19, 23, 33)]
    assert result.nodes["w"].actors["write"].last == 13
    assert result.nodes["w"].actors["crd.gather"].last == 15
    assert result.cycles == 35
    both, requests = run_of(graph, memories, OffChip(BY_HAND, {"wp": 0, "wc": 0}))
    # The positions are 0, written in cycle 1, and 6. In 14 both gathers ask; theirs is the first.
    assert requests == [(256, 14, 18, 28), (0, 19, 23, 33), (272, 24, 28, 38)]
    assert both.memory is not None
    assert [(name, p.requests, p.accesses) for name, p in both.memory.ports.items()] == [
        ("w.pos", 1, 2),
        ("w.crd", 2, 6),
    ]


def test_ports_ask_in_turn() -> None:
    """`fetch` asks for the start and the end of the fiber in one cycle, 3: the start is offered first. Both
    wait for the bus, on which the beats of the one follow those of the other."""
    graph, memories = stream(3)
    _, requests = run_of(graph, memories, OffChip(BY_HAND, {"p": 0}))
    first, second = requests
    assert first[0] == second[0] == 0
    assert second[1] == first[1] + 1
    assert second[3:] == tuple(beat + 4 for beat in first[3:])


def test_random_memory_by_hand() -> None:
    """Seed 1. x is 1103527590, then 377401575, 662824084, 1147902781, 2035015474, 368800899. Divided by
    65536: 16838, 5758, 10113, 17515, 31051, 5627. The request waits max(0, 16838 mod 16 - 8) = 0 cycles, and
    the first beat comes 1 + 5758 mod 32 = 31 cycles later; the others have gaps of max(0, 10113 mod 8 - 5) =
    0, 0, 0."""
    graph, memories = stream(3)
    _, requests = run_of(graph, memories, OffChip(RandomMemory(1, BY_HAND.ports), {"c": 0}))
    assert requests == [(0, 9, 9, 40, 41, 42, 43)]


def test_a_dram_by_hand() -> None:
    """A cycle of 10 clocks. The request of cycle 9 arrives at clock 90 + 3: ACT; RD in 97, data until 104, at
    the port in 106, so in cycle 11: the first beat. A burst is a line, so the others follow."""
    graph, memories = stream(1)
    dram = replace(SMALL, frontend=3, backend=2, clock_ps=100)
    _, requests = run_of(graph, memories, OffChip(dram, {"c": 0}))
    assert requests == [(0, 9, 9, 11, 12, 13, 14)]
    # Two bursts of two words: RD in 97 and, in the other group, at 99 after an ACT in 95.
    halves = replace(dram, burst_bytes=8, clock_ps=1000)
    _, requests = run_of(graph, memories, OffChip(halves, {"c": 0}))
    # Arrival 12, RDs in 16 and 18, at the port in 25 and 27.
    assert requests == [(0, 9, 9, 25, 26, 27, 28)]


def test_a_log_gives_the_same_again(tmp_path: Path) -> None:
    workload = bind_program("spmm", ["karate"])
    compiled = compile_workload(workload)
    data = (compiled.design, compiled.arch, *load_inputs(compiled.program, compiled.design, workload.tensors))
    path = tmp_path / "log"
    ports = Ports(masters=2, line=32)
    first = simulate_regions(*data, memory=OffChip(RandomMemory(3, ports), log=path))
    for name in ("plain", "compiled"):
        other = tmp_path / name
        again = simulate_regions(
            *data, memory=OffChip(RecordedMemory(str(path), ports), log=other), engine=name
        )
        assert [r.cycles for r in again] == [r.cycles for r in first]
        assert [r.nodes for r in again] == [r.nodes for r in first]
        assert other.read_text() == path.read_text()
        with pytest.raises(InputError, match=r"Request \d+ of this run is not that in"):
            simulate_regions(
                *data, memory=OffChip(RecordedMemory(str(path), ports), {"A.vals": 0}), engine=name
            )
    with pytest.raises(InputError, match="does not fit 1 masters with 4 beats a line"):
        simulate_regions(*data, memory=OffChip(RecordedMemory(str(path))))
    path.write_text("samhw memory log 1\n0 read 0 5 6 6\n")
    with pytest.raises(InputError, match="The cycles in line 2"):
        simulate_regions(*data, memory=OffChip(RecordedMemory(str(path), Ports(line=16))))


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
    assert list(ports) == ["scan.pos", "scan.pos_next", "one.crd", "w.pos", "w.crd"]
    assert [(p.accesses, p.requests) for p in ports.values()] == [(1, 1), (1, 1), (6, 2), (7, 2), (6, 2)]
    agree(graph, Arch(), memories, WIDE, OffChip(SMALL), {})


def test_enough_ahead_costs_little() -> None:
    """With room for the latency in channels, and a bus of more than a word, only the start and the end
    cost."""
    workload = bind_program("spmm", ["karate"])
    compiled = compile_workload(workload, arch=Arch(slack=34))
    data = (compiled.design, compiled.arch, *load_inputs(compiled.program, compiled.design, workload.tensors))
    on_chip, near, far = (
        sum(result.cycles for result in simulate_regions(*data, memory=memory))
        for memory in (None, OffChip(ConstantMemory(2)), OffChip(ConstantMemory(20)))
    )
    assert near < 1.03 * on_chip
    assert far < 1.06 * on_chip


def test_steps_read_what_a_step_before_has_written() -> None:
    """A recurrent network whose states lie off chip, in lines that several steps share."""
    workload = bind_program("examples/dilated_rnn.ein", ["random:size=8"])
    compiled = compile_workload(workload)
    data = (compiled.design, compiled.arch, *load_inputs(compiled.program, compiled.design, workload.tensors))
    on_chip = simulate_regions(*data)
    memory = OffChip(RandomMemory(2, Ports(line=32, beat=8, lines=4, masters=2)))
    plain = simulate_regions(*data, memory=memory, engine="plain")
    code = simulate_regions(*data, memory=memory, engine="compiled")
    for here, one, other in zip(on_chip, plain, code, strict=True):
        assert (one.cycles, one.nodes, one.memory) == (other.cycles, other.nodes, other.memory)
        for name, words in here.memories.items():
            assert one.memories[name].tolist() == other.memories[name].tolist() == words.tolist()


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
    results = simulate_regions(design, Arch(), memories, {"i": 4}, memory=OffChip(SMALL, {"y.vals": 0}))
    first, second = (result.memory for result in results)
    assert results[1].memories["z.vals"].tolist() == [3, 5, 7, 9]
    assert first is not None
    assert second is not None
    assert (first.channels[0].writes, first.channels[0].misses) == (1, 1)
    assert (second.channels[0].reads, second.channels[0].hits) == (1, 1)
    # The last word comes two cycles before DONE. A cycle later gather asks; the line is accepted 4 + 4 cycles
    # later, written 4 + 3 + 2 cycles after that, and its B serves 2 cycles later.
    last = results[0].nodes["write_val_y"].actors["write"].last
    assert results[0].cycles == last - 2 + 1 + 8 + 9 + 2
    # A refresh in the cycle in which the second region begins.
    often = replace(SMALL, rfc=2, faw=1, rrd_l=2, refi=results[0].cycles + 1)
    refreshed = simulate_regions(design, Arch(), memories, {"i": 4}, memory=OffChip(often, {"y.vals": 0}))[
        1
    ].memory
    assert refreshed is not None
    assert (refreshed.channels[0].hits, refreshed.channels[0].misses) == (0, 1)


def test_the_bottleneck_is_the_memory() -> None:
    graph, memories = stream(40)
    slow = ConstantMemory(100, Ports(line=4, beat=4, lines=2, ahead=0))
    result = simulate(graph, Arch(), memories, WIDE, memory=OffChip(slow, {"c": 0}))
    found = bottleneck(graph, result)
    assert (found.node, found.reason) == ("scan", "memory")
    assert "Off-chip memory limits the run: its data for scan are waited for in" in found.text
    assert "of its peak; its busiest master moves" in found.text


def test_an_array_that_does_not_exist() -> None:
    graph, memories = stream(3)
    with pytest.raises(InputError, match="no array 'q' in test to place off chip; it stores p, c, wp, wc"):
        simulate(graph, Arch(), memories, WIDE, memory=OffChip(DDR4, {"q": 0}))
