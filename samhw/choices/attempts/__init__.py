"""How long an order is looked for."""

from samhw.choices.choice import Numbers

__all__ = ["CHOICE"]


class Attempts(Numbers):
    """how many orders are tried for a region before its first refusal is reported"""

    name = "attempts"
    by_default = "`12`"
    metavar = "N"
    several = "N,.."
    help = "How many orders are tried for a region before its first refusal is reported, by default 12."
    most = 1 << 20


CHOICE = Attempts()
