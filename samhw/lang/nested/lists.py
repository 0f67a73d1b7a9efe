"""Nested lists of tensors of one shape, and the operators on them.

A list of depth 2 whose elements are 1 by 4 is ``[8, 3] of [1, 4]``: the *extents* belong to the lists, the
*shape* to the elements. Compute operators (`map`, `reduce`, `scan`, folds and scans to the left and right)
call a function for each item of the outermost list; access operators rearrange items and compute nothing.
They are those of FractalTensor (SOSP 2024), tables 1 and 2.

Two kinds of list share this interface: of arrays, which are evaluated at once
(`samhw.lang.nested.evaluated_lists`), and of what a function would compute, while it is traced
(`samhw.lang.nested.recording`)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from samhw.lang.nested.untraced import user_error

__all__ = ["LIFT", "OPERATORS", "ListType", "NestedTensor", "Zipped", "join", "product", "zip_lists"]

OPERATORS = ("map", "reduce", "scan", "foldl", "foldr", "scanl", "scanr")
"""The compute operators. `reduce` and `scan` say of their function that it is associative."""

Item = Any
"""An element, or a list of less depth."""

State = Any
"""What a fold carries: an item, or a tuple of items."""


LIFT: ContextVar[Callable[["NestedTensor"], "NestedTensor"] | None] = ContextVar("LIFT", default=None)
"""While a function is traced, what makes any list one of the trace."""


@dataclass(frozen=True)
class ListType:
    """The type of a nested list: ``ListType((8, 3), (1, 4))``; of an element, with no extents.

    Attributes:
        extents: the lengths of the lists, the outermost first.
        shape: of an element.
    """

    extents: tuple[int, ...]
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{list(self.extents)} of {list(self.shape)}" if self.extents else f"{list(self.shape)}"


class Operators(ABC):
    """The operators of a list, or of several that go along side by side."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def _access(self, change: Callable[["NestedTensor"], "NestedTensor"]) -> Any:
        """The same access of each list."""

    @abstractmethod
    def _lists(self) -> tuple["NestedTensor", ...]:
        """What goes along side by side."""

    def map(self, function: Callable[..., Any]) -> Any:
        """``[f(x_0), f(x_1), ...]``; of lists that are zipped, ``f(x_0, y_0)`` and so on. Where f gives a
        tuple, a tuple of lists."""
        return _applied("map", self, function, None)

    def reduce(self, function: Callable[..., Any], initial: State = None) -> Any:
        """``f(... f(f(initial, x_0), x_1) ..., x_m)`` for an associative f, so that any tree is as good. It
        is evaluated from left to right. Without `initial`, the first item is what it begins with."""
        return _applied("reduce", self, function, initial)

    def foldl(self, function: Callable[..., Any], initial: State = None) -> Any:
        """As `reduce`, for any f."""
        return _applied("foldl", self, function, initial)

    def foldr(self, function: Callable[..., Any], initial: State = None) -> Any:
        """``f(... f(f(initial, x_m), x_m-1) ..., x_0)``."""
        return _applied("foldr", self, function, initial)

    def scan(self, function: Callable[..., Any], initial: State = None) -> Any:
        """All results of `reduce` on the way: those of x_0, of x_0 and x_1, and so on."""
        return _applied("scan", self, function, initial)

    def scanl(self, function: Callable[..., Any], initial: State = None) -> Any:
        """All results of `foldl` on the way; item i is that of x_0 to x_i."""
        return _applied("scanl", self, function, initial)

    def scanr(self, function: Callable[..., Any], initial: State = None) -> Any:
        """All results of `foldr` on the way; item i is that of x_m to x_i."""
        return _applied("scanr", self, function, initial)

    def reversed(self) -> Any:
        """The last item first."""
        return self[::-1]

    def __getitem__(self, key: Any) -> Any:
        """An item (``xs[0]``, ``xs[-1]``), a part (``xs[2:-2]``, ``xs[1::3]``), or the items that a list of
        whole numbers names (``xs[ids]``); lists of such lists give lists of items."""
        if isinstance(key, slice):
            try:
                start, stop, step = key.indices(len(self))
            except (TypeError, ValueError) as error:
                raise user_error(f"{error}; a part of a list is as in xs[1:-1] or xs[::2]") from None
            count = len(range(start, stop, step))
            if count == 0:
                raise user_error(f"the part [{_slice(key)}] of a list of {len(self)} items is empty")
            return self._access(lambda xs: xs._strided(start, count, step))
        if isinstance(key, np.ndarray) and key.ndim == 0:
            key = key[()]
        if isinstance(key, NestedTensor) and key.depth > 1:
            return key.map(lambda inner: self[inner])
        if isinstance(key, NestedTensor | list | np.ndarray):
            return self._access(lambda xs: xs._picked(key))
        if isinstance(key, int | np.integer):
            if not -len(self) <= key < len(self):
                raise user_error(f"there is no item {key} in a list of {len(self)}")
            return self._access(lambda xs: xs._item(int(key) % len(xs)))
        return self._access(lambda xs: xs._item_of(key))

    def slide(
        self,
        window: int,
        stride: int = 1,
        dilation: int = 1,
        padding: int = 0,
        value: float = 0,
        border: str = "pad",
    ) -> Any:
        """Windows of this many items, as a list of depth 1 more.

        A window spans ``(window - 1) * dilation + 1`` places. The first one begins `padding` places before
        the list, the last one ends at most this many after it.

        Args:
            window: the items of each.
            stride: from the beginning of one to that of the next.
            dilation: from an item to the next one of a window.
            padding: how far windows reach beyond either end.
            value: what stands there, in all of an element.
            border: ``"pad"`` for that value, ``"wrap"`` for the items of the other end.
        """
        for name, number in {"window": window, "stride": stride, "dilation": dilation}.items():
            if number < 1:
                raise user_error(f"{name} is {number}; it is at least 1")
        if border not in ("pad", "wrap"):
            raise user_error(f"border is {border!r}; it is 'pad' or 'wrap'")
        span = (window - 1) * dilation + 1
        count = (len(self) + 2 * padding - span) // stride + 1
        if padding < 0 or count < 1:
            raise user_error(
                f"a window spans {span} places, and the list has {len(self)} with {padding} on either side; "
                "pad it, or take a smaller window"
            )
        fill = value if border == "pad" else None
        return self._access(lambda xs: xs._windows(-padding, (count, stride), (window, dilation), fill))

    def shifted_slide(self, window: int, dilation: int = 1) -> Any:
        """A window around each item, which goes on at the other end of the list; `window` is odd."""
        if window < 1 or window % 2 == 0 or dilation < 1:
            raise user_error(
                f"a window of {window} items, {dilation} apart, has no centre; take an odd number"
            )
        first = -(window // 2) * dilation
        return self._access(lambda xs: xs._windows(first, (len(xs), 1), (window, dilation), None))

    def enumerate(self) -> "Zipped":
        """The list zipped with its positions, which come first."""
        lists = self._lists()
        return zip_lists(lists[0]._positions(), *lists)

    def dilated_map(self, function: Callable[..., Any], dilation: int) -> Any:
        """A function on each of the sequences ``xs[0::dilation]``, ``xs[1::dilation]``, ..., with what it
        gives put back in its places. Of a list shorter than `dilation` each sequence has one item.

        The function gives lists as long as those that it gets.
        """
        if dilation < 1:
            raise user_error(f"the dilation is {dilation}; it is at least 1")
        lists = _lifted(self._lists())
        return lists[0]._dilated(lists, function, dilation)


class NestedTensor(Operators):
    """A list of tensors of one shape, or of lists of one depth and length."""

    @property
    @abstractmethod
    def type(self) -> ListType:
        """Extents and shape."""

    @property
    def depth(self) -> int:
        """How many lists an element is in."""
        return len(self.type.extents)

    @property
    def length(self) -> int:
        """How many items the outermost list has."""
        return self.type.extents[0]

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Item]:
        return (self._item(i) for i in range(len(self)))

    def _access(self, change: Callable[["NestedTensor"], "NestedTensor"]) -> Any:
        return change(self)

    def _lists(self) -> tuple["NestedTensor", ...]:
        return (self,)

    @abstractmethod
    def _item(self, position: int) -> Item: ...

    def _item_of(self, key: Any) -> Item:
        """The item that something other than a number names."""
        raise user_error("a list is indexed by a number, a slice, or a list of whole numbers")

    @abstractmethod
    def _strided(self, start: int, count: int, step: int) -> "NestedTensor":
        """The items at start, start + step, ..."""

    @abstractmethod
    def _windows(
        self, first: int, outer: tuple[int, int], inner: tuple[int, int], fill: float | None
    ) -> "NestedTensor":
        """The items at ``first + o * outer_step + i * inner_step``, as a list of lists; both are (count,
        step). Outside of the list there is `fill`, or where that is None the other end."""

    @abstractmethod
    def _picked(self, positions: Any) -> Any: ...

    @abstractmethod
    def _positions(self) -> "NestedTensor":
        """The list 0, 1, ... of this length."""

    @abstractmethod
    def _joined(self, others: "Sequence[NestedTensor]") -> "NestedTensor":
        """This list and others, one after the other."""

    @abstractmethod
    def _repeated(self, count: int, inside: bool) -> "NestedTensor":
        """The list this many times, as a list of lists; or each item this many times, if `inside`."""

    @abstractmethod
    def _compute(
        self, operator: str, lists: "Sequence[NestedTensor]", function: Callable[..., Any], initial: State
    ) -> Any: ...

    @abstractmethod
    def _dilated(
        self, lists: "Sequence[NestedTensor]", function: Callable[..., Any], dilation: int
    ) -> Any: ...


class Zipped(Operators):
    """Lists of one length that go along side by side; they can be unpacked."""

    def __init__(self, lists: "Sequence[NestedTensor]") -> None:
        self.lists = tuple(lists)

    def __len__(self) -> int:
        return len(self.lists[0])

    def __iter__(self) -> Iterator[NestedTensor]:
        return iter(self.lists)

    def _access(self, change: Callable[[NestedTensor], NestedTensor]) -> Any:
        changed = tuple(map(change, self.lists))
        return Zipped(changed) if all(isinstance(xs, NestedTensor) for xs in changed) else changed

    def _lists(self) -> tuple[NestedTensor, ...]:
        return self.lists


def zip_lists(*lists: NestedTensor) -> Zipped:
    """Lists of one length, side by side: a function that is mapped over them takes an item of each.

    Raises InputError where lengths differ, with the user's line.
    """
    for xs in lists:
        if not isinstance(xs, NestedTensor):
            raise user_error(f"zip takes nested lists, not a {type(xs).__name__}")
    if len({xs.length for xs in lists}) != 1:
        lengths = " and ".join(str(xs.length) for xs in lists)
        raise user_error(f"zip takes lists of one length, not of {lengths} items")
    return Zipped(_lifted(lists))


def product(xs: NestedTensor, ys: NestedTensor) -> Zipped:
    """All pairs, as two lists of depth 1 more, which are under ``[y][x]``: the first has at ``[j][i]`` the
    item ``xs[i]``, the second ``ys[j]``."""
    one, other = _lifted((xs, ys))
    return Zipped((one._repeated(len(ys), inside=False), other._repeated(len(xs), inside=True)))


def join(*lists: NestedTensor) -> NestedTensor:
    """Lists one after the other.

    Raises InputError where their items are of different types, with the user's line.
    """
    kinds = {(xs.type.extents[1:], xs.type.shape) for xs in lists}
    if len(kinds) != 1:
        types = " and ".join(str(xs.type) for xs in lists)
        raise user_error(f"join takes lists of items of one type, not {types}")
    first, *others = _lifted(lists)
    return first._joined(others)


def _lifted(lists: "Sequence[NestedTensor]") -> tuple[NestedTensor, ...]:
    """The lists, as lists of the trace if there is one."""
    lift = LIFT.get()
    return tuple(lists) if lift is None else tuple(map(lift, lists))


def _applied(operator: str, over: Operators, function: Callable[..., Any], initial: State) -> Any:
    lists = _lifted(over._lists())
    return lists[0]._compute(operator, lists, function, initial)


def _slice(key: slice) -> str:
    parts = [key.start, key.stop] if key.step is None else [key.start, key.stop, key.step]
    return ":".join("" if part is None else str(part) for part in parts)
