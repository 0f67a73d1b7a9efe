"""How large a tensor may be that is copied."""

from samhw.choices.choice import Numbers

__all__ = ["CHOICE"]


class LargestCopy(Numbers):
    """the most points of a tensor that is copied, each mode rounded up to a power of two; the copy takes an
    accumulator of twice as many words"""

    name = "largest_copy"
    by_default = "`4194304`"
    metavar = "N"
    several = "N,.."
    help = "The most points of a tensor that --permute may copy, by default 4,194,304."
    most = 1 << 40


CHOICE = LargestCopy()
