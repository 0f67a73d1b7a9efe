"""Lanes: copies of what lies inside of an index."""

from samhw.choices.choice import CountsByName

__all__ = ["CHOICE"]


class LaneCounts(CountsByName):
    """by index, how many copies of what lies inside it share its coordinates
    ([compiler.md](compiler.md#lanes))"""

    name = "lanes"
    by_default = "one"
    metavar = "i=4+j=2|auto"
    several = "1,i=4,i=4+j=2"
    help = "Copies of what lies inside of an index, which share its coordinates."
    what = "its number of lanes"
    most = 1024
    may_grow = True
    grows_in_area = True


CHOICE = LaneCounts()
