"""Memory off the chip in hardware: ports, arbiter and master (docs/memory.md)."""

from samhw.rtl.off_chip.needs import PortNeeds, join_nodes
from samhw.rtl.off_chip.off_chip import OffChipPorts, OffChipSignature

__all__ = ["OffChipPorts", "OffChipSignature", "PortNeeds", "join_nodes"]
