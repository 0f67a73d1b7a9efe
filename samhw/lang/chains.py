"""Chains of indices, outermost first, which one order of loops is to follow."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import networkx as nx

__all__ = ["add_chains"]


def add_chains(graph: "nx.DiGraph[str]", chains: Iterable[Sequence[str]]) -> tuple[int, ...]:
    """Adds to a graph of indices each chain that leaves it without a cycle, beside those before it.

    Returns:
        The numbers of the other chains, which no order that follows these can follow.
    """
    against = []
    for number, chain in enumerate(chains):
        new = [edge for edge in pairwise(chain) if not graph.has_edge(*edge)]
        graph.add_edges_from(new)
        if not nx.is_directed_acyclic_graph(graph):
            graph.remove_edges_from(new)
            against.append(number)
    return tuple(against)
