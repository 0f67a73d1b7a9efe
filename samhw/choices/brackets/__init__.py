"""Brackets: what is summed first."""

from collections.abc import Mapping
from typing import Any

from samhw.choices.choice import Texts
from samhw.lang import Program
from samhw.lang.brackets import apply_brackets

__all__ = ["CHOICE"]


class Brackets(Texts):
    """by result, the right side of its statement without indices, with parentheses around what is summed
    first (below)"""

    name = "brackets"
    by_default = "as written"
    metavar = "T=A*(X*W)"
    several = "T=A*(X*W),.."
    help = "What is summed first: the right side of T without indices; several with semicolons."
    of = "result"
    entry = "bracket"
    example = "A * (X * W)"
    such_as = "T = A * (X * W)"

    def said(self, value: Mapping[str, str]) -> Any:
        yield from (f"{result} = {text}" for result, text in value.items())

    def apply(self, program: Program, value: dict[str, str], *, is_open: bool) -> Program:
        return apply_brackets(program, value)


CHOICE = Brackets()
