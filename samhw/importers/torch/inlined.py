"""Operators that are written with others in PyTorch: the graph of these, for the tensors at hand."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, Node
from torch.fx.experimental.proxy_tensor import make_fx

__all__ = ["written_with_others"]


def written_with_others(node: Node, function: Callable[..., Any]) -> Graph:
    """What a function does to tensors like those that a node takes, which are its placeholders in the order of
    `node.all_input_nodes`. What it does to constants alone stands in the graph too."""
    sources = node.all_input_nodes

    def applied(*tensors: Tensor) -> Any:
        held = dict(zip(sources, tensors, strict=True))
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), held.__getitem__)
        return function(*args, **kwargs)

    metas = [source.meta["val"] for source in sources]
    mode: AbstractContextManager[Any] = getattr(metas[0], "fake_mode", nullcontext())
    with mode, torch.no_grad():
        graph = make_fx(applied)(*metas).graph
    graph.eliminate_dead_code()
    return graph
