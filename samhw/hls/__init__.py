"""From a SAMML graph to a Vitis HLS project: C++ that an engineer would keep (docs/hls.md)."""

from samhw.hls.emit import Options, emit, simulated, vectors
from samhw.hls.lower import lower
from samhw.hls.program import HlsProgram, HlsRegion, HlsStream, MemoryPort, Process
from samhw.hls.regions import emit_order, emit_together

__all__ = [
    "HlsProgram",
    "HlsRegion",
    "HlsStream",
    "MemoryPort",
    "Options",
    "Process",
    "emit",
    "emit_order",
    "emit_together",
    "lower",
    "simulated",
    "vectors",
]
