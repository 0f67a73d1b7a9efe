"""The search: enumerates decisions about a program, asks what they cost, and lowers what it has chosen."""

from samhw.compiler.search.brackets import BracketChoice, bracket_choices
from samhw.compiler.search.job import NO_LIMIT, Job, Room, derived_of
from samhw.compiler.search.spaces import OrderSpace, free_spaces, in_modules, order_spaces
from samhw.compiler.search.tried import AutoChoice
from samhw.compiler.search.work import Sizes, work_of

__all__ = [
    "NO_LIMIT",
    "AutoChoice",
    "BracketChoice",
    "Job",
    "OrderSpace",
    "Room",
    "Sizes",
    "bracket_choices",
    "derived_of",
    "free_spaces",
    "in_modules",
    "order_spaces",
    "work_of",
]
