"""Elements that a known condition picks of what is not known: the same by their places."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

__all__ = ["BY_PLACES", "changes_its_first", "mapped", "tensors_of", "without_conditions"]

Function = Callable[..., Any]


class Decider(Protocol):
    """Knows values, and makes constants of what they decide."""

    def value(self, tensor: Tensor) -> Tensor | None: ...
    def constant(self, value: Any, of: Sequence[Tensor]) -> Any: ...
    def decided(self, compute: Callable[[], Any]) -> Any: ...


def without_conditions(
    decider: Decider, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[Function, tuple[Any, ...], Mapping[str, Any]]:
    """A call in which no shape depends on a condition that is known, or on a number that is."""
    name = getattr(function, "__name__", "")
    if name == "__getitem__":
        return function, (args[0], _index(decider, args[1])), kwargs
    if name == "__setitem__":
        index = _index(decider, args[1], keep_conditions=_is_one(args[2]))
        return function, (args[0], index, args[2]), kwargs
    if name in ("index_put", "index_put_") and not kwargs:
        index = _index(decider, tuple(args[1]), keep_conditions=_is_one(args[2]))
        return function, (args[0], index, *args[2:]), kwargs
    if name == "where" and len(args) == 3 and args[0].dtype == torch.uint8:
        return function, (args[0].bool(), *args[1:]), kwargs
    return function, args, kwargs


def changes_its_first(name: str) -> bool:
    """Whether a function of this name writes to its first argument."""
    in_place = name.endswith("_") and not name.endswith("__")
    return in_place or name == "__setitem__" or name == "__set__" or name in _IN_PLACE


_IN_PLACE = frozenset(
    f"__i{name}__"
    for name in ("add", "sub", "mul", "div", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
)


def mapped(item: Any, change: Callable[[Tensor], Any]) -> Any:
    """The same with other tensors, in lists, dictionaries and slices too."""
    if isinstance(item, Tensor):
        return change(item)
    if isinstance(item, slice):
        return slice(*(mapped(part, change) for part in (item.start, item.stop, item.step)))
    if type(item) in (list, tuple):
        return type(item)(mapped(part, change) for part in item)
    return {key: mapped(part, change) for key, part in item.items()} if type(item) is dict else item


def tensors_of(item: Any) -> list[Tensor]:
    """All tensors in it, each once."""
    found: dict[int, Tensor] = {}
    mapped(item, lambda tensor: found.setdefault(id(tensor), tensor))
    return list(found.values())


def _is_one(value: Any) -> bool:
    """Whether it goes to all places alike."""
    return not isinstance(value, Tensor) or value.numel() == 1


def _index(decider: Decider, index: Any, *, keep_conditions: bool = False) -> Any:
    """An index with places for conditions, and numbers for the ends of slices."""
    items: list[Any] = []
    if isinstance(index, list) and any(part is None or isinstance(part, slice) for part in index):
        # PyTorch takes such a list for a tuple.
        index = tuple(index)
    for item in index if isinstance(index, tuple) else (index,):
        if isinstance(item, slice):
            items.append(mapped(item, lambda tensor: _number(decider, tensor)))
        elif not isinstance(item, Tensor) or (value := decider.value(item)) is None:
            items.append(item)
        elif value.dtype in (torch.bool, torch.uint8) and value.dim():
            items += [item] if keep_conditions else _places(decider, item, value)
        elif not value.dim():
            items.append(_number(decider, item))
        else:
            items.append(item)
    return tuple(items)


def _places(decider: Decider, condition: Tensor, value: Tensor) -> list[Tensor]:
    """Along each dimension the places where a condition holds."""
    found = decider.decided(lambda: list(value.bool().nonzero(as_tuple=True)))
    return list(decider.constant(found, [condition]))


def _number(decider: Decider, tensor: Tensor) -> Any:
    """A number of Python, where it is known."""
    value = decider.value(tensor)
    if value is None:
        return tensor
    return decider.constant(decider.decided(value.item), [tensor])


def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """Where a condition holds, when both are broadcast."""
    shape = np.broadcast_shapes(x.shape, mask.shape)
    return x.expand(shape)[mask.expand(shape)]


def masked_scatter(x: Tensor, mask: Tensor, source: Tensor, *, put: Function = Tensor.index_put) -> Any:
    """The first elements of a tensor go to where a condition holds, one after another."""
    found = mask.expand(x.shape).nonzero(as_tuple=True)
    return put(x, found, source.reshape(-1)[: len(found[0])])


def repeat_interleave(x: Tensor, repeats: Tensor, dim: int | None = None, **_: Any) -> Tensor:
    """Rows that are repeated as often as integers say."""
    x, dim = (x.flatten(), 0) if dim is None else (x, dim)
    count = x.shape[dim]
    return x.index_select(dim, torch.arange(count).repeat_interleave(repeats.expand(count)))


BY_PLACES: dict[str, Function] = {
    "masked_select": masked_select,
    "masked_scatter": masked_scatter,
    "masked_scatter_": partial(masked_scatter, put=Tensor.index_put_),
    "repeat_interleave": repeat_interleave,
}
"""What functions do whose second argument is known, and decides their shapes."""
