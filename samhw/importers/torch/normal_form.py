"""Operators said with others, in one way whichever a module has: what it does place by place at once, and
what PyTorch decomposes."""

import operator as python_operator
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, Node
from torch.fx.experimental.proxy_tensor import make_fx

from samhw.importers.torch.picked import keep_all_elements
from samhw.importers.torch.registry import UNDONE, is_known, operator_name

__all__ = ["bring_to_normal_form", "of_pytorch", "written_with_others"]

aten = torch.ops.aten

_LEFT = {"aten.select", "aten.slice", "aten.select_scatter", *UNDONE}
"""What goes if nobody reads it any more."""


def bring_to_normal_form(graph: Graph) -> None:
    """Parts of a tensor become selections and slices, what is copied is taken itself, and what is written to
    slices one after another is stacked; embeddings of all slices of indices are slices of one embedding;
    nothing is picked that is put back."""
    keep_all_elements(graph)
    for node in list(graph.nodes):
        if node.target is python_operator.getitem and operator_name(node.args[0].target) in UNDONE:
            _swap(node, *_part(*node.args), like=node.args[0])
        elif node.target is aten.copy.default and _type(node.args[1]) == _type(node):
            _swap(node, aten.expand.default, node.args[1], list(node.meta["val"].shape))
    for node in graph.find_nodes(op="call_function", target=aten.select_scatter.default):
        _stack_written(node)
    embeddings: dict[Any, list[Any]] = {}
    for node in graph.find_nodes(op="call_function", target=aten.embedding.default):
        index: Any = node.args[1]
        if index.target is aten.select.int:
            embeddings.setdefault((node.args[0], *index.args[:2], *node.args[2:]), []).append(node)
    for (weight, source, dim, *rest), nodes in embeddings.items():
        if len(nodes) > 1 and {n.args[1].args[2] for n in nodes} == set(range(source.meta["val"].shape[dim])):
            whole = _embedding(graph, weight, source, rest, nodes[0])
            dim %= source.meta["val"].dim()
            for node in nodes:
                _swap(node, aten.select.int, whole, dim, node.args[1].args[2])
    for node in reversed(list(graph.nodes)):
        if not node.users and operator_name(node.target) in _LEFT:
            graph.erase_node(node)


def _new(at: Node, value: Tensor, target: Any, *args: Any, like: Node | None = None) -> Node:
    """An operator before a node, which stands where another one is in the module."""
    with at.graph.inserting_before(at):
        made = at.graph.call_function(target, args)
    made.meta = {**(like or at).meta, "val": value}
    return made


def _swap(node: Node, target: Any, *args: Any, like: Node | None = None) -> None:
    """Puts another operator in the place of one."""
    node.replace_all_uses_with(_new(node, node.meta["val"], target, *args, like=like))
    node.graph.erase_node(node)


def _type(node: Any) -> torch.dtype | None:
    return node.meta["val"].dtype if isinstance(node, Node) else None


def _part(parts: Any, number: int) -> tuple[Any, ...]:
    """One of the parts of a tensor, as an operator and its arguments."""
    at = 1 if parts.target is aten.unbind.int else 2
    dim = parts.args[at] if len(parts.args) > at else parts.kwargs.get("dim", 0)
    if at == 1:
        return aten.select.int, parts.args[0], dim, number
    sizes = [int(meta.shape[dim]) for meta in parts.meta["val"]]
    return aten.slice.Tensor, parts.args[0], dim, sum(sizes[:number]), sum(sizes[: number + 1])


def _stack_written(last: Any) -> None:
    """What the last one of several operators gives that write to places in a row."""
    chain, value = [last], last.meta["val"]
    while _goes_on(chain[0].args[0], chain[0]):
        chain.insert(0, chain[0].args[0])
    if len(chain) < 2 or any(_goes_on(last, user) for user in last.users):
        return
    dim = last.args[2] % value.dim()
    size = int(value.shape[dim])
    parts = {node.args[3] % size: node.args[1] for node in chain}
    places = sorted(parts)
    steps = {b - a for a, b in pairwise(places)}
    if len(places) < len(chain) or len(steps) > 1:
        return
    held = value.new_empty((*value.shape[:dim], len(places), *value.shape[dim + 1 :]))
    made = _new(last, held, aten.stack.default, [parts[place] for place in places], dim)
    if len(places) < size:
        ends = places[0], places[-1] + 1, *steps
        made = _new(last, value, aten.slice_scatter.default, chain[0].args[0], made, dim, *ends)
    last.replace_all_uses_with(made)


def _goes_on(before: Any, after: Any) -> bool:
    """Whether what is written to a place goes to where the same dimension is written to, and nobody else
    looks at it."""
    writes = before.target is after.target is aten.select_scatter.default
    others = [user for user in before.users if user is not after and user.users]
    return writes and before.args[2] == after.args[2] and after.args[0] is before and not others


def _embedding(graph: Graph, weight: Node, source: Node, rest: list[Any], like: Node) -> Node:
    """The embedding of all indices, as soon as there are these."""
    left = {weight, source}
    for at in list(graph.nodes):
        if not left and at.op != "placeholder":
            break
        left.discard(at)
    meta = weight.meta["val"]
    value = meta.new_empty((*source.meta["val"].shape, meta.shape[1]))
    return _new(at, value, aten.embedding.default, weight, source, *rest, like=like)


# Operators that are written with others in PyTorch: the graph of these, for the tensors at hand.


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
