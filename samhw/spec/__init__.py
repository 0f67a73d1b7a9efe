"""Specs: what each kind of primitive is, apart from how it is simulated or built.

The rules are those of docs/primitives.md. Every part of samhw asks a spec, and keeps no list of kinds.
"""

from samhw.spec.alu import turned_blocks
from samhw.spec.arch import Arch
from samhw.spec.base import PORTS, Spec, Work
from samhw.spec.blocks import Blocked, TakenBlocks
from samhw.spec.fold import fold_before
from samhw.spec.lanes import MOST_LANES
from samhw.spec.params import Each, MemoryUse, StoredArray
from samhw.spec.reduce import COORDINATE
from samhw.spec.registry import kinds, spec_of
from samhw.spec.streams import Payload, Port, Stream, StreamKind

__all__ = [
    "COORDINATE",
    "MOST_LANES",
    "PORTS",
    "Arch",
    "Blocked",
    "Each",
    "MemoryUse",
    "Payload",
    "Port",
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
