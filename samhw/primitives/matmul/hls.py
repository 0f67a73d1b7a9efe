"""matmul, as processes of C++."""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from samhw.graph import Graph, Node
from samhw.hls.cpp import by, element_index
from samhw.hls.lower import plain
from samhw.hls.region_builder import RegionBuilder

__all__ = ["context", "lower"]


class Factors(NamedTuple):
    """What a matmul multiplies and sums."""

    name: str
    shape: str
    over: str
    sums: int
    terms: int
    left: str
    right: str

    @classmethod
    def of(cls, node: Node) -> "Factors":
        """Those of a node. Equal nodes have equal names."""
        shape, over, a, b = (tuple(node.params[name]) for name in ("shape", "over", "a", "b"))
        sizes = (*shape, *over)
        parts = ("_".join(map(str, numbers)) for numbers in (shape, over, a, b))
        return cls(
            name="axes_" + "__".join(parts),
            shape=by(shape),
            over=by(over),
            sums=prod(shape),
            terms=prod(over),
            left=element_index(sizes, a),
            right=element_index(sizes, b),
        )


def lower(to: RegionBuilder, node: Node) -> None:
    """One process."""
    plain(to, node, f"samhw::{Factors.of(node).name}")


def context(uses: Sequence[tuple[Graph, Node]]) -> dict[str, Any]:
    """What its header is rendered for: which factors products have."""
    widens = any(graph.operand_type(node) != graph.result_type(node) for graph, node in uses)
    return {
        **({"converts": True} if widens else {}),
        "blocks": True,
        "matmuls": sorted({Factors.of(node) for _, node in uses}),
        "widening_matmuls": widens,
    }
