"""The compiler: a program becomes a fusion table, and the fusion table a SAMML graph."""

from samhw.compiler.compile import Compiled, compile_program, make_lowerable
from samhw.compiler.region import CompiledRegion
from samhw.compiler.table import FusionTable
from samhw.compiler.value import AUTO, choose_value

__all__ = [
    "AUTO",
    "Compiled",
    "CompiledRegion",
    "FusionTable",
    "choose_value",
    "compile_program",
    "make_lowerable",
]
