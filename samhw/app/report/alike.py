"""What equal layers have alike, told once: twelve layers read like one.

Names are alike that differ in one number, which a star stands for, as in a schedule (docs/schedule.md):
`layers_*_q`.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from samhw.compiler import Compiled

__all__ = ["MOST_APART", "ToldTogether", "alike_regions", "grouped", "starred"]

MOST_APART = 3
"""As many that are alike are told of one by one."""

_NUMBER = re.compile("[0-9]+")

T = TypeVar("T")


@dataclass(frozen=True)
class ToldTogether(Generic[T]):
    """Things that are told of together.

    Attributes:
        name: with a star, where there are several.
        members: in their order; one that stands alone is the only one.
    """

    name: str
    members: tuple[T, ...]

    @property
    def others(self) -> int:
        """How many there are besides the one that is told of."""
        return len(self.members) - 1


def grouped(things: Iterable[T], names: Iterable[str]) -> list[ToldTogether[T]]:
    """Things by the names that they are told under, the first first."""
    groups: dict[str, list[T]] = {}
    for thing, name in zip(things, names, strict=True):
        groups.setdefault(name, []).append(thing)
    return [ToldTogether(name, tuple(members)) for name, members in groups.items()]


def starred(kinds: Mapping[str, Hashable]) -> dict[str, str]:
    """By name, that with a star in the place of the one number in which more than three names differ; a name
    that has no such others stays.

    Args:
        kinds: by name, what names have to have in common besides.
    """
    forms = {name: [(form, kind) for form in _forms(name)] for name, kind in kinds.items()}
    times = Counter(form for own in forms.values() for form in own)
    best = {name: max(own, key=lambda form: times[form]) for name, own in forms.items() if own}
    chosen = Counter(best.values())
    return {
        name: best[name][0] if name in best and chosen[best[name]] > MOST_APART else name for name in kinds
    }


def _forms(name: str) -> list[str]:
    """A name with a star in the place of each of its numbers in turn."""
    return [f"{name[: found.start()]}*{name[found.end() :]}" for found in _NUMBER.finditer(name)]


def alike_regions(compiled: Compiled) -> list[str]:
    """For each region the name that it is told under: of regions that share a fabric, have room for the same
    extents, and have results whose names are alike, it is the name of these results; of another it is its
    own."""
    fabric = {number: own[0] for own in compiled.fabrics for number in own}
    results = [region.region.written[-1] for region in compiled.regions]
    kinds = {
        result: (fabric.get(number, number), *(region.extent[index] for index in region.order))
        for number, (region, result) in enumerate(zip(compiled.regions, results, strict=True))
    }
    names = starred(kinds)
    return [
        names[result] if "*" in names[result] else region.graph.name
        for region, result in zip(compiled.regions, results, strict=True)
    ]
