"""Lanes (FuseFlow, sections 7 and 8.6): copies of what works on an index, which share its coordinates.

What lies inside of the index is copied for each lane. A `scatter` distributes each stream of its coordinates
that enters, a `gather` collects each stream that leaves, and so the streams outside are those of one lane, in
the same order. Only a vector reducer that sums over the index stays in its lane: the lanes' sums meet in a
tree. And a result whose outermost index has the lanes is stored where it is made: each lane has writers of
its own, and memories for its shard.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from samhw.compiler.graph_passes import Assembly
from samhw.errors import InputError, ScheduleError
from samhw.graph import (
    Arch,
    Endpoint,
    Graph,
    Memory,
    Node,
    StreamKind,
    levels,
    make,
    memory_name,
    wired,
    with_indices,
)
from samhw.graph.spec import Payload
from samhw.graph.spec.base import MOST_LANES
from samhw.names import Names
from samhw.precedence import Precedence

__all__ = ["lane_factors", "lanes"]

Ends = tuple[Endpoint, Endpoint]
"""Source and sink of a channel."""


ADD = "add"
"""The operation of reducers whose results can meet after their lanes: the 0 of a union adds nothing."""

QUICK = 8
"""More lanes make a gather slow (docs/results.md, Area and clock), so they are a tree if they can be one."""


def lane_factors(lanes: int) -> tuple[int, ...]:
    """A number of lanes as those of a tree of scatters, the outermost first.

    Raises:
        InputError: for a number of which a prime factor is more than a scatter has lanes.
    """
    factors = []
    left = lanes
    while left > QUICK:
        candidates = (*range(QUICK, 1, -1), *range(QUICK + 1, MOST_LANES + 1))
        factor = next((n for n in candidates if left % n == 0), None)
        if factor is None:
            raise InputError(
                f"{lanes} lanes cannot be made of scatters with at most {MOST_LANES} lanes each; give a "
                f"number whose factors are at most {MOST_LANES}."
            )
        factors.append(factor)
        left //= factor
    return (*factors, left) if left > 1 else tuple(factors)


def lanes(assembly: Assembly) -> Assembly:
    """The graph with lanes on some of the indices of its order, those further in inside of those further out.
    An index that has nothing inside gets none.

    Raises:
        InputError: for a number of lanes that no tree of scatters has.
        ScheduleError: where what is inside of an index does not come and go with its coordinates.
    """
    graph = with_indices(assembly.graph)
    for index in reversed(assembly.order):
        for count in reversed(lane_factors(assembly.lanes.get(index, 1))):
            if count > 1:
                graph = _Copier(graph, index, count, assembly.arch, assembly.divisible).laned()
    return replace(assembly, graph=replace(graph, memories=assembly.memories(graph)))


@dataclass(frozen=True)
class _Streams:
    """The levels of a node's streams, by port."""

    inputs: Mapping[str, tuple[str, ...]]
    outputs: Mapping[str, tuple[str, ...]]

    def all(self) -> Iterator[tuple[str, ...]]:
        yield from self.inputs.values()
        yield from self.outputs.values()


class _Copier:
    """Lanes on one index."""

    def __init__(self, graph: Graph, index: str, lanes: int, arch: Arch, divisible: Collection[str]):
        self.graph = graph
        self.index = index
        self.lanes = lanes
        self.arch = arch
        self.levels = levels(graph)
        self.streams = {node.name: self._streams(node) for node in graph.nodes}
        self.copied = self._copied()
        tails = {tensor: self._tail(tensor) for tensor in divisible}
        self.divided = frozenset(tensor for tensor, tail in tails.items() if tail)
        self.copied |= self._checks().union(*tails.values())
        self.names = Names(graph.node)
        self.nodes: dict[str, Node] = {n.name: n for n in graph.nodes if n.name not in self.copied}
        self.ends: list[Ends] = []

    def laned(self) -> Graph:
        """The graph with the copies, and what distributes to them and takes from them."""
        if not self.copied:
            return self.graph
        copies = self._copies()
        parts: dict[Endpoint, list[Endpoint]] = {}
        for channel in self.graph.channels:
            source, sink = channel.source, channel.sink
            inside = source.node in self.copied, sink.node in self.copied
            if inside == (False, False):
                self.ends.append((source, sink))
                continue
            if source not in parts:
                mine = [Endpoint(copy[source.node], source.port) for copy in copies] if inside[0] else []
                parts[source] = mine or self._scattered(source)
            if inside[1]:
                targets = [Endpoint(copy[sink.node], sink.port) for copy in copies]
                self.ends += zip(parts[source], targets, strict=True)
        self._take_back(parts)
        return self._assembled()

    # What is copied

    def _streams(self, node: Node) -> _Streams:
        inputs = {
            p.name: self.levels[self.graph.fanin[Endpoint(node.name, p.name)].source] for p in node.inputs
        }
        return _Streams(inputs, {p.name: self.levels[Endpoint(node.name, p.name)] for p in node.outputs})

    def _is_inside(self, stream: tuple[str, ...]) -> bool:
        return self.index in stream[:-1]

    def _copied(self) -> frozenset[str]:
        """The nodes that get a copy for each lane: those with a stream inside of the index, and those between
        them that work along its coordinates."""
        seeds = {n.name for n in self.graph.nodes if self._works_inside(n) and not self._chooses(n)}
        between = self.graph.behind(seeds) & self.graph.before(seeds) - seeds
        along = {n for n in between if self._works_along(self.graph.node[n])}
        copied = frozenset(seeds | along)
        self._check(copied)
        return copied

    def _tail(self, tensor: str) -> frozenset[str]:
        """The writers of a result, and what drops coordinates for them alone, if lanes can have copies of
        these: they take rows of the index, some of them from the lanes, and all from where rows are
        distributed."""
        tail = set[str]()
        for node in reversed(self.graph.nodes):
            readers = {
                channel.sink.node
                for port in node.outputs
                for channel in self.graph.fanout.get(Endpoint(node.name, port.name), ())
            }
            drops = node.spec.thins and not node.spec.joins(node.params)
            writes = not readers and tensor in self._stored(node)
            if writes or (drops and readers and readers <= tail):
                tail.add(node.name)
        sources = [c.source for c in self.graph.channels if c.sink.node in tail and c.source.node not in tail]
        streams = [self.levels[source] for source in sources]
        distributed = all(
            stream[:1] == (self.index,) and (source.node in self.copied or len(stream) == 1)
            for source, stream in zip(sources, streams, strict=True)
        )
        made = any(source.node in self.copied and self._is_inside(self.levels[source]) for source in sources)
        return frozenset(tail if distributed and made else ())

    def _stored(self, node: Node) -> set[str]:
        """The tensors whose memories a node uses."""
        return {self.graph.memory[name].tensor for name in node.memories.values()}

    def _checks(self) -> frozenset[str]:
        """The writers that store nothing, of what is made inside of the index."""
        return frozenset(
            channel.sink.node
            for channel in self.graph.channels
            if channel.source.node in self.copied
            and self._is_inside(self.levels[channel.source])
            and not self.graph.node[channel.sink.node].outputs
            and not self.graph.node[channel.sink.node].memories
        )

    def _works_inside(self, node: Node) -> bool:
        """It has streams inside of the index, or distributes the index already, and gives something."""
        distribution = node.spec.distribution(node.params)
        distributed = distribution is not None and node.index == self.index
        return bool(node.outputs) and (
            distributed or any(map(self._is_inside, self.streams[node.name].all()))
        )

    def _works_along(self, node: Node) -> bool:
        """All of its streams have the index, and it takes their coordinates as they come."""
        return not self._chooses(node) and all(self.index in s for s in self.streams[node.name].all())

    def _chooses(self, node: Node) -> bool:
        """What it does with a coordinate of the index depends on others."""
        streams, spec = self.streams[node.name], node.spec
        joins = any(streams.inputs[join.crd][-1:] == (self.index,) for join in spec.joins(node.params))
        depends = spec.thins or spec.carries
        depends &= any(stream[-1:] == (self.index,) for stream in streams.outputs.values())
        return joins or depends or self._folds(node)

    def _folds(self, node: Node) -> bool:
        """It is a reducer that needs several coordinates of the index for what it gives: it reduces them to
        one value, or has the index inside of the one that it reduces."""
        reduction = node.spec.reduction(node.params)
        if reduction is None:
            return False
        around, kept = self.streams[node.name].inputs[reduction.values], len(reduction.coordinates)
        return (not kept and node.index == self.index) or self.index in around[len(around) - kept :]

    def _sums(self, node: Node) -> bool:
        """It is a reducer over the index."""
        return node.spec.reduction(node.params) is not None and node.index == self.index

    def _check(self, copied: frozenset[str]) -> None:
        for name in copied:
            node = self.graph.node[name]
            for port, stream in self.streams[name].inputs.items():
                source = self.graph.fanin[Endpoint(name, port)].source
                if source.node not in copied and (stream[-1:] != (self.index,)):
                    raise ScheduleError(
                        f"Lanes on '{self.index}' would have to take what {source.node} gives apart: the "
                        f"coordinates of '{self.index}' come from there with others inside of them",
                        f"put '{self.index}' outside of what {source.node} works on",
                        "give lanes to another index",
                    )
            reduction = node.spec.reduction(node.params) if self._sums(node) else None
            if reduction and (reduction.operation != ADD or len(reduction.coordinates) != 1):
                raise ScheduleError(
                    f"'{self.index}' cannot have lanes: {name} reduces it, and only sums that keep one index "
                    "can meet after their lanes",
                    f"give lanes to an index outside of '{self.index}'",
                )

    # What is made

    def _copies(self) -> list[dict[str, str]]:
        """For each lane the name of the copy of each node."""
        result = []
        for lane in range(self.lanes):
            names = {}
            for node in self.graph.nodes:
                if node.name in self.copied:
                    name = names[node.name] = self.names.fresh(f"{node.name}_{self.index}{lane}")
                    params = {**node.params, **self._shards(node, lane)}
                    self.nodes[name] = replace(
                        node,
                        name=name,
                        params=params,
                        copy_of=node.copy_of or node.name,
                        lane=((self.index, lane), *node.lane),
                    )
            result.append(names)
        return result

    def _shards(self, node: Node, lane: int) -> dict[str, str]:
        """The parameters with the memories that the copy of a writer writes."""
        if node.outputs:
            return {}
        return {
            param: self._shard(self.graph.memory[name], lane).name for param, name in node.memories.items()
        }

    def _shard(self, memory: Memory, lane: int) -> Memory:
        """What a lane has of a memory. Lanes in lanes distribute what has been distributed, so the outer ones
        count first."""
        shard = lane + self.lanes * (memory.shard or 0)
        return replace(memory, name=memory_name(memory.tensor, memory.array, shard), shard=shard)

    def _add(
        self, kind: str, wish: str, depth: int, sources: Iterable[Endpoint], **params: Any
    ) -> list[Endpoint]:
        """Adds a node, of which each input reads one of the sources; gives its outputs."""
        node = make(kind, self.names.fresh(wish), depth, **params)
        self.nodes[node.name] = node
        inputs = [Endpoint(node.name, port.name) for port in node.inputs]
        self.ends += zip(sources, inputs, strict=True)
        return [Endpoint(node.name, port.name) for port in node.outputs]

    def _payload(self, source: Endpoint) -> dict[str, object]:
        """The parameters of what passes the payloads of a stream on."""
        node = self.graph.node[source.node]
        payload = node.output(source.port).stream.payload
        value = self.graph.given(node, source.port).element
        own = {"value": value} if value not in (None, self.graph.value) else {}
        return {"payload": str(payload.kind), **own, **_shape(payload)}

    def _value(self, node: Node) -> dict[str, object]:
        """The parameter with the type of what a node gives, where it is not the graph's."""
        value = self.graph.result_type(node)
        return {"value": value} if value != self.graph.value else {}

    def _scattered(self, source: Endpoint) -> list[Endpoint]:
        """What each lane gets of a stream from outside."""
        depth = len(self.levels[source])
        params = {"lanes": self.lanes, **self._payload(source)}
        return self._add("scatter", f"scatter_{source.node}_{source.port}", depth, [source], **params)

    def _take_back(self, parts: Mapping[Endpoint, list[Endpoint]]) -> None:
        """Joins what leaves the lanes to whatever reads it."""
        taken: dict[Endpoint, Endpoint] = {}
        for channel in self.graph.channels:
            source, sink = channel.source, channel.sink
            if source.node not in self.copied or sink.node in self.copied:
                continue
            if source not in taken:
                if self._sums(self.graph.node[source.node]):
                    taken |= self._summed(source.node, parts)
                else:
                    taken[source] = self._gathered(source, parts[source])
            self.ends.append((taken[source], sink))

    def _gathered(self, source: Endpoint, parts: Iterable[Endpoint]) -> Endpoint:
        around = self.levels[source]
        inside = len(around) - 1 - around.index(self.index)
        params = {"lanes": self.lanes, "levels": inside, **self._payload(source)}
        name = f"gather_{source.node}_{source.port}"
        (gathered,) = self._add("gather", name, len(around), parts, **params)
        return gathered

    def _summed(self, name: str, parts: Mapping[Endpoint, list[Endpoint]]) -> dict[Endpoint, Endpoint]:
        """The sums of all lanes, coordinate by coordinate: neighbours are added, round by round, and a lane
        without a partner goes on to the next round."""
        node = self.graph.node[name]
        reduction = node.spec.reduction(node.params)
        assert reduction is not None
        ports = (*reduction.coordinates, reduction.values)
        crd, val = (Endpoint(name, port) for port in ports)
        depth = len(self.levels[val])
        value, shape = self._value(node), _shape(node.output(reduction.values).stream.payload)
        copies = [part.node for part in parts[crd if crd in parts else val]]
        streams = [[Endpoint(copy, port) for port in ports] for copy in copies]
        subject = node.spec.subject(name)
        while len(streams) > 1:
            pairs = zip(streams[::2], streams[1::2], strict=False)
            added = []
            for pair in pairs:
                name = f"union_{subject}"
                params = {"inputs": 2, "payloads": [str(StreamKind.VAL)] * 2, **value}
                shapes = {"shapes": [shape["shape"]] * 2} if shape else {}
                met, *terms = self._add("union", name, depth, chain(*pair), **params, **shapes)
                (sums,) = self._add("alu", f"add_{subject}", depth, terms, op=ADD, **value, **shape)
                added.append([met, sums])
            streams = added + streams[len(streams) & ~1 :]
        return {crd: streams[0][0], val: streams[0][1]}

    def _assembled(self) -> Graph:
        """The graph, with producers before those that read them, and each node with its index."""
        flow = Precedence(self.nodes, ((source.node, sink.node) for source, sink in self.ends))
        places = {name: place for place, name in enumerate(self.nodes)}
        order = flow.order(places.__getitem__)
        nodes = {name: self.nodes[name] for name in order}
        written = {m for n in self.graph.writers() if n.name in self.copied for m in n.memories.values()}
        memories = [
            own
            for memory in self.graph.memories
            for own in (
                [self._shard(memory, lane) for lane in range(self.lanes)]
                if memory.name in written
                else [memory]
            )
        ]
        tensors = [
            replace(t, shards=t.shards * self.lanes) if t.name in self.divided else t
            for t in self.graph.tensors
        ]
        graph = replace(
            self.graph,
            nodes=tuple(nodes.values()),
            channels=wired(nodes, self.ends, self.arch, self.graph.value),
            memories=tuple(memories),
            tensors=tuple(tensors),
        )
        return with_indices(graph)


def _shape(payload: Payload) -> dict[str, Any]:
    """The parameter with the shape of a payload, if it is a block."""
    return {"shape": list(payload.shape)} if payload.shape else {}
