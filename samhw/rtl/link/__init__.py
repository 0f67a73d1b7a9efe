"""The board's end of the link of docs/link.md."""

from samhw.rtl.link.link import LinkMaster
from samhw.rtl.link.uart import bit_period

__all__ = ["LinkMaster", "bit_period"]
