"""What a stream carries, and the ports that streams enter and leave a node by."""

from enum import StrEnum
from typing import NamedTuple

__all__ = ["Port", "Stream", "StreamKind", "crd", "ref", "typed", "val"]


class StreamKind(StrEnum):
    """What the payloads of a stream are."""

    CRD = "crd"
    REF = "ref"
    VAL = "val"


class Stream(NamedTuple):
    """The type of a stream: what it carries, and how many fiber levels lie around a payload."""

    kind: StreamKind
    depth: int


class Port(NamedTuple):
    """A named input or output of a node."""

    name: str
    stream: Stream


def typed(name: str, kind: str, depth: int) -> Port:
    """A port whose kind of payload is a parameter."""
    return Port(name, Stream(StreamKind(kind), depth))


def crd(name: str, depth: int) -> Port:
    """A port of coordinates."""
    return Port(name, Stream(StreamKind.CRD, depth))


def ref(name: str, depth: int) -> Port:
    """A port of references."""
    return Port(name, Stream(StreamKind.REF, depth))


def val(name: str, depth: int) -> Port:
    """A port of values."""
    return Port(name, Stream(StreamKind.VAL, depth))
