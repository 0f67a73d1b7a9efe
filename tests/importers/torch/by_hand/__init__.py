"""Seventy-two modules as practitioners write them, in the form of `tests.importers.torch.forty`.

They were frozen before the importer was opened.
"""

from tests.importers.torch.by_hand import attention, graphs, losses, recurrent, science, vision
from tests.importers.torch.forty import Example

__all__ = ["BY_HAND"]

BY_HAND: dict[str, Example] = {
    f"{family.__name__.rpartition('.')[2]}.{example.__name__}": example
    for family in (attention, recurrent, graphs, vision, losses, science)
    for example in family.EXAMPLES
}
