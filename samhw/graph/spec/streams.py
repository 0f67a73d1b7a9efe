"""What streams and memories carry, and the ports that streams enter and leave a node by."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samhw.graph.numerics import Integer, ValueType, Words

__all__ = ["COORDINATE", "Payload", "Port", "Stream", "StreamKind", "crd", "ref", "typed", "val"]

COORDINATE = Integer(32)
"""The type of a coordinate that is a value."""


class StreamKind(StrEnum):
    """What the payloads of a stream are."""

    CRD = "crd"
    REF = "ref"
    VAL = "val"


@dataclass(frozen=True)
class Payload:
    """What one token of a stream carries, or one place of a memory: as many words of a kind as `shape` has.

    `element` is the type of a value. An index has none; and in the ports of a node, which its graph shares
    with others, a value has none either, but where a node has values of several types: of which type it is,
    `Graph.taken` and `Graph.given` say. `shape` is
    () for one word, and that of a block for several, which lie in row-major order.
    """

    kind: StreamKind
    element: ValueType | None = None
    shape: tuple[int, ...] = ()

    @property
    def words(self) -> int:
        """How many words it is."""
        return prod(self.shape)

    def width(self, index_bits: int) -> int:
        """Its bits, given those of an index."""
        return self.words * (self.element.width if self.element else index_bits)

    def of(self, element: ValueType) -> "Payload":
        """The same with its values of a type, if they have none; indices stay what they are."""
        if self.kind is not StreamKind.VAL or self.element is not None:
            return self
        return replace(self, element=element)

    def encode(self, array: NDArray[Any]) -> Words:
        """The words for an array of values or of indices; raises `InputError` for values that have none."""
        return self.element.encode(array) if self.element else array.astype(np.int64)

    def __str__(self) -> str:
        sizes = f"[{','.join(map(str, self.shape))}]" if self.shape else ""
        return f"{self.element or self.kind}{sizes}"


class Stream(NamedTuple):
    """The type of a stream: what it carries, and how many fiber levels lie around a payload."""

    payload: Payload
    depth: int

    @property
    def kind(self) -> StreamKind:
        """What its payloads are."""
        return self.payload.kind


class Port(NamedTuple):
    """A named input or output of a node."""

    name: str
    stream: Stream


def typed(
    name: str, kind: str, depth: int, shape: Sequence[int] = (), element: ValueType | None = None
) -> Port:
    """A port whose kind of payload is a parameter, and the type of its values, if it has its own."""
    return Port(name, Stream(Payload(StreamKind(kind), element, tuple(shape)), depth))


def crd(name: str, depth: int) -> Port:
    """A port of coordinates."""
    return typed(name, StreamKind.CRD, depth)


def ref(name: str, depth: int) -> Port:
    """A port of references."""
    return typed(name, StreamKind.REF, depth)


def val(name: str, depth: int, shape: Sequence[int] = ()) -> Port:
    """A port of values, or of blocks of values of that shape."""
    return typed(name, StreamKind.VAL, depth, shape)
