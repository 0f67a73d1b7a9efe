"""Iteration spaces: where sums stand."""

from collections.abc import Iterator
from typing import Any, get_args

from samhw.choices.choice import Choice, check_one_of
from samhw.lang.decision import Iteration

__all__ = ["CHOICE", "ITERATIONS", "Iteration"]

ITERATIONS: tuple[Iteration, ...] = get_args(Iteration)


class Iterations(Choice[Iteration]):
    """`"factored"` places each sum where it belongs; `"global"` has one [iteration
    space](compiler.md#where-sums-stand), as Custard does"""

    name = "iteration"
    by_default = '`"factored"`'
    metavar = "SPACE"
    several = "SPACE,.."
    help = "Iteration spaces, factored by default, or global."
    names = ITERATIONS
    is_always_said = True

    def check(self, value: Any) -> Iteration:
        check_one_of("iteration", value, ITERATIONS)
        checked: Iteration = value
        return checked

    def said(self, value: Iteration) -> Iterator[str]:
        yield value


CHOICE = Iterations()
