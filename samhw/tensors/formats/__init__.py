"""Storage formats: what each level type can do, stores and asks of hardware, a file each.

A :class:`Format` is a list of level types with a mode order, and has a short name. A :class:`LevelType` is
all that there is to know of one way to store a level, in `samhw/tensors/formats/levels`. This package knows
nothing of tensors and graphs."""

from samhw.tensors.formats.format import Format
from samhw.tensors.formats.level import LevelNode, LevelType, StoredLevel, level_type, level_types

__all__ = ["Format", "LevelNode", "LevelType", "StoredLevel", "level_type", "level_types"]
