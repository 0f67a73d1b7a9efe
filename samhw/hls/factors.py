"""Which elements of blocks are computed with, as C++."""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from samhw.graph import Node
from samhw.spec.alu import axes_of

__all__ = ["Elementwise", "Factors", "FoldedParts"]


class Factors(NamedTuple):
    """What a matmul multiplies and sums, as the template `matmul.hpp` has it."""

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
            shape=_by(shape),
            over=_by(over),
            sums=prod(shape),
            terms=prod(over),
            left=_place(sizes, a),
            right=_place(sizes, b),
        )


class Elementwise(NamedTuple):
    """What an ALU on blocks computes an element of its result of, as the template `alu.hpp` has it."""

    name: str
    shape: str
    elements: int
    places: tuple[tuple[str, str], ...]
    """Of each operand, which of its elements."""

    @classmethod
    def of(cls, node: Node) -> "Elementwise":
        """Those of a node. Equal nodes have equal names."""
        shape, ports = tuple(node.params["shape"]), [port.name for port in node.inputs]
        axes = [tuple(axes_of(node.params, port)) for port in ports]
        parts = ("_".join(map(str, numbers)) for numbers in (shape, *axes))
        places = ((port, _place(shape, own)) for port, own in zip(ports, axes, strict=True))
        name = f"elements_{'_'.join(ports)}__{'__'.join(parts)}"
        return cls(name, _by(shape), prod(shape), tuple(places))


class FoldedParts(NamedTuple):
    """What a fold makes its results of, as the template `fold.hpp` has it."""

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
        place = _place([shape[axis] for axis in order], [order.index(axis) for axis in range(len(shape))])
        parts = ("_".join(map(str, numbers)) for numbers in (shape, over))
        sizes = _by([shape[axis] for axis in over])
        return cls(f"parts_{'__'.join(parts)}", _by(shape), sizes, results, prod(shape) // results, place)


def _by(sizes: Sequence[int]) -> str:
    return " by ".join(map(str, sizes))


def _place(sizes: Sequence[int], axes: Sequence[int]) -> str:
    """Where product p has its factor in an operand with these of the axes."""
    terms, stride = [], 1
    for axis in reversed(axes):
        terms.append(f"p / {prod(sizes[axis + 1 :])} % {sizes[axis]} * {stride}")
        stride *= sizes[axis]
    return " + ".join(reversed(terms)) or "0"
