"""Forty modules as people write them, each with its example arguments.

They were fixed before the importer had any handlers, so that the share of them that it takes is an honest
one. Sizes are small and weights are seeded; what a module computes, and how it is written, is not suited to
the importer.
"""

from collections.abc import Callable
from typing import Any

from tests.importers.torch.forty import graphs, layers, recommenders, transformers, vision

__all__ = ["FORTY", "Example"]

Example = Callable[[], tuple[Any, tuple[Any, ...]]]
"""Gives a module in evaluation mode, and its example arguments."""

FORTY: dict[str, Example] = {
    f"{family.__name__.rpartition('.')[2]}.{example.__name__}": example
    for family in (layers, transformers, graphs, recommenders, vision)
    for example in family.EXAMPLES
}
