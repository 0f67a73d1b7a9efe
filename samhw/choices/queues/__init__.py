"""Queues: rows of an intermediate that may wait in channels."""

from collections.abc import Sequence

from samhw.choices.choice import CountsByName
from samhw.lang import Program, Region

__all__ = ["CHOICE"]


class Queues(CountsByName):
    """by intermediate, how many further rows of it may wait between what computes and what reads it in a
    region ([compiler.md](compiler.md#queues))"""

    name = "queues"
    metavar = "T=64+U=8"
    several = "1,T=64,T=64+U=8"
    help = (
        "Rows of an intermediate that may wait between what computes it and what reads it in the same "
        "region, where rows take unequal times; 1 is none."
    )
    of = "intermediate"
    what = "its number of rows"
    entry_example = "T = 64"
    word_example = "T=4+U=2"
    most = 1 << 20

    def apply(self, program: Program, value: dict[str, int], *, is_open: bool) -> Program:
        if not is_open:
            program.check_computed(self.name, value)
        return program

    def matters(self, regions: Sequence[Region]) -> bool:
        return any(len(region.statements) > 1 for region in regions)


CHOICE = Queues()
