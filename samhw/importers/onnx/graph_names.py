"""The names of a graph, and what they stand for."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import onnx

from samhw.errors import InputError
from samhw.importers.core import UnsupportedError
from samhw.importers.onnx.values import Operand

__all__ = ["Entry", "GraphNames", "readers_of"]

Entry = Operand | UnsupportedError | None


@dataclass
class GraphNames:
    """The names of a graph, or of a function's body.

    Attributes:
        held: what has been computed, by name.
        outer: of a body of If, Loop or Scan, the graph that it stands in.
        attributes: of a function's body, those of the node.
        opsets: the versions of the operator sets, by domain.
        path: where the body stands, for messages.
        readers: how many nodes, and outputs, read a name, bodies of nodes among them.
        sums: the names of sums of products.
    """

    held: dict[str, Entry]
    opsets: Mapping[str, int]
    outer: "GraphNames | None" = None
    attributes: Mapping[str, onnx.AttributeProto] | None = None
    path: str = ""
    readers: Counter[str] = field(default_factory=Counter)
    sums: set[str] = field(default_factory=set)

    def get(self, name: str) -> Entry:
        """What a name stands for."""
        scope: GraphNames | None = self
        while scope is not None:
            if name in scope.held:
                return scope.held[name]
            scope = scope.outer
        raise InputError(f"The model has no tensor '{name}'; mend it (onnx.checker tells what is wrong).")

    def is_lone_sum(self, name: str) -> bool:
        """Whether it is a sum of products that one node reads, so that this one may go on adding."""
        return name in self.sums and name in self.held and self.readers[name] == 1

    def inner(self) -> "GraphNames":
        """That of a body that sees these names."""
        return GraphNames({}, self.opsets, self, self.attributes, self.path)


def readers_of(nodes: Iterable[onnx.NodeProto], outputs: Iterable[str]) -> Counter[str]:
    """How often each name is read."""
    return Counter([*outputs, *_read(nodes)])


def _read(nodes: Iterable[onnx.NodeProto]) -> Iterator[str]:
    for node in nodes:
        yield from node.input
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _read(attribute.g.node)
                yield from (output.name for output in attribute.g.output)
