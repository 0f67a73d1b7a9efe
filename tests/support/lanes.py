"""What distributing means, in nested lists: the items of each list at a depth go to lanes in turn."""

from tests.support.nested import Nested

__all__ = ["distributed"]


def distributed(nested: Nested, depth: int, lanes: int) -> list[Nested]:
    """The parts of each lane. `depth` counts the lists around an item that is distributed."""
    if depth == 1:
        return [nested[lane::lanes] for lane in range(lanes)]
    parts = [distributed(item, depth - 1, lanes) for item in nested]
    return [[part[lane] for part in parts] for lane in range(lanes)]
