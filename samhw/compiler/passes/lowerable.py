"""What passes take and give: a program, and all that belongs to it until it is lowered; and how inputs that
the user does not have are made from those that the user has."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.lang import Capacity, Program, Region, Scan, greatest_extents
from samhw.lang.decision import RegionDecision
from samhw.lang.splits import Busiest, RowOrders, SplitProgram
from samhw.tensors import Format, Tensor

__all__ = ["Lowerable", "PermutedCopy", "Recipe", "StepSlice", "with_derived"]


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
class StepSlice:
    """A tensor that is a step of another one, in whose memories it lies.

    Attributes:
        tensor: the other one, whose outermost level has the steps.
        of: the tensor of the given program that it is, or whose copy it is.
        scan: the block that reads or writes the step.
        counter: what counts the steps of that block, a name of its own in the design.
        offset: from the coordinate of the present step to that of this one.
        is_written: the block writes the step.
        starts: what it is before there is such a step: for each tensor the number of steps that have been
            when the block reads it.
    """

    tensor: str
    of: str
    scan: Scan
    counter: str
    offset: int = 0
    is_written: bool = False
    starts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Lowerable:
    """A program that can be lowered.

    Attributes:
        program: checked, with the extents that its text and its data give.
        capacity: how large the build is, by the dimensions and tensors of `program`.
        written: the tensors that the user has written or asked for: passes have added all others.
        recipes: for each input of the program that the user does not give, how it is made.
        copies: for each tensor that a region by itself makes by sorting another one, what that costs. Only a
            reducer can lower such a region, so that passes leave it alone.
        aliases: for each tensor that is another one in another shape and lies in its memories, that one. The
            region that makes it has nothing to do.
        joined: for each result that the host puts together, the tensors with its rows. The region that sums
            them has nothing to do.
        copied_shapes: for each other result of a reshape, why it has memories of its own.
        slices: the tensors that are steps of others. The region that reads or writes such a step has nothing
            to do.
        schedule: what is asked of the program, which passes follow. Its `split` is what is still to be split,
            its `lanes` those of the parts.
        busiest: of data, what lanes of the parts have to do; None where capacities alone tell.
        added: the results that are sums of several terms over parts, each with the results that these sums
            are.
        row_orders: the orders in which the host stores data, and puts results back from.
        segmented: the indices that count segments of a cascade, one for each lane: each with a tensor that it
            goes along, and the mode.
        decisions: how the program's regions are lowered, in their order, once that is decided.
    """

    program: Program
    capacity: Capacity = field(default_factory=Capacity)
    written: frozenset[str] = frozenset()
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    copies: Mapping[str, PermutedCopy] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    joined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    copied_shapes: Mapping[str, str] = field(default_factory=dict)
    slices: Mapping[str, StepSlice] = field(default_factory=dict)
    schedule: Schedule = field(default_factory=Schedule)
    busiest: Callable[[SplitProgram], Busiest] | None = None
    added: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    row_orders: RowOrders = field(default_factory=RowOrders)
    segmented: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    decisions: tuple[RegionDecision, ...] = ()

    @cached_property
    def extents(self) -> dict[str, int]:
        """The greatest extent of each of the program's dimensions, in the order of its tensors' modes. Raises
        `InputError` for one that nothing fixes."""
        return greatest_extents(self.program, self.capacity)

    def shape(self, tensor: str) -> tuple[int, ...]:
        """The greatest shape of a tensor."""
        return self.program.dimensions.shape(tensor, self.extents)

    def in_regions(self, regions: Iterable[Region]) -> "Lowerable":
        """The same statements in other regions."""
        other = replace(self, program=self.program.in_regions(regions))
        vars(other)["extents"] = self.extents
        return other

    def decided(self, decisions: Sequence[RegionDecision]) -> "Lowerable":
        """The same in the regions that are decided, which the passes to come are to follow.

        A region keeps the order that was asked for. One that was chosen is its decision's: which tensors are
        copied into another mode order is not to depend on it.
        """
        asked = {region.statements[0].lhs.tensor: region for region in self.program.regions}
        statements = iter(self.program.statements)
        regions = [
            Region(
                tuple(islice(statements, len(chosen.results))),
                asked[chosen.results[0]].order if chosen.results[0] in asked else None,
                chosen.label,
            )
            for chosen in decisions
        ]
        return replace(self.in_regions(regions), decisions=tuple(decisions))

    def decision_of(self, label: str | None) -> RegionDecision | None:
        """The decision for the region of that name; None for a region that a pass has added."""
        return None if label is None else self._decisions.get(label)

    @cached_property
    def _decisions(self) -> dict[str, RegionDecision]:
        return {chosen.label: chosen for chosen in self.decisions if chosen.label}

    def stored_values(self, tensor: str) -> int:
        """The most values that are stored of a tensor."""
        fmt = self.program.tensors[tensor].format.loaded
        shape = [-(-size // fmt.block_of(mode)) for mode, size in enumerate(self.shape(tensor))]
        return (fmt.greatest_sizes(shape, self.capacity.entries_of(tensor)) or [1])[-1]

    def with_alike(
        self,
        formats: Mapping[str, tuple[str, Format]],
        regions: Iterable[Region],
        copies: Mapping[str, PermutedCopy] | None = None,
    ) -> "Lowerable":
        """The same with further tensors, which hold what others hold, and regions that use them.

        Args:
            formats: for each further tensor the one that it is like, and its own format.
            copies: those of them that a region by itself makes by sorting.
        """
        if not formats and not copies:
            return self.in_regions(regions)
        tensors = [
            replace(self.program.tensors[of], name=name, format=fmt, span=None)
            for name, (of, fmt) in formats.items()
        ]
        like = {name: of for name, (of, _) in formats.items()}
        entries = {name: self.stored_values(of) for name, of in like.items()}
        other = replace(
            self,
            program=self.program.with_alike(tensors, like, regions),
            capacity=replace(self.capacity, entries={**self.capacity.entries, **entries}),
            copies={**self.copies, **(copies or {})},
            row_orders=self.row_orders.with_alike(like),
        )
        vars(other)["extents"] = self.extents
        return other

    def renamed(self) -> "Lowerable":
        """The same with the dimensions named as they are where the program's text is read."""
        return self.with_program(replace(self.program))

    def with_program(
        self,
        program: Program,
        *,
        entries: Mapping[str, int] | None = None,
        recipes: Mapping[str, Recipe] | None = None,
        like: Mapping[str, str] | None = None,
    ) -> "Lowerable":
        """What a pass has made of this: another program to the same results.

        Capacities go over to the new program, whose dimensions may have other names, with the tensors that
        both have. A tensor of the same name has the same shape.

        Args:
            entries: the most entries of the compressed levels of further tensors.
            recipes: of further inputs.
            like: for further tensors, the one of this program that has the same shape.
        """
        extents: dict[str, int] = {}
        shaped = {name: name for name in self.program.tensors if name in program.tensors} | dict(like or {})
        for tensor, of in shaped.items():
            dimensions = program.dimensions.of_tensor(tensor)
            for dimension, extent in zip(dimensions, self.shape(of), strict=True):
                extents[dimension] = max(extent, extents.get(dimension, 0))
        return replace(
            self,
            program=program,
            capacity=Capacity(extents, {**self.capacity.entries, **(entries or {})}, self.capacity.banks),
            recipes={**self.recipes, **(recipes or {})},
            row_orders=self.row_orders.with_alike(like or {}),
        )
