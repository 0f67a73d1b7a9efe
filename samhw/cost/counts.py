"""How many tokens, operations and words a graph has in a run, from what its streams carry."""

from collections.abc import Mapping
from functools import cached_property
from math import prod

from samhw.cost.statistics import Support, TensorStatistics, onto
from samhw.cost.stream_supports import Carried
from samhw.graph import Arch, Endpoint, Graph, MemoryRole, Node
from samhw.graph.spec import Each, StoredArray

__all__ = ["TokenCounts"]


class TokenCounts:
    """Of a graph, whose streams are known, by statistics.

    Args:
        found: the streams of all outputs.
        busiest: count those of the busiest lane; by default the mean of all lanes.
    """

    def __init__(
        self,
        graph: Graph,
        arch: Arch,
        found: Mapping[Endpoint, Carried],
        statistics: TensorStatistics,
        *,
        busiest: bool = False,
    ):
        self.graph = graph
        self.arch = arch
        self.found = found
        self.statistics = statistics
        self._is_busiest = busiest
        self._tokens: dict[Endpoint, float] = {}

    # Streams

    def level(self, flow: Carried, number: int) -> float:
        """The coordinates of the outermost `number` levels of a stream; 1 for none."""
        if number <= 0:
            return 1.0
        return self._shared(flow, flow.levels[number - 1])

    def present(self, flow: Carried, number: int) -> float:
        """Of the same those below which some payload is not EMPTY."""
        if number <= 0:
            return 1.0
        return self._shared(flow, onto(flow.some, flow.levels[number - 1].indices))

    def payloads(self, flow: Carried) -> float:
        """The payloads of a stream."""
        return self.level(flow, len(flow.levels))

    def values(self, flow: Carried) -> float:
        """Those that are not EMPTY."""
        if flow.present is None:
            return self.payloads(flow)
        return self._shared(flow, flow.present)

    def tokens(self, source: Endpoint) -> float:
        """All tokens of an output: payloads, DONE, and stops. The stop of a fiber ends all levels that end
        with it, so that further in than the innermost fibers only lists without any have one."""
        if source not in self._tokens:
            flow = self.found[source]
            depth = len(flow.levels)
            stops = self.level(flow, depth - 1) if depth else 0.0
            for number in range(1, depth - 1):
                stops += max(0.0, self.level(flow, number) - self._with_some(flow, number))
            self._tokens[source] = self.payloads(flow) + stops + 1
        return self._tokens[source]

    def _with_some(self, flow: Carried, number: int) -> float:
        """The coordinates of a level below which there are some of the next one."""
        inner, outer = flow.levels[number], flow.levels[number - 1]
        return self._shared(flow, onto(inner, outer.indices))

    def _shared(self, flow: Carried, support: Support) -> float:
        """Of the coordinates of a support those of a lane."""
        dealt = [one for one in flow.lanes.values() if one.lanes > 1]
        if self._is_busiest:
            return self.statistics.busiest(support, dealt)
        lanes = prod(one.lanes for one in dealt if one.index in support.indices)
        return self.statistics.count(support) / lanes

    def taken(self, node: Node, port: str) -> Carried:
        """The stream that comes into an input."""
        return self.found[self.graph.fanin[Endpoint(node.name, port)].source]

    # Work

    def operations(self, node: Node) -> float:
        """The operations on values that a node does, as a run counts them."""
        work = node.spec.work(node.params)
        return work.each * self.payloads(self.taken(node, work.port)) if work else 0.0

    @cached_property
    def words(self) -> Mapping[str, float]:
        """By memory, the words that are read from it, or written."""
        found: dict[str, float] = {}
        for node in self.graph.nodes:
            for param, name in node.memories.items():
                use = node.spec.memories[param]
                memory = self.graph.memory[name]
                if memory.role is MemoryRole.INPUT:
                    times = self._times(node, use.each)
                    found[name] = found.get(name, 0.0) + use.reads * times * self.graph.stored(memory).words
                else:
                    found[name] = self._written(node, use.array) * self.graph.stored(memory).words
        return found

    def bytes(self, name: str) -> float:
        """Those of a memory, at the width of its words."""
        payload = self.graph.stored(self.graph.memory[name])
        return self.words.get(name, 0.0) * payload.width(self.arch.index_bits) / payload.words / 8

    def _times(self, node: Node, each: Each | None) -> float:
        if each is Each.HELD:
            return 0.0
        if each is Each.TAKEN:
            return self.values(self.taken(node, node.inputs[0].name))
        ends = (Endpoint(node.name, port.name) for port in node.outputs)
        return max(self.values(self.found[end]) for end in ends)

    def _written(self, node: Node, array: StoredArray) -> float:
        flow = self.taken(node, node.inputs[0].name)
        if array is StoredArray.POS:
            return self.level(flow, len(flow.levels) - 1) + 1
        return self.payloads(flow)
