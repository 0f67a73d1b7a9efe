"""The board's end of the link of docs/link.md."""

from samhw.rtl.link.link import LinkMaster
from samhw.rtl.link.period import ROM_WIDTH, rom_contents
from samhw.rtl.link.uart import bit_period

__all__ = ["ROM_WIDTH", "LinkMaster", "bit_period", "rom_contents"]
