"""What the kinds of primitives are (docs/primitives.md), apart from how they are simulated, built or
synthesised: one spec each, which every part of samhw asks."""

from samhw.spec.arch import Arch
from samhw.spec.base import PORTS, Spec, Work
from samhw.spec.params import Each, MemoryUse, StoredArray
from samhw.spec.registry import kinds, spec_of
from samhw.spec.streams import Port, Stream, StreamKind

__all__ = [
    "PORTS",
    "Arch",
    "Each",
    "MemoryUse",
    "Port",
    "Spec",
    "StoredArray",
    "Stream",
    "StreamKind",
    "Work",
    "kinds",
    "spec_of",
]
