"""Composition of operators, merging of blocks and loops, fusion of access maps: what each pass leaves."""

from typing import Any

import numpy as np
import pytest

from samhw.lang import nested
from samhw.lang.nested import ListType
from samhw.lang.nested.dataflow import BlockNode, ListView, Pieces

TABLE = """
          map     reduce  scanr  scanl  scan
map       map     reduce  scanr  scanl  scan
reduce    reduce  reduce  scanr  scanl  scan
scanr     scanr   scanr   scanr  -      scanr
scanl     scanl   scanl   -      scanl  scanl
scan      scan    scan    scanr  scanl  scan
"""
"""Table 3 of the FractalTensor paper, its two exchanged cells mended: the last but one of its fourth row is
printed as the third, and the third as the last."""


def cells() -> list[tuple[str, str, str]]:
    head, *rows = [line.split() for line in TABLE.strip().splitlines()]
    return [(row[0], other, cell) for row in rows for other, cell in zip(head, row[1:], strict=True)]


@pytest.mark.parametrize(("first", "second", "expected"), cells())
def test_table_3(first: str, second: str, expected: str) -> None:
    assert nested.composed(first, second) == (None if expected == "-" else expected)


@pytest.mark.parametrize("direction", ["l", "r"])
def test_folds_compose_as_scans_do(direction: str) -> None:
    other = "r" if direction == "l" else "l"
    assert nested.composed(f"fold{direction}", f"scan{direction}") == f"scan{direction}"
    assert nested.composed(f"fold{direction}", f"scan{other}") is None


def loops_of(function: nested.NestedFunction) -> list[list[tuple[str, int]]]:
    return [[(loop.operator, loop.extent) for loop in block.loops] for block in function.blocks]


def prepared(function: Any, *types: Any) -> nested.NestedFunction:
    return nested.perfect_nests(nested.fuse_access_maps(nested.trace(function, *types)))


def test_a_map_merges_into_the_scan_behind_it() -> None:
    found = prepared(lambda xs: xs.map(lambda x: x * 2).scanl(lambda s, x: s + x, 0), ListType((4,)))
    assert loops_of(found) == [[("map", 4)], [("scanl", 4)]]
    assert loops_of(nested.merge_vertically(found)) == [[("scanl", 4)]]


def test_two_scans_merge_when_asked() -> None:
    found = prepared(
        lambda xs: xs.scanl(lambda s, x: s + x, 0).scanl(lambda s, x: s * 2 + x, 0), ListType((4,))
    )
    assert len(nested.merge_vertically(found).blocks) == 2
    assert loops_of(nested.merge_vertically(found, sequential=True)) == [[("scanl", 4)]]


def test_opposite_scans_stay_apart() -> None:
    found = prepared(lambda xs: xs.scanl(lambda s, x: s + x, 0).scanr(lambda s, x: s + x, 0), ListType((4,)))
    assert len(nested.merge_vertically(found, sequential=True).blocks) == 2


@pytest.mark.parametrize(("shift", "blocks"), [(0, 1), (1, 2)])
def test_what_a_later_iteration_computes_keeps_blocks_apart(shift: int, blocks: int) -> None:
    """Reading one place ahead is reading what is not there yet."""

    def function(xs: Any) -> Any:
        ys = xs.map(lambda x: x * 2)
        return ys[shift:].map(lambda y: y + 1) if shift else ys.map(lambda y: y + 1)

    assert len(nested.merge_vertically(prepared(function, ListType((4,)))).blocks) == blocks


def test_what_the_next_iteration_computes_keeps_blocks_apart() -> None:
    """The extents agree, and each iteration reads one place ahead."""

    def function(xs: Any) -> Any:
        ys = xs.map(lambda x: x * 2)
        return nested.join(ys[1:], xs[:1]).map(lambda y: y + 1)

    found = prepared(function, ListType((4,)))
    assert loops_of(nested.merge_vertically(found)) == [[("map", 4)], [("map", 4)]]


def test_operations_become_loops() -> None:
    """Integers are the same to the bit, whatever the order of sums."""

    def function(xs: Any) -> Any:
        kept = xs.map(lambda x: x - x.max(axis=1, keepdims=True))
        return kept, kept.map(lambda x: (x @ x.T).sum(axis=0)), xs.map(lambda x: x.min())

    xs = nested.nested_tensor(np.random.default_rng(0).integers(-4, 5, (2, 3, 4)))
    found = nested.coarsened(nested.operations_as_loops(nested.trace(function, xs)))
    assert found.merged
    results = nested.evaluate(found.function, xs)
    for one, other in zip(function(xs), results, strict=True):
        assert np.array_equal(one.array, other.array)


def test_loops_that_differ_become_blocks_inside() -> None:
    def function(xss: Any) -> Any:
        ys = xss.map(lambda xs: xs.reduce(lambda s, x: s + x, 0))
        return nested.zip(ys, xss).map(lambda y, xs: xs[:2].map(lambda x: x - y))

    found = nested.merge_vertically(prepared(function, ListType((3, 4))))
    assert loops_of(found) == [[("map", 3)]]
    inner = [item for item in found.blocks[0].body if isinstance(item, BlockNode)]
    assert [[(loop.operator, loop.extent) for loop in block.loops] for block in inner] == [
        [("reduce", 4)],
        [("map", 2)],
    ]


def test_independent_blocks_merge_side_by_side() -> None:
    log: list[str] = []
    found = prepared(lambda xs: (xs.map(lambda x: x + 1), xs.map(lambda x: x - 1)), ListType((4,)))
    merged = nested.merge_horizontally(found, log)
    assert loops_of(merged) == [[("map", 4)]]
    assert log == ["[map i < 4] (t) and [map i < 4] (t_2)"]


def test_a_path_through_another_block_keeps_blocks_apart() -> None:
    """No edge leads from the first to the third, but one through the second does: as one block, each of the
    two would wait for the other."""

    def function(xs: Any) -> Any:
        ys = xs.map(lambda x: x + 1)
        total = ys.reduce(lambda s, x: s + x, 0)
        return ys, xs.map(lambda x: x - total)

    assert len(nested.merge_horizontally(prepared(function, ListType((4,)))).blocks) == 3


def test_access_maps_become_one() -> None:
    """A window of a part of what is reversed: one map, and one matrix."""
    traced = nested.trace(lambda xs: xs[::-1][1:].slide(2, 2).map(lambda w: w[0] - w[1]), ListType((8,)))
    assert sum(isinstance(buffer, ListView) for buffer in traced.buffers.values()) == 4
    fused = nested.fuse_access_maps(traced)
    assert sum(isinstance(buffer, ListView) for buffer in fused.buffers.values()) == 1
    reads = [edge for edge in nested.task_graph(fused).edges if not edge.written]
    assert [edge.map for edge in reads] == [(((-2,),), (6,)), (((-2,),), (5,))]


def test_pieces_stay_where_a_read_may_come_to_several() -> None:
    def function(xs: Any) -> Any:
        both = nested.join(xs, xs)
        return both[4:].map(lambda x: x + 1), both[1:].map(lambda x: x + 1)

    fused = nested.fuse_access_maps(nested.trace(function, ListType((4,))))
    text = str(fused)
    assert "t[i] = xs[i] + 1" in text
    assert "t_2[i] = join[i + 1] + 1" in text
    assert sum(isinstance(buffer, Pieces) for buffer in fused.buffers.values()) == 1


def test_two_maps_become_one() -> None:
    log: list[str] = []

    def function(xss: Any, y: Any) -> Any:
        return xss.map(lambda xs: xs.map(lambda x: x * y))

    found = nested.merge_loops(prepared(function, ListType((2, 3)), np.asarray(3)), log)
    assert loops_of(found) == [[("map", 6)]]
    assert log == ["map i < 2 and map j < 3"]
    xss = nested.nested_tensor(np.arange(6).reshape(2, 3), 2)
    assert nested.evaluate(found, xss, np.asarray(3)).array.tolist() == [[0, 3, 6], [9, 12, 15]]


def test_maps_of_what_is_not_contiguous_stay_two() -> None:
    def function(xss: Any, ys: Any) -> Any:
        return xss.map(lambda xs: nested.zip(xs, ys).map(lambda x, y: x * y))

    def shorter(xss: Any) -> Any:
        return xss.map(lambda xs: xs[:2].map(lambda x: x * 2))

    for found in (
        prepared(function, ListType((2, 3)), ListType((3,))),
        prepared(shorter, ListType((2, 3))),
    ):
        assert loops_of(nested.merge_loops(found)) == loops_of(found)


def test_the_graph_of_a_stacked_rnn() -> None:
    def stacked_rnn(xss: Any, ws: Any) -> Any:
        return xss.map(lambda xs: ws.scanl(lambda ss, w: ss.scanl(lambda s, x: x @ w + s, 0), xs))

    graph = nested.dependences(stacked_rnn, ListType((2, 8), (4,)), ListType((3,), (4, 4))).graph
    assert (graph.depth, graph.dimension) == (2, 3)
    assert str(graph) == (
        "block0: map i < 2, scanl j < 3, scanl k < 8\n"
        "  reads xss[i, k] where 0 <= j < 1   M = [1 0 0; 0 0 1], o = [0, 0]\n"
        "  reads t_2[i, j - 1, k] where 1 <= j < 3   M = [1 0 0; 0 1 0; 0 0 1], o = [0, -1, 0]\n"
        "  reads ws[j]   M = [0 1 0], o = [0]\n"
        "  writes t[i, j, k]   M = [1 0 0; 0 1 0; 0 0 1], o = [0, 0, 0]\n"
        "  reads t_2[i, j, k - 1] where 1 <= k < 8   M = [1 0 0; 0 1 0; 0 0 1], o = [0, 0, -1]\n"
        "  writes t_2[i, j, k]   M = [1 0 0; 0 1 0; 0 0 1], o = [0, 0, 0]\n"
    )
    assert '"ws" -> "t";' in graph.dot
    assert graph.dot.count("subgraph") == 1


def test_a_graph_is_drawn() -> None:
    pytest.importorskip("pygraphviz")
    graph = nested.dependences(lambda xs: xs.map(lambda x: x + 1), ListType((4,))).graph
    assert b"<svg" in graph.draw("svg")


def test_a_list_of_which_places_pick_keeps_its_loops() -> None:
    def function(xss: Any, ids: Any) -> Any:
        return xss.map(lambda xs: xs.map(lambda x: x + 1))[ids]

    arguments = [nested.nested_tensor(np.arange(6).reshape(3, 2), 2), nested.nested_tensor(np.array([2, 0]))]
    found = nested.coarsened(nested.trace(function, *arguments)).function
    assert nested.evaluate(found, *arguments).array.tolist() == [[5, 6], [1, 2]]
