"""The names of a graph, and what they stand for."""

from collections.abc import Mapping
from dataclasses import dataclass

import onnx

from samhw.errors import InputError
from samhw.importers.core import UnsupportedError
from samhw.importers.onnx.values import Operand

__all__ = ["Entry", "GraphNames"]

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
    """

    held: dict[str, Entry]
    opsets: Mapping[str, int]
    outer: "GraphNames | None" = None
    attributes: Mapping[str, onnx.AttributeProto] | None = None
    path: str = ""

    def get(self, name: str) -> Entry:
        """What a name stands for."""
        scope: GraphNames | None = self
        while scope is not None:
            if name in scope.held:
                return scope.held[name]
            scope = scope.outer
        raise InputError(f"The model has no tensor '{name}'; mend it (onnx.checker tells what is wrong).")

    def inner(self) -> "GraphNames":
        """That of a body that sees these names."""
        return GraphNames({}, self.opsets, self, self.attributes, self.path)
