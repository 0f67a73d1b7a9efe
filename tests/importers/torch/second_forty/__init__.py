"""Forty more modules as people write them, in the form of the first forty (`tests.importers.torch.forty`).

They were fixed when the importer had its handlers, but without regard to these: 34 of them ran at the first
try.
"""

from tests.importers.torch.forty import Example
from tests.importers.torch.second_forty import (
    graphs,
    layers,
    recommenders,
    science,
    series,
    transformers,
    vision,
)

__all__ = ["SECOND_FORTY"]

SECOND_FORTY: dict[str, Example] = {
    f"{family.__name__.rpartition('.')[2]}.{example.__name__}": example
    for family in (layers, transformers, graphs, recommenders, vision, series, science)
    for example in family.EXAMPLES
}
