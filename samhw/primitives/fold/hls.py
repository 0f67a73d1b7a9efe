"""fold, as processes of C++."""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from samhw.graph import Graph, Node
from samhw.hls.cpp import by, element_index
from samhw.hls.lower import plain
from samhw.hls.region_builder import RegionBuilder

__all__ = ["context", "lower"]


class FoldedParts(NamedTuple):
    """What a fold makes its results of."""

    name: str
    shape: str
    over: str
    results: int
    terms: int
    place: str

    @classmethod
    def of(cls, node: Node) -> "FoldedParts":
        """Those of a node. Equal nodes have equal names."""
        shape, over = tuple(node.params["shape"]), tuple(node.params["over"])
        kept = [axis for axis in range(len(shape)) if axis not in over]
        results = prod(shape[axis] for axis in kept)
        # The axes of a block, among those that results come by, and inside of these parts.
        order = [*kept, *over]
        place = element_index(
            [shape[axis] for axis in order], [order.index(axis) for axis in range(len(shape))]
        )
        parts = ("_".join(map(str, numbers)) for numbers in (shape, over))
        sizes = by([shape[axis] for axis in over])
        return cls(f"parts_{'__'.join(parts)}", by(shape), sizes, results, prod(shape) // results, place)


def lower(to: RegionBuilder, node: Node) -> None:
    """One process."""
    plain(to, node, f"samhw::{FoldedParts.of(node).name}", f"samhw::{node.params['op']}")


def context(uses: Sequence[tuple[Graph, Node]]) -> dict[str, Any]:
    """What its header is rendered for: which parts of blocks results are made of."""
    return {"blocks": True, "folds": sorted({FoldedParts.of(node) for _, node in uses})}
