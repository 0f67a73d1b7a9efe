"""The search: enumerates decisions about a program, asks what they cost, and lowers what it has chosen."""

from samhw.search.auto import choose_schedule
from samhw.search.brackets import BracketChoice, bracket_choices
from samhw.search.compile import decide, derived_of, lower_chosen, make_lowerable
from samhw.search.explore import Explored, explore
from samhw.search.lanes import NO_LIMIT, Room
from samhw.search.modules import in_modules
from samhw.search.parts import lowered_split
from samhw.search.program import compile_chosen, compile_program
from samhw.search.request import AutoChoice, Request
from samhw.search.spaces import OrderSpace, free_spaces, order_spaces
from samhw.search.work import Sizes, work_of

__all__ = [
    "NO_LIMIT",
    "AutoChoice",
    "BracketChoice",
    "Explored",
    "OrderSpace",
    "Request",
    "Room",
    "Sizes",
    "bracket_choices",
    "choose_schedule",
    "compile_chosen",
    "compile_program",
    "decide",
    "derived_of",
    "explore",
    "free_spaces",
    "in_modules",
    "lower_chosen",
    "lowered_split",
    "make_lowerable",
    "order_spaces",
    "work_of",
]
