"""The order of a statement's indices: the partial order graph of mode orders, and its topological orders.

FuseFlow section 5: an edge u -> v says that index u is iterated outside of v. Every access contributes the
chain of its storage order.
"""

from collections.abc import Sequence
from itertools import pairwise

import networkx as nx

from samhw.compiler.einsum import stored_format
from samhw.errors import InputError
from samhw.frontend import Access, Program, Statement, accesses

__all__ = ["choose_order", "partial_order"]


def storage_order(program: Program, access: Access) -> tuple[str, ...]:
    """The indices of an access from the outermost stored level to the innermost."""
    fmt = stored_format(program.tensors[access.tensor].format)
    return tuple(access.indices[mode] for mode in fmt.mode_order)


def partial_order(program: Program, statement: Statement) -> "nx.DiGraph[str]":
    """The partial order graph of a statement. Each edge has `views`: the accesses that ask for it."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(statement.indices)
    for access in statement.accesses:
        chain = storage_order(program, access)
        for outer, inner in pairwise(chain):
            if not graph.has_edge(outer, inner):
                graph.add_edge(outer, inner, views=[])
            graph.edges[outer, inner]["views"].append(access)
    return graph


def choose_order(
    program: Program, statement: Statement, order: Sequence[str] | None = None
) -> tuple[str, ...]:
    """The order asked for, by the call or by the statement, or else the first topological order.

    Among free choices the index that appears first in the text comes first. Raises `InputError` where an
    order is not concordant with a tensor's storage, or where the storage orders leave none.
    """
    wanted = tuple(order) if order is not None else statement.order
    if wanted is not None:
        return _checked(program, statement, wanted)
    graph = partial_order(program, statement)
    rank = {index: n for n, index in enumerate(statement.indices)}
    try:
        return tuple(nx.lexicographical_topological_sort(graph, key=rank.__getitem__))
    except nx.NetworkXUnfeasible:
        cycle = nx.find_cycle(graph)
        asked = ", ".join(f"{graph.edges[u, v]['views'][0]} wants {u} outside {v}" for u, v, *_ in cycle)
        raise InputError(
            f"No order of indices suits the storage of all tensors ({asked}); store one of them in another "
            "mode order, such as '@ (1, 0)'."
        ) from None


def _checked(program: Program, statement: Statement, order: tuple[str, ...]) -> tuple[str, ...]:
    if sorted(order) != sorted(statement.indices):
        raise InputError(
            f"The order {','.join(order)} does not name each index of '{statement.lhs}' once; its indices "
            f"are {', '.join(statement.indices)}."
        )
    position = {index: n for n, index in enumerate(order)}
    for access in (statement.lhs, *accesses(statement.rhs)):
        chain = storage_order(program, access)
        for outer, inner in pairwise(chain):
            if position[outer] > position[inner]:
                modes = tuple(sorted(range(len(access.indices)), key=lambda m: position[access.indices[m]]))
                raise InputError(
                    f"The order {','.join(order)} visits {inner} outside {outer}, but {access} is stored "
                    f"with {outer} outside {inner}; "
                    f"declare {access.tensor} with the mode order '@ {modes}' or choose another order."
                )
    return order
