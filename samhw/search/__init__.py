"""The search: enumerates decisions about a program, asks what they cost, and lowers what it has chosen."""

from samhw.search.compile import compile_program, decide, lower_chosen, make_lowerable
from samhw.search.modules import module_regions
from samhw.search.spaces import OrderSpace, order_spaces

__all__ = [
    "OrderSpace",
    "compile_program",
    "decide",
    "lower_chosen",
    "make_lowerable",
    "module_regions",
    "order_spaces",
]
