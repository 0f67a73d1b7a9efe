"""What is decided about a program before it is lowered: nothing is chosen behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Literal

__all__ = ["Decision", "Iteration", "RegionDecision", "Sharing"]

Iteration = Literal["factored", "global"]
"""How many iteration spaces a region has: one for each sum, or one for all factors of a term (Custard)."""


class Sharing(Enum):
    """What the uses of one intermediate share."""

    REDUCED = "reduced"
    """Uses with the same indices are one. So are those that differ in an index that one of them reduces,
    which then takes the other's name: a softmax computes its scores once, and not once more for their
    maximum."""
    EQUAL = "equal"
    """Uses with the same indices are one."""
    NOTHING = "nothing"
    """Each use recomputes the intermediate."""


@dataclass(frozen=True)
class RegionDecision:
    """How some statements that follow each other become a region.

    Attributes:
        results: what the statements compute, in the program's order.
        label: the result by which a schedule names the region; None where it cannot.
        order: of the region's indices, outermost first; None for what has no loops: a reshape, or a
            transposition that a reducer makes.
        sharing: what uses of its intermediates share.
        compressed: the results that are stored in compressed levels first, since streams do not give them in
            their own format; a region behind this one makes them of that.
        why: the reason, in words, why the region ends where it does, or stores what it does.
    """

    results: tuple[str, ...]
    label: str | None = None
    order: tuple[str, ...] | None = None
    sharing: Sharing = Sharing.EQUAL
    compressed: tuple[str, ...] = ()
    why: str = field(default="", compare=False)


@dataclass(frozen=True)
class Decision:
    """All choices for a program.

    Copies into other mode orders are none of them: they follow from the regions, their orders, and the
    permission to copy.

    Attributes:
        regions: in the order in which they run.
        iteration: of all regions.
        recomputed: the intermediates that each use computes for itself.
        lanes: by index, how many copies of what lies inside of it share its coordinates.
        queues: by intermediate, how many further rows of it may wait for those that read it.
        brackets: by result, what is multiplied and summed first; the regions have the statements that come
            of it.
    """

    regions: tuple[RegionDecision, ...]
    iteration: Iteration = "factored"
    recomputed: frozenset[str] = frozenset()
    lanes: Mapping[str, int] = field(default_factory=dict, hash=False)
    queues: Mapping[str, int] = field(default_factory=dict, hash=False)
    brackets: Mapping[str, str] = field(default_factory=dict, hash=False)

    def of(self, label: str | None) -> RegionDecision | None:
        """The decision for the region of that name; None for a region that a pass has added."""
        return None if label is None else self._by_label.get(label)

    @cached_property
    def _by_label(self) -> dict[str, RegionDecision]:
        return {region.label: region for region in self.regions if region.label}
