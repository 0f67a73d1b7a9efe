"""Specs: what each kind of primitive is, apart from how it is simulated or built.

The rules are those of docs/primitives.md. Every part of samhw asks a spec, and keeps no list of kinds.
"""

from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import PORTS, Spec, Work, kinds, spec_of
from samhw.graph.spec.blocked import Blocked, TakenBlocks, fold_before, turned_blocks
from samhw.graph.spec.params import Each, MemoryUse, Role, StoredArray
from samhw.graph.spec.streams import COORDINATE, Payload, Port, Stream, StreamKind

__all__ = [
    "COORDINATE",
    "PORTS",
    "Arch",
    "Blocked",
    "Each",
    "MemoryUse",
    "Payload",
    "Port",
    "Role",
    "Spec",
    "StoredArray",
    "Stream",
    "StreamKind",
    "TakenBlocks",
    "Work",
    "fold_before",
    "kinds",
    "spec_of",
    "turned_blocks",
]
