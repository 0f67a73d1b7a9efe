"""What a check has found, in a word."""

from collections.abc import Iterable
from enum import StrEnum

__all__ = ["Verdict", "weakest"]


class Verdict(StrEnum):
    """The words for a result, from the best to the worst; docs/programs.md, "What a check proves", defines
    them. Everything that tells what became of a result tells it by one of these."""

    RIGHT = "right"
    PLAUSIBLE = "plausible"
    UNPROVED = "unproved"
    WRONG = "wrong"

    @property
    def is_proof(self) -> bool:
        """Whether the check has passed, and proves something."""
        return self in (Verdict.RIGHT, Verdict.PLAUSIBLE)

    def in_words(self, unproved: int) -> str:
        """As people read it, with the number of elements that are unproved where that is news."""
        if self is Verdict.PLAUSIBLE:
            return f"{self}, {unproved:,} unproved"
        return self.upper() if self is Verdict.WRONG else str(self)


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of several verdicts: what is computed of a result is no better than that result."""
    return max(verdicts, key=list(Verdict).index, default=Verdict.RIGHT)
