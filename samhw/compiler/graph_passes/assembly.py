"""What passes of graphs take and give."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from samhw.graph import Arch, Endpoint, Graph, Memory

__all__ = ["Assembly"]


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
    queues: Mapping[Endpoint, int] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)
