"""What is worked out of a graph once, however many ask for it."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import ref

from samhw.graph.ir import Graph

__all__ = ["once_per_graph"]

P = ParamSpec("P")
T = TypeVar("T")


def once_per_graph(
    function: Callable[Concatenate[Graph, P], T],
) -> Callable[Concatenate[Graph, P], T]:
    """A function that finds again what it gave of the same graph: the object, not one that is equal to it,
    which would have to be compared node by node. It is kept as long as the graph is there; of a function that
    takes more, what it gave of the last arguments.
    """
    known: dict[int, tuple[ref[Graph], object, T]] = {}

    @wraps(function)
    def found(graph: Graph, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = id(graph)
        asked = (args, kwargs)
        kept = known.get(key)
        if kept is not None and kept[0]() is graph and kept[1] == asked:
            return kept[2]
        result = function(graph, *args, **kwargs)
        known[key] = ref(graph, lambda _: known.pop(key, None)), asked, result
        return result

    return found
