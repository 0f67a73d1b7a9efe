"""Passes: from a program that can be lowered to another one, to the same results.

Each file but `lowerable` and `recipe` holds one pass, a function from `Lowerable` to `Lowerable` with the
name of the file. What comes out of a pass is a program still: it prints as text, and the reference runs it.
"""

from collections.abc import Callable
from importlib import import_module

from samhw.errors import InputError
from samhw.passes.lowerable import Lowerable, PermutedCopy
from samhw.passes.recipe import Recipe, with_derived

__all__ = ["PASSES", "Lowerable", "Pass", "PermutedCopy", "Recipe", "apply_passes", "with_derived"]

Pass = Callable[[Lowerable], Lowerable]

PASSES = ("view_reshapes", "copy_discordant")
"""The passes by name, in the order in which they are applied."""


def apply_passes(lowerable: Lowerable, last: str | None = None) -> Lowerable:
    """What the passes make of a program.

    Args:
        last: the pass after which to stop, by its name; else all are applied.

    Raises:
        InputError: for a pass that there is not, and as the passes do.
    """
    if last is not None and last not in PASSES:
        raise InputError(f"There is no pass '{last}'; the passes are, in their order, {', '.join(PASSES)}.")
    for name in PASSES:
        apply: Pass = getattr(import_module(f"samhw.passes.{name}"), name)
        lowerable = apply(lowerable)
        if name == last:
            break
    return lowerable
