"""Passes of graphs: from the graph that the lowering of a region gives to the one that a design has.

Each file but `concats` holds one pass, a function from `Assembly` to `Assembly` with the name
of the file. What comes out of a pass is a graph that the validator takes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module

from samhw.errors import InputError, ScheduleError
from samhw.graph import Arch, Endpoint, Graph, Memory, validate
from samhw.lang.decision import Refusal

__all__ = ["GRAPH_PASSES", "Assembly", "GraphPass", "RowRanges", "apply_graph_passes", "passes_to"]


@dataclass(frozen=True)
class RowRanges:
    """Ranges of the rows of a region's outermost index, one for each lane.

    Attributes:
        index: the index.
        dimension: the extent of all of its rows.
        rows: for each lane the extent that counts its rows.
        most: the rows that a lane has room for.
        tensors: those that lie in a bank for each lane.
        places: by memory of these, the places that a bank of it has.
    """

    index: str
    dimension: str
    rows: tuple[str, ...]
    most: int
    tensors: frozenset[str]
    places: Mapping[str, int]


@dataclass(frozen=True)
class Assembly:
    """The graph of a region on its way into a design, and what its passes have to know.

    Attributes:
        graph: with producers before those that read them, and scanners that have their index.
        order: the indices of the region, outermost first.
        extent: the greatest extent of each index.
        lanes: by index, how many copies of what lies inside of it are wanted.
        divisible: the results that may lie in shards, one for each lane.
        memories: the memories of a graph whose tensors lie in shards, as large as these may become.
        blocks: by index that goes from block to block, how many coordinates a block has along it.
        reads: the levels around nodes that read values along which the modes of their tensors lie, in storage
            order, by the node's name.
        copied: of a copy in another mode order, the indices of what it writes, in storage order.
        ranges: of rows that lanes have, if some have.
        queues: by the output that gives the values of an intermediate, how many rows of it may wait.
        reasons: why a channel is deeper than full rate needs, by its name.
        held: the channels whose tokens wait for the end of a fiber, each with what waits for what.
    """

    graph: Graph
    order: tuple[str, ...]
    extent: Mapping[str, int]
    arch: Arch
    lanes: Mapping[str, int]
    divisible: frozenset[str]
    memories: Callable[[Graph], tuple[Memory, ...]]
    blocks: Mapping[str, int] = field(default_factory=dict)
    reads: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    copied: tuple[str, ...] = ()
    ranges: RowRanges | None = None
    queues: Mapping[Endpoint, int] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)


GraphPass = Callable[[Assembly], Assembly]

GRAPH_PASSES = ("blocks", "lanes", "reads", "banks", "depths", "queues", "ranges")
"""The passes by name, in the order in which they are applied."""


def passes_to(last: str | None) -> tuple[str, ...]:
    """The passes as far as one of them, or all, in their order."""
    return GRAPH_PASSES if last is None else GRAPH_PASSES[: GRAPH_PASSES.index(last) + 1]


def apply_graph_passes(assembly: Assembly, last: str | None = None) -> Assembly | Refusal:
    """What the passes make of a graph, or why they cannot.

    Args:
        last: the pass after which to stop, by its name; else all are applied.

    Raises:
        InputError: for lanes that no graph can have, and for a pass that leaves a graph which the validator
            does not take, by its name.
    """
    for name in passes_to(last):
        apply: GraphPass = getattr(import_module(f"samhw.compiler.graph_passes.{name}"), name)
        try:
            assembly = apply(assembly)
        except ScheduleError as error:
            return Refusal.of(error)
        try:
            validate(assembly.graph)
        except InputError as error:
            raise error.within(f"The graph pass '{name}' leaves a wrong graph") from error
    return assembly
