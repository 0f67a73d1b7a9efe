"""Which of equal elements are taken: PyTorch leaves it open, the hardware takes the first ones."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["FirstOfEquals"]


def _sort(x: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    values, places = torch.sort(x, dim=dim, descending=descending, stable=True)
    return values, places


def _topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    values, places = _sort(x, dim, largest)
    return values.narrow(dim, 0, k), places.narrow(dim, 0, k)


def _kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    found = [each.narrow(dim, k - 1, 1) for each in _sort(x, dim)]
    return tuple(found if keepdim else (each.squeeze(dim) for each in found))


def _median(x: Tensor, dim: int, keepdim: bool = False) -> Any:
    return _kthvalue(x, (x.shape[dim] + 1) // 2, dim, keepdim)


_aten = torch.ops.aten
_FIRST: Mapping[Any, Callable[..., Any]] = {
    _aten.sort.default: _sort,
    _aten.topk.default: _topk,
    _aten.kthvalue.default: _kthvalue,
    _aten.median.dim: _median,
}


class FirstOfEquals(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Has PyTorch take the first of equal elements, wherever it puts elements in order."""

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        is_plain = op in _FIRST and args[0].dim() > 0 and not args[0].isnan().any()
        return (_FIRST[op] if is_plain else op)(*args, **(kwargs or {}))
