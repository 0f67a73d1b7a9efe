"""A module's own state, as its user has left it, after others have called the module."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import _lru_cache_wrapper
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

__all__ = ["assigned_buffers", "held_tensors", "is_alike", "is_same", "restored"]

T = TypeVar("T")

_WITHOUT_STATE = (type, ModuleType, FunctionType, MethodType, BuiltinFunctionType)


def held_tensors(module: nn.Module) -> dict[str, torch.Tensor]:
    """The parameters, the buffers and the tensors in other attributes of a module and its submodules, by
    their paths."""
    found: dict[str, torch.Tensor] = {}
    found.update(module.named_parameters(remove_duplicate=False))
    found.update(module.named_buffers(remove_duplicate=False))
    for path, part in module.named_modules(remove_duplicate=False):
        for name, held in vars(part).items():
            if isinstance(held, torch.Tensor):
                found[f"{path}.{name}" if path else name] = held
    return {path: tensor.detach() for path, tensor in found.items()}


def assigned_buffers(
    module: nn.Module, call: Callable[[], T], *, follow: bool = True
) -> tuple[T, dict[str, torch.Tensor]]:
    """What a call gives, and the buffers in whose place the module has put other tensors by then, by their
    paths. Those that it makes as it runs are none of them.

    Args:
        follow: what is set as the data of a tensor is copied to it; no mode may look on at PyTorch's loops.
    """
    before = _buffers(module)
    with _CopiedData() if follow else nullcontext():
        found = call()
    now = _buffers(module)
    return found, {
        path: held
        for path, held in now.items()
        if path in before and held is not None and held is not before[path]
    }


class _CopiedData(TorchFunctionMode):
    """Copies to a tensor what is set as its data, which no trace sees otherwise."""

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if function == torch.Tensor.data.__set__ and is_alike(*args):  # type: ignore[attr-defined]
            function = torch.Tensor.copy_
        return function(*args, **(kwargs or {}))


def is_alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are of one layout, type and shape."""
    return (one.layout, one.dtype, one.shape) == (other.layout, other.dtype, other.shape)


def _buffers(module: nn.Module) -> dict[str, torch.Tensor | None]:
    """By their paths, those too that have no tensor yet."""
    parts = module.named_modules(remove_duplicate=False)
    return {
        f"{path}.{name}" if path else name: held
        for path, part in parts
        for name, held in part._buffers.items()
    }


def is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors hold the same, in one type and layout; sparse ones at the same places."""
    if not is_alike(one, other):
        return False
    if one.layout == torch.strided:
        return torch.equal(one, other)
    held = [tensor.to_sparse().coalesce() for tensor in (one, other)]
    return all(torch.equal(a, b) for a, b in zip(*([t.indices(), t.values()] for t in held), strict=True))


@contextmanager
def restored(module: nn.Module) -> Iterator[None]:
    """Undoes in the end what a call of the module has set, added or removed: attributes and flags,
    parameters, buffers, submodules and hooks, and what the lists, sets and dictionaries hold that its
    attributes lead to; and the elements of tensors that are no parameters. What functions of its files
    remember (`functools.cache`) is forgotten if it has changed."""
    own = {id(tensor) for tensor in module.parameters()}
    before = list(_containers(module, own))
    remembered = [(function, function.cache_info()) for function in _caches(module)]
    try:
        yield
    finally:
        for function, held in remembered:
            # A miss has put something in, and perhaps something else out.
            if function.cache_info().misses != held.misses:
                function.cache_clear()
        for container, content in before:
            _put_back(container, content)


def _caches(module: nn.Module) -> list[Any]:
    """The functions with a cache in the files in which the module and its submodules are defined."""
    files = {kind.__module__ for part in module.modules() for kind in type(part).__mro__}
    own = [sys.modules[name] for name in files if name in sys.modules and name.partition(".")[0] != "torch"]
    found = [item for file in own for item in vars(file).values() if isinstance(item, _lru_cache_wrapper)]
    return list(dict.fromkeys(found))


def _containers(root: object, apart: set[int]) -> Iterator[tuple[object, object]]:
    """All that an object leads to and that may hold others by then, each with a copy of what it holds.

    Args:
        apart: ids of tensors whose elements nobody asks for.
    """
    # What has been seen is kept: no other object takes its place in memory.
    seen: dict[int, object] = {}
    left = [root]
    while left:
        item = left.pop()
        if id(item) in seen or isinstance(item, _WITHOUT_STATE):
            continue
        seen[id(item)] = item
        if isinstance(item, torch.Tensor):
            elements = None if id(item) in apart else item.detach().clone()
            yield item, (item.requires_grad, elements)
            continue
        if isinstance(item, dict):
            yield item, dict(item)
            left += item.values()
        elif isinstance(item, list | set | deque):
            yield item, list(item)
            left += item
        elif isinstance(item, tuple):
            # Whatever its class does when it is asked for its length.
            left.extend(tuple.__iter__(item))
        elif hasattr(item, "__dict__"):
            left.append(vars(item))


def _put_back(container: Any, content: Any) -> None:
    """Gives a container what it has held. One that holds it still is not written to."""
    if isinstance(container, torch.Tensor):
        requires_grad, elements = content
        if container.requires_grad != requires_grad:
            container.requires_grad_(requires_grad)
        # What is written by way of `data` has no version of its own.
        if elements is not None and not is_same(container.detach(), elements):
            with torch.no_grad():
                if is_alike(container, elements):
                    container.copy_(elements)
                else:
                    container.data = elements
    elif isinstance(container, dict):
        if list(map(id, container)) != list(map(id, content)) or any(
            one is not other for one, other in zip(container.values(), content.values(), strict=True)
        ):
            container.clear()
            container.update(content)
    elif list(map(id, container)) != list(map(id, content)):
        container.clear()
        if isinstance(container, set):
            container.update(content)
        else:
            container.extend(content)
