"""The board's end of the link of docs/link.md."""

from samhw.rtl.link.link import LinkMaster
from samhw.rtl.link.uart import ROM_WIDTH, bit_period, rom_contents

__all__ = ["ROM_WIDTH", "LinkMaster", "bit_period", "rom_contents"]
