"""Inputs that are stored in several formats at once, where the schedule asks for it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from samhw.compiler.passes.lowerable import Lowerable, Recipe
from samhw.lang.splits import TensorSplit, split_program
from samhw.tensors import Tensor

__all__ = ["split_formats"]


def split_formats(lowerable: Lowerable) -> Lowerable:
    """The program over the parts of the inputs that are split (`samhw.lang.splits`): each part is an input
    that is made of the user's, anew for each set of data. The results are the same in real numbers."""
    asked = lowerable.schedule
    if not asked.split:
        return lowerable
    found = split_program(lowerable.program, asked.split, stored=asked.stored_terms)
    whole = lowerable.capacity
    entries, recipes = {}, {}
    for name, of in (like := found.like()).items():
        entries[name] = whole.entries.get(name, whole.entries_of(of))
    for partition in found.partitions.values():
        tensor = partition.tensor
        for name, part in partition.parts.items():
            recipes[name] = Recipe(f"of {tensor} {part.text}", (tensor,), partial(_part, partition, name))
    made = lowerable.with_program(found.program, entries=entries, recipes=recipes, like=like)
    joined = {apart.result: tuple(apart.results.values()) for apart in found.apart}
    of_data = lowerable.busiest
    busiest = partial(_busiest, entries) if of_data is None else of_data(found)
    lanes = found.lanes(asked.lanes, busiest)
    schedule = replace(asked, split={}, lanes=lanes)
    return replace(made, joined=joined, added=found.added, schedule=schedule)


def _busiest(entries: Mapping[str, int], part: str, mode: int) -> Callable[[int], int]:
    """What the busiest lane of a part has to do at least, by the number of lanes."""
    return lambda lanes: -(-entries[part] // lanes)


def _part(partition: TensorSplit, name: str, tensor: Tensor) -> Tensor:
    return partition.cut(tensor)[name]
