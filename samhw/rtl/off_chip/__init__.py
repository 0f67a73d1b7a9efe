"""Memory off the chip in hardware: ports, arbiter and master (docs/memory.md)."""

from samhw.rtl.off_chip.needs import PortNeeds, PortTurns, join_ports
from samhw.rtl.off_chip.off_chip import OffChipPorts, OffChipSignature

__all__ = ["OffChipPorts", "OffChipSignature", "PortNeeds", "PortTurns", "join_ports"]
