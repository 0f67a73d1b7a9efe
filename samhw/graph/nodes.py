"""Nodes from their kind and parameters, the latencies of their outputs, and the channels of a graph in the
making."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from samhw.errors import InputError
from samhw.graph.ir import Channel, Endpoint, Node
from samhw.graph.numerics import OPERATIONS, ValueType
from samhw.graph.spec import Arch, spec_of

__all__ = ["latency", "make", "wired"]


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
