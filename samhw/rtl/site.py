"""Where a component stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from samhw.graph import Arch, Endpoint, Graph, Node
from samhw.graph.fabrics import immediates_of
from samhw.graph.numerics import ValueType
from samhw.graph.patterns import may_be_empty
from samhw.graph.widths import carried_bits, greatest_indices, value_ends
from samhw.rtl.access import MemoryAccess
from samhw.rtl.token import KIND_BITS, LEVEL_BITS, level_bits, token_width

__all__ = ["Bits", "Site", "Varying", "bits_of"]


class Varying(int):
    """The greatest of the capacities that a memory has in the runs of a fabric; the component is told that of
    the present one (`Primitive.limit`)."""

    def __repr__(self) -> str:
        return f"Varying({int(self)})"


@dataclass(frozen=True)
class Site:
    """Where a component is to stand: a node of a graph, and what the component has to be made for."""

    node: Node
    graph: Graph
    arch: Arch
    stall_port: bool
    accesses: Mapping[str, MemoryAccess] = field(default_factory=dict)
    """How the component reaches memories that do not lie on the chip, as arguments of it: by the parameters
    that name them."""
    bound: Sequence[Node] = ()
    """The nodes of all regions that share a fabric, for which this one stands; the graph of each has the same
    place in `graphs`."""
    graphs: Sequence[Graph] = ()
    others: Sequence[tuple[Node, Graph]] = ()
    """The nodes of other fabrics for which it stands, each with the fabric's graph."""

    @property
    def params(self) -> Mapping[str, Any]:
        """The node's parameters."""
        return self.node.params

    @property
    def value(self) -> ValueType:
        """The type of the values that come in."""
        return self.graph.operand_type(self.node)

    @property
    def result(self) -> ValueType:
        """The type of the values that go out."""
        return self.graph.result_type(self.node)

    def capacity(self, param: str) -> int:
        """The places of the memory that a parameter names; `Varying` if they are others in other runs."""
        pairs = zip(self.graphs, self.bound, strict=True)
        found = {graph.memory[node.memories[param]].capacity for graph, node in pairs}
        greatest = max(graph.memory[node.memories[param]].capacity for node, graph in self._all)
        return Varying(greatest) if len(found) > 1 else greatest

    @property
    def varying(self) -> tuple[str, ...]:
        """The operands that have another number in other runs instead of a stream."""
        immediates = [immediates_of(node) for node in self.bound or [self.node]]
        return tuple(name for name in immediates[0] if len({repr(own[name]) for own in immediates}) > 1)

    def stored_width(self, param: str) -> int:
        """The width of a place of the memory that a parameter names."""
        memory = self.graph.memory[self.node.memories[param]]
        return self.graph.stored(memory).width(self.arch.index_bits)

    def width(self, port: str) -> int:
        """The width of an input's payloads."""
        return token_width(self.graph.taken(self.node, port).width(self.arch.index_bits))

    def sum_bits(self) -> int | None:
        """The bits that say all of a number that a reducer gives, or has on the way there; None for blocks,
        and for what is no integer."""
        found = [_sum_bits(node, graph) for node, graph in self._all]
        bits = [own for own in found if own is not None]
        return min(max(bits), self.result.width) if len(bits) == len(found) else None

    def may_be_empty(self, port: str) -> bool:
        """Whether a payload at an input may be EMPTY."""
        return any(_may_be_empty(node, graph, port) for node, graph in self._all)

    def coordinate_bits(self) -> int:
        """The bits that the coordinates at the inputs of a joiner have."""
        most = max(_coordinate_bits(node, graph, self.arch.index_bits) for node, graph in self._all)
        return min(self.arch.index_bits, max(most, 1))

    def widths(self) -> list[int]:
        """The widths of the payloads that a joiner joins."""
        return [self.width(f"ref{i}") for i in range(self.params["inputs"])]

    @property
    def _all(self) -> Sequence[tuple[Node, Graph]]:
        """All nodes for which it stands, one of each fabric."""
        return [(self.node, self.graph), *self.others]


def _sum_bits(node: Node, graph: Graph) -> int | None:
    source = Endpoint(node.name, "val")
    if source not in value_ends(graph) or node.output("val").stream.payload.shape:
        return None
    carried = carried_bits(graph, source)
    return carried.bits + (not carried.is_signed)


def _may_be_empty(node: Node, graph: Graph, port: str) -> bool:
    channel = graph.fanin.get(Endpoint(node.name, port))
    return channel is None or channel.source in may_be_empty(graph)


def _coordinate_bits(node: Node, graph: Graph, index_bits: int) -> int:
    greatest = greatest_indices(graph)
    ports = [Endpoint(node.name, f"crd{i}") for i in range(node.params["inputs"])]
    if not all(port in graph.fanin for port in ports):
        return index_bits
    return max(greatest[graph.fanin[port].source] for port in ports).bit_length()


class Bits(NamedTuple):
    """The bits of the tokens of an output, as masks."""

    kept: int
    """Those that say all of a token."""
    early: int
    """Those that tell kinds and levels."""
    is_signed: bool
    """Those above are copies of the highest that is kept, and not zeros."""


def bits_of(sources: Sequence[tuple[Graph, Endpoint]]) -> Bits:
    """What the tokens of any of these outputs are made of."""
    levels = (level_bits(graph.node[end.node].output(end.port).stream.depth) for graph, end in sources)
    early = reduce(or_, levels) << KIND_BITS | (1 << KIND_BITS) - 1
    carried = [carried_bits(graph, source) for graph, source in sources]
    is_signed = any(own.is_signed for own in carried)
    # The sign of what has none is zero.
    bits = max(own.bits + (is_signed and not own.is_signed) for own in carried)
    # Above the levels of a stop nothing means anything.
    bits = max(bits, LEVEL_BITS) if is_signed else bits
    return Bits(early | (1 << bits) - 1 << KIND_BITS, early, is_signed)
