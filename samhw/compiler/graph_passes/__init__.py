"""Passes of graphs: from the graph that the lowering of a region gives to the one that a design has.

Each file but `assembly` and `concats` holds one pass, a function from `Assembly` to `Assembly` with the name
of the file. What comes out of a pass is a graph that the validator takes.
"""

from collections.abc import Callable
from importlib import import_module

from samhw.compiler.graph_passes.assembly import Assembly
from samhw.errors import InputError, ScheduleError
from samhw.graph import validate
from samhw.lang.decision import Refusal

__all__ = ["GRAPH_PASSES", "Assembly", "GraphPass", "apply_graph_passes", "passes_to"]

GraphPass = Callable[[Assembly], Assembly]

GRAPH_PASSES = ("blocks", "lanes", "reads", "banks", "depths", "queues")
"""The passes by name, in the order in which they are applied."""


def passes_to(last: str | None) -> tuple[str, ...]:
    """The passes as far as one of them, or all, in their order."""
    return GRAPH_PASSES if last is None else GRAPH_PASSES[: GRAPH_PASSES.index(last) + 1]


def apply_graph_passes(assembly: Assembly, last: str | None = None) -> Assembly | Refusal:
    """What the passes make of a graph, or why they cannot.

    Args:
        last: the pass after which to stop, by its name; else all are applied.

    Raises:
        InputError: for lanes that no graph can have, and for a pass that leaves a graph which the validator
            does not take, by its name.
    """
    for name in passes_to(last):
        apply: GraphPass = getattr(import_module(f"samhw.compiler.graph_passes.{name}"), name)
        try:
            assembly = apply(assembly)
        except ScheduleError as error:
            return Refusal.of(error)
        try:
            validate(assembly.graph)
        except InputError as error:
            raise error.within(f"The graph pass '{name}' leaves a wrong graph") from error
    return assembly
