"""Depths of channels: paths that part and meet again after a reduction hold what the extents allow, and no
less would do."""

from dataclasses import replace
from math import ceil
from pathlib import Path

import numpy as np
import pytest

from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, ScheduleError
from samhw.graph import Arch, ConstantMemory, Design, Graph, RandomMemory, RecordedMemory
from samhw.graph.numerics import value_type
from samhw.graph.off_chip_memory import write_log
from samhw.lang import parse
from samhw.sim import DeadlockError, simulate
from samhw.targets.running.images import load
from samhw.tensors import Tensor

SOFTMAX = """
tensor S[i=3, j=8] : csr
tensor P[i, j] : csr
fuse {
  m[i] max= S[i, j] where S[i, j]
  E[i, j] = exp(S[i, j] - m[i]) where S[i, j]
  l[i] = E[i, j]
  P[i, j] = E[i, j] / l[i]
}
"""
LAYER_NORM = """
tensor X[i=3, e=8] : dense
tensor width
fuse {
  mean[i] = X[i, e] / width
  D[i, e] = X[i, e] - mean[i]
  var[i] = D[i, e] * D[i, e] / width
  r[i] = rsqrt(var[i] + 0.1)
  Y[i, e] = D[i, e] * r[i]
}
"""
RESIDUAL = """
tensor X[i=3, e=8] : dense
tensor b[e] : dense
fuse {
  H[i, e] = relu(X[i, e])
  s[i] = H[i, e] * b[e]
  Y[i, e] = H[i, e] + s[i]
}
"""
TWO_PRODUCTS = """
tensor X[i=8, e=60] : dense
tensor W[e=60, f=30] : dense
tensor V[f=30, e=60] : dense
fuse {
  R[i, e] = relu(X[i, e])                  order i, e
  T[i, f] = R[i, e] * W[e, f]              order i, e, f
  Y[i, e] = T[i, f] * V[f, e] + R[i, e]    order i, f, e
}
"""
FULL_ROWS = {"softmax": SOFTMAX, "layer_norm": LAYER_NORM, "residual": RESIDUAL}


def compiled(text: str) -> tuple[Graph, dict[str, str]]:
    (region,) = compile_job(Job(parse(text), value=value_type("f32"))).regions
    return region.graph, dict(region.reasons)


def cycles(graph: Graph, **given: np.ndarray) -> int:
    """Those of a run; with full rows, the worst case, where nothing is given."""
    stored = {
        b.name: Tensor.from_dense(given.get(b.name, np.ones(b.shape)), b.format)
        for b in graph.tensors
        if b.role == "input"
    }
    memories, extents = load(Design.of(graph), stored)
    return simulate(graph, Arch(), memories, extents).cycles


def runs(graph: Graph, **given: np.ndarray) -> bool:
    """Whether a run comes to its end."""
    try:
        cycles(graph, **given)
    except DeadlockError:
        return False
    return True


def with_depth(graph: Graph, name: str, depth: int) -> Graph:
    return graph.with_depths({c.name: c.depth for c in graph.channels} | {name: depth})


@pytest.mark.parametrize("name", FULL_ROWS)
def test_full_rows_run_and_one_token_less_deadlocks(name: str) -> None:
    graph, reasons = compiled(FULL_ROWS[name])
    assert runs(graph)
    # The fiber over 8 coordinates and its stop.
    held = [channel for channel, reason in reasons.items() if ", 9 tokens, waits for" in reason]
    assert held
    assert not all(runs(with_depth(graph, channel, 8)) for channel in held)
    assert all(runs(with_depth(graph, channel, 9)) for channel in held)


def test_what_meets_an_intersection_of_itself_waits_for_the_end_of_a_fiber() -> None:
    text = (
        "tensor X[j=30] : csf\ntensor A[j=30] : csf\ntensor Y[j] : csf\n"
        "fuse {\n  H[j] = abs(X[j])\n  Y[j] = H[j] * A[j] + H[j]\n}\n"
    )
    graph, _ = compiled(text)
    # The intersection finds nothing before the last coordinate.
    last = np.eye(30)[-1]
    assert runs(graph, A=last)
    past = [c for c in graph.channels if c.source.node == "scan_compressed_X_j" and "union" in c.sink.node]
    assert [c.depth >= 31 for c in past] == [True] * len(past) != []
    assert not all(runs(with_depth(graph, c.name, 20), A=last) for c in past)


def nested_product(order: str, use: str = "A[i,k] * T[k,l]") -> Graph:
    """D = A (X W) with the sum of X W outermost: a reducer gives T by l, then k."""
    text = (
        "tensor A[i=3, k=24] : csr\ntensor X[k, j=4] : csc\ntensor W[j, l=5] : dense\ntensor D[i, l] : dcsr\n"
        f"fuse {{\n  T[k,l] = X[k,j] * W[j,l]\n  D[i,l] = {use}\n}}\n"
    )
    return (
        compile_job(Job(parse(text), Schedule(order=tuple(order)), value=value_type("f32"))).regions[0].graph
    )


FIRST = np.eye(3, 24)[[0, 0, 0]]
"""Rows that end with their first coordinate. Their scanner says so when it sees the next l, which the reducer
gives after its fiber over k."""


@pytest.mark.parametrize("order", ["ijlk", "jilk"])
def test_a_fiber_of_a_reducer_waits_for_a_scanner_below_its_outer_coordinates(order: str) -> None:
    graph = nested_product(order)
    assert runs(graph, A=FIRST)
    fiber = [c for c in graph.channels if c.source.node == "reduce_vector_t0" and "intersect" in c.sink.node]
    assert [c.sink.port for c in fiber] == ["crd1", "ref1"]
    # The fiber and its stop, and the next coordinate in the place of the first one, which the scanner has.
    assert not any(runs(with_depth(graph, c.name, 24), A=FIRST) for c in fiber)
    assert all(runs(with_depth(graph, c.name, 25), A=FIRST) for c in fiber)


def test_what_waits_for_a_late_end_is_waited_for_in_turn() -> None:
    # A union holds the reducer's fiber until the scanner ends its own; the intersection after it waits too.
    graph = nested_product("ijlk", "T[k,l] / A[i,k]")
    assert runs(graph, A=FIRST)
    past = [c for c in graph.channels if c.source.node == "reduce_vector_t0" and "inter" in c.sink.node]
    assert past
    assert not any(runs(with_depth(graph, c.name, 24), A=FIRST) for c in past)


def test_the_held_channel_and_its_reason_are_named() -> None:
    _, reasons = compiled(RESIDUAL)
    assert reasons["relu.val->add.a"] == "a fiber over e, 9 tokens, waits for repeat_s_e.ref"


def test_what_waits_for_products_side_by_side_holds_a_fiber_for_each() -> None:
    """Of one fiber alone, the first product could not begin a row before the second has ended the last."""
    graph, reasons = compiled(TWO_PRODUCTS)
    assert reasons["relu.val->union_e.ref1"].startswith("2 times a fiber over e_2, 122 tokens, waits for ")
    assert cycles(graph) < 1.05 * (8 + 1) * 60 * 30


def test_reductions_one_behind_the_other_are_each_waited_for() -> None:
    graph, reasons = compiled(LAYER_NORM)
    depth = {c.name: c.depth for c in graph.channels}
    scan = {name: depth[name] for name in reasons if name.startswith("scan_dense_X_e.crd->repeat_")}
    assert sorted(name.rpartition("_")[0].rpartition("_")[2] for name in scan) == ["mean", "r"]


def test_what_a_channel_cannot_hold_ends_the_region_or_is_refused() -> None:
    large, arch = parse(RESIDUAL.replace("e=8", "e=100000")), Arch(deepest=1 << 16)
    first, second = compile_job(Job(large, arch=arch)).regions
    assert [r.region.statements[0].lhs.tensor for r in (first, second)] == ["H", "Y"]
    with pytest.raises(ScheduleError, match=r"hold 100,001 tokens, .* or permit more than 65,536 by"):
        compile_job(Job(large, Schedule(order=("i", "e")), arch=arch))
    (graph,) = compile_job(Job(large)).design.runs
    assert max(channel.depth for channel in graph.channels) > 100001


def concatenated(parts: str, reader: str = "") -> str:
    """A region that concatenates rows of 40 elements: T and R, made of one input, and B, another."""
    b = "tensor B[i=3, m=40] : dense\n" if "B" in parts else ""
    whole = ", ".join(f"{part}[i, j]" for part in parts)
    return (
        f"tensor X[i=3, j=40] : dense\n{b}fuse {{\n  T[i, j] = 2 * X[i, j]\n  R[i, j] = relu(T[i, j])\n"
        f"  Y[i, j] = concat(j, {whole})\n{reader}}}\n"
    )


@pytest.mark.parametrize(
    ("parts", "waiting"),
    [("TT", [1]), ("TR", [1]), ("RTT", [1, 2]), ("BTR", [2]), ("BBR", []), ("TBB", []), ("TBR", [2])],
)
def test_a_later_part_waits_as_a_whole_for_an_earlier_one_that_shares_with_it(
    parts: str, waiting: list[int]
) -> None:
    graph, reasons = compiled(concatenated(parts))
    assert runs(graph)
    held = {name for name, reason in reasons.items() if reason.endswith("waits for the parts before it")}
    ends = {(c.sink.port, c.sink.node) for c in graph.channels if c.name in held}
    assert {port for port, _ in ends} == {f"{port}{n}" for n in waiting for port in ("crd", "ref")}
    assert len({node for _, node in ends}) == bool(waiting)
    # A part and its stop. The channels before it hold some of it.
    assert all(runs(with_depth(graph, name, 41)) for name in held)
    assert not any(runs(with_depth(graph, name, 15)) for name in held)


def test_a_part_waits_if_what_reads_the_concatenation_needs_what_makes_it() -> None:
    """The other concatenation begins with what comes last in this one."""
    reader = "  Z[i, n] = concat(n, R[i, n], B[i, n])\n  W[i, n] = Y[i, n] * Z[i, n]\n"
    graph, reasons = compiled(concatenated("BT", reader))
    assert runs(graph)
    held = [name for name, reason in reasons.items() if reason.endswith("waits for the parts before it")]
    assert len(held) == 2
    assert not any(runs(with_depth(graph, name, 15)) for name in held)


def test_two_concatenations_that_take_the_same_streams_in_turn() -> None:
    """Neither union has a later part that shares with its own earlier one: they block each other."""
    text = (
        "tensor A[e=128] : dense\ntensor B[e=128] : dense\nfuse {\n  S[e] = 2 * A[e]\n  T[e] = 2 * B[e]\n"
        "  Y[e] = concat(e, S[e], T[e])\n  Z[e] = concat(e, T[e], S[e])\n}\n"
    )
    graph, reasons = compiled(text)
    assert runs(graph)
    held = [name for name, reason in reasons.items() if reason.endswith("waits for the parts before it")]
    assert len(held) == 4
    assert not runs(graph.with_depths(dict.fromkeys(held, 100)))


def test_a_part_that_no_channel_can_hold_is_recomputed_or_ends_the_region() -> None:
    program, arch = parse(concatenated("TR")), Arch(deepest=40)
    (region,) = compile_job(Job(program, arch=arch)).regions
    assert {c.tensor: c.how for c in region.computations}["T"] == "recompute"
    regions = compile_job(Job(program, Schedule(share="all"), arch=arch)).regions
    assert len(regions) == 2
    with pytest.raises(ScheduleError, match=r"41 tokens, .* which waits for the parts before it"):
        compile_job(Job(program, Schedule(share={"T": "buffer", "R": "buffer"}), arch=arch))


SPMM = """
tensor A[i=8, k=8] : csr
tensor X[k=8, j=60] : dense
tensor T[i=8, j=60] : csr
T[i, j] = A[i, k] * X[k, j]    order i, k, j
"""


def test_what_waits_for_a_read_off_chip_has_room_for_its_latency() -> None:
    """A cycle to `look`, 4 to the offer, 20 to the first of four beats, 3 more to the last, and 2 to use."""
    job = Job(parse(SPMM), value=value_type("i32"))
    (on_chip,) = compile_job(job).regions
    (beside,) = compile_job(replace(job, memory=ConstantMemory(20))).regions
    before = {channel.name: channel.depth for channel in on_chip.graph.channels}
    room = {c.name: c.depth - before[c.name] for c in beside.graph.channels if c.depth != before[c.name]}
    assert room == {
        # X is read for each token of the busiest stream: 30 cycles, 30 tokens.
        "scan_dense_X_j.crd->reduce_vector_t0.crd0": 30,
        # As many cycles for crd; but 8 x 8 coordinates, 8 stops and DONE come while 64 x 61 + 9 others do.
        "scan_compressed_A_k.ref->repeat_A_j.ref": ceil(30 * 2 * 73 / (64 * 61 + 9)),
        # Positions and crd; 8 coordinates and DONE.
        "repeat_X_i.ref->locate_X_k.ref": ceil(60 * 2 * 9 / (64 * 61 + 9)),
    }
    why = beside.reasons["scan_dense_X_j.crd->reduce_vector_t0.crd0"]
    assert why.endswith("30 tokens while reads off chip take 30 cycles longer")
    some = Schedule(place={"X": "ddr"})
    (beside,) = compile_job(replace(job, schedule=some, memory=ConstantMemory(20))).regions
    changed = [c.name for c in beside.graph.channels if c.depth != before[c.name]]
    assert changed == ["array_A.val->mul.a", "scan_dense_X_j.crd->reduce_vector_t0.crd0"]


def test_a_log_sizes_channels_as_the_memory_that_it_is_of(tmp_path: Path) -> None:
    path, job = tmp_path / "log", Job(parse(SPMM), value=value_type("i32"))
    write_log(path, RandomMemory(1), [])
    found = [
        [c.depth for c in compile_job(replace(job, memory=memory)).regions[0].graph.channels]
        for memory in (RandomMemory(1), RecordedMemory(str(path)), None)
    ]
    assert found[0] == found[1] != found[2]
    path.write_text("samhw memory log 1\n")
    (old,) = compile_job(replace(job, memory=RecordedMemory(str(path)))).regions
    assert max(c.depth for c in old.graph.channels) < max(found[0])
    path.write_text("samhw memory log 1\nlatency many\n")
    with pytest.raises(InputError, match=r"Line 2 of .* has no latency"):
        compile_job(replace(job, memory=RecordedMemory(str(path))))
