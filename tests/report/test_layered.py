"""Graphs in layers: nothing overlaps, edges lead down, and the work grows like the graph."""

import sys

from hypothesis import given
from hypothesis import strategies as st

from samhw.app.report.layered import Edge, Layout, layered

NODE = (80.0, 30.0)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[Edge]]:
    """Sizes, and edges from nodes to later ones."""
    count = draw(st.integers(1, 20))
    sizes = [(draw(st.sampled_from([40.0, 80.0, 200.0])), 30.0) for _ in range(count)]
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    pairs = draw(st.lists(ends, max_size=40))
    return sizes, [Edge(min(pair), max(pair), sum(pair) % 2) for pair in pairs if pair[0] != pair[1]]


def overlaps(sizes: list[tuple[float, float]], layout: Layout) -> bool:
    boxes = [(x - w / 2, x + w / 2, y) for (x, y), (w, _) in zip(layout.places, sizes, strict=True)]
    return any(
        a[2] == b[2] and a[0] < b[1] - 1e-6 and b[0] < a[1] - 1e-6
        for place, a in enumerate(boxes)
        for b in boxes[:place]
    )


@given(graphs())
def test_nothing_overlaps_and_edges_lead_down(graph: tuple[list[tuple[float, float]], list[Edge]]) -> None:
    sizes, edges = graph
    layout = layered(sizes, edges)
    assert len(layout.places) == len(sizes)
    assert not overlaps(sizes, layout)
    for edge, route in zip(edges, layout.routes, strict=True):
        assert route[0] == layout.places[edge.source]
        assert route[-1] == layout.places[edge.sink]
        heights = [y for _, y in route]
        assert heights == sorted(set(heights))
    for x, y in layout.places:
        assert 0 <= x <= layout.width
        assert 0 <= y <= layout.height
    assert layered(sizes, edges) == layout


def test_two_chains_do_not_cross() -> None:
    chains = [Edge(0, 3), Edge(1, 2), Edge(2, 5), Edge(3, 4)]
    xs = [x for x, _ in layered([NODE] * 6, chains).places]
    assert (xs[0] < xs[1]) == (xs[3] < xs[2]) == (xs[4] < xs[5])
    assert xs[0] == xs[3] == xs[4]


def test_what_starts_late_stands_close_to_its_reader() -> None:
    layout = layered([NODE] * 5, [Edge(0, 1), Edge(1, 2), Edge(2, 4), Edge(3, 4)])
    assert layout.places[3][1] == layout.places[2][1]


def test_edges_of_a_trunk_go_the_same_way() -> None:
    edges = [Edge(0, 1), Edge(1, 2), Edge(2, 3), Edge(0, 2, "out"), Edge(0, 3, "out")]
    layout = layered([NODE] * 4, edges)
    assert layout.routes[4][1] == layout.routes[3][1]


def test_no_graph_at_all() -> None:
    assert layered([], []) == Layout([], [], 0.0, 0.0)


def calls(count: int) -> int:
    """How many functions are called to lay out a graph of this many nodes, with edges that pass many
    layers."""
    edges = [
        Edge(n, n + step) for n in range(count) for step in (1, 7, 40) if n + step < count and n % step < 3
    ]
    found = 0

    def count_call(frame: object, event: str, argument: object) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    sys.setprofile(count_call)
    try:
        layered([NODE] * count, edges)
    finally:
        sys.setprofile(None)
    return found


def test_the_work_grows_like_the_graph() -> None:
    assert calls(4_000) < 2.5 * calls(2_000)
