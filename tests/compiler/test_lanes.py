"""Lanes: which nodes are copied, what distributes to them, in which order sums meet, what is refused."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.graph_passes.lanes import lane_factors
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, ScheduleError
from samhw.graph import Arch, Design, Graph, dumps, loads, to_dot
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.sim import DeadlockError, lane_loads
from samhw.targets.backends import run
from samhw.tensors import Tensor

SPMM = """
tensor A[i=9, k=12] : csr
tensor X[k, j=5] : dense
tensor T[i, j] : csr
T[i, j] = A[i, k] * X[k, j]    order i, k, j
"""
READ_AGAIN = f"tensor y[i=9] : dense\n{SPMM}y[i] = T[i, j]    order i, j\n"
"""T is no part of a lane: a later region reads it."""
SDDMM = """
tensor B[i=9, j=12] : dcsr
tensor C[i, k=5] : dense
tensor D[j, k] : dense
tensor X[i, j] : dcsr
X[i, j] = B[i, j] * C[i, k] * D[j, k]    order i, j, k
"""
CUBE = """
tensor A[i=7, j=3, k=4] : csf
tensor w[k] : dense
tensor Y[i, j, k] : csf
Y[i, j, k] = A[i, j, k] * w[k]    order i, j, k
"""
OUTER_SUM = """
tensor A[k=6, i=5] : csr
tensor X[k, j=4] : csr
tensor W[j, h=3] : dense
tensor Y[i, h] : dcsr
fuse {
  T[i, j] = A[k, i] * X[k, j]    order k, i, j
  Y[i, h] = T[i, j] * W[j, h]    order i, j, h
}
"""
GREATEST = """
tensor M[k=5, j=4] : csr
tensor m[j] : csf
m[j] max= M[k, j] where M[k, j]
"""


def compiled(text: str, arch: Arch | None = None, value: str = "i32", **lanes: int) -> Compiled:
    return compile_job(Job(parse(text), Schedule(lanes=lanes), arch=arch or Arch(), value=value_type(value)))


def graph_of(text: str, **lanes: int) -> Graph:
    return compiled(text, **lanes).regions[0].graph


def tensors_of(text: str, seed: int = 0) -> dict[str, Tensor]:
    rng = np.random.default_rng(seed)
    return {
        decl.name: Tensor.from_dense(rng.integers(-9, 9, shape) * (rng.random(shape) < 0.6), decl.format)
        for decl in parse(text).bind({}).inputs
        for shape in [tuple(extent or 1 for extent in decl.shape)]
    }


# What is made


def test_rows_are_dealt_and_taken_back() -> None:
    one, three = graph_of(READ_AGAIN), graph_of(READ_AGAIN, i=3)
    copied = {node.copy_of for node in three.nodes} - {""}
    assert copied == {
        *("scan_compressed_A_k", "locate_X_k", "scan_dense_X_j", "repeat_A_j"),
        *("array_A", "array_X", "mul", "reduce_vector_t0"),
    }
    kinds = Counter(node.kind for node in three.nodes if not node.copy_of)
    assert kinds == Counter(n.kind for n in one.nodes if n.name not in copied) + Counter(scatter=2, gather=2)
    assert Counter(node.copy_of for node in three.nodes if node.copy_of) == dict.fromkeys(copied, 3)
    assert {node.params["levels"] for node in three.nodes if node.kind == "gather"} == {1}
    assert three.node["mul_i2"].copy_of == "mul"
    # What a copy works on is what the node works on.
    assert all(n.index == one.node[n.copy_of].index for n in three.nodes if n.copy_of)
    assert {n.index for n in three.nodes if n.kind in ("scatter", "gather")} == {"i"}


@pytest.mark.parametrize("text", [SPMM, SDDMM])
def test_lanes_store_what_they_make(text: str) -> None:
    """With the rows of SDDMM that are left."""
    one, three = graph_of(text), graph_of(text, i=3)
    kinds = [Counter(node.kind for node in graph.nodes) for graph in (one, three)]
    stored = Counter(write_compressed=3, write_val=3) if text == SPMM else Counter(drop_crd=3)
    assert kinds[1]["gather"] == 0
    assert {kind: kinds[1][kind] for kind in stored} == stored
    names = {f"{'T' if text == SPMM else 'X'}.{array}" for array in ("pos1", "crd1", "vals")}
    shards = {memory.name for memory in three.memories if memory.shard is not None}
    names |= set() if text == SPMM else {"X.pos0", "X.crd0"}
    assert shards == {f"{name}.{shard}" for name in names for shard in range(3)}
    assert [tensor.shards for tensor in three.tensors] == [1] * (len(three.tensors) - 1) + [3]
    assert all(three.node[name].copy_of for name in ("drop_val_X_i0",) if text == SDDMM)


def test_capacities_of_shards() -> None:
    """Nine rows of five: a shard has five rows at most, and may have all of the entries."""
    sizes = {memory.name: memory.capacity for memory in graph_of(SPMM, i=2).memories if memory.tensor == "T"}
    assert sizes == {
        "T.pos1.0": 6,
        "T.crd1.0": 25,
        "T.vals.0": 25,
        "T.pos1.1": 6,
        "T.crd1.1": 25,
        "T.vals.1": 25,
    }
    (region,) = compiled(SPMM, i=18).regions
    assert region.graph.memory["T.vals.17"].capacity == 5


@pytest.mark.parametrize(
    ("text", "lanes", "gathers"),
    [
        (READ_AGAIN, {"i": 2}, 2),  # A later region reads it whole.
        (SPMM, {"k": 2}, 0),
        (SDDMM, {"j": 2}, 1),  # Its outermost index has no lanes.
        (SDDMM, {"i": 2, "j": 2}, 2),
    ],
)
def test_what_is_taken_back(text: str, lanes: dict[str, int], gathers: int) -> None:
    assert sum(node.kind == "gather" for node in graph_of(text, **lanes).nodes) == gathers


def test_lanes_in_lanes() -> None:
    graph = graph_of(SDDMM, i=2, j=3)
    assert Counter(node.copy_of for node in graph.nodes)["mul"] == 6
    assert {"mul_j2_i1", "scatter_repeat_C_j_ref_i0"} <= graph.node.keys()
    # Those that distribute j are copied for each lane of i.
    assert graph.node["scatter_repeat_C_j_ref_i0"].copy_of == "scatter_repeat_C_j_ref"


def test_many_lanes_are_a_tree() -> None:
    graph = graph_of(SPMM, i=32)
    scatters = Counter(node.params["lanes"] for node in graph.nodes if node.kind == "scatter")
    assert scatters == {8: 2, 4: 16}
    assert Counter(node.copy_of for node in graph.nodes)["mul"] == 32


@pytest.mark.parametrize(
    ("lanes", "factors"),
    [(1, ()), (8, (8,)), (11, (11,)), (16, (8, 2)), (18, (6, 3)), (26, (2, 13)), (64, (8, 8))],
)
def test_factors(lanes: int, factors: tuple[int, ...]) -> None:
    assert lane_factors(lanes) == factors


def test_a_graph_with_lanes_as_json() -> None:
    design = compiled(SDDMM, i=2, j=3).design
    assert loads(dumps(design)) == design


# What it computes


@pytest.mark.parametrize(
    ("text", "lanes"),
    [
        *((SPMM, {"i": count}) for count in (2, 8, 9, 10, 32)),
        *((SPMM, lanes) for lanes in ({"k": 4}, {"k": 18}, {"i": 4, "k": 2})),
        *((text, {"i": 3}) for text in (READ_AGAIN, CUBE, CUBE.replace("csf", "dense"))),
        *((SDDMM, lanes) for lanes in ({"i": 2}, {"j": 3}, {"i": 4, "j": 5}, {"i": 3, "j": 18})),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, None])
def test_results_are_those_of_one_lane(text: str, lanes: dict[str, int], seed: int | None) -> None:
    tensors = tensors_of(text, seed or 0)
    if seed is None:
        tensors = {name: Tensor.from_dense(np.zeros(t.shape), t.format) for name, t in tensors.items()}
    expected = run(compiled(text), tensors).outputs
    found = run(compiled(text, **lanes), tensors).outputs
    for name, tensor in expected.items():
        for array, words in tensor.arrays().items():
            assert np.array_equal(words, found[name].arrays()[array]), array


def test_lanes_pay() -> None:
    dense = {
        "A": Tensor.from_dense(np.ones((9, 12)), "csr"),
        "X": Tensor.from_dense(np.ones((12, 5)), "dense"),
    }
    one, three, nine = (run(compiled(SPMM, i=count), dense).cycles for count in (1, 3, 9))
    # A row takes 12 times 5 cycles and a stop, and 5 and a stop to be collected.
    assert 6 * 12 * 6 - 20 < one - three < 6 * 12 * 6
    assert nine < 12 * 6 + 9 * 6 + 60


def test_the_order_in_which_sums_of_lanes_meet() -> None:
    """Of 24 products whose sum in f32 depends on their order."""
    text = "tensor A[i=1, k=24] : csr\ntensor X[k, j=1] : csr\ntensor T[i, j] : csr\n"
    text += "T[i, j] = A[i, k] * X[k, j]    order i, k, j\n"
    rng = np.random.default_rng(40)
    # Large terms that cancel leave what their order has rounded away.
    a = (rng.normal(size=24) + 1e6 * rng.permutation([1, -1] * 12)).astype(np.float32)
    tensors = {
        "A": Tensor.from_dense(a[None, :], "csr"),
        "X": Tensor.from_dense(np.ones((24, 1)), "csr"),
    }

    def added(terms: np.ndarray) -> np.float32:
        total = np.float32(0)
        for number, term in enumerate(terms):
            total = term if number == 0 else total + term
        return total

    def met(sums: list[np.float32]) -> np.float32:
        while len(sums) > 1:
            pairs = [x + y for x, y in zip(sums[::2], sums[1::2], strict=False)]
            sums = pairs + sums[len(sums) & ~1 :]
        return sums[0]

    fifths = [added(a[lane::5]) for lane in range(5)]
    assert len({met(fifths), added(np.array(fifths)), added(a)}) == 3
    for count in (1, 2, 3, 5, 7):
        found = run(compiled(text, value="f32", k=count), tensors).outputs["T"].vals[0]
        assert np.float32(found) == met([added(a[lane::count]) for lane in range(count)]), count


# Room


def test_what_passes_lanes_by_has_room_for_their_rows() -> None:
    """A lane ends its row when it sees its next coordinate, a round later; these wait to meet the row."""
    arch = Arch(lane_rows=0, lane_tokens=0, slack=1)
    text = f"tensor y[i=9] : dense\n{SDDMM}y[i] = X[i, j]    order i, j\n"
    tensors = tensors_of(text)
    made = compiled(text, arch, i=4)
    assert run(made, tensors).cycles
    region, after = made.regions
    (waiting,) = [name for name, reason in region.reasons.items() if "rows that are in lanes" in reason]
    assert waiting == "scan_compressed_B_i.crd->drop_crd_X_i.outer"
    depths = {c.name: c.depth for c in region.graph.channels} | {waiting: 3}
    shallow = replace(region, graph=region.graph.with_depths(depths))
    with pytest.raises(DeadlockError):
        run(replace(made, regions=(shallow, after)), tensors)


def test_room_for_lanes_that_do_not_keep_pace() -> None:
    region = compiled(READ_AGAIN, Arch(lane_rows=10, lane_tokens=40), i=3).regions[0]
    scattered = {n: r for n, r in region.reasons.items() if "a lane may be behind" in r}
    gathered = {n: r for n, r in region.reasons.items() if "wait for their turn" in r}
    assert len(scattered) == 6
    assert all("10 coordinates" in reason for reason in scattered.values())
    # Ten rows of five values and a stop are more than 40.
    assert len(gathered) == 6
    assert all("40 tokens" in reason for reason in gathered.values())


# What is refused


@pytest.mark.parametrize(
    ("text", "lanes", "message"),
    [
        (
            SPMM,
            {"j": 2},
            "Nothing lies inside of 'j' that lanes could share; give lanes to an index further out",
        ),
        (
            OUTER_SUM,
            {"k": 2},
            "'k' cannot have lanes: reduce_vector_t0 reduces it, and only sums that keep one",
        ),
        (GREATEST, {"k": 2}, "'k' cannot have lanes: reduce_vector_.* reduces it"),
    ],
)
def test_what_cannot_have_lanes(text: str, lanes: dict[str, int], message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        compiled(text, **lanes)


def test_a_region_that_cannot_have_lanes_ends_where_its_parts_can() -> None:
    with pytest.raises(ScheduleError, match="would have to take what reduce_vector_t0 gives apart"):
        compile_job(Job(parse(OUTER_SUM), Schedule(lanes={"i": 2}, share="none")))
    made = compiled(OUTER_SUM, i=2)
    assert [len(region.region.statements) for region in made.regions] == [1, 1, 1]
    tensors = tensors_of(OUTER_SUM)
    outputs = [run(design, tensors).outputs["Y"].to_dense() for design in (made, compiled(OUTER_SUM))]
    np.testing.assert_array_equal(*outputs)


def test_an_index_that_there_is_not() -> None:
    with pytest.raises(InputError, match="There is no index 'q' to have lanes; take one of i, k, j"):
        compiled(SPMM, q=2)


def test_a_number_that_no_tree_has() -> None:
    with pytest.raises(InputError, match="34 lanes cannot be made of scatters with at most 16 lanes each"):
        compiled(SPMM, i=34)


# What is shown


def test_lanes_are_drawn_as_one() -> None:
    text = to_dot(Design.of(graph_of(READ_AGAIN, i=3, k=2)))
    assert text.count("mul (6 lanes)") == text.count('"mul" [label') == 1
    assert text.count('-> "mul"') == 2
    assert text.count('-> "gather_') == 2


def test_the_loads_of_lanes() -> None:
    tensors = {
        "A": Tensor.from_dense(np.tri(9, 12), "csr"),  # Row i has i + 1 coordinates.
        "X": Tensor.from_dense(np.ones((12, 5)), "dense"),
    }
    made = compiled(SPMM, i=3)
    (region,) = run(made, tensors).regions
    assert region.statistics
    loads = lane_loads(region.graph, region.statistics.nodes)
    assert loads
    assert loads.node == "scan_dense_X_j"
    # Rows of 1, 4, 7 and of 2, 5, 8 and of 3, 6, 9, of six tokens each, and the last stop and DONE.
    assert loads.firings == tuple(6 * rows + 1 for rows in (12, 15, 18))
    assert loads.balance == pytest.approx(91 / 109)
    assert str(loads) == "3 of scan_dense_X_j: 73 to 109 firings; evenly distributed 91 each (83% balanced)"
    one = compiled(SPMM)
    (region,) = run(one, tensors).regions
    assert region.statistics
    assert lane_loads(region.graph, region.statistics.nodes) is None


def test_memories_have_a_copy_for_each_reader() -> None:
    assert compiled(SPMM).design.copies == {
        **dict.fromkeys(("A.pos1", "A.crd1", "A.vals", "X.vals", "T.pos1", "T.crd1", "T.vals"), 1),
        "A.pos1": 2,
    }
    assert compiled(SPMM, i=3).design.copies["A.pos1"] == 6
    assert compiled(SPMM, i=3).design.copies["X.vals"] == 3


def test_a_lane_holds_its_share_of_a_fiber() -> None:
    """Scores wait for the maximum of their row: with lanes on their index, those of the lane."""
    text = "tensor S[i=3, j=9, k=2] : csf\ntensor P[i, j, k] : csf\nfuse {\n"
    text += "  m[i] max= S[i, j, k] where S[i, j, k]\n"
    text += "  P[i, j, k] = S[i, j, k] - m[i] where S[i, j, k]\n}\n"
    for count, tokens in ((1, 9 * 3 + 1), (4, 3 * 3 + 1)):
        reasons = compiled(text, j=count).regions[0].reasons.values()
        held = [reason for reason in reasons if "a fiber over j, k" in reason]
        assert len(held) == 3 * count
        assert all(f", {tokens} tokens, waits for" in reason for reason in held)
    tensors = tensors_of(text)
    tensors["S"] = Tensor.from_dense(np.ones((3, 9, 2)), "csf")
    outputs = [run(compiled(text, j=count), tensors).outputs["P"].to_dense() for count in (1, 4)]
    assert np.array_equal(*outputs)
