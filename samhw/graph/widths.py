"""How wide the coordinates and references of a build have to be, and what streams carry."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from samhw.graph.design import Design
from samhw.graph.ir import Endpoint, Graph, Node, once_per_graph
from samhw.graph.numerics import operation
from samhw.graph.spec import Arch, Port, StreamKind

__all__ = ["LEAST_INDEX_BITS", "CarriedBits", "carried_bits", "greatest_indices", "index_bits"]

LEAST_INDEX_BITS = 8
"""The two levels of a stop take these."""


def index_bits(design: Design, arch: Arch) -> int:
    """The width of every coordinate, reference, extent and position of a build.

    It has room for what occurs in a run whose extents and memories fit the build, with the places of every
    memory, and for a position two after the last coordinate of a memory, to which scanners look ahead; and
    it is at most `arch.index_bits`.
    """
    return min(arch.index_bits, max(LEAST_INDEX_BITS, max(_occurring(design), default=0).bit_length()))


def _occurring(design: Design) -> Iterator[int]:
    yield from design.extents.values()
    for memory in design.memories:
        yield memory.capacity + 2 if memory.payload().kind is StreamKind.CRD else memory.capacity - 1
    for graph in design.regions:
        yield from greatest_indices(graph).values()
        for node in graph.nodes:
            if node.spec.scans and node.memories and (places := _places(graph, node)):
                yield places + 2
            if any(graph.memory[name].is_signed for name in node.memories.values()):
                # What lies outside, on either side, is told from what lies inside.
                yield sum(graph.extents[index] for index in node.extents.values())


def _places(graph: Graph, node: Node) -> int:
    """How many places a level has that a node scans, if it stores no coordinates: those of the largest memory
    of its tensor. 0 for others."""
    memories = [graph.memory[name] for name in node.memories.values()]
    if any(memory.payload().kind is StreamKind.CRD for memory in memories):
        return 0
    return max(memory.capacity for memory in graph.memories if memory.tensor == memories[0].tensor)


@once_per_graph
def greatest_indices(graph: Graph) -> Mapping[Endpoint, int]:
    """The greatest coordinate or reference of each output that carries such, in a run whose extents and
    memories fit the graph's. The graph has producers before those that read them."""
    result: dict[Endpoint, int] = {}
    for node in graph.nodes:
        taken = {}
        for port in node.inputs:
            channel = graph.fanin.get(Endpoint(node.name, port.name))
            if channel and channel.source in result:
                taken[port] = result[channel.source]
        for port in node.outputs:
            if port.stream.kind is not StreamKind.VAL:
                result[Endpoint(node.name, port.name)] = _greatest(graph, node, port, taken)
    return result


class CarriedBits(NamedTuple):
    """The bits of a payload that say all of it."""

    bits: int
    is_signed: bool
    """Those above are copies of the highest, and not zeros."""


def carried_bits(graph: Graph, source: Endpoint) -> CarriedBits:
    """What the payloads of an output carry, in a run whose extents and memories fit the graph's. Coordinates
    and references are mostly narrower than the indices of the build, and products of 8 bits have 16 of the 32
    of their type."""
    most = greatest_indices(graph).get(source)
    if most is not None:
        return CarriedBits(most.bit_length(), is_signed=False)
    node = graph.node[source.node]
    payload = graph.given(node, source.port)
    ends = _ends(graph, node) if not payload.shape else None
    if ends is None:
        return CarriedBits(payload.width(0), is_signed=False)
    least, greatest = ends
    is_signed = least < 0
    return CarriedBits(max(greatest, -least - 1).bit_length() + is_signed, is_signed)


def _ends(graph: Graph, node: Node) -> tuple[int, int] | None:
    """The least and the greatest value that a node gives, if it makes integers wider."""
    work = node.spec.work(node.params)
    if work is None or not work.operands:
        return None
    return operation(work.operation, graph.operand_type(node), graph.result_type(node)).ends


def _greatest(graph: Graph, node: Node, port: Port, taken: Mapping[Port, int]) -> int:
    """Of one output, given those of the node's inputs."""
    # What passes a node keeps its name, or has the kind of what it was.
    passed = [most for given, most in taken.items() if given.name == port.name] or [
        most for given, most in taken.items() if given.stream.kind is port.stream.kind
    ]
    before = max(passed, default=0)
    extent = max((graph.extents[index] for index in node.extents.values()), default=0)
    if not node.inputs:
        return max(extent - 1, 0)
    if port.stream.kind is StreamKind.CRD:
        if node.spec.scans:
            return max(extent - 1, 0)
        return before + extent if node.spec.moves else before
    if node.spec.locates:
        return max((before + 1) * extent - 1, 0)
    if node.spec.scans and node.memories and (places := _places(graph, node)):
        return places - 1
    if node.spec.scans:
        return max(before, *(graph.memory[name].capacity - 1 for name in node.memories.values()))
    return before
