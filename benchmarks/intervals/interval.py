"""The least initiation interval with which a loop has a schedule."""

import math
from dataclasses import dataclass

import networkx as nx

from benchmarks.intervals.delays import Clock
from benchmarks.intervals.dependences import Dependence, Dependences

__all__ = ["Interval", "interval"]

_MOST = 256
"""Beyond, something is wrong with the graph."""

_SLOWEST = 64.0
"""The longest period that is tried."""


@dataclass(frozen=True)
class Interval:
    """What bounds a loop.

    Attributes:
        cycles: its initiation interval.
        reason: what a smaller one fails at, in words; "" for 1.
        period: the least nanoseconds of logic in a cycle with which the interval would be 1; None if none is.
    """

    cycles: int
    reason: str
    period: float | None


def interval(graph: Dependences, clock: Clock | None = None) -> Interval:
    """The least interval with which every operation has a cycle, and a place within it, after all that it
    waits for, and with which no stream and no memory has more accesses in a cycle than it takes.

    The bounds are those of modulo scheduling (Rau, Iterative Modulo Scheduling, 1994). The one by recurrences
    takes chaining into account: operations share a cycle as long as their logic fits into it.
    """
    budget = (clock or Clock()).budget
    cycles, reason = 1, ""
    for name, (accesses, ports) in graph.ports.items():
        if (needed := -(-accesses // ports)) > cycles:
            cycles, reason = needed, f"{accesses} accesses: {name}"
    components = _components(graph)
    fits = cycles == 1
    for nodes, edges in components:
        while circuit := _late(graph, nodes, edges, cycles, budget):
            cycles += 1
            fits, reason = False, " -> ".join(circuit)
            if cycles > _MOST:
                raise ValueError(f"no interval up to {_MOST} has a schedule: {reason}")
    return Interval(cycles, reason, _period(graph, components) if fits or not _ports(graph) else None)


def _ports(graph: Dependences) -> bool:
    """Whether accesses alone forbid an interval of 1."""
    return any(accesses > width for accesses, width in graph.ports.values())


def _period(graph: Dependences, components: list[tuple[list[str], list[Dependence]]]) -> float | None:
    """The least budget with which each operation has a place at an interval of 1, by bisection."""
    low, high = 0.0, _SLOWEST
    if any(_late(graph, *component, 1, high) for component in components):
        return None
    while high - low > 0.005:
        middle = (low + high) / 2
        if any(_late(graph, *component, 1, middle) for component in components):
            low = middle
        else:
            high = middle
    return high


def _components(graph: Dependences) -> list[tuple[list[str], list[Dependence]]]:
    """The strongly connected parts that have circuits, their nodes in the order of an iteration."""
    whole: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for edge in graph.edges:
        whole.add_edge(edge.source, edge.sink, distance=edge.distance)
    once = nx.DiGraph((e.source, e.sink) for e in graph.edges if e.distance == 0)
    once.add_nodes_from(whole)
    position = {name: n for n, name in enumerate(nx.topological_sort(once))}
    found = []
    for part in nx.strongly_connected_components(whole):
        edges = [e for e in graph.edges if e.source in part and e.sink in part]
        if edges:
            found.append((sorted(part, key=position.__getitem__), edges))
    return found


def _late(
    graph: Dependences, nodes: list[str], edges: list[Dependence], cycles: int, budget: float
) -> list[str]:
    """What keeps a part of the graph from a schedule, as words along a circuit; none if there is a schedule.

    Each operation starts as early as what it waits for allows, which is the least solution of the constraints
    if there is one. Without one, starts grow for ever.
    """
    into: dict[str, list[Dependence]] = {name: [] for name in nodes}
    for edge in edges:
        into[edge.sink].append(edge)
    start, cause = dict.fromkeys(nodes, 0.0), dict.fromkeys(nodes, "")
    rounds = 2 * len({e for e in edges if e.distance}) + 4
    changed = ""
    for _ in range(rounds):
        changed = ""
        for name in nodes:
            for edge in into[name]:
                timing = graph.timings[edge.source]
                begin = start[edge.source]
                whole = math.floor(begin / budget + 1e-6)
                if edge.registered:
                    ready = (whole + 1) * budget
                elif timing.cycles:
                    ready = (whole + timing.cycles) * budget + timing.logic
                else:
                    ready = begin + timing.logic
                ready = _placed(ready - edge.distance * cycles * budget, graph.timings[name].logic, budget)
                if ready > start[name] + 1e-6:
                    start[name], cause[name], changed = ready, edge.source, name
        if not changed:
            return []
    return _circuit(graph, cause, changed)


def _placed(time: float, logic: float, budget: float) -> float:
    """The first moment from then on at which an operation fits into its cycle, or begins one."""
    inside = time - math.floor(time / budget + 1e-6) * budget
    if inside > 1e-6 and inside + logic > budget + 1e-6:
        return time - inside + budget
    return time


def _circuit(graph: Dependences, cause: dict[str, str], name: str) -> list[str]:
    """The words of the circuit that causes lead to, once around."""
    seen: list[str] = []
    while name and name not in seen:
        seen.append(name)
        name = cause[name]
    around = seen[seen.index(name) :] if name else seen
    return [graph.words[n] for n in reversed(around) if graph.timings[n].logic or graph.timings[n].cycles]
