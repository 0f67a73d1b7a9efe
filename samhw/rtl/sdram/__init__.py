"""An SDRAM chip as the memory of a master and of the host (docs/memory.md, "SDRAM")."""

from samhw.rtl.sdram.sdram import CONTROLLER, PinsSignature, Sdram, controller_verilog, controller_version

__all__ = ["CONTROLLER", "PinsSignature", "Sdram", "controller_verilog", "controller_version"]
