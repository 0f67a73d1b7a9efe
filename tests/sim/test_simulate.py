"""Whole graphs: results against NumPy, and every cycle against the rule run with a clock; by both engines."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samhw.errors import InputError, RunError
from samhw.graph import Arch, Token
from samhw.sim import DeadlockError, simulate
from samhw.sim.engine import TURN, run
from samhw.sim.machine import build_graph
from samhw.sim.stores import make_stores
from tests.sim.small_phases import small_phases
from tests.support.clocked import clocked
from tests.support.graphs import WIDE, Builder, Program, gustavson, matrix_sum, row_minus_sum
from tests.support.strategies.arches import arches


@pytest.fixture(autouse=True, params=["plain", "compiled"])
def each_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Runs every test of this file by each engine."""
    monkeypatch.setitem(globals(), "simulate", partial(simulate, engine=request.param))
    with small_phases():
        yield


def matrices(rows: int, columns: int) -> st.SearchStrategy[np.ndarray]:
    entry = st.sampled_from([0, 0, 1, -2, 7])
    row = st.just([0] * columns) | st.lists(entry, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows).map(lambda lists: np.array(lists, np.int64))


@st.composite
def programs(draw: st.DrawFn) -> tuple[Program, Arch]:
    arch = draw(arches)
    match draw(st.sampled_from(["gustavson", "matrix_sum", "row_minus_sum"])):
        case "gustavson":
            return gustavson(draw(matrices(4, 3)), draw(matrices(3, 5)), arch), arch
        case "matrix_sum":
            return matrix_sum(draw(matrices(4, 4)), draw(matrices(4, 4)), arch), arch
        case _:
            return row_minus_sum(draw(matrices(3, 5)), arch), arch


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_agrees_with_the_clock(data: st.DataObject) -> None:
    program, arch = data.draw(programs())
    sizes = st.sampled_from([1, 2, 3, 8])
    graph = program.graph.with_depths({c.name: data.draw(sizes) for c in program.graph.channels})
    patterns = st.lists(st.booleans(), max_size=5).map(lambda p: [*p, False])
    ends = [node.name for node in graph.nodes if not node.inputs or not node.outputs]
    stalls = data.draw(st.dictionaries(st.sampled_from(ends), patterns))

    reference = clocked(graph, arch, program.memories, program.extents, stalls)
    reference.run()
    cycles = reference.committed(graph)
    if cycles is None:
        with pytest.raises(DeadlockError):
            simulate(graph, arch, program.memories, program.extents, stalls=stalls)
        return
    result = simulate(
        graph, arch, program.memories, program.extents, stalls=stalls, trace=True, check=True, limit=cycles
    )
    assert result.cycles == cycles
    assert {name: words.tolist() for name, words in result.memories.items()} == program.expected
    assert result.traces == {name: fifo.trace for name, fifo in reference.channels.items()}
    for name, fifo in reference.channels.items():
        stats = result.channels[name]
        taken = [fifo.taken(cycle) for cycle in range(1, max(fifo.pops) + 1)]
        assert (stats.tokens, stats.high_water) == (len(fifo.tokens), max(taken)), name
        assert stats.mean == pytest.approx(sum(taken) / cycles)
        taken = [fifo.taken(cycle) for cycle in range(1, cycles + 1)]
        assert result.occupancy(name).tolist() == [taken.count(n) for n in range(max(taken) + 1)]
    for cell in reference.cells:
        actor = result.nodes[cell.node].actors[cell.actor.name]
        assert (actor.firings, actor.last) == (len(cell.firings), cell.firings[-1])
        waits = sum(actor.starved.values()) + sum(actor.blocked.values()) + actor.spaced + actor.stalled
        assert actor.firings + waits == actor.last


def vector(length: int = 3) -> tuple[Builder, dict[str, np.ndarray]]:
    """root, and a scan of a compressed vector with coordinates 0, 2, 4, ..."""
    g = Builder()
    g.add("root", "root", 0)
    g.add("scan_compressed", "scan", 0, "root.out", pos="p", crd="c", extent="x")
    return g, {"p": np.array([0, length]), "c": np.arange(length) * 2}


def test_cycles_by_hand() -> None:
    """root fires in 1 and 2, fetch in 2 and 3; its words come in 4 and 5. walk fires in 4, 5, 6 on the
    coordinates, in 7 on S0, in 8 on DONE. A coordinate takes 2 cycles, so the writer fires in 6 to 10."""
    g, memories = vector()
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    result = simulate(g.graph(), Arch(), memories, WIDE, trace=True)
    assert result.cycles == 10
    assert [(cycle, str(token)) for cycle, token in result.traces["scan.crd->w.crd"]] == [
        (6, "0"),
        (7, "2"),
        (8, "4"),
        (9, "S0"),
        (10, "D"),
    ]
    assert result.memories["wp"].tolist() == [0, 3]
    assert result.memories["wc"].tolist() == [0, 2, 4]
    walk = result.nodes["scan"].actors["walk"]
    assert (walk.firings, walk.last) == (5, 8)
    assert sum(walk.starved.values()) == 3
    assert result.nodes["w"].actors["write"].starved == {"scan.crd->w.crd": 5}
    # Two on their way and one at the head; 5 tokens of 3 cycles each.
    assert result.channels["scan.crd->w.crd"].high_water == 3
    assert result.channels["scan.crd->w.crd"].mean == pytest.approx(1.5)


def test_occupancy_by_hand() -> None:
    """The tokens of the root are pushed in cycles 1 and 2 and popped in 2 and 3."""
    g, memories = vector()
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    result = simulate(g.graph(), Arch(), memories, WIDE, trace=["root.out->scan.ref"])
    assert result.occupancy("root.out->scan.ref").tolist() == [7, 2, 1]
    for channel, options in (
        ("scan.crd->w.crd", {}),
        ("no channel", {}),
        ("root.out->scan.ref", {"window": (3, 9)}),
    ):
        with pytest.raises(InputError, match=f"did not record all tokens of '{channel}'"):
            simulate(g.graph(), Arch(), memories, WIDE, trace=["root.out->scan.ref"], **options).occupancy(
                channel
            )


def test_back_pressure_by_hand() -> None:
    """With one slot a token occupies it from the push through latency 2 to the pop: pushes every 3 cycles."""
    g, memories = vector()
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    graph = g.graph().with_depths({"scan.crd->w.crd": 1})
    result = simulate(graph, Arch(), memories, WIDE, trace=["scan.crd->w.crd"])
    assert [cycle for cycle, _ in result.traces["scan.crd->w.crd"]] == [6, 9, 12, 15, 18]
    assert result.nodes["scan"].actors["walk"].blocked["scan.crd->w.crd"] == 8
    assert result.channels["scan.crd->w.crd"].high_water == 1


def test_stalls_by_hand() -> None:
    """The writer may fire in cycles 0, 4, 8, ... only."""
    g, memories = vector()
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    result = simulate(g.graph(), Arch(), memories, WIDE, stalls={"w": [False, True, True, True]}, trace=True)
    assert [cycle for cycle, _ in result.traces["scan.crd->w.crd"]] == [8, 12, 16, 20, 24]
    assert result.nodes["w"].actors["write"].stalled == 2 + 4 * 3


def test_output_that_feeds_nothing_never_blocks() -> None:
    g, memories = vector(40)
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    assert not any(c.source.port == "ref" and c.source.node == "scan" for c in g.channels)
    assert simulate(g.graph(), Arch(), memories, WIDE).cycles == 47


def test_deadlock_names_the_circle() -> None:
    program = row_minus_sum(np.ones((2, 8), np.int64))
    data = (Arch(), program.memories, program.extents)
    deep = {"x.val->sub.a": 16, "j.crd->each.crd": 16}
    assert simulate(program.graph.with_depths(deep), *data).memories["yv"].tolist() == program.expected["yv"]
    del deep["x.val->sub.a"]
    with pytest.raises(DeadlockError, match=r"make x\.val->sub\.a deeper") as error:
        simulate(program.graph.with_depths(deep), *data)
    assert error.value.waiting == ["x.val->sub.a", "each.ref->sub.b", "sum.val->each.ref", "x.val->sum.val"]


def test_first_error_in_time_is_reported() -> None:
    """late overflows its memory with the 6th word, early, which is further down, with the 3rd."""
    g, memories = vector(6)
    g.add("array", "x", 1, "scan.ref", vals="v")
    g.add("write_val", "late", 1, "x.val", vals="late")
    g.add("alu", "y", 1, "x.val", op="neg")
    g.add("write_val", "early", 1, "y.val", vals="early")
    graph = g.graph()
    sizes = {"late": 5, "early": 2}
    memory = tuple(replace(m, capacity=sizes.get(m.name, m.capacity)) for m in graph.memories)
    graph = replace(graph, memories=memory)
    memories["v"] = np.ones(6, np.int64)
    # walk pushes ref 2 in cycle 6; x in 7, its value comes in 9; y in 9, its result comes in 11.
    with pytest.raises(RunError, match="capacity at node 'early' in cycle 11"):
        simulate(graph, Arch(), memories, WIDE)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1 << 31, 1, 1], r"overflow at node 'y' in cycle 7"),
        ([1, 1], r"range at node 'x' in cycle 7.*ref = 2"),
    ],
)
def test_errors_of_nodes(values: list[int], message: str) -> None:
    g, memories = vector()
    g.add("array", "x", 1, "scan.ref", vals="v")
    g.add("alu", "y", 1, "x.val", op="neg")
    g.add("write_val", "w", 1, "y.val", vals="wv")
    memories["v"] = np.array(values)
    with pytest.raises(RunError, match=message):
        simulate(g.graph(), Arch(), memories, WIDE)


def test_protocol_error() -> None:
    g, memories = vector()
    g.add("scan_compressed", "other", 0, "root.out", pos="q", crd="d", extent="x")
    g.add("array", "x", 1, "scan.ref", vals="v")
    g.add("array", "y", 1, "other.ref", vals="u")
    g.add("alu", "add", 1, "x.val", "y.val", op="add")
    g.add("write_val", "w", 1, "add.val", vals="wv")
    memories |= {"q": np.array([0, 2]), "d": np.array([0, 1]), "v": np.ones(3, int), "u": np.ones(2, int)}
    with pytest.raises(RunError, match=r"protocol at node 'add' in cycle 9: .*\(a = 1, b = S0\)"):
        simulate(g.graph(), Arch(), memories, WIDE)


def test_disorder_in_what_is_stored_is_called_so() -> None:
    g = Builder()
    g.add("root", "root", 0)
    g.add("scan_compressed", "scan", 0, "root.out", pos="p", crd="c", extent="x")
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    memories = {"p": np.array([0, 2]), "c": np.array([5, 3])}
    with pytest.raises(
        RunError, match=r"protocol at node 'scan' in cycle \d+: .* not stored in ascending order"
    ):
        simulate(g.graph(), Arch(), memories, WIDE)


def test_check_finds_coordinates_out_of_order() -> None:
    g, memories = vector()
    g.add("scan_dense", "other", 1, "scan.ref", extent="n")
    g.add("crd_hold", "hold", 1, "scan.crd", "other.crd")
    g.add(
        "union", "u", 2, "other.crd", "other.ref", "hold.crd", "other.ref", inputs=2, payloads=["ref", "ref"]
    )
    g.add("write_compressed", "w", 2, "u.crd", pos="wp", crd="wc")
    graph, extents = g.graph({"n": 2}), WIDE | {"n": 2}
    simulate(graph, Arch(), memories, extents)
    with pytest.raises(RunError, match=r"hold\.crd->u\.crd1 .* is 0, but it does not follow coordinate 0"):
        simulate(graph, Arch(), memories, extents, check=True)


def test_limit() -> None:
    g, memories = vector()
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    assert simulate(g.graph(), Arch(), memories, WIDE, limit=10).cycles == 10
    with pytest.raises(RunError, match="Node 'w' would fire in cycle 10, after the run's limit"):
        simulate(g.graph(), Arch(), memories, WIDE, limit=9)


def test_bad_input() -> None:
    program = row_minus_sum(np.ones((2, 2), np.int64))
    good = {"graph": program.graph, "arch": Arch(), "memories": program.memories, "extents": program.extents}
    for change, message in (
        ({"memories": {}}, "lacks memory 'xv'"),
        ({"memories": {"xv": np.ones((2, 2), int)}}, "'xv' holds words; give a flat array"),
        ({"memories": {"xv": np.array([1, -1])}}, "integers >= 0"),
        ({"memories": {"xv": np.array([0.5])}}, "integers >= 0"),
        ({"memories": {"xv": np.ones(65, int)}}, "holds 64 words, but 65 were given"),
        ({"extents": {"i": 2}}, "extent of index 'j'"),
        ({"extents": {"i": 2, "j": 9}}, "extent 9; give 0 to 8"),
        ({"stalls": {"x": [False]}}, "no root or writer 'x'"),
        ({"stalls": {"Y": [True]}}, "never lets it fire"),
        ({"trace": ["a.b->c.d"]}, "no channel 'a.b->c.d'"),
    ):
        with pytest.raises(InputError, match=message):
            simulate(**(good | change))


def test_unbounded_channels_cost_no_memory() -> None:
    program = row_minus_sum(np.ones((2, 8), np.int64))
    graph = program.graph.with_depths({c.name: 10**12 for c in program.graph.channels})
    result = simulate(graph, Arch(), program.memories, program.extents)
    assert result.memories["yv"].tolist() == program.expected["yv"]
    assert result.channels["x.val->sub.a"].high_water < 20


def test_nothing_runs_far_ahead_in_a_deep_channel() -> None:
    g, memories = vector(20 * TURN)
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    graph = g.graph(capacity=20 * TURN).with_depths({c.name: 10**12 for c in g.channels})
    machine = build_graph(graph, Arch(), make_stores(graph, memories, WIDE)[0])
    queue = machine.channels["scan.crd->w.crd"]
    lengths = []
    queue.tap = lambda pushed, popped, kind, payload: lengths.append(len(queue.tokens))
    run(machine.workers)
    assert len(lengths) == 20 * TURN + 2
    assert max(lengths) <= 2 * TURN


def test_tokens_of_a_trace_are_tokens() -> None:
    g, memories = vector()
    g.add("write_compressed", "w", 1, "scan.crd", pos="wp", crd="wc")
    trace = simulate(g.graph(), Arch(), memories, WIDE, trace=["root.out->scan.ref"]).traces
    assert list(trace) == ["root.out->scan.ref"]
    assert all(isinstance(token, Token) for _, token in trace["root.out->scan.ref"])


def test_one_graph_with_several_timings() -> None:
    """What a graph keeps for its next run depends on the latencies inside of nodes."""
    program = gustavson(np.eye(3, 4, dtype=np.int64), np.ones((4, 5), np.int64), Arch())
    graph = program.graph
    for arch in (Arch(), Arch(memory=9), Arch(step=3), Arch()):
        again = simulate(graph, arch, program.memories, program.extents)
        fresh = simulate(replace(graph), arch, program.memories, program.extents)
        assert again.nodes == fresh.nodes
    slow = simulate(graph, Arch(memory=9), program.memories, program.extents)
    assert slow.cycles > simulate(graph, Arch(), program.memories, program.extents).cycles
