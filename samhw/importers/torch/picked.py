"""`out[cond] = f(x[cond])`, where the data decide the condition: how many elements it picks nobody knows
before a run. What is computed of them element by element is computed of all, and chosen where the condition
holds."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, Node

__all__ = ["keep_all_elements"]

aten = torch.ops.aten


def keep_all_elements(graph: Graph) -> None:
    """Does without what conditions pick, as far as all of it is put back to where it came from."""
    picks: dict[Any, list[Any]] = {}
    for node in graph.find_nodes(op="call_function", target=aten.index.Tensor):
        if (condition := _condition(node)) is not None and not _has_shape(node):
            picks.setdefault(_key(condition), []).append(node)
    for key, nodes in picks.items():
        if (found := _Picked(graph, key, nodes)).is_closed:
            found.spread()


def _condition(node: Any) -> Any:
    """What an operator takes or puts elements by, if that is one condition."""
    places = node.args[1]
    if not isinstance(places, Sequence) or len(places) != 1 or not isinstance(places[0], Node):
        return None
    value = places[0].meta.get("val")
    is_condition = isinstance(value, Tensor) and value.dtype == torch.bool
    return places[0] if is_condition and _has_shape(places[0]) else None


def _key(condition: Any) -> Any:
    """Equal for conditions that are computed alike."""
    plain = condition.op == "call_function" and all(
        isinstance(arg, Node | int | float) for arg in condition.args
    )
    return (condition.target, condition.args) if plain and not condition.kwargs else condition


def _has_shape(node: Any) -> bool:
    value = node.meta.get("val")
    return isinstance(value, Tensor) and all(isinstance(size, int) for size in value.shape)


class _Picked:
    """What a condition picks, and all that is computed of it.

    Attributes:
        is_closed: it is computed element by element, and put back by the same condition.
    """

    def __init__(self, graph: Graph, key: Any, picks: Sequence[Any]) -> None:
        self.key = key
        self.picks = picks
        self.condition = _condition(picks[0])
        self.computed: list[Any] = []
        self.put: list[Any] = []
        self.asked: list[Any] = []
        self.outer = self.condition.meta["val"].dim()
        self.members = set(picks)
        self.is_closed = all(
            self._takes(node)
            for node in graph.nodes
            if node not in self.members and not self.members.isdisjoint(node.all_input_nodes)
        )

    def _takes(self, node: Any) -> bool:
        """Whether an operator that reads some of it is one of those that there may be."""
        if node.target is aten.sym_size.int:
            sizes, self.asked = _only_checked(node), [*self.asked, node]
            self.asked += sizes or []
            return sizes is not None
        if node.target is aten.index_put.default:
            target, _, value, *accumulated = node.args
            condition = _condition(node)
            self.put.append(node)
            return (
                condition is not None
                and _key(condition) == self.key
                and target not in self.members
                and value in self.members
                and not any(accumulated)
                and target.meta["val"].dim() - self.outer == value.meta["val"].dim() - 1
            )
        if node.op != "call_function" or torch.Tag.pointwise not in getattr(node.target, "tags", ()):
            return False
        rank = node.meta["val"].dim()
        self.members.add(node)
        self.computed.append(node)
        return all(
            other.meta["val"].dim() == rank
            if other in self.members
            else _has_shape(other) and other.meta["val"].dim() < rank
            for other in node.all_input_nodes
        )

    def spread(self) -> None:
        """Computes it of all elements."""
        shape = tuple(self.condition.meta["val"].shape)
        for node in self.computed:
            value = node.meta["val"]
            node.meta["val"] = value.new_empty((*shape, *value.shape[1:]))
        for node in self.put:
            target, value = node.args[0], node.args[2]
            own = _condition(node)
            with node.graph.inserting_before(node):
                over = [*shape, *[1] * (node.meta["val"].dim() - self.outer)]
                where = node.graph.call_function(aten.view.default, (own, over))
                where.meta = {**node.meta, "val": own.meta["val"].new_empty(over)}
                made = node.graph.call_function(aten.where.self, (where, value, target))
            made.meta = dict(node.meta)
            node.replace_all_uses_with(made)
            node.graph.erase_node(node)
        for node in reversed(self.asked):
            node.graph.erase_node(node)
        for node in self.picks:
            source = node.args[0]
            node.replace_all_uses_with(source)
            node.graph.erase_node(node)


def _only_checked(size: Any) -> list[Any] | None:
    """The operators that only check a size, in their order; None if something else is computed of it."""
    found: list[Any] = []
    for user in size.users:
        is_check = str(user.target).startswith("aten._assert")
        if not is_check and getattr(user.target, "__name__", "") not in ("ge", "le", "gt", "lt", "eq"):
            return None
        found.append(user)
        if not is_check:
            if (more := _only_checked(user)) is None:
                return None
            found += more
    return found
