"""The RTL: an Amaranth component for each primitive, and the top level that puts a design together."""

from samhw.rtl.top import Top, verilog

__all__ = ["Top", "verilog"]
