"""What becomes of a node when its values are blocks."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from samhw.graph.spec.params import Params

__all__ = ["Axes", "Blocked", "TakenBlocks", "fold_before", "turned_blocks"]

Axes = tuple[str, ...]
"""The indices along which a block lies, outermost first; () for a single value."""


class TakenBlocks(NamedTuple):
    """The blocks that come to a node."""

    axes: Mapping[str, Axes]
    """Those of each input, and of a memory that it reads those of its first output."""
    sizes: Mapping[str, int]
    """The size of a block along each index."""
    order: Sequence[str]
    """In which order the axes of what it gives are to lie."""
    summed: str = ""
    """The index that whoever reads it sums over next, if it has an axis along that."""

    def shape(self, axes: Axes) -> list[int]:
        """The shape of blocks along these axes."""
        return [self.sizes[index] for index in axes]

    def union(self, ports: Sequence[str]) -> Axes:
        """The axes that any of these inputs has, in order."""
        found = {index for port in ports for index in self.axes[port]}
        return tuple(index for index in self.order if index in found)

    def alike(self, kind: str, params: Mapping[str, Any]) -> "Blocked":
        """A node with the input `val`, whose blocks go out by `val` as they are."""
        axes = self.axes["val"]
        return Blocked(kind, {**params, "shape": self.shape(axes)}, {"val": axes})


class Blocked(NamedTuple):
    """A node for blocks."""

    kind: str
    params: dict[str, Any]
    given: Mapping[str, Axes]
    """The axes of what it gives, by output; none for other outputs."""


def fold_before(reducer: Params, shape: Sequence[int], axis: int) -> tuple[str, dict[str, Any]]:
    """The kind and the parameters of what reduces blocks of a shape along an axis, as a reducer with these
    parameters reduces from block to block."""
    params = {name: reducer[name] for name in ("op", "value") if name in reducer}
    return "fold", {**params, "shape": list(shape), "over": [axis]}


def turned_blocks(writer: Params, shape: Sequence[int], axes: Sequence[int]) -> tuple[str, dict[str, Any]]:
    """The kind and the parameters of what gives the blocks of an input, whose axes are these of a shape, in
    the order of that shape, to a writer with these parameters."""
    value = {"value": writer["value"]} if "value" in writer else {}
    return "alu", {"op": "convert", "shape": list(shape), "axes": {"a": list(axes)}, **value}
