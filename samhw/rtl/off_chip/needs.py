"""What nodes need of the ports to memory off the chip, and their way to a port that they share."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from amaranth.hdl import Const, Module, Value
from amaranth.lib import wiring

from samhw.graph.shared_ports import SharedPort
from samhw.rtl.access import AskSignature, PutSignature
from samhw.rtl.interface import Turns
from samhw.rtl.logic import any_of, in_turn

__all__ = ["NodePort", "PortNeeds", "PortTurns", "join_ports"]

NodePort: TypeAlias = AskSignature | PutSignature
"""A port, seen from a node."""


class PortNeeds(NamedTuple):
    """What a port has to be."""

    shared: SharedPort
    """Whose regions count as they run."""
    signature: NodePort
    """As wide as its nodes need it."""

    @classmethod
    def of(cls, shared: SharedPort, nodes: Sequence[NodePort]) -> "PortNeeds":
        """Those of a port with these nodes."""
        addr_width, width = (max(getattr(node, of) for node in nodes) for of in ("addr_width", "width"))
        notes = [node.note_width for node in nodes if isinstance(node, AskSignature)]
        signature = AskSignature(addr_width, width, max(notes)) if notes else PutSignature(addr_width, width)
        return cls(shared, signature)


class PortTurns(NamedTuple):
    """A port and a node's way to it.

    Attributes:
        port, node: the interfaces of both, seen from the node.
        turns: the regions in which the node has this port.
    """

    port: wiring.PureInterface
    node: wiring.PureInterface
    turns: Turns


def join_ports(m: Module, uses: Sequence[PortTurns], is_turn: Callable[[Turns], Value]) -> None:
    """Joins ports and nodes. Several nodes may have a port, and a node may have others in other regions.

    A node whose region is not under way pushes nothing, but what it shows may be anything.

    Args:
        is_turn: whether one of some regions is under way.
    """
    nodes: dict[wiring.PureInterface, list[PortTurns]] = defaultdict(list)
    ports: dict[wiring.PureInterface, list[PortTurns]] = defaultdict(list)
    for use in uses:
        nodes[use.port].append(use)
        ports[use.node].append(use)

    def ways(own: Sequence[PortTurns]) -> list[_Way]:
        return [
            _Way(
                use.port,
                use.node,
                is_turn(use.turns) if len(nodes[use.port]) + len(ports[use.node]) > 2 else Const(1),
                len(ports[use.node]) == 1,
            )
            for use in own
        ]

    for port, own in nodes.items():
        _connect_port(m, port, ways(own))
    for node, own in ports.items():
        _connect_node(m, node, ways(own))


class _Way(NamedTuple):
    port: wiring.PureInterface
    node: wiring.PureInterface
    here: Value
    """Its region is under way."""
    is_only: bool
    """The node has no other port."""

    def asks(self, signal: Value) -> Value:
        """What the node asks for, if it asks this port."""
        return signal if self.is_only else signal & self.here


_TOKEN = ("kind", "payload", "reads", "note")


def _connect_port(m: Module, port: wiring.PureInterface, ways: Sequence[_Way]) -> None:
    """Gives a port what its nodes ask for."""
    if isinstance(port.signature, PutSignature):
        for name in ("en", "done"):
            m.d.comb += getattr(port, name).eq(any_of(way.asks(getattr(way.node, name)) for way in ways))
        for name in ("addr", "data"):
            m.d.comb += getattr(port, name).eq(in_turn((way.here, getattr(way.node, name)) for way in ways))
        return
    for name in ("push", "strobe"):
        m.d.comb += getattr(port.ask, name).eq(any_of(way.asks(getattr(way.node.ask, name)) for way in ways))
    for name in _TOKEN:
        shown = ((way.here, Value.cast(getattr(way.node.ask.token, name))) for way in ways)
        m.d.comb += Value.cast(getattr(port.ask.token, name)).eq(in_turn(shown))
    m.d.comb += port.told.ready.eq(in_turn((way.here, way.node.told.ready) for way in ways))


def _connect_node(m: Module, node: wiring.PureInterface, ways: Sequence[_Way]) -> None:
    """Gives a node what its ports answer."""
    if isinstance(node.signature, PutSignature):
        m.d.comb += node.ready.eq(in_turn((way.here, way.port.ready) for way in ways))
        return
    m.d.comb += [
        node.ask.ready.eq(in_turn((way.here, way.port.ask.ready) for way in ways)),
        node.told.valid.eq(any_of(way.port.told.valid & way.here for way in ways)),
        node.data.eq(in_turn((way.here, way.port.data) for way in ways)),
    ]
    for name in _TOKEN:
        shown = ((way.here, Value.cast(getattr(way.port.told.payload, name))) for way in ways)
        m.d.comb += Value.cast(getattr(node.told.payload, name)).eq(in_turn(shown))
