"""How tensors lie in memory, and how much of it they take at most."""

from collections.abc import Sequence

from samhw.tensors import Ell, Format, LevelType

__all__ = ["greatest_sizes", "stored_format"]


def stored_format(fmt: Format) -> Format:
    """The format in memory: coordinate lists (COO) are loaded as compressed levels, since the coordinates of
    a stream strictly increase and those of a list repeat."""
    levels = (LevelType.compressed if level is LevelType.singleton else level for level in fmt.levels)
    return Format(tuple(levels), fmt.mode_order, fmt.block)


def greatest_sizes(fmt: Format, shape: Sequence[int], entries: int) -> list[int]:
    """How many positions each level of a tensor has at most, outermost first.

    Args:
        fmt: as `stored_format` gives it.
        shape: the greatest extent of each mode.
        entries: the most that a compressed level holds, and positions of a ragged or dia level.
    """
    size = 1
    sizes = []
    for level, mode in zip(fmt.levels, fmt.mode_order, strict=True):
        if isinstance(level, Ell):
            size *= level.width
        elif level is LevelType.dia:
            size = min(size * (size + shape[mode]), entries)
        else:
            size *= shape[mode]
            if level is not LevelType.dense:
                size = min(size, entries)
        sizes.append(size)
    return sizes
