"""Inputs that are stored in several formats at once, where the schedule asks for it."""

from dataclasses import replace
from functools import partial

from samhw.passes.lowerable import Lowerable
from samhw.passes.recipe import Recipe
from samhw.splits import TensorSplit, split_program
from samhw.tensors import Tensor

__all__ = ["split_formats"]


def split_formats(lowerable: Lowerable) -> Lowerable:
    """The program over the parts of the inputs that are split (`samhw.splits`): each part is an input that is
    made of the user's, anew for each set of data. The results are the same in real numbers."""
    if not lowerable.split:
        return lowerable
    found = split_program(lowerable.program, lowerable.split)
    whole = lowerable.capacity
    like, entries, recipes = {}, {}, {}
    for partition in found.partitions.values():
        tensor = partition.tensor
        for name, part in partition.parts.items():
            like[name] = tensor
            entries[name] = whole.entries.get(name, whole.entries_of(tensor))
            recipes[name] = Recipe(f"of {tensor} {part.text}", (tensor,), partial(_part, partition, name))
    made = lowerable.with_program(found.program, entries=entries, recipes=recipes, like=like)
    return replace(made, split={})


def _part(partition: TensorSplit, name: str, tensor: Tensor) -> Tensor:
    return partition.cut(tensor)[name]
