"""Parallel: which regions that need nothing of each other run side by side."""

from samhw.choices.choice import RegionLists

__all__ = ["ALL", "CHOICE", "NONE"]

ALL, NONE = "all", "none"


class ParallelRegions(RegionLists):
    """which regions that need nothing of each other run side by side
    ([timing.md](timing.md#the-elastic-rule)): `"all"`, `"none"`, or lists of results, to which
    `share_hardware = "auto"` gives hardware of their own"""

    name = "parallel"
    by_default = '`"none"`'
    several = "all,none,.."
    help = (
        "Which regions run side by side: none (the default); all that need nothing of each other; or results "
        "of the regions that do, such as Q+K+V, several with commas."
    )
    known = (ALL, NONE)
    may_grow = True
    grows_in_area = True


CHOICE = ParallelRegions()
