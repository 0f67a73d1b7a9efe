"""In which order a statement's loops stand, and with it the modes of what it writes."""

from collections.abc import Iterable, Sequence

import networkx as nx

from samhw.lang.index import add_chains

__all__ = ["loop_order"]

Indices = tuple[str, ...]


def loop_order(
    indices: Sequence[str],
    storage: Sequence[Indices],
    hint: Sequence[str] = (),
    kept: Sequence[str] = (),
    innermost: str | None = None,
) -> tuple[Indices, tuple[int, ...]]:
    """An order of the indices that follows storage orders, and the numbers of those that it cannot follow.

    Inside of a sum at most one of the `kept` indices stands: a sum that keeps more gives fibers of fibers,
    which a dense result cannot take. Where there is a choice, as many storage orders as can be are followed;
    then the hint comes first, and then the order in which the indices are given. An index may have to be the
    innermost one.
    """
    rank = {index: place for place, index in enumerate(dict.fromkeys((*hint, *indices)))}
    if innermost is not None:
        return _order(indices, [(index, innermost) for index in indices if index != innermost], storage, rank)
    removed = [index for index in indices if index not in kept]
    inner = sorted(kept, key=lambda index: -rank[index]) if removed else []
    best: tuple[Indices, tuple[int, ...]] | None = None
    choices: tuple[str | None, ...] = (*inner, None)
    for last in choices:
        first = [(one, other) for one in kept if one != last for other in removed]
        found = _order(indices, first, storage, rank)
        if best is None or len(found[1]) < len(best[1]):
            best = found
    assert best is not None
    return best


def _order(
    indices: Sequence[str], edges: Iterable[tuple[str, str]], storage: Sequence[Indices], rank: dict[str, int]
) -> tuple[Indices, tuple[int, ...]]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(indices)
    graph.add_edges_from(edges)
    against = add_chains(graph, storage)
    return tuple(nx.lexicographical_topological_sort(graph, key=lambda index: rank[index])), against
