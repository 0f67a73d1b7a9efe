"""The RTL: what Amaranth components share, and the top level that puts a design together.

The component of a primitive stands with the primitive.
"""

from samhw.rtl.component import DesignComponent, component
from samhw.rtl.top import Top
from samhw.rtl.verilog import LINT_EXCEPTIONS, split_modules, verilog

__all__ = ["LINT_EXCEPTIONS", "DesignComponent", "Top", "component", "split_modules", "verilog"]
