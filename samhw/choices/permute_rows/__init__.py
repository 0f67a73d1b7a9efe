"""The order in which rows are stored."""

from collections.abc import Mapping
from typing import Any

from samhw.choices.choice import Rules
from samhw.lang import Program
from samhw.lang.splits import check_permute_rows

__all__ = ["CHOICE"]


class PermuteRows(Rules):
    """by input, the order in which its rows are stored: `"by length"`, `"even(n)"`, `"reverse
    Cuthill-McKee"` or `"file.py:function"` ([formats.md](formats.md#order))"""

    name = "permute_rows"
    by_default = "as they are given"
    metavar = "A=ORDER"
    several = "A=none,by length,.."
    help = (
        "Store A with its rows in another order, such as A=by length, and put results back; docs/formats.md "
        "has the orders; several with semicolons."
    )
    entry = "order"
    such_as = "A = by length"

    def check(self, value: Any) -> dict[str, str]:
        return check_permute_rows(value)

    def said(self, value: Mapping[str, str]) -> Any:
        yield from (f"rows of {tensor} {rows}" for tensor, rows in value.items())

    def apply(self, program: Program, value: dict[str, str], *, is_open: bool) -> Program:
        for name in value:
            program.check_operand(name)
        return program


CHOICE = PermuteRows()
