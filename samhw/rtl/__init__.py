"""The RTL: an Amaranth component for each primitive, and the top level that makes a design of a graph."""

from samhw.rtl.top import Top, verilog

__all__ = ["Top", "verilog"]
