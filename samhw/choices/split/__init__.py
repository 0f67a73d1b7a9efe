"""Splits: tensors in parts that have formats of their own."""

from collections.abc import Mapping
from typing import Any

from samhw.choices.choice import Rules
from samhw.lang import Program
from samhw.lang.splits import check_split

__all__ = ["CHOICE"]


class Split(Rules):
    """by input, the rule that splits it into parts, such as `"rows(4)"`, `"hyb(1,2)"` or
    `"file.py:function"` ([formats.md](formats.md#splits))"""

    name = "split"
    metavar = "A=RULE"
    several = "A=none,hyb(1,2),.."
    help = (
        "Store A in several formats at once, such as A=rows(4) or A=hyb(1,2); docs/formats.md has the rules; "
        "several with semicolons."
    )
    entry = "rule"
    such_as = "A = rows(4)"

    def check(self, value: Any) -> dict[str, str]:
        return check_split(value)

    def said(self, value: Mapping[str, str]) -> Any:
        yield from (f"{tensor} as {rule}" for tensor, rule in value.items())

    def apply(self, program: Program, value: dict[str, str], *, is_open: bool) -> Program:
        for name in value:
            program.check_operand(name)
        return program


CHOICE = Split()
