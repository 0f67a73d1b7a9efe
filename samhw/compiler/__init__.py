"""The compiler: a program becomes a fusion table, and the fusion table a SAMML graph."""

from samhw.compiler.capacity import Capacity
from samhw.compiler.compile import Compiled, CompiledRegion, compile_program
from samhw.compiler.design_space import OrderSpace, order_spaces
from samhw.compiler.dimensions import Dimensions
from samhw.compiler.permute import PermutedCopy
from samhw.compiler.table import FusionTable
from samhw.compiler.value import AUTO, choose_value

__all__ = [
    "AUTO",
    "Capacity",
    "Compiled",
    "CompiledRegion",
    "Dimensions",
    "FusionTable",
    "OrderSpace",
    "PermutedCopy",
    "choose_value",
    "compile_program",
    "order_spaces",
]
