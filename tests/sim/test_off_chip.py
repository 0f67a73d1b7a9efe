"""Off-chip memory: requests worked out by hand, and whole graphs against the rule run with a clock."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.compiler import compile_program
from samhw.errors import InputError, RunError
from samhw.frontend import parse
from samhw.graph import DDR4, HBM2, Arch, Dram, Graph, OffChip
from samhw.sim import DeadlockError, bottleneck, engine, simulate, simulate_regions
from samhw.sim.dram import Channel
from samhw.sim.machine import Worker
from tests.sim.clocked import clocked
from tests.sim.clocked_memory import ClockedChannel, Request
from tests.sim.graphs import gustavson
from tests.sim.test_simulate import programs, vector

# Round figures: a clock is a cycle, and a burst holds four words of 32 bits.
SMALL = Dram(
    name="small",
    clock_ps=1000,
    cycle_ps=1000,
    channels=1,
    groups=2,
    banks=2,
    row_bytes=64,
    burst_bytes=16,
    burst=2,
    cl=5,
    cwl=3,
    rcd=4,
    rp=6,
    ras=20,
    rtp=3,
    wr=7,
    ccd_s=2,
    ccd_l=3,
    rrd_s=2,
    rrd_l=5,
    faw=15,
    wtr_s=2,
    wtr_l=4,
    rfc=50,
    refi=1000,
    frontend=0,
    backend=0,
    prefetch=0,
    outstanding=4,
)


@st.composite
def drams(draw: st.DrawFn) -> Dram:
    """Any organisation, and timing on the edge between many and few waits."""
    few = st.integers(1, 6)
    burst = draw(st.integers(1, 4))
    ccd, rrd, wtr, faw = draw(few), draw(few), draw(few), draw(st.integers(1, 40))
    rcd, rp, rfc = draw(few), draw(few), max(faw, rrd + 3) + draw(st.integers(0, 10))
    prefetch = draw(st.sampled_from([0, 0, 1, 3]))
    burst_bytes = draw(st.sampled_from([4, 4, 8, 12, 16, 64]))
    return Dram(
        name="random",
        clock_ps=draw(st.integers(1, 7)),
        cycle_ps=draw(st.sampled_from([1, 2, 3, 7])),
        channels=draw(st.integers(1, 3)),
        groups=draw(st.integers(1, 4)),
        banks=draw(st.integers(1, 4)),
        row_bytes=burst_bytes * draw(st.integers(1, 4)),
        burst_bytes=burst_bytes,
        burst=burst,
        cl=draw(st.integers(1, 25)),
        cwl=draw(st.integers(0, 5)),
        rcd=rcd,
        rp=rp,
        ras=draw(st.integers(1, 15)),
        rtp=draw(few),
        wr=draw(few),
        ccd_s=burst + ccd - 1,
        ccd_l=burst + ccd - 1 + draw(st.integers(0, 3)),
        rrd_s=rrd,
        rrd_l=rrd + draw(st.integers(0, 3)),
        faw=faw,
        wtr_s=wtr,
        wtr_l=wtr + draw(st.integers(0, 3)),
        rfc=rfc,
        refi=2 * (rp + rfc + rcd) + draw(st.integers(1, 60)),
        frontend=draw(st.integers(0, 4)),
        backend=draw(st.integers(0, 4)),
        prefetch=prefetch,
        outstanding=2 * (1 + prefetch) + draw(st.sampled_from([0, 0, 0, 3])),
    )


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_agrees_with_the_clock(data: st.DataObject) -> None:
    """Tokens, cycles, counts of the memory, for random placements, depths and stalls; with deadlocks."""
    program, arch = data.draw(programs())
    graph = named(program.graph)
    tensors = sorted({memory.tensor for memory in graph.memories})
    placed = data.draw(st.none() | st.lists(st.sampled_from(tensors), min_size=1, unique=True).map(tuple))
    off_chip = OffChip(data.draw(drams()), placed)
    sizes = st.sampled_from([1, 2, 3, 8, 30])
    graph = graph.with_depths({c.name: data.draw(sizes) for c in graph.channels})
    patterns = st.lists(st.booleans(), max_size=5).map(lambda p: [*p, False])
    ends = [node.name for node in graph.nodes if not node.inputs or not node.outputs]
    stalls = data.draw(st.dictionaries(st.sampled_from(ends), patterns))

    reference = clocked(graph, arch, program.memories, program.extents, stalls, off_chip)
    reference.run()
    cycles = reference.committed(graph)
    options = {"stalls": stalls, "memory": off_chip}
    if cycles is None:
        with pytest.raises(DeadlockError):
            simulate(graph, arch, program.memories, program.extents, **options)
        return
    result = simulate(graph, arch, program.memories, program.extents, trace=True, check=True, **options)
    assert result.traces == {name: fifo.trace for name, fifo in reference.channels.items()}
    assert result.cycles == cycles
    assert {name: words.tolist() for name, words in result.memories.items()} == program.expected
    for name, fifo in reference.channels.items():
        taken = [fifo.taken(cycle) for cycle in range(1, max(fifo.pops) + 1)]
        stats = result.channels[name]
        assert (stats.tokens, stats.high_water) == (len(fifo.tokens), max(taken)), name
        assert stats.mean == pytest.approx(sum(taken) / cycles)
    assert result.memory is not None
    assert reference.memory is not None
    counts = [
        (c.reads, c.writes, c.hits, c.misses, c.conflicts, c.refreshing) for c in result.memory.channels
    ]
    assert counts == [channel.counts() for channel in reference.memory.channels]
    for cell in reference.cells:
        stats = result.nodes[cell.node].actors[cell.actor.name]
        assert (stats.firings, stats.last) == (len(cell.firings), cell.firings[-1])
        waits = sum(stats.starved.values()) + sum(stats.blocked.values()) + stats.spaced + stats.stalled
        assert stats.firings + waits + stats.memory == stats.last
        assert min([0, *stats.starved.values(), *stats.late.values()]) == 0
        for port in cell.ports.values():
            other = result.memory.ports[f"{cell.node}/{cell.actor.name}:{port.name}"]
            assert other.requests == len(port.requests)


def named(graph: Graph) -> Graph:
    """The graph with a tensor for each memory."""
    return replace(graph, memories=tuple(replace(m, tensor=m.name) for m in graph.memories))


@settings(max_examples=150, deadline=None)
@given(drams(), st.integers(0, 2**32 - 1))
def test_requests_agree_with_the_clock(dram: Dram, seed: int) -> None:
    """A channel alone, under more requests than actors make, in bursts and with rests."""
    rng = np.random.default_rng(seed)
    count = 60
    gaps = rng.choice([0, 1, 2, 40], count, p=[0.6, 0.2, 0.15, 0.05])
    arrivals = np.cumsum(gaps).tolist()
    rows = rng.integers(int(rng.integers(1, 4)), size=count).tolist()
    groups = rng.integers(dram.groups, size=count).tolist()
    banks = rng.integers(dram.banks, size=count).tolist()
    writes = (rng.random(count) < rng.choice([0.0, 0.2, 0.5])).tolist()
    requests = list(zip(arrivals, groups, banks, rows, writes, strict=True))

    channel = Channel(dram)
    ends = [channel.serve(*request) for request in requests]
    reference = ClockedChannel(dram)
    reference.queue = [
        Request(0, write, arrival, group, bank, row) for arrival, group, bank, row, write in requests
    ]
    for clock in range(max(ends)):
        reference.tick(clock)
    columns = [request.column for request in reference.queue]
    latency = [(dram.cwl if request.write else dram.cl) + dram.burst for request in reference.queue]
    assert [end - cycles for end, cycles in zip(ends, latency, strict=True)] == columns
    c = channel.counts
    assert (c.reads, c.writes, c.hits, c.misses, c.conflicts, c.refreshing) == reference.counts()


def serve(dram: Dram, *requests: tuple[int, int, int, int, bool]) -> tuple[list[int], Channel]:
    """When the data of requests (arrival, group, bank, row, write) have passed."""
    channel = Channel(dram)
    return [channel.serve(*request) for request in requests], channel


def test_hit_miss_and_conflict_by_hand() -> None:
    """A miss: ACT in 10, RD in 14, data until 14 + 5 + 2. A hit: RD in 30. A conflict: PRE in 40, ACT in 46,
    RD in 50."""
    ends, channel = serve(SMALL, (10, 0, 0, 1, False), (30, 0, 0, 1, False), (40, 0, 0, 2, False))
    assert ends == [21, 37, 57]
    counts = channel.counts
    assert (counts.reads, counts.hits, counts.misses, counts.conflicts) == (3, 1, 1, 1)


def test_a_row_stays_open_for_its_time() -> None:
    """ACT in 0, RD in 4; PRE not before 0 + tRAS = 20, so ACT in 26 and RD in 30."""
    assert serve(SMALL, (0, 0, 0, 1, False), (5, 0, 0, 2, False))[0] == [11, 37]
    # A write: WR in 4, its data until 4 + 3 + 2 = 9, PRE not before 9 + tWR = 16: tRAS is later. With a short
    # tRAS it is not: PRE in 16, ACT in 22, RD in 26.
    short = replace(SMALL, ras=1)
    assert serve(short, (0, 0, 0, 1, True), (5, 0, 0, 2, False))[0] == [9, 33]


def test_banks_work_side_by_side() -> None:
    """ACTs of two groups in 0 and 2 (tRRD_S), RDs in 4 and 6; of one group in 0 and 5 (tRRD_L), RDs in 4, 9.
    In one bank the second has to wait for tRAS: RD in 30."""
    assert serve(SMALL, (0, 0, 0, 1, False), (0, 1, 0, 1, False))[0] == [11, 13]
    assert serve(SMALL, (0, 0, 0, 1, False), (0, 0, 1, 1, False))[0] == [11, 16]
    assert serve(SMALL, (0, 0, 0, 1, False), (0, 0, 0, 2, False))[0] == [11, 37]


def test_hits_follow_each_other_at_the_rate_of_the_bus() -> None:
    """RDs of one group are tCCD_L = 3 apart, those of two groups in turn tCCD_S = 2."""
    same = serve(SMALL, *((0, 0, 0, 1, False) for _ in range(3)))[0]
    assert same == [11, 14, 17]
    # The ACT of the other group comes in 2.
    turns = serve(SMALL, *((0, n % 2, 0, 1, False) for n in range(4)))[0]
    assert turns == [11, 13, 15, 17]


def test_four_activations_in_a_window() -> None:
    """ACTs in 0, 2, 5, 7; the fifth not before 0 + tFAW = 15, though tRRD would allow 10."""
    dram = replace(SMALL, banks=4)
    requests = ((0, n % 2, n // 2, 1, False) for n in range(5))
    # RDs 4 behind the ACTs, data 7 behind those.
    assert serve(dram, *requests)[0] == [11, 13, 16, 18, 26]


def test_the_bus_turns_round() -> None:
    """RD in 4, WR in 4 + CL + 2 + 2 - CWL = 10, its data until 15; RD in 15 + tWTR_L = 19, data until 26."""
    requests = ((0, 0, 0, 1, False), (0, 0, 0, 1, True), (0, 0, 0, 1, False))
    assert serve(SMALL, *requests)[0] == [11, 15, 26]


def test_a_refresh_closes_rows_and_takes_its_time() -> None:
    """The refresh at 1000 ends at 1000 + tRP + tRFC = 1056. ACT in 1056, RD in 1060."""
    ends, channel = serve(SMALL, (900, 0, 0, 1, False), (1010, 0, 0, 1, False))
    assert ends == [911, 1067]
    assert (channel.counts.misses, channel.counts.refreshing) == (2, 46)
    # A RD in 999 is in time, one in 1000 is not, and starts anew.
    for arrival, end, waited in ((995, 1006, 0), (996, 1067, 56)):
        ends, channel = serve(SMALL, (arrival, 0, 0, 1, False))
        assert (ends, channel.counts.refreshing) == ([end], waited)


def stream(length: int) -> tuple[Graph, dict[str, np.ndarray]]:
    """The coordinates 0, 2, .. of a vector, read and written again."""
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
    result = simulate(graph, Arch(), memories, {}, trace=["scan.crd->w.crd"], memory=off_chip)
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
        result = simulate(graph, Arch(), memories, {}, trace=["scan.crd->w.crd"], memory=off_chip)
        assert result.memory is not None
        done[prefetch] = [result.passages["scan.crd->w.crd"][n].popped for n in (0, 4, 8)]
        assert result.memory.ports["scan/walk:c"].ahead == 2 * prefetch
    # Otherwise as they come, a cycle each, the ninth 2 + 7 cycles behind its line, or as early as it may.
    assert done == {0: [17, 21, 27], 1: [17, 21, 25]}


def test_writes_are_gathered_and_posted() -> None:
    """The writer fires on the coordinates in 6, 7, .. 11, on S0 in 12, on DONE in 13. The first line is full
    in 9, in which it is asked for; DONE asks for the two words of the second one."""
    graph, memories = stream(6)
    result = simulate(graph, Arch(), memories, {}, memory=OffChip(SMALL, ("wc",)))
    assert result.nodes["w"].actors["write"].last == 13
    assert result.memory is not None
    port = result.memory.ports["w/write:wc"]
    assert (port.write, port.words, port.requests) == (True, 6, 2)
    # Line 1 lies in the other group: ACT in 13, WR in 17, data until 22.
    assert result.cycles == 22
    both = simulate(graph, Arch(), memories, {}, memory=OffChip(SMALL, ("wp", "wc")))
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
    result = simulate(graph, Arch(), memories, {}, memory=OffChip(slow, ("wc",)), trace=["scan.crd->w.crd"])
    assert [p.popped for p in result.passages["scan.crd->w.crd"]][:4] == [6, 7, 15, 17]
    writer = result.nodes["w"].actors["write"]
    assert writer.held == writer.memory
    assert writer.held == (15 - 8) + (17 - 16)


def test_a_line_that_two_words_share_is_fetched_once() -> None:
    """`fetch` reads pos[0] and pos[1], from one line or from two."""
    graph, memories = stream(3)
    for burst_bytes, lines in ((16, 1), (4, 2)):
        off_chip = OffChip(replace(SMALL, burst_bytes=burst_bytes), ("p",))
        result = simulate(graph, Arch(), memories, {}, memory=off_chip)
        assert result.memory is not None
        port = result.memory.ports["scan/fetch:p"]
        assert (port.words, port.requests) == (2, lines)


def test_clocks_and_cycles() -> None:
    """A cycle of 10 clocks: the request of cycle 4 arrives at clock 40 + 3, its data are there 4 + 5 + 2 + 2
    clocks later, at 56, so in cycle 6. A clock of 10 cycles: at clock 1 + 3, data at 17, so in cycle 170."""
    graph, memories = stream(1)
    dram = replace(SMALL, frontend=3, backend=2)
    for change, done in (({"clock_ps": 100}, 6), ({"clock_ps": 10_000}, 170)):
        off_chip = OffChip(replace(dram, **change), ("c",))
        result = simulate(graph, Arch(), memories, {}, memory=off_chip, trace=["scan.crd->w.crd"])
        assert result.passages["scan.crd->w.crd"][0].popped == done + 2


def test_a_vector_in_one_line_of_a_quick_memory_costs_a_cycle() -> None:
    graph, memories = stream(40)
    graph = graph.with_depths({"scan.crd->w.crd": 64})
    ideal = simulate(graph, Arch(), memories, {})
    quick = replace(SMALL, clock_ps=1, burst_bytes=1024, row_bytes=1024)
    result = simulate(graph, Arch(), memories, {}, memory=OffChip(quick, ("c",)))
    # The line is there a cycle behind the firing that asks for it.
    assert result.cycles == ideal.cycles + 1


def test_the_same_again() -> None:
    """Two runs of one graph on new memories are the same."""
    graph, memories = stream(30)
    first, second = (simulate(graph, Arch(), memories, {}, memory=OffChip(SMALL)) for _ in range(2))
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
    other = simulate(*data, trace=True, memory=off_chip)
    assert (other.cycles, other.memory) == (straight.cycles, straight.memory)
    assert (other.nodes, other.channels) == (straight.nodes, straight.channels)
    assert other.passages == straight.passages


def test_the_plain_engine_runs_it() -> None:
    graph, memories = stream(3)
    with pytest.raises(InputError, match="compiled engine has no off-chip memory; use the plain engine"):
        simulate(graph, Arch(), memories, {}, memory=OffChip(DDR4), engine="compiled")
    plain, auto = (
        simulate(graph, Arch(), memories, {}, memory=OffChip(DDR4), engine=name) for name in ("plain", "auto")
    )
    assert plain.cycles == auto.cycles


def test_a_limit_and_an_error_end_the_run() -> None:
    """The request that would come too late is not in the way of the error."""
    graph, memories = stream(3)
    with pytest.raises(RunError, match="would fire in cycle"):
        simulate(graph, Arch(), memories, {}, memory=OffChip(SMALL), limit=12)
    with pytest.raises(RunError, match="range at node 'scan'"):
        simulate(graph, Arch(), memories | {"c": np.arange(2)}, {}, memory=OffChip(SMALL))


def test_memory_goes_on_through_regions() -> None:
    """The second region finds the row open that the first has written, unless a refresh came between."""
    text = "tensor x[i=4] : dense\ntensor y[i] : dense\ntensor z[i] : dense\n"
    graph = compile_program(parse(text + "y[i] = 2 * x[i]\nz[i] = y[i] + 1")).graph
    memories = {"x.vals": np.arange(1, 5)}
    results = simulate_regions(graph, Arch(), memories, {"i": 4}, memory=OffChip(SMALL, ("y",)))
    first, second = (result.memory for result in results)
    assert results[1].memories["z.vals"].tolist() == [3, 5, 7, 9]
    assert first is not None
    assert second is not None
    assert (first.channels[0].writes, first.channels[0].misses) == (1, 1)
    assert (second.channels[0].reads, second.channels[0].hits) == (1, 1)
    # The writer's line is done after its DONE, and only then does the next region begin.
    last = max(a.last for a in results[0].nodes["r0_write_val_y"].actors.values())
    # The last word comes two cycles before DONE, and is written 4 + 3 + 2 cycles later.
    assert results[0].cycles == 25 == last - 2 + 9
    # Cycle 0 of the second region is cycle 26 of the memory.
    often = replace(SMALL, rfc=2, faw=1, rrd_l=2, refi=27)
    refreshed = simulate_regions(graph, Arch(), memories, {"i": 4}, memory=OffChip(often, ("y",)))[1].memory
    assert refreshed is not None
    assert (refreshed.channels[0].hits, refreshed.channels[0].misses) == (0, 1)


def test_the_bottleneck_is_the_memory() -> None:
    graph, memories = stream(40)
    slow = replace(SMALL, cl=100, burst_bytes=4)
    result = simulate(graph, Arch(), memories, {}, memory=OffChip(slow, ("c",)))
    found = bottleneck(graph, result)
    assert (found.node, found.reason) == ("scan", "memory")
    assert "Off-chip memory limits the run: its data for scan are waited for in" in found.text
    share = f"{160 / (result.cycles * 2):.1%}"
    assert f"{share} of its peak; its busiest channel moves {share} of its own" in found.text


@pytest.mark.parametrize("dram", [DDR4, HBM2])
def test_presets(dram: Dram) -> None:
    assert Dram.from_json(dram.to_json()) == dram
    assert Dram.load(dram.name) == dram
    # 19.2 GB/s, 256 GB/s; a cycle is 4 ns.
    assert dram.peak / 4 == pytest.approx({"ddr4": 19.2, "hbm2": 256}[dram.name], rel=0.001)


def test_a_memory_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"preset": "ddr4", "name": "two", "channels": 2}')
    assert Dram.load(str(path)) == replace(DDR4, name="two", channels=2)


def test_memories_that_are_refused(tmp_path: Path) -> None:
    for name, text, message in (
        ("a.json", "{", "a.json is no JSON"),
        ("b.json", "[]", "b.json holds no JSON object"),
        ("c.json", '{"preset": "ddr9"}', "no memory preset 'ddr9'; choose one of hbm2, ddr4"),
        ("d.json", '{"banks": 4}', "lacks the field 'name'"),
        ("e.json", '{"preset": "ddr4", "tRP": 4}', "has no field 'tRP'"),
        ("f.json", '{"preset": "ddr4", "rp": 0}', "Dram.rp is 0; give a whole number from 1 on"),
        ("g.json", '{"preset": "ddr4", "outstanding": 3}', "Dram.outstanding is 3; give at least"),
        ("h.json", '{"preset": "ddr4", "burst_bytes": 6}', "burst_bytes is 6; give a multiple of 4"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=re.escape(message)):
            Dram.load(str(tmp_path / name))
    with pytest.raises(InputError, match=r"no memory 'hbm9'; choose one of hbm2, ddr4, or name a \.json"):
        Dram.load("hbm9")
    with pytest.raises(InputError, match=r"cannot be read"):
        Dram.load(str(tmp_path / "none.json"))
    graph, memories = stream(3)
    with pytest.raises(InputError, match="no tensor 'q' in test to place off chip; it stores c, p, wc, wp"):
        simulate(graph, Arch(), memories, {}, memory=OffChip(DDR4, ("q",)))
