"""What nodes need of the ports to memory off the chip, and their way to a port that they share."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from amaranth.hdl import Module, Value
from amaranth.lib import wiring

from samhw.graph.shared_ports import SharedPort
from samhw.rtl.access import AskSignature, PutSignature
from samhw.rtl.logic import any_of, chosen

__all__ = ["NodePort", "PortNeeds", "join_nodes"]

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


def join_nodes(
    m: Module, port: wiring.PureInterface, nodes: Sequence[tuple[wiring.PureInterface, Value]]
) -> None:
    """Joins a port to its nodes.

    A node whose region is not under way pushes nothing, but what it shows may be anything.

    Args:
        nodes: each with whether its region is under way.
    """
    if isinstance(port.signature, PutSignature):
        for name in ("en", "done"):
            m.d.comb += getattr(port, name).eq(any_of(getattr(node, name) for node, _ in nodes))
        for name in ("addr", "data"):
            m.d.comb += getattr(port, name).eq(chosen((here, getattr(node, name)) for node, here in nodes))
        m.d.comb += [node.ready.eq(port.ready) for node, _ in nodes]
        return
    for name in ("push", "strobe"):
        m.d.comb += getattr(port.ask, name).eq(any_of(getattr(node.ask, name) for node, _ in nodes))
    for name in ("kind", "payload", "reads", "note"):
        shown = ((here, Value.cast(getattr(node.ask.token, name))) for node, here in nodes)
        m.d.comb += Value.cast(getattr(port.ask.token, name)).eq(chosen(shown))
    m.d.comb += port.told.ready.eq(chosen((here, node.told.ready) for node, here in nodes))
    for node, here in nodes:
        m.d.comb += [
            node.ask.ready.eq(port.ask.ready),
            node.told.valid.eq(port.told.valid & here),
            node.data.eq(port.data),
        ]
        for name in ("kind", "payload", "reads", "note"):
            m.d.comb += Value.cast(getattr(node.told.payload, name)).eq(getattr(port.told.payload, name))
