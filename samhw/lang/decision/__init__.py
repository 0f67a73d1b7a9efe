"""What is decided about a region before it is lowered, where nothing is chosen any more; and why a decision
cannot be lowered, as a value: a search goes on to the next one."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from samhw.errors import ScheduleError, StreamError

__all__ = ["Iteration", "Refusal", "RegionDecision", "Sharing"]

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
            their own format; a region after this one makes them of that.
        why: the reason, in words, why the region ends where it does, or stores what it does.
    """

    results: tuple[str, ...]
    label: str | None = None
    order: tuple[str, ...] | None = None
    sharing: Sharing = Sharing.EQUAL
    compressed: tuple[str, ...] = ()
    why: str = field(default="", compare=False)


@dataclass(frozen=True)
class Refusal:
    """A reason why some statements cannot be one region in some way.

    Attributes:
        cause: a sentence without its full stop.
        ways: what a user may do, each an imperative; any of them will do.
        place: the tensors that the region computes; nothing for the whole program.
        result: the result that streams cannot give in its format, but could in compressed levels.
    """

    cause: str
    ways: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    result: str | None = None

    @classmethod
    def of(cls, error: ScheduleError, place: tuple[str, ...] = ()) -> "Refusal":
        """What an error says of a region, or of the whole program."""
        return cls(error.cause, error.ways, place, error.result if isinstance(error, StreamError) else None)

    def error(self) -> ScheduleError:
        """The same for a user, who is left with it."""
        return ScheduleError(self.cause, *self.ways)
