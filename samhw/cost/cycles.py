"""How many cycles a graph takes: its busiest nodes, what they wait for, and what is left when they end.

Rows of unequal length cost cycles where two parts of a graph work on them, one after the other. The first
stage may be ahead by the rows that a reducer's banks and the channels after it hold. With few of them each
row takes about as long as the slower stage takes for it, and with many the slower stage sets the pace in all.
Both are taken to be one server each, with a finite buffer between them.
"""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from samhw.cost.counts import TokenCounts
from samhw.cost.off_chip import BankCosts, PortCosts
from samhw.cost.statistics import Support, TensorStatistics, any_of, shifted
from samhw.cost.stream_supports import Carried
from samhw.graph import Channel, Endpoint, Levels, Node, levels
from samhw.graph.numerics import REDUCTIONS
from samhw.graph.spec.base import Reduction

__all__ = ["CycleEstimate", "two_stages"]

MOST_ROWS = 1 << 16
"""That are gone through; what they take stands for all."""


@dataclass(frozen=True)
class Stage:
    """One of two parts of a graph.

    Attributes:
        work: the coordinates at which its busiest node works.
        busy: the cycles that this takes.
    """

    work: Support
    busy: float


def coupled_cycles(
    first: Stage,
    second: Stage,
    outer: Sequence[str],
    ahead: int,
    statistics: TensorStatistics,
    lanes: int = 1,
) -> float | None:
    """The cycles of both parts together; None where nothing is known of single rows, or all are alike.

    Args:
        outer: the indices of the rows, outermost first.
        ahead: the rows that the first stage may have finished before the second one has.
        lanes: how many share the rows.
    """
    counts = statistics.by_row((first.work, second.work), outer)
    if counts is None or not all(count.sum() for count in counts):
        return None
    own, other = (
        (count * (stage.busy / count.sum()))[::lanes][:MOST_ROWS]
        for stage, count in zip((first, second), counts, strict=True)
    )
    slower = float(max(own.sum(), other.sum()))
    return two_stages(own, other, ahead) / slower * max(first.busy, second.busy) if slower else None


def two_stages(first: NDArray[np.float64], second: NDArray[np.float64], ahead: int) -> float:
    """When the second of two stages ends, which goes through rows after the first one.

    Args:
        first: how long that takes for each row.
        second: the same.
        ahead: how many rows the first may have finished that the second has not, at least 1.
    """
    ended = deque([0.0] * ahead, maxlen=ahead)
    mine = theirs = 0.0
    for own, other in zip(first.tolist(), second.tolist(), strict=True):
        mine = max(mine, ended[0]) + own
        theirs = max(theirs, mine) + other
        ended.append(theirs)
    return theirs


class CycleEstimate:
    """Of a graph, whose tokens are counted."""

    def __init__(self, counts: TokenCounts, ports: Sequence[PortCosts | BankCosts] = ()):
        self._counts = counts
        self._ports = ports
        self._graph = counts.graph
        self._arch = counts.arch
        self._indices = levels(counts.graph)

    @cached_property
    def apart(self) -> float:
        """The cycles until the last writer ends, where no node waits for another one's rows: those of the
        node for which what comes before it, its own tokens and what comes after it take longest."""
        nodes = (node.name for node in self._graph.nodes)
        return max(self.start[name] + self.busy[name] + self.tail[name] for name in nodes)

    @cached_property
    def coupled(self) -> Mapping[str, float]:
        """For some reducers, the cycles of the graph as far as what comes before each waits for what comes
        after it, and the other way round, row by row; of those for which that takes longest of all."""
        ways = ((node.name, self._coupled(node)) for node in self._graph.nodes)
        return {name: cycles for name, cycles in ways if cycles > self.apart}

    def _coupled(self, node: Node) -> float:
        """The same of one node; 0 where it is no such reducer."""
        reduction = node.spec.reduction(node.params)
        if reduction is None:
            return 0.0
        around = self._indices[Endpoint(node.name, node.outputs[0].name)]
        outer = around[: len(around) - len(reduction.coordinates)]
        before = self._busiest(self._graph.before([node.name]), outer)
        behind = self._busiest(self._graph.behind([node.name]) - {node.name}, outer)
        if not outer or before is None or behind is None:
            return 0.0
        (first_name, head), (second_name, tail) = before, behind
        first, second = Stage(head.all, self.busy[first_name]), Stage(tail.all, self.busy[second_name])
        if first.busy + second.busy <= self.apart:
            return 0.0
        lanes = prod(one.lanes for one in tail.lanes.values() if one.index in outer)
        ahead = self._ahead(node, reduction, outer)
        both = coupled_cycles(first, second, outer, ahead, self._counts.statistics, lanes)
        return 0.0 if both is None else self.start[first_name] + both + self.tail[second_name]

    def _busiest(self, names: Collection[str], outer: Levels) -> tuple[str, Carried] | None:
        """Of some nodes the busiest one that has streams inside of some indices, and the longest of these."""
        best: tuple[str, Carried] | None = None
        for node in self._graph.nodes:
            if node.name not in names or (best and self.busy[node.name] <= self.busy[best[0]]):
                continue
            ends = [channel.source for channel in self._taken(node)]
            ends += [Endpoint(node.name, port.name) for port in node.outputs]
            longest = max(ends, key=self._counts.tokens)
            if self._indices[longest][: len(outer)] == outer:
                best = node.name, self._counts.found[longest]
        return best

    def _ahead(self, node: Node, reduction: Reduction, outer: Levels) -> int:
        """The rows that a reducer may have finished before what comes after it has: those in its banks, and
        in the channels to what gives something itself."""
        rows = self._counts.level(self._counts.found[Endpoint(node.name, node.outputs[0].name)], len(outer))
        room = [
            channel.depth * rows / self._counts.tokens(channel.source)
            for channel in self._given(node)
            if self._graph.node[channel.sink.node].outputs
        ]
        banks = node.spec.bank_count(node.params) if reduction.coordinates else 1
        return banks + int(min(room, default=0.0))

    @cached_property
    def busy(self) -> Mapping[str, float]:
        """The cycles in which each node fires, or has to wait for itself."""
        return {node.name: self._busy(node) for node in self._graph.nodes}

    @cached_property
    def start(self) -> Mapping[str, float]:
        """The cycle in which each node has something to do. A reducer, and what completes fibers, gives
        nothing before the first one is complete."""
        start: dict[str, float] = {}
        begin: dict[str, float] = {}
        for node in self._graph.nodes:
            start[node.name] = max(
                (begin[c.source.node] + self._way(c) for c in self._taken(node)), default=0.0
            )
            ready = start[node.name] + self._inside(node)
            reduction = node.spec.reduction(node.params)
            if reduction is not None:
                ready += self._fiber(node, reduction) + self._last_steps(node, reduction)
            elif node.spec.completes:
                flow = self._counts.taken(node, node.inputs[0].name)
                ready += self._counts.payloads(flow) / max(
                    1.0, self._counts.level(flow, len(flow.levels) - 1)
                )
            begin[node.name] = ready
        return start

    @cached_property
    def tail(self) -> Mapping[str, float]:
        """The cycles from the last firing of each node until the last writer ends."""
        tail: dict[str, float] = {}
        for node in reversed(self._graph.nodes):
            inside = self._inside(node)
            reduction = node.spec.reduction(node.params)
            if reduction is not None:
                inside += self._drain(node) + self._last_steps(node, reduction)
            written = max((costs.tail(node.name) for costs in self._ports), default=0.0)
            behind = [self._way(c) + tail[c.sink.node] for c in self._given(node)]
            tail[node.name] = inside + max(behind, default=written)
        return tail

    def _way(self, channel: Channel) -> float:
        """The cycles of a token from a node to the next one, with those of a read through a port."""
        return channel.latency + sum(costs.after(channel.source) for costs in self._ports)

    def _inside(self, node: Node) -> float:
        """The cycles from a token to what it makes a node give."""
        inside = node.spec.inside(node.params, self._arch, self._graph.value)
        return inside + sum(costs.inside(node.name) for costs in self._ports)

    def _taken(self, node: Node) -> list[Channel]:
        return [self._graph.fanin[Endpoint(node.name, port.name)] for port in node.inputs]

    def _given(self, node: Node) -> list[Channel]:
        ends = (Endpoint(node.name, port.name) for port in node.outputs)
        return [channel for end in ends for channel in self._graph.fanout.get(end, ())]

    def _busy(self, node: Node) -> float:
        return max(self._firing(node), *(costs.busy(node.name) for costs in self._ports), 0.0)

    def _firing(self, node: Node) -> float:
        ends = [channel.source for channel in self._taken(node)]
        ends += [Endpoint(node.name, port.name) for port in node.outputs]
        tokens = max((self._counts.tokens(end) for end in ends), default=0.0)
        if node.spec.completes:
            # Whole fibers first, and what it makes of them afterwards.
            return sum(self._counts.tokens(Endpoint(node.name, port.name)) for port in node.outputs) + tokens
        if node.spec.joins(node.params):
            return max(tokens, self._looked_at(node))
        reduction = node.spec.reduction(node.params)
        if reduction is not None and reduction.coordinates:
            return max(tokens, self._accumulating(node, reduction))
        return tokens

    def _looked_at(self, node: Node) -> float:
        """The firings of a joiner: one for each coordinate that any of its streams has, and for the stops."""
        ports = [join.crd for join in node.spec.joins(node.params)]
        own = [self._indices[self._graph.fanin[Endpoint(node.name, port)].source] for port in ports]
        # Parts of a concatenation come under an index of all.
        outer = len(own[0]) - 1 if node.index else None
        crds = [
            self._counts.taken(node, port).beside(names[:outer], own[0])
            for port, names in zip(ports, own, strict=True)
        ]
        first = crds[0]
        sides = (
            shifted(crd.all, names[-1], node.index, 0) if node.index else crd.all
            for crd, names in zip(crds, own, strict=True)
        )
        whole = Carried((*first.levels[:-1], any_of(sides)), lanes=first.lanes)
        stops = self._counts.level(first, len(first.levels) - 1)
        return self._counts.payloads(whole) + stops + 1

    # Reducers

    def _step(self, node: Node, reduction: Reduction) -> int:
        """The cycles from an accumulation to the next one that may use its result."""
        value = self._graph.operand_type(node)
        named = next((name for name, done in REDUCTIONS.items() if done == reduction.operation), None)
        if named is not None:
            return self._arch.reduce_latency(named, value)
        # It keeps a value or a coordinate, or rescales a sum and adds to it.
        work = node.spec.work(node.params)
        rescales = work is not None and work.operation == "mul"
        return self._arch.reduce_latency("recur", value) if rescales else self._arch.step

    def _last_steps(self, node: Node, reduction: Reduction) -> int:
        """The cycles from the last value of a fiber to its result. What is reduced pairwise, in blocks, goes
        through three levels of pairs, and is added to the blocks before it."""
        step = self._step(node, reduction)
        named = next((name for name, done in REDUCTIONS.items() if done == reduction.operation), None)
        if named is None or reduction.coordinates or self._graph.operand_type(node).block(named) == 1:
            return step
        return 4 * step

    def _fibers(self, node: Node, reduction: Reduction) -> float:
        """How many fibers a reducer reduces, each to one of its results."""
        flow = self._counts.taken(node, reduction.values)
        return max(1.0, self._counts.level(flow, len(flow.levels) - 1 - len(reduction.coordinates)))

    def _fiber(self, node: Node, reduction: Reduction) -> float:
        """The tokens of one of them."""
        source = self._graph.fanin[Endpoint(node.name, reduction.values)].source
        return self._counts.tokens(source) / self._fibers(node, reduction)

    def _drain(self, node: Node) -> float:
        """The tokens of a result."""
        reduction = node.spec.reduction(node.params)
        assert reduction is not None
        if not reduction.coordinates:
            return 1.0
        given = self._counts.tokens(Endpoint(node.name, reduction.values))
        return given / self._fibers(node, reduction)

    def _accumulating(self, node: Node, reduction: Reduction) -> float:
        """The cycles of a vector reducer: a fiber fills a bank while others leave theirs, and two values of
        one coordinate are as far apart as an accumulation takes."""
        flow = self._counts.taken(node, reduction.values)
        fibers = self._fibers(node, reduction)
        fill, drain = self._fiber(node, reduction), self._drain(node)
        latency = self._step(node, reduction)
        rows = self._counts.level(flow, len(flow.levels) - len(reduction.coordinates))
        per_fiber = max(1.0, rows / fibers)
        given = self._counts.found[Endpoint(node.name, reduction.values)]
        # How often each coordinate comes. One that each row has follows itself every time.
        repeats = self._counts.payloads(flow) / max(self._counts.payloads(given), 1.0)
        apart = fill / per_fiber
        overlap = min(1.0, repeats / per_fiber) if per_fiber > 1 else 0.0
        fill += overlap * (per_fiber - 1) * max(0.0, latency - apart)
        turn = fill + drain + latency + self._arch.memory + 4
        return fibers * max(fill, drain, turn / node.spec.bank_count(node.params))
