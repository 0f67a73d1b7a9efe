"""How wide the coordinates and references of a build have to be, and what streams carry."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from samhw.graph.design import Design
from samhw.graph.ir import Endpoint, Graph, Node, once_per_graph
from samhw.graph.numerics import Integer
from samhw.graph.patterns import patterns
from samhw.graph.spec import Arch, Port, StreamKind

__all__ = [
    "LEAST_INDEX_BITS",
    "CarriedBits",
    "Ends",
    "carried_bits",
    "greatest_indices",
    "index_bits",
    "value_ends",
]

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
    and references are mostly narrower than the indices of the build, and of the 32 bits of their type,
    products of 8 bits have 16, and sums of a hundred of these 23."""
    most = greatest_indices(graph).get(source)
    if most is not None:
        return CarriedBits(most.bit_length(), is_signed=False)
    payload = graph.given(graph.node[source.node], source.port)
    width, ends = payload.width(0), value_ends(graph).get(source)
    if payload.shape or ends is None:
        return CarriedBits(width, is_signed=False)
    is_signed = ends.least < 0
    bits = max(ends.greatest, -ends.least - 1).bit_length() + is_signed
    return CarriedBits(min(bits, width), is_signed and bits < width)


class Ends(NamedTuple):
    """Integers lie between these; so does zero, for which an EMPTY counts."""

    least: int
    greatest: int

    def within(self, kind: Integer) -> "Ends":
        """Those of a type: a result that does not fit ends the run."""
        return Ends(max(self.least, kind.lowest), min(self.greatest, kind.highest))


@once_per_graph
def value_ends(graph: Graph) -> Mapping[Endpoint, Ends]:
    """The ends of what each output carries that carries integers, or blocks of them, in a run whose extents
    and memories fit the graph's. The graph has producers before those that read them."""
    result: dict[Endpoint, Ends] = {}
    for node in graph.nodes:
        heads = {port.name: graph.fanin.get(Endpoint(node.name, port.name)) for port in node.inputs}
        taken = {name: result[c.source] for name, c in heads.items() if c and c.source in result}
        for port in node.outputs:
            kind = graph.given(node, port.name).element
            if isinstance(kind, Integer):
                found = _ends(graph, node, port, taken)
                whole = Ends(kind.lowest, kind.highest)
                result[Endpoint(node.name, port.name)] = found.within(kind) if found else whole
    return result


def _ends(graph: Graph, node: Node, port: Port, taken: Mapping[str, Ends]) -> Ends | None:
    """Of one output, given those of the node's inputs; None if its type alone bounds it."""
    work, reduction = node.spec.work(node.params), node.spec.reduction(node.params)
    values = [given.name for given in node.inputs if given.stream.kind is StreamKind.VAL]
    if work is None:
        # What passes a node keeps its name, or is all that there is.
        passed = [taken.get(name) for name in ([port.name] if port.name in values else values)]
        return _around(passed)
    if reduction is not None and reduction.operation == work.operation:
        return _of_sum(graph, node, reduction.operation, reduction.values, taken)
    if not work.operands or work.each != port.stream.payload.words:
        return None  # It joins several results.
    kind = graph.operand_type(node)
    if not isinstance(kind, Integer):
        return None
    # Of a number that is an operand only its type counts: other regions on this hardware have others.
    operands = [taken.get(str(name), Ends(kind.lowest, kind.highest)) for name in work.operands]
    return operation_ends(work.operation, operands)


def operation_ends(op: str, operands: Sequence[Ends]) -> Ends | None:
    """The ends of exact results; None for operations that are left to their type."""
    a, b = operands[0], operands[-1]
    match op:
        case "convert":
            return a
        case "add":
            return Ends(a.least + b.least, a.greatest + b.greatest)
        case "sub":
            return Ends(a.least - b.greatest, a.greatest - b.least)
        case "mul":
            found = [x * y for x in a for y in b]
            return Ends(min(found), max(found))
        case "max" | "min":
            return _around([a, b])
        case "neg":
            return Ends(-a.greatest, -a.least)
        case "abs":
            return Ends(0, max(a.greatest, -a.least))
        case "relu":
            return Ends(0, a.greatest)
        case "lt" | "le" | "eq":
            return Ends(0, 1)
        case "select":
            return _around(operands[1:])
    return None


def _around(passed: Sequence[Ends | None]) -> Ends | None:
    """The ends of what is one of several."""
    known = [ends for ends in passed if ends is not None]
    if not known or len(known) < len(passed):
        return None
    return Ends(min(ends.least for ends in known), max(ends.greatest for ends in known))


def _of_sum(graph: Graph, node: Node, op: str, port: str, taken: Mapping[str, Ends]) -> Ends | None:
    """The ends of what a node makes of the values of a fiber, and of what it has on the way there."""
    ends = taken.get(port)
    if ends is None or op in ("max", "min"):
        return ends
    terms = _most_in_a_fiber(
        graph, graph.fanin[Endpoint(node.name, port)].source, node.spec.kept(node.params)
    )
    if op != "add" or terms is None:
        return None
    return Ends(terms * ends.least, terms * ends.greatest)


def _most_in_a_fiber(graph: Graph, source: Endpoint, level: int | None) -> int | None:
    """The most elements of a fiber of an output's level, `level` levels outside of the innermost
    one, whose coordinates differ. None if nobody knows."""
    if level is None:
        return None
    maker, own, _ = patterns(graph)[source][-1 - level]
    if own < 0:
        return graph.extents[maker]
    made = graph.node[maker].outputs if maker in graph.node else ()
    found = [
        greatest_indices(graph)[Endpoint(maker, port.name)] + 1
        for port in made
        if port.stream.kind is StreamKind.CRD and port.stream.depth == own + 1
    ]
    return max(found, default=None)


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
