"""What equal layers have alike, told once: twelve layers read like one.

Names are alike that differ in one number, which a star stands for, as in a schedule (docs/schedule.md):
`layers_*_q`.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from samhw.compiler import Compiled

__all__ = ["MOST_APART", "Likeness", "ToldTogether", "alike_regions", "grouped", "starred"]

MOST_APART = 3
"""As many that are alike are told of one by one."""

_NUMBER = re.compile("[0-9]+")

T = TypeVar("T")


class Likeness(NamedTuple):
    """What makes things alike. Two kinds may have one name."""

    name: str
    """With a star, where there are several."""
    kind: Hashable = None
    """What they have in common besides."""


@dataclass(frozen=True)
class ToldTogether(Generic[T]):
    """Things that are told of together.

    Attributes:
        likeness: what all of them have.
        members: in their order; one that stands alone is the only one.
    """

    likeness: Likeness
    members: tuple[T, ...]

    @property
    def name(self) -> str:
        """Of all of them."""
        return self.likeness.name

    @property
    def others(self) -> int:
        """How many there are besides the one that is told of."""
        return len(self.members) - 1

    @property
    def and_others(self) -> str:
        """After what is told of: ` and 11 alike (layers_*_q)`; empty where that is all."""
        return f" and {self.others} alike ({self.name})" if self.others else ""

    @property
    def of_others(self) -> str:
        """The same of the longest one: `, the longest of 12 alike (layers_*_q)`."""
        return f", the longest of {len(self.members)} alike ({self.name})" if self.others else ""


def grouped(things: Iterable[T], likenesses: Iterable[Likeness]) -> list[ToldTogether[T]]:
    """Things by what makes them alike, the first first."""
    groups: dict[Likeness, list[T]] = {}
    for thing, likeness in zip(things, likenesses, strict=True):
        groups.setdefault(likeness, []).append(thing)
    return [ToldTogether(likeness, tuple(members)) for likeness, members in groups.items()]


def starred(kinds: Mapping[str, Hashable]) -> dict[str, Likeness]:
    """By name, what it has in common with others: the name with a star in the place of the one number in
    which more than three differ, and their kind; of a name without such others that name.

    Args:
        kinds: by name, what names have to have in common besides.
    """
    forms = {name: [Likeness(form, kind) for form in _forms(name)] for name, kind in kinds.items()}
    times = Counter(form for own in forms.values() for form in own)
    best = {name: max(own, key=lambda form: times[form]) for name, own in forms.items() if own}
    chosen = Counter(best.values())
    return {
        name: best[name] if name in best and chosen[best[name]] > MOST_APART else Likeness(name)
        for name in kinds
    }


def _forms(name: str) -> list[str]:
    """A name with a star in the place of each of its numbers in turn."""
    return [f"{name[: found.start()]}*{name[found.end() :]}" for found in _NUMBER.finditer(name)]


def alike_regions(compiled: Compiled) -> list[Likeness]:
    """For each region what it has in common with others: those share a fabric, have room for the same
    extents, and have results whose names are alike. A region without such others has its own name."""
    fabric = {number: own[0] for own in compiled.fabrics for number in own}
    results = [region.region.written[-1] for region in compiled.regions]
    kinds = {
        result: (fabric.get(number, number), *(region.extent[index] for index in region.order))
        for number, (region, result) in enumerate(zip(compiled.regions, results, strict=True))
    }
    found = starred(kinds)
    return [
        Likeness(region.graph.name) if found[result].kind is None else found[result]
        for region, result in zip(compiled.regions, results, strict=True)
    ]
