"""The order of a region's indices: the partial order graph, and its topological orders.

FuseFlow section 5: an edge u -> v says that index u is iterated outside of v. Every stored tensor contributes
the chain of its storage order (mode order), and every statement with an order that chain (dataflow order).
"""

from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError
from itertools import pairwise

from samhw.errors import InputError, ScheduleError, StreamError
from samhw.lang.fusion.fuse import FusedRegion, Instance
from samhw.precedence import Precedence

__all__ = [
    "MOST_SETS",
    "PartialOrder",
    "check_order",
    "count_orders",
    "orders",
    "outermost_orders",
    "partial_order",
    "swapped_orders",
]

MOST_SETS = 1 << 16
"""Of indices of one size that can stand outermost, which `count_orders` goes through."""


class PartialOrder(Precedence[str]):
    """The partial order graph (POG) of a region.

    Attributes:
        fixed: the edges that a statement's order asks for: no permuted copy takes them away.
    """

    def __init__(self, nodes: Iterable[str] = (), edges: Iterable[tuple[str, str]] = ()):
        super().__init__(nodes, edges)
        self.fixed: set[tuple[str, str]] = set()


def partial_order(region: FusedRegion) -> PartialOrder:
    """The partial order graph of a region; each edge has the texts of what asks for it."""
    graph = PartialOrder(region.dimension)
    chains = [(str(use), use.stored, False) for use in region.stored_uses()]
    chains += [
        (f"the order of '{instance.statement.lhs} = ..'", instance.order, True)
        for instance in region.instances
        if instance.order is not None
    ]
    chains += [
        (f"'{instance.statement}', which runs along {instance.along},", (outer, inner), True)
        for instance in region.instances
        for outer, inner in instance.runs
    ]
    for text, chain, fixed in chains:
        graph.add_edges(pairwise(chain), text)
        if fixed:
            graph.fixed.update(pairwise(chain))
    return graph


def orders(region: FusedRegion, graph: PartialOrder) -> Iterator[tuple[str, ...]]:
    """All topological orders, one after another, each when it is asked for.

    The first is the one closest to the statements' own: a producer's indices stand as far inside as its
    consumer lets them, so that nothing is kept longer than needed. Raises `InputError`, before the first one,
    where the graph has a cycle.
    """
    rank = {index: n for n, index in enumerate(_natural(region))}
    try:
        first = graph.order(rank.__getitem__)
    except CycleError:
        raise _cycle(graph) from None
    yield first
    yield from (order for order in _enumerate(graph, rank) if order != first)


def outermost_orders(region: FusedRegion, graph: PartialOrder) -> Iterator[tuple[str, ...]]:
    """For each index that can stand outermost, the first of the orders in which it does; one, without any
    index, for a region that has none. Raises `InputError`, before the first one, where the graph has a cycle.
    """
    if not graph.is_acyclic:
        raise _cycle(graph)
    rank = {index: n for n, index in enumerate(_natural(region))}
    for outermost in sorted((i for i in graph if not graph.before(i)), key=rank.__getitem__):
        places = {**rank, outermost: -1}
        yield graph.order(places.__getitem__)
    if not graph:
        yield ()


def swapped_orders(graph: PartialOrder, order: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The topological orders that differ from one of them by two neighbours."""
    for n, (outer, inner) in enumerate(pairwise(order)):
        if (outer, inner) not in graph.edges:
            yield (*order[:n], inner, outer, *order[n + 2 :])


def count_orders(graph: PartialOrder) -> int:
    """How many topological orders there are, without enumerating them: 0 for a graph with a cycle.

    Counts the ways to each set of indices that can stand outermost; there are far fewer such sets than
    orders. Raises `ScheduleError` where there are more than `MOST_SETS` of one size.
    """
    nodes = list(graph)
    place = {node: n for n, node in enumerate(nodes)}
    before = [sum(1 << place[u] for u in graph.before(node)) for node in nodes]
    ways = {0: 1}
    for _ in nodes:
        longer: dict[int, int] = {}
        for done, count in ways.items():
            for n, needed in enumerate(before):
                if not done >> n & 1 and needed & ~done == 0:
                    longer[done | 1 << n] = longer.get(done | 1 << n, 0) + count
            if len(longer) > MOST_SETS:
                raise ScheduleError(
                    f"The orders of {len(nodes)} indices are too many to count",
                    "split the region",
                    "give its statements orders",
                )
        ways = longer
    return sum(ways.values())


def check_order(region: FusedRegion, graph: PartialOrder, order: Sequence[str]) -> tuple[str, ...]:
    """An order that the user asks for; raises `InputError` if it does not name each index once, or goes
    against a tensor's storage."""
    if sorted(order) != sorted(graph):
        raise InputError(
            f"The order {','.join(order)} does not name each index of '{_title(region)}' once; its indices "
            f"are {', '.join(graph)}."
        )
    position = {index: n for n, index in enumerate(order)}
    for instance in region.instances:
        for outer, inner in instance.runs:
            if position[outer] > position[inner]:
                raise ScheduleError(
                    f"The order {','.join(order)} visits {outer} inside of {inner}, but "
                    f"'{instance.statement}' runs along {instance.along}",
                    f"choose one in which {inner} comes after {outer}",
                )
    for use in region.stored_uses():
        for outer, inner in pairwise(use.stored):
            if position[outer] > position[inner]:
                modes = tuple(sorted(range(len(use.indices)), key=lambda m: position[use.indices[m]]))
                raise ScheduleError(
                    f"The order {','.join(order)} visits {inner} outside {outer}, but {use} is stored with "
                    f"{outer} outside {inner}",
                    f"declare {use.tensor} with the mode order '@ {modes}'",
                    "choose another order",
                    "permit a permuted copy of it (--permute)",
                )
    return tuple(order)


def _natural(region: FusedRegion) -> list[str]:
    """The indices as the statements' own orders suggest, whether or not that is a topological order."""
    result: list[str] = []
    for output in reversed(region.outputs):
        _merge(result, _natural_of(output, {}))
    return result


def _natural_of(instance: Instance, done: dict[Instance, list[str]]) -> list[str]:
    if instance not in done:
        own = instance.order or tuple(instance.rename[i] for i in instance.statement.indices)
        result = list(own)
        for producer in instance.producers.values():
            _merge(result, _natural_of(producer, done))
        done[instance] = result
    return done[instance]


def _merge(order: list[str], other: list[str]) -> None:
    """Adds what is missing: each index right outside of the next one that both have, or innermost."""
    for n, index in enumerate(other):
        if index not in order:
            inside = next((i for i in other[n + 1 :] if i in order), None)
            order.insert(len(order) if inside is None else order.index(inside), index)


def _enumerate(graph: PartialOrder, rank: dict[str, int]) -> Iterator[tuple[str, ...]]:
    """All topological orders in lexicographic order of rank."""
    waiting = {node: len(graph.before(node)) for node in graph}
    chosen: list[str] = []

    def extend() -> Iterator[tuple[str, ...]]:
        if len(chosen) == len(waiting):
            yield tuple(chosen)
            return
        for node in sorted((n for n, k in waiting.items() if k == 0), key=rank.__getitem__):
            waiting[node] = -1
            for inner in graph.after(node):
                waiting[inner] -= 1
            chosen.append(node)
            yield from extend()
            chosen.pop()
            for inner in graph.after(node):
                waiting[inner] += 1
            waiting[node] = 0

    return extend()


def _cycle(graph: PartialOrder) -> StreamError:
    fixed = Precedence((), (edge for edge in graph.edges if edge in graph.fixed))
    curable = fixed.is_acyclic
    cycle = (graph if curable else fixed).cycle()
    asked = ", ".join(f"{graph.edges[u, v][0]} wants {u} outside {v}" for u, v in cycle)
    return StreamError(
        f"No order of indices suits the storage of all tensors and the orders of all statements ({asked})",
        "store all of these tensors in one order of modes (for two, '@ (1, 0)')",
        "permit permuted copies (--permute)" if curable else "change or leave out an order",
    )


def _title(region: FusedRegion) -> str:
    return " ".join(f"{output.statement.lhs}" for output in region.outputs)
