"""Fixed extents: whether hardware has the extents of its runs as constants."""

from collections.abc import Iterator

from samhw.choices.choice import YesOrNo

__all__ = ["CHOICE"]


class FixedExtents(YesOrNo):
    """whether hardware has the extents as constants: all of its runs have the greatest
    ([host_port.md](host_port.md#the-map))"""

    name = "fixed_extents"
    help = "Build the extents into the hardware: each run has the greatest, and no register holds them."

    def said(self, value: bool) -> Iterator[str]:
        yield "fixed extents"


CHOICE = FixedExtents()
