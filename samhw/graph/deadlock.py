"""Why a run stands still: the circle of channels that wait for each other."""

from collections.abc import Collection

from samhw.errors import RunError
from samhw.graph.ir import Graph

__all__ = ["DeadlockError", "deadlock", "waiting_cycle"]


class DeadlockError(RunError):
    """No node can fire and not every writer has committed.

    Attributes:
        waiting: names of the channels of the waiting cycle, each waiting for the next.
    """

    def __init__(self, message: str, waiting: list[str]):
        super().__init__(message)
        self.waiting = waiting


def waiting_cycle(graph: Graph, empty: Collection[str], full: Collection[str]) -> list[str]:
    """Names of channels that wait for each other in a circle, in order; an empty list if there is no circle.

    A node that lacks an input waits for the node that feeds it, and a node that lacks a slot waits for the
    node that drains it. `empty` and `full` are names of channels: those that a simulator knows to be waited
    for, or all that hardware reports as empty or full.
    """
    import networkx as nx  # Takes a quarter of a second to be imported, and most runs end.

    waits: nx.DiGraph[str] = nx.DiGraph()
    # Channels only lead forward, so a circle has a full channel in it: the search starts there.
    starts = []
    for channel in graph.channels:
        if channel.name in full:
            waits.add_edge(channel.source.node, channel.sink.node, channel=channel.name)
            starts.append(channel.source.node)
        if channel.name in empty:
            waits.add_edge(channel.sink.node, channel.source.node, channel=channel.name)
    if not starts:
        return []
    try:
        return [waits.edges[edge[:2]]["channel"] for edge in nx.find_cycle(waits, starts)]
    except nx.NetworkXNoCycle:
        return []


def deadlock(graph: Graph, empty: Collection[str], full: Collection[str]) -> DeadlockError:
    """The error for a run that stands still, which names the channels and says which to deepen."""
    cycle = waiting_cycle(graph, empty, full)
    waiting = cycle or [c.name for c in graph.channels if c.name in full or c.name in empty]
    states = ", ".join(f"{name} ({'full' if name in full else 'empty'})" for name in waiting)
    if not cycle:
        return DeadlockError(
            f"Deadlock: no node can fire; channels waited for: {states or 'none'}; "
            "check that their streams agree in structure.",
            cycle,
        )
    deepen = " or ".join(name for name in cycle if name in full)
    return DeadlockError(
        f"Deadlock: these channels wait for each other in a circle: {states}; make {deepen} deeper.", cycle
    )
