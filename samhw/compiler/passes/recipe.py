"""How inputs that the user does not have are made from those that the user has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from samhw.errors import InputError
from samhw.tensors import Tensor

__all__ = ["Recipe", "with_derived"]


@dataclass(frozen=True)
class Recipe:
    """How a tensor is made from others.

    Attributes:
        text: what it is, in words: "rows 0 to 16 of A".
        sources: the names of what it is made from: inputs of the user's program, or tensors that an earlier
            recipe makes.
        make: takes the sources in that order, and gives the tensor, in any format. It is asked again for each
            set of data, so that the extents of its result may follow from those of the sources.
    """

    text: str
    sources: tuple[str, ...]
    make: Callable[..., Tensor] = field(repr=False)

    def __str__(self) -> str:
        return self.text


def with_derived(tensors: Mapping[str, Tensor], recipes: Mapping[str, Recipe]) -> dict[str, Tensor]:
    """The tensors, and what the recipes make of them.

    Args:
        tensors: by name; what is there already is not made again.
        recipes: by the name of what they make, in an order in which each finds its sources.

    Raises:
        InputError: naming a source that is missing.
    """
    found = dict(tensors)
    for name, recipe in recipes.items():
        if name in found:
            continue
        for source in recipe.sources:
            if source not in found:
                raise InputError(
                    f"The tensor {source!r} is missing, of which {name} is made ({recipe}); add it to the "
                    "data."
                )
        found[name] = recipe.make(*(found[source] for source in recipe.sources))
    return found
