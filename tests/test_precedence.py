"""Directed graphs of few nodes, against NetworkX."""

from graphlib import CycleError

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.precedence import Precedence, reached

NODES = st.integers(0, 6)


@given(
    nodes=st.lists(NODES), edges=st.lists(st.tuples(NODES, NODES), max_size=9), sign=st.sampled_from([1, -1])
)
def test_answers_are_those_of_networkx(nodes: list[int], edges: list[tuple[int, int]], sign: int) -> None:
    graph = Precedence(nodes, edges)
    theirs: nx.DiGraph[int] = nx.DiGraph()
    theirs.add_nodes_from(nodes)
    theirs.add_edges_from(edges)
    assert list(graph) == list(theirs)
    assert set(graph.edges) == set(theirs.edges)
    assert graph.is_acyclic is nx.is_directed_acyclic_graph(theirs)
    for node in theirs:
        assert [*graph.after(node)] == [*theirs.successors(node)]
        assert [*graph.before(node)] == [*theirs.predecessors(node)]
        assert reached([node], graph.after) == {node} | nx.descendants(theirs, node)
        assert all(graph.leads(node, other) is nx.has_path(theirs, node, other) for other in theirs)
    if graph.is_acyclic:
        keys = {node: sign * (node // 2) for node in theirs}
        ordered = nx.lexicographical_topological_sort(theirs, keys.__getitem__)
        assert graph.order(keys.__getitem__) == tuple(ordered)
    else:
        assert graph.cycle() == [*nx.find_cycle(theirs)]
        with pytest.raises(CycleError):
            graph.order(abs)


def test_an_edge_knows_what_asks_for_it() -> None:
    graph = Precedence[str]()
    graph.add_edges([("i", "j"), ("j", "k")], "A")
    graph.add_edges([("i", "j")], "B")
    assert graph.edges["i", "j"] == ["A", "B"]
    graph.remove_edges([("i", "j")])
    assert list(graph.edges) == [("j", "k")]
    assert not graph.after("i")
    assert len(graph) == 3
