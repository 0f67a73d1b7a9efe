"""What the fields of a schedule may hold. A check gives the value as a schedule keeps it, or raises
`InputError`."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from samhw.errors import InputError, shown
from samhw.lang.decision import Iteration
from samhw.tensors import Format

__all__ = [
    "AUTO",
    "FUSION_LEVELS",
    "FUSION_RULES",
    "ITERATIONS",
    "MODULE",
    "NO_RESULTS",
    "FusionLevel",
    "FusionRule",
    "Iteration",
    "Share",
    "check_brackets",
    "check_formats",
    "check_fuse",
    "check_names",
    "check_one_of",
    "check_order",
    "check_partial_sums",
    "check_share",
    "check_whole",
    "plain",
]

FusionLevel = Literal["none", "partial", "full"]
FUSION_LEVELS: tuple[FusionLevel, ...] = get_args(FusionLevel)
FusionRule = Literal["kinds", "module", "auto"]
FUSION_RULES: tuple[FusionRule, ...] = get_args(FusionRule)
"""What groups by something else than by how much is fused."""
MODULE: FusionRule = "module"
"""The fusion by the tree of a module of PyTorch, which a program by itself does not have."""

AUTO: FusionRule = "auto"
"""The fusion that is searched for, with brackets and formats (`samhw.compiler.search.choose_schedule`)."""

ITERATIONS: tuple[Iteration, ...] = get_args(Iteration)

Share = Literal["auto", "all", "none"]
SHARES: tuple[Share, ...] = get_args(Share)
WAYS = ("buffer", "store", "recompute")
"""What may be asked for one intermediate."""


def check_fuse(fuse: Any) -> FusionLevel | FusionRule | tuple[tuple[str, ...], ...]:
    """A level, a rule, or lists of results."""
    if isinstance(fuse, str):
        check_one_of("fuse", fuse, (*FUSION_LEVELS, *FUSION_RULES))
        return fuse  # type: ignore[return-value]  # It is one of them.
    if not _is_list(fuse):
        raise InputError(
            f"'fuse' is {shown(fuse)}; give one of {', '.join((*FUSION_LEVELS, *FUSION_RULES))}, or for each "
            "region a list of its results."
        )
    lists = tuple(check_names("fuse", names) for names in fuse)
    if not all(lists):
        raise InputError("A list of 'fuse' is empty; name the results of a region in it, or leave it out.")
    return lists


def check_order(order: object) -> tuple[str, ...] | dict[str, tuple[str, ...]]:
    """That of the only region, or of several by their last results."""
    if _is_list(order):
        return check_names("order", order) or {}
    table = _table("order", order, 'such as T = ["i", "k", "j"]')
    return {result: check_names(f"order.{result}", indices) for result, indices in table.items()}


NO_RESULTS = "none"
"""In words, of a field that names results."""


def check_partial_sums(results: object) -> str | tuple[str, ...]:
    """Results by name, or `auto`."""
    if results == AUTO:
        return AUTO
    if not _is_list(results):
        raise InputError(f"'partial_sums' is {shown(results)}; give auto, or a list of results.")
    return check_names("partial_sums", results)


def check_share(share: object) -> Share | dict[str, str]:
    """A word for all intermediates, or one for each of some."""
    if isinstance(share, str):
        if share not in SHARES:
            raise InputError(
                f"There is no share '{share}'; the choices are {', '.join(SHARES)}, or a table with one of "
                f"{', '.join(WAYS)} for an intermediate."
            )
        return share
    table = _table("share", share, 'such as T = "buffer"')
    for name, way in table.items():
        if not isinstance(way, str) or way not in WAYS:
            raise InputError(f"'share' is {shown(way)} for '{name}'; the choices are {', '.join(WAYS)}.")
    return table


def check_brackets(brackets: object) -> dict[str, str]:
    """Texts by result; whether they are equal to its statement depends on the program."""
    table = _table("brackets", brackets, 'such as T = "A * (X * W)"')
    for name, text in table.items():
        if not isinstance(text, str):
            raise InputError(
                f"The bracket of '{name}' is {shown(text)}; give a text, such as \"A * (X * W)\"."
            )
    return table


def check_formats(formats: object) -> dict[str, str]:
    """Texts by tensor; whether they are formats depends on the tensor's rank."""
    table = _table("formats", formats, 'such as T = "csr"')
    for name, text in table.items():
        if not isinstance(text, str | Format):
            raise InputError(f"The format of '{name}' is {shown(text)}; give a text, such as \"csr\".")
    return {name: str(text) for name, text in table.items()}


def check_one_of(field: str, value: object, choices: Sequence[str]) -> None:
    """A value that there is."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"There is no {field} {shown(value)}; the choices are {', '.join(choices)}.")


def check_names(what: str, names: Any) -> tuple[str, ...]:
    """A list of texts."""
    if not _is_list(names) or not all(isinstance(name, str) for name in names):
        raise InputError(f"'{what}' is {shown(names)}; give a list of names.")
    return tuple(names)


def _table(what: str, table: object, example: str) -> dict[str, Any]:
    if not isinstance(table, Mapping) or not all(isinstance(name, str) for name in table):
        raise InputError(f"'{what}' is {shown(table)}; give a table with an entry for each name, {example}.")
    return dict(table)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def plain(value: Any) -> Any:
    """With lists in place of tuples."""
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if _is_list(value) else value


def check_whole(name: str, value: object, most: int) -> int:
    """A whole number from 1 to `most`, which may be one of NumPy's."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most:
        raise InputError(f"'{name}' is {shown(value)}; give a whole number from 1 to {most:,}.")
    return int(value)
