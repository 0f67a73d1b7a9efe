"""The compiler: a program becomes a fusion table, and the fusion table a SAMML graph."""

from samhw.compiler.capacity import Capacity
from samhw.compiler.compile import Compiled, compile_program
from samhw.compiler.table import FusionTable

__all__ = ["Capacity", "Compiled", "FusionTable", "compile_program"]
