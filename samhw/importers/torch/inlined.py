"""Operators that are written with others in PyTorch: the graph of these, for the tensors at hand."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph
from torch.fx.experimental.proxy_tensor import make_fx

from samhw.importers.torch.normal_form import bring_to_normal_form
from samhw.importers.torch.registry import is_known

__all__ = ["of_pytorch", "written_with_others"]


@cache
def of_pytorch() -> dict[Any, Callable[..., Any]]:
    """How PyTorch itself writes operators with others, but for those that this package knows."""
    default: dict[Any, Callable[..., Any]] = torch.export.default_decompositions().materialize()
    default[torch.ops.aten._new_zeros_with_same_feature_meta.default] = _zeros_like_other
    default[torch.ops.aten._efficientzerotensor.default] = torch.zeros
    return {op: function for op, function in default.items() if not is_known(op)}


def _zeros_like_other(x: Tensor, other: Tensor, *, self_num_batch_dims: int = 0) -> Tensor:
    """A tangent of `other` that is zero, for each of the derivatives that there are."""
    return x.new_zeros(*x.shape[:self_num_batch_dims], *other.shape)


def written_with_others(
    function: Callable[..., Any], arguments: Sequence[Any], named: dict[str, Any]
) -> Graph:
    """What a function does to tensors like these, whose values nobody asks for: they are placeholders, in
    their order. What it does to constants alone stands in the graph too."""
    leaves, structure = torch.utils._pytree.tree_flatten((tuple(arguments), named))
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]

    def applied(*given: Tensor) -> Any:
        left = iter(given)
        held = [next(left) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        args, kwargs = torch.utils._pytree.tree_unflatten(held, structure)
        return function(*args, **kwargs)

    fakes = [tensor.fake_mode for tensor in tensors if hasattr(tensor, "fake_mode")]
    mode: AbstractContextManager[Any] = fakes[0] if fakes else nullcontext()
    with mode, torch.no_grad():
        graph: Graph = make_fx(applied, of_pytorch(), "real" if fakes else "fake")(*tensors).graph
    bring_to_normal_form(graph)
    graph.eliminate_dead_code()
    return graph
