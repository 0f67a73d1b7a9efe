"""Passes: from a program that can be lowered to another one, to the same results.

Each file but `lowerable` holds one pass, a function from `Lowerable` to `Lowerable` with the
name of the file. What comes out of a pass is a program still: it prints as text, and the reference runs it.
"""

from collections.abc import Callable, Sequence
from importlib import import_module

from samhw.compiler.passes.compress_results import compress_result
from samhw.compiler.passes.copy_discordant import copy_in_region
from samhw.compiler.passes.lowerable import Lowerable, PermutedCopy, Recipe, StepSlice, with_derived

__all__ = [
    "PROGRAM_PASSES",
    "REGION_PASSES",
    "Lowerable",
    "Pass",
    "PermutedCopy",
    "Recipe",
    "StepSlice",
    "apply_passes",
    "apply_program_passes",
    "apply_region_passes",
    "compress_result",
    "copy_in_region",
    "pass_names",
    "with_derived",
]

Pass = Callable[[Lowerable], Lowerable]

PROGRAM_PASSES = (
    "slice_steps",
    "place_by_index",
    "split_formats",
    "cascade",
    "mask_edges",
    "alias_reshapes",
)
"""The passes that come before a program's regions are decided, by name and in their order."""

REGION_PASSES = ("copy_discordant", "compress_results")
"""Those that come after, and add what the regions need."""


def pass_names() -> tuple[str, ...]:
    """All passes in their order."""
    return (*PROGRAM_PASSES, *REGION_PASSES)


def apply_program_passes(lowerable: Lowerable, last: str | None = None) -> Lowerable:
    """What the passes before a decision make of a program; see `apply_passes`."""
    return _applied(lowerable, PROGRAM_PASSES, last)


def apply_region_passes(lowerable: Lowerable, last: str | None = None) -> Lowerable:
    """What the passes after a decision make of a program; see `apply_passes`."""
    return _applied(lowerable, REGION_PASSES, last)


def apply_passes(lowerable: Lowerable, last: str | None = None) -> Lowerable:
    """What all passes make of a program in the regions that it has.

    Args:
        last: the pass after which to stop, by its name; else all are applied.

    Raises:
        InputError: as the passes do.
    """
    return _applied(lowerable, pass_names(), last)


def _applied(lowerable: Lowerable, names: Sequence[str], last: str | None) -> Lowerable:
    for name in names:
        apply: Pass = getattr(import_module(f"samhw.compiler.passes.{name}"), name)
        lowerable = apply(lowerable)
        if name == last:
            break
    return lowerable
