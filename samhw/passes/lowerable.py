"""What passes take and give: a program, and all that belongs to it until it is lowered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from samhw.frontend import Capacity, Program, greatest_extents
from samhw.passes.recipe import Recipe

__all__ = ["Lowerable", "PermutedCopy"]


@dataclass(frozen=True)
class PermutedCopy:
    """A tensor in another mode order, and what making it costs.

    Attributes:
        tensor: the copy.
        of: the tensor that it is a copy of.
        mode_order: that of the copy, by the modes of `of`.
        words: of both banks of the accumulator that sorts it, one for each point of the tensor, rounded up to
            powers of two.
        entries: the most values that are copied; each takes a cycle on the way in and one on the way out.
    """

    tensor: str
    of: str
    mode_order: tuple[int, ...]
    words: int
    entries: int

    def __str__(self) -> str:
        return (
            f"{self.tensor} is {self.of} in the mode order {self.mode_order}: up to "
            f"{2 * self.entries:,} cycles, and an accumulator of {self.words:,} words"
        )


@dataclass(frozen=True)
class Lowerable:
    """A program that can be lowered.

    Attributes:
        program: checked, with the extents that its text and its data give.
        capacity: how large the build is, by the dimensions and tensors of `program`.
        recipes: for each input of the program that the user does not give, how it is made.
        copies: for each tensor that a region by itself makes by sorting another one, what that costs. Only a
            reducer can lower such a region, so that passes leave it alone.
        views: for each tensor that is another one in another shape and lies in its memories, that one. The
            region that makes it has nothing to do.
        copied_shapes: for each other result of a reshape, why it has memories of its own.
        permute: permission to copy what is stored discordantly.
        largest_copy: the most points of a tensor that may be copied.
        off_chip: the tensors that lie off chip; None for all, or none.
    """

    program: Program
    capacity: Capacity = field(default_factory=Capacity)
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    copies: Mapping[str, PermutedCopy] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    copied_shapes: Mapping[str, str] = field(default_factory=dict)
    permute: bool = False
    largest_copy: int = 1 << 22
    off_chip: Sequence[str] | None = None

    @cached_property
    def extents(self) -> dict[str, int]:
        """The greatest extent of each of the program's dimensions, in the order of its tensors' modes. Raises
        `InputError` for one that nothing fixes."""
        return greatest_extents(self.program, self.capacity)

    def shape(self, tensor: str) -> tuple[int, ...]:
        """The greatest shape of a tensor."""
        return self.program.dimensions.shape(tensor, self.extents)

    def with_program(
        self,
        program: Program,
        *,
        entries: Mapping[str, int] | None = None,
        recipes: Mapping[str, Recipe] | None = None,
        copies: Mapping[str, PermutedCopy] | None = None,
    ) -> "Lowerable":
        """What a pass has made of this: another program to the same results.

        Capacities go over to the new program, whose dimensions may have other names, with the tensors that
        both have. A tensor of the same name has the same shape.

        Args:
            entries: the most entries of the compressed levels of further tensors.
            recipes: of further inputs.
            copies: of further tensors.
        """
        extents: dict[str, int] = {}
        for tensor in self.program.tensors:
            if tensor in program.tensors:
                dimensions = program.dimensions.of_tensor(tensor)
                for dimension, extent in zip(dimensions, self.shape(tensor), strict=True):
                    extents[dimension] = max(extent, extents.get(dimension, 0))
        return replace(
            self,
            program=program,
            capacity=Capacity(extents, {**self.capacity.entries, **(entries or {})}),
            recipes={**self.recipes, **(recipes or {})},
            copies={**self.copies, **(copies or {})},
        )
