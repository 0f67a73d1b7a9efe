"""Lists of arrays: operators are evaluated at once, by NumPy. This is what they mean."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.lang.nested.lists import Item, ListType, NestedTensor, State
from samhw.lang.nested.untraced import user_error

__all__ = ["ArrayList", "full", "nested_tensor", "sigmoid"]

Array = npt.NDArray[Any]


class ArrayList(NestedTensor):
    """A nested list whose elements lie in one array, after the axes of the lists.

    Attributes:
        array: its axes are the lists, then the element's.
    """

    def __init__(self, array: Array, depth: int) -> None:
        self.array = array
        self._type = ListType(array.shape[:depth], array.shape[depth:])

    @property
    def type(self) -> ListType:
        return self._type

    def __repr__(self) -> str:
        return f"<NestedTensor {self.type}>"

    def _item(self, position: int) -> Item:
        return self._of(self.array[position], self.depth - 1)

    @staticmethod
    def _of(array: Array, depth: int) -> Item:
        return ArrayList(array, depth) if depth else array

    def _strided(self, start: int, count: int, step: int) -> NestedTensor:
        return ArrayList(self.array[start + step * np.arange(count)], self.depth)

    def _windows(
        self, first: int, outer: tuple[int, int], inner: tuple[int, int], fill: float | None
    ) -> NestedTensor:
        places = first + outer[1] * np.arange(outer[0])[:, None] + inner[1] * np.arange(inner[0])
        found = np.take(self.array, places, axis=0, mode="wrap")
        if fill is not None:
            outside = (places < 0) | (places >= len(self))
            found = np.where(np.expand_dims(outside, tuple(range(2, found.ndim))), fill, found)
        return ArrayList(found.astype(self.array.dtype, copy=False), self.depth + 1)

    def _picked(self, positions: Any) -> NestedTensor:
        ids = positions.array if isinstance(positions, ArrayList) else np.asarray(positions)
        if ids.ndim != 1 or not np.issubdtype(ids.dtype, np.integer):
            raise user_error("a list is indexed by a number, a slice, or a list of whole numbers")
        wrong = ids[(ids < 0) | (ids >= len(self))]
        if wrong.size:
            raise user_error(f"there is no item {wrong[0]} in a list of {len(self)}")
        return ArrayList(self.array[ids], self.depth)

    def _positions(self) -> NestedTensor:
        return ArrayList(np.arange(len(self)), 1)

    def _joined(self, others: Sequence[NestedTensor]) -> NestedTensor:
        return ArrayList(np.concatenate([self.array, *(xs.array for xs in others)]), self.depth)  # type: ignore[attr-defined]

    def _repeated(self, count: int, inside: bool) -> NestedTensor:
        array = self.array[:, None] if inside else self.array[None]
        shape = (len(self), count) if inside else (count, len(self))
        return ArrayList(np.broadcast_to(array, (*shape, *self.array.shape[1:])), self.depth + 1)

    def _compute(
        self, operator: str, lists: Sequence[NestedTensor], function: Callable[..., Any], initial: State
    ) -> Any:
        rows = list(zip(*lists, strict=True))
        if operator == "map":
            return _stacked([function(*row) for row in rows], operator)
        if operator.endswith("r") and operator != "map":
            rows.reverse()
        results = []
        state = initial
        if state is None:
            if not rows:
                raise user_error(f"{operator} of an empty list needs something to begin with")
            state = rows.pop(0)
            state = state[0] if len(state) == 1 else state
            results.append(state)
        for row in rows:
            state = function(state, *row)
            results.append(state)
        if operator in ("reduce", "foldl", "foldr"):
            return state
        return _stacked(results[::-1] if operator == "scanr" else results, operator)

    def _dilated(self, lists: Sequence[NestedTensor], function: Callable[..., Any], dilation: int) -> Any:
        length = len(self)
        parts = [function(*(xs[r::dilation] for xs in lists)) for r in range(min(dilation, length))]
        tuples = [part if isinstance(part, tuple) else (part,) for part in parts]
        found = []
        for leaves in zip(*tuples, strict=True):
            if any(not isinstance(xs, ArrayList) for xs in leaves) or sum(map(len, leaves)) != length:
                raise user_error("the function of dilated_map gives lists as long as those that it gets")
            array = np.empty((length, *leaves[0].array.shape[1:]), leaves[0].array.dtype)
            for r, xs in enumerate(leaves):
                array[r::dilation] = xs.array
            found.append(ArrayList(array, leaves[0].depth))
        return tuple(found) if isinstance(parts[0], tuple) else found[0]


def nested_tensor(array: Any, depth: int = 1) -> NestedTensor:
    """An array as a list: its first `depth` axes are those of lists, the others those of elements.

    Raises InputError where the array has fewer.
    """
    found = np.asarray(array)
    if not 1 <= depth <= found.ndim:
        raise InputError(
            f"an array of {found.ndim} axes is no list of depth {depth}; give a depth from 1 to {found.ndim}"
        )
    return ArrayList(found, depth)


def full(extents: Sequence[int], shape: Sequence[int], value: float) -> NestedTensor:
    """A list with one value in all of its elements."""
    return ArrayList(np.full((*extents, *shape), value), len(extents))


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``, of an array or of an element that is traced."""
    own = getattr(x, "sigmoid", None)
    return 1 / (1 + np.exp(-x)) if own is None else own()


def _stacked(results: Sequence[Any], operator: str) -> Any:
    """What a function has given for each item, as a list, or a list for each part of a tuple."""
    if not results:
        raise user_error(
            f"{operator} of an empty list has no elements of any shape; give it one item or more"
        )
    if isinstance(results[0], tuple):
        return tuple(_stacked(part, operator) for part in zip(*results, strict=True))
    lists = [x.array if isinstance(x, ArrayList) else np.asarray(x) for x in results]
    depth = results[0].depth if isinstance(results[0], ArrayList) else 0
    shapes = {array.shape for array in lists}
    if len(shapes) != 1:
        one, other = sorted(map(str, shapes))[:2]
        raise user_error(f"the function of {operator} gives {one} for one item and {other} for another")
    return ArrayList(np.stack(lists), depth + 1)
