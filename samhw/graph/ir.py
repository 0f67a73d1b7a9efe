"""The SAMML graph of a region: nodes, ports, channels and memories, as plain data for every backend; and what
is worked out of a graph once, however many ask for it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, wraps
from string import ascii_lowercase
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar
from weakref import ref

from samhw.errors import InputError
from samhw.graph.numerics import OPERATIONS, ValueType
from samhw.graph.spec import Arch, Payload, Port, Spec, StoredArray, Stream, StreamKind, spec_of
from samhw.precedence import Precedence, reached

__all__ = [
    "Channel",
    "Endpoint",
    "Graph",
    "Memory",
    "MemoryRole",
    "Node",
    "TensorBinding",
    "latency",
    "make",
    "memory_name",
    "once_per_graph",
    "wired",
]


class Endpoint(NamedTuple):
    """One end of a channel."""

    node: str
    port: str

    def __str__(self) -> str:
        return f"{self.node}.{self.port}"


@dataclass(frozen=True)
class Node:
    """One primitive (docs/primitives.md): its kind, its parameters (`spec.Params`) and its ports."""

    name: str
    kind: str
    params: Mapping[str, Any]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    note: str = ""
    """The cell of the fusion table that it comes from, for readers of reports and generated code."""
    index: str = ""
    """The index that it works on: of a scanner that of the coordinates that it makes, of a reducer the one
    that it sums over, of what distributes to lanes the one that is distributed, of others the innermost one
    of their first output (or input). Empty where there is none, and in graphs that were wired by hand."""
    copy_of: str = ""
    """The node of which it is one of several copies, in lanes; empty for what stands alone."""
    lane: tuple[tuple[str, int], ...] = ()
    """The lanes in which it is, the outermost one first: the index, and the number of the lane. With more
    lanes on an index than a scatter has, there are several of the same index."""

    @cached_property
    def spec(self) -> Spec:
        """What its kind is; raises `InputError` if there is no such kind."""
        return spec_of(self.kind)

    @property
    def memories(self) -> dict[str, str]:
        """The memories that it uses, each by the parameter that names it; `spec.memories` says how."""
        return {param: self.params[param] for param in self.spec.memories if param in self.params}

    @property
    def extents(self) -> dict[str, str]:
        """The indices whose extents it needs, each by the parameter that names it."""
        return {param: self.params[param] for param in self.spec.extents if param in self.params}

    @property
    def repeats(self) -> dict[str, str]:
        """The repeats whose step it needs, each by the parameter that names it."""
        return {param: self.params[param] for param in self.spec.repeats}

    def input(self, name: str) -> Port:
        """The input port of that name."""
        return next(p for p in self.inputs if p.name == name)

    def output(self, name: str) -> Port:
        """The output port of that name."""
        return next(p for p in self.outputs if p.name == name)


@dataclass(frozen=True)
class Channel:
    """A FIFO from an output to an input. `latency` in cycles, `depth` in tokens (docs/timing.md)."""

    source: Endpoint
    sink: Endpoint
    latency: int
    depth: int

    @cached_property
    def name(self) -> str:
        """Unique, since an input has one channel."""
        return f"{self.source}->{self.sink}"


class MemoryRole(StrEnum):
    """Who writes a memory, and who reads it. To a graph, which is a region of a design, a memory is INPUT or
    OUTPUT; only a design has buffers. A region that a sequence repeats may also read what it writes: it finds
    there what it has left at earlier steps."""

    INPUT = "input"
    """The host writes it before a run, nodes read it."""
    OUTPUT = "output"
    """A node writes it, the host reads it after the run."""
    BUFFER = "buffer"
    """A node writes it, nodes of later regions read it; so may the host, after the run."""


@dataclass(frozen=True)
class Memory:
    """One array of a tensor's storage. `capacity` in places, each of which holds a payload: an index, or a
    value for `vals`.

    `value` is the type of the values, if it is not the graph's. `shard` is the number of a shard, if the
    array lies in several (`TensorBinding.shards`).
    """

    name: str
    tensor: str
    array: str
    role: MemoryRole
    capacity: int
    value: ValueType | None = None
    shard: int | None = None
    block: tuple[int, ...] = ()
    """The shape of what lies at one place, if it is a block of values and not one value."""
    banks: int = 0
    """How many banks it lies in (docs/timing.md, "Interleaved memories"), a power of two; 0 where each reader
    has a copy."""

    @property
    def is_value(self) -> bool:
        """The words are values."""
        return self.array == StoredArray.VALS

    @property
    def level(self) -> int | None:
        """The level of the tensor that it is of; None for its values."""
        digits = self.array.lstrip(ascii_lowercase)
        return int(digits) if digits else None

    @property
    def is_signed(self) -> bool:
        """The words are offsets, which may be negative; they are stored modulo 2^32."""
        return self.array.startswith(StoredArray.OFF)

    @property
    def words(self) -> int:
        """The words of all of its places."""
        return self.capacity * self.payload().words

    def payload(self, value: ValueType | None = None) -> Payload:
        """What lies at one place; `value` is the graph's value type, which a memory of values needs."""
        if self.is_value:
            return Payload(StreamKind.VAL, self.value or value, self.block)
        return Payload(StreamKind.CRD if self.array.startswith(StoredArray.CRD) else StreamKind.REF)


def memory_name(tensor: str, array: str, shard: int | None = None) -> str:
    """The memory of a tensor's array, or of a shard of it."""
    return f"{tensor}.{array}" if shard is None else f"{tensor}.{array}.{shard}"


@dataclass(frozen=True)
class TensorBinding:
    """How a tensor of the program lies in the graph's memories (`memory_name`).

    `format` is the text form of `samhw.tensors.Format`; `indices` and `shape` are in the order of the
    tensor's modes, `shape` being the greatest extents that the build takes.

    A result in n `shards` was stored by n lanes, each of which had some coordinates of the outermost level:
    p, p + n, p + 2n, ... are in shard p if that level is dense, and if it is compressed, those which the
    shard itself stores. A shard has arrays of its own for all levels.

    With `rows`, the shards of a result or an input have *ranges*: consecutive coordinates of the outermost
    level, in the order of the shards. In a shard they count from 0.

    An *alias* is another tensor in another shape, and lies in that one's memories; both are dense and
    row-major. A *step* is an alias without the outermost level of the other tensor: it lies in the memories
    of that one's inner levels, from the place of a step on.
    """

    name: str
    role: MemoryRole
    format: str
    indices: tuple[str, ...]
    shape: tuple[int, ...]
    shards: int = 1
    alias_of: str | None = None
    """The tensor that it is an alias of."""
    is_step: bool = False
    """It is a step of that tensor."""
    rows: tuple[str, ...] = ()
    """Of shards that have ranges, for each the extent that counts its coordinates of the outermost level."""
    block_counts: tuple[str, ...] = ()
    """Of a tensor in blocks, for each mode the index whose extent counts them; empty where they have a size
    of one."""

    @property
    def stored(self) -> str:
        """The tensor in whose memories it lies: itself, but for an alias."""
        return self.alias_of or self.name


@dataclass(frozen=True)
class Graph:
    """The SAMML graph of one region. `value` is the value type of all streams and memories that do not name
    another; `extents` maps each index to the greatest extent the build takes (the run's own
    extents are registers that the host writes)."""

    name: str
    value: ValueType
    nodes: tuple[Node, ...]
    channels: tuple[Channel, ...]
    memories: tuple[Memory, ...]
    tensors: tuple[TensorBinding, ...]
    extents: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        size = f"{len(self.nodes)} nodes and {len(self.channels)} channels"
        return f"<Graph {self.name}: {self.value}, {size}>"

    @cached_property
    def node(self) -> dict[str, Node]:
        """Nodes by name."""
        return {n.name: n for n in self.nodes}

    @cached_property
    def memory(self) -> dict[str, Memory]:
        """Memories by name."""
        return {m.name: m for m in self.memories}

    @cached_property
    def fanout(self) -> dict[Endpoint, tuple[Channel, ...]]:
        """The channels of each connected output."""
        result: dict[Endpoint, list[Channel]] = {}
        for channel in self.channels:
            result.setdefault(channel.source, []).append(channel)
        return {k: tuple(v) for k, v in result.items()}

    @cached_property
    def fanin(self) -> dict[Endpoint, Channel]:
        """The channel of each input."""
        return {c.sink: c for c in self.channels}

    @cached_property
    def flow(self) -> Precedence[str]:
        """The nodes by name, each with an edge to those that read what it gives. Not to be changed."""
        ends = ((c.source.node, c.sink.node) for c in self.channels)
        return Precedence((node.name for node in self.nodes), ends)

    def before(self, names: Iterable[str]) -> set[str]:
        """Some nodes, and all from which there is a way to one of them."""
        return reached(names, self.flow.before)

    def behind(self, names: Iterable[str]) -> set[str]:
        """Some nodes, and all to which there is a way from one of them."""
        return reached(names, self.flow.after)

    def writers(self) -> Iterator[Node]:
        """The nodes without outputs, whose DONE ends a region."""
        return (n for n in self.nodes if not n.outputs)

    def stream(self, channel: Channel) -> Stream:
        """The type of the stream on a channel."""
        return self.node[channel.source.node].output(channel.source.port).stream

    def operand_type(self, node: Node) -> ValueType:
        """The type of the values that a node takes in."""
        return node.spec.operand_type(node.params, self.value)

    def result_type(self, node: Node) -> ValueType:
        """The type of the values that a node gives."""
        return node.spec.result_type(node.params, self.value)

    def taken(self, node: Node, port: str) -> Payload:
        """What a token carries into an input."""
        return node.input(port).stream.payload.of(self.operand_type(node))

    def given(self, node: Node, port: str) -> Payload:
        """What a token carries out of an output."""
        return node.output(port).stream.payload.of(self.result_type(node))

    def stored(self, memory: Memory) -> Payload:
        """What lies at one place of a memory."""
        return memory.payload(self.value)

    def with_depths(self, depths: Mapping[str, int]) -> "Graph":
        """A copy in which the named channels have other depths."""
        return replace(
            self, channels=tuple(replace(c, depth=depths.get(c.name, c.depth)) for c in self.channels)
        )


P = ParamSpec("P")
T = TypeVar("T")


def once_per_graph(
    function: Callable[Concatenate[Graph, P], T],
) -> Callable[Concatenate[Graph, P], T]:
    """A function that finds again what it gave of the same graph: the object, not one that is equal to it,
    which would have to be compared node by node. It is kept as long as the graph is there; of a function that
    takes more, what it gave of the last arguments.
    """
    known: dict[int, tuple[ref[Graph], object, T]] = {}

    @wraps(function)
    def found(graph: Graph, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = id(graph)
        asked = (args, kwargs)
        kept = known.get(key)
        if kept is not None and kept[0]() is graph and kept[1] == asked:
            return kept[2]
        result = function(graph, *args, **kwargs)
        known[key] = ref(graph, lambda _: known.pop(key, None)), asked, result
        return result

    return found


# Nodes from their kind and parameters, the latencies of their outputs, and the channels of a graph in the
# making.


def make(kind: str, name: str, depth: int, *, note: str = "", index: str = "", **params: Any) -> Node:
    """A graph node with typed ports.

    Args:
        kind: one of `samhw.graph.spec.base()`.
        name: unique in its graph.
        depth: depth of the stream on the first input (the outer one of two); ignored for root.
        note: where the node comes from, for readers.
        index: the index that it works on, see `Node.index`.
        params: the parameters of docs/primitives.md; of value types, the names will do. Besides: `inputs`
            and `payloads` (the kind of each ref<i>: 'crd', 'ref' or 'val') of intersect and union, `payload`
            ('ref' or 'val') of repeat.

    Raises:
        InputError: for an unknown kind, a parameter that is unknown, missing or wrong, or a depth too small.
    """
    plain, inputs, outputs = spec_of(kind).instance(name, depth, params)
    return Node(name, kind, plain, tuple(inputs), tuple(outputs), note, index=index)


def latency(node: Node, port: str, arch: Arch, value: ValueType) -> int:
    """Latency of an output port, in cycles. `value` is the graph's value type.

    Raises:
        InputError: if the node has no such output, or the value type or `arch` not its operation.
    """
    if port not in (p.name for p in node.outputs):
        raise InputError(f"Node {node.name!r} ({node.kind}) has no output {port!r}; name one of its outputs.")
    spec = node.spec
    if work := spec.work(node.params):
        source = spec.operand_type(node.params, value)
        if work.operation in OPERATIONS and work.operation not in source.operations:
            raise InputError(
                f"{source} has no operation {work.operation!r}, which node {node.name!r} needs; choose "
                "another --value, such as f32."
            )
    return spec.latency(port, node.params, arch, value)


def wired(
    nodes: Mapping[str, Node], ends: Sequence[tuple[Endpoint, Endpoint]], arch: Arch, value: ValueType
) -> tuple[Channel, ...]:
    """Channels between outputs and inputs, with the latency of their source and the least depth that runs at
    full rate."""
    feeds = Counter(source for source, _ in ends)
    channels = []
    for source, sink in ends:
        cycles = latency(nodes[source.node], source.port, arch, value)
        cycles += arch.fanout if feeds[source] > 1 else 0
        channels.append(Channel(source, sink, cycles, cycles + 1))
    return tuple(channels)
