"""Pareto fronts: what no other one beats."""

from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["pareto_front"]

_T = TypeVar("_T")


def pareto_front(found: Iterable[_T], point: Callable[[_T], tuple[float, float]]) -> list[_T]:
    """Those that no other one beats: none has less of one coordinate and no more of the other. By the first
    coordinate, which rises, while the second falls; of equal ones the first.

    Args:
        point: both coordinates of one of them, of which less is better.
    """
    best: list[_T] = []
    for one in sorted(found, key=point):
        if not best or point(one)[1] < point(best[-1])[1]:
            best.append(one)
    return best
