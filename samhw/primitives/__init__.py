"""The primitives of docs/primitives.md, one file each: ports, latencies and executable model."""

from typing import Any

from samhw.errors import InputError
from samhw.graph import Arch, Graph, Node
from samhw.primitives.alu import Alu
from samhw.primitives.array import Array
from samhw.primitives.base import Primitive
from samhw.primitives.crd_hold import CrdHold
from samhw.primitives.drop_crd import DropCrd
from samhw.primitives.drop_val import DropVal
from samhw.primitives.intersect import Intersect
from samhw.primitives.locate import Locate
from samhw.primitives.network import Actor, ActorNetwork, Link, Place, Read, Spacing, Store
from samhw.primitives.reduce_scalar import ReduceScalar
from samhw.primitives.reduce_vector import ReduceVector
from samhw.primitives.repeat import Repeat
from samhw.primitives.root import Root
from samhw.primitives.scan_compressed import ScanCompressed
from samhw.primitives.scan_dense import ScanDense
from samhw.primitives.scan_singleton import ScanSingleton
from samhw.primitives.shift import Shift
from samhw.primitives.union import Union
from samhw.primitives.write_compressed import WriteCompressed
from samhw.primitives.write_dense import WriteDense
from samhw.primitives.write_val import WriteVal

__all__ = [
    "Actor",
    "ActorNetwork",
    "Link",
    "Place",
    "Read",
    "Spacing",
    "Store",
    "expand",
    "kinds",
    "latency",
    "make",
    "ordered",
]

_PRIMITIVES: tuple[Primitive, ...] = (
    Root(),
    ScanDense(),
    ScanCompressed(),
    ScanSingleton(),
    Repeat(),
    CrdHold(),
    Locate(),
    Shift(),
    Intersect(),
    Union(),
    Array(),
    Alu(),
    ReduceScalar(),
    ReduceVector(),
    DropCrd(),
    DropVal(),
    WriteCompressed(),
    WriteDense(),
    WriteVal(),
)
_BY_KIND = {primitive.kind: primitive for primitive in _PRIMITIVES}


def kinds() -> tuple[str, ...]:
    """The kinds of primitives, in the order of docs/primitives.md."""
    return tuple(_BY_KIND)


def make(kind: str, name: str, depth: int, *, note: str = "", **params: Any) -> Node:
    """A graph node with typed ports.

    Args:
        kind: one of `kinds()`.
        name: unique in its graph.
        depth: depth of the stream on the first input (the outer one of two); ignored for root.
        note: where the node comes from, for readers.
        params: the parameters of docs/primitives.md, JSON values. Besides: `inputs` and `payloads` (the kind
            of each ref<i>: 'crd', 'ref' or 'val') of intersect and union, `payload` ('ref' or 'val') of
            repeat.

    Raises:
        InputError: for an unknown kind, a parameter that is unknown, missing or wrong, or a depth too small.
    """
    return _find(kind).make(name, depth, note, params)


def latency(node: Node, port: str, arch: Arch, value: str) -> int:
    """Latency of an output port, in cycles. `value` is the graph's value type.

    Raises:
        InputError: if the node has no such output, or `arch` no latency for its operation.
    """
    if port not in (p.name for p in node.outputs):
        raise InputError(f"Node {node.name!r} ({node.kind}) has no output {port!r}; name one of its outputs.")
    return _find(node.kind).latency(node, port, arch, value)


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The actors that a node consists of, as the simulator runs them."""
    return _find(node.kind).expand(node, graph, arch)


def ordered(node: Node, port: str) -> bool:
    """Whether an input relies on coordinates that strictly increase inside a fiber."""
    return _find(node.kind).ordered(port)


def _find(kind: str) -> Primitive:
    if kind not in _BY_KIND:
        raise InputError(f"There is no primitive {kind!r}; the kinds are {', '.join(_BY_KIND)}.")
    return _BY_KIND[kind]
