"""Where a component stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from samhw.graph import Arch, Endpoint, Graph, Node
from samhw.graph.numerics import ValueType
from samhw.graph.patterns import may_be_empty
from samhw.graph.widths import carried_bits, greatest_indices
from samhw.rtl.access import MemoryAccess
from samhw.rtl.token import KIND_BITS, level_bits, token_width

__all__ = ["Site", "bits_of"]


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
        """The places of the memory that a parameter names."""
        return self.graph.memory[self.node.memories[param]].capacity

    def stored_width(self, param: str) -> int:
        """The width of a place of the memory that a parameter names."""
        memory = self.graph.memory[self.node.memories[param]]
        return self.graph.stored(memory).width(self.arch.index_bits)

    def width(self, port: str) -> int:
        """The width of an input's payloads."""
        return token_width(self.graph.taken(self.node, port).width(self.arch.index_bits))

    def may_be_empty(self, port: str) -> bool:
        """Whether a payload at an input may be EMPTY."""
        channel = self.graph.fanin.get(Endpoint(self.node.name, port))
        return channel is None or channel.source in may_be_empty(self.graph)

    def coordinate_bits(self) -> int:
        """The bits that the coordinates at the inputs of a joiner have."""
        greatest = greatest_indices(self.graph)
        ports = [Endpoint(self.node.name, f"crd{i}") for i in range(self.params["inputs"])]
        if not all(port in self.graph.fanin for port in ports):
            return self.arch.index_bits
        most = max(greatest[self.graph.fanin[port].source] for port in ports)
        return min(self.arch.index_bits, max(most.bit_length(), 1))

    def widths(self) -> list[int]:
        """The widths of the payloads that a joiner joins."""
        return [self.width(f"ref{i}") for i in range(self.params["inputs"])]


def bits_of(graph: Graph, source: Endpoint) -> tuple[int, int]:
    """Masks of the bits that the tokens of an output may have set, and of those that tell their kinds and
    levels."""
    levels = level_bits(graph.node[source.node].output(source.port).stream.depth)
    early = (1 << KIND_BITS) - 1 | levels << KIND_BITS
    return early | (1 << carried_bits(graph, source)) - 1 << KIND_BITS, early
