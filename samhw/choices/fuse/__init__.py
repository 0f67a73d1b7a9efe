"""Fusion: which statements are computed in one region."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

from samhw.choices.choice import Choice, check_names, check_one_of, is_list, lists_with_numbers
from samhw.choices.fuse.asked_regions import regions_of
from samhw.errors import InputError, shown
from samhw.lang import Program

__all__ = ["CHOICE", "FUSION_LEVELS", "FUSION_RULES", "MODULE", "FusionLevel", "FusionRule"]

FusionLevel = Literal["none", "partial", "full"]
FUSION_LEVELS: tuple[FusionLevel, ...] = get_args(FusionLevel)
FusionRule = Literal["kinds", "module", "auto"]
FUSION_RULES: tuple[FusionRule, ...] = get_args(FusionRule)
"""What groups by something else than by how much is fused."""
MODULE: FusionRule = "module"
"""The fusion by the tree of a module of PyTorch, which a program by itself does not have."""

Fusion = FusionLevel | FusionRule | tuple[tuple[str, ...], ...]


class Fuse(Choice[Fusion]):
    """the regions: a level (`"none"`: one for each statement, `"partial"`: as written, `"full"`: as few as
    there can be), a rule (`"kinds"`: by [kinds of statements](choosing.md#groups), `"module"`: by modules
    of [PyTorch](pytorch.md), `"auto"`: [by estimate](choosing.md#automatically)), or lists of results
    (below)"""

    name = "fuse"
    by_default = '`"partial"`'
    metavar = "LEVEL"
    several = "LEVEL,.."
    help = (
        "Regions: one for each statement (none), as the program says (partial, the default), all in one "
        "(full), or by the kinds of statements; of a module of PyTorch by the tree of its modules; auto: "
        "chosen by estimate."
    )
    names = (*FUSION_LEVELS, *FUSION_RULES)
    is_always_said = True

    def check(self, value: Any) -> Fusion:
        if isinstance(value, str):
            check_one_of("fuse", value, self.names)
            return value  # type: ignore[return-value]  # It is one of them.
        if not is_list(value):
            raise InputError(
                f"'fuse' is {shown(value)}; give one of {', '.join(self.names)}, or for each region a list "
                "of its results."
            )
        lists = tuple(check_names("fuse", names) for names in value)
        if not all(lists):
            raise InputError(
                "A list of 'fuse' is empty; name the results of a region in it, or leave it out."
            )
        return lists

    def word(self, value: str | Sequence[Sequence[str]]) -> str:
        """A level, or the results of each region."""
        return value if isinstance(value, str) else ",".join("+".join(names) for names in value)

    def said(self, value: Fusion) -> Any:
        yield self.word(value)

    def with_numbers(self, value: Fusion, names: Iterable[str]) -> Fusion:
        return value if isinstance(value, str) else lists_with_numbers(value, names)

    def apply(self, program: Program, value: Fusion, *, is_open: bool) -> Program:
        return program.regrouped(regions_of(program, value))


CHOICE = Fuse()
