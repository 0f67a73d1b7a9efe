"""Masks for blocks at the edge: where they reach beyond an extent and a statement would not be zero there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from samhw.compiler.passes.lowerable import Lowerable, Recipe
from samhw.lang import (
    COORDINATES,
    RANKINGS,
    Access,
    Add,
    Call,
    Expr,
    Literal,
    Program,
    Recurrence,
    RunningReduction,
    Statement,
    Sub,
    TensorDecl,
    block_sizes,
    free_indices,
    is_zero_beyond,
    reaching_beyond,
)
from samhw.lang.typed import Kind, kind_of, types_of
from samhw.names import Names
from samhw.tensors import Format, Tensor

__all__ = ["mask_edges"]


def mask_edges(lowerable: Lowerable) -> Lowerable:
    """The program in which all tensors are zero beyond their extents, as far as the blocks at the edge reach,
    and in which nothing takes these zeros in.

    For each index along which that needs something, a further input `j_inside` has a one at each of its
    coordinates, and so zeros beyond: what would be computed there is selected by it, and a maximum, a minimum
    or a product has it as a mask. Where blocks divide an extent that is known, there is nothing to do.
    """
    sizes = block_sizes(lowerable.program)
    return _Masker(lowerable, sizes).masked() if sizes else lowerable


@dataclass
class _Masker:
    """A program in the making."""

    given: Lowerable
    sizes: dict[str, int]
    added: dict[str, TensorDecl] = field(default_factory=dict)
    recipes: dict[str, Recipe] = field(default_factory=dict)
    insides: dict[tuple[str, Kind | None], str] = field(default_factory=dict)
    """By dimension, and type of the numbers beside it, the input that says what lies inside."""

    def __post_init__(self) -> None:
        self.program: Program = self.given.program
        self.dimensions = self.program.dimensions
        self.names = Names(self.program.tensors)

    def masked(self) -> Lowerable:
        """The program with masks."""
        regions = tuple(
            replace(
                region,
                statements=tuple(
                    made
                    for statement in region.statements
                    for made in self.statements(statement, self.dimensions.of_statement(statement))
                ),
            )
            for region in self.program.regions
        )
        if not self.added:
            return self.given
        tensors = {**self.program.tensors, **self.added}
        made = replace(self.program, tensors=tensors, regions=regions, written=None).bind({})
        return self.given.with_program(made, recipes=self.recipes)

    def statements(self, statement: Statement, dimensions: Mapping[str, str]) -> Iterator[Statement]:
        """A statement that keeps to the extents of its indices, and those before it that it needs."""
        beyond = self.beyond(statement, dimensions)
        left = [index for index in beyond if index in statement.lhs.variables]
        over = [index for index in beyond if index not in left]
        if over and statement.reduction != "sum" and (statement.mask is not None or len(over) > 1):
            yield from self.one_by_one(statement, over[0], dimensions)
            return
        kind = self.kind(statement)
        inside = {index: self.inside(dimensions[index], index, kind) for index in beyond}
        if over and statement.reduction != "sum":
            statement = replace(statement, mask=inside.pop(over[0]))
        yield replace(statement, rhs=_selected(statement.rhs, inside, left))

    def one_by_one(
        self, statement: Statement, index: str, dimensions: Mapping[str, str]
    ) -> Iterator[Statement]:
        """A reduction over an index, and then that over the others, under the statement's own mask."""
        kept = {i: dimensions[i] for i in statement.indices if i != index}
        part = self.dense(f"{statement.lhs.tensor}_over", kept)
        yield from self.statements(replace(statement, lhs=part, mask=None), dimensions)
        order = statement.order and tuple(i for i in statement.order if i != index)
        yield from self.statements(replace(statement, rhs=part, order=order), dimensions)

    def beyond(self, statement: Statement, dimensions: Mapping[str, str]) -> list[str]:
        """The indices beyond whose extents a statement needs a mask, and may have one."""
        stands_alone = statement.is_move or isinstance(statement.rhs, RunningReduction | Recurrence)
        if stands_alone or statement.reduction in COORDINATES | RANKINGS:
            return []
        return [index for index in reaching_beyond(statement) if self.may_reach(dimensions[index])]

    def may_reach(self, dimension: str) -> bool:
        """Whether blocks may reach beyond a dimension, and an input has it."""
        extent = self.dimensions.extents[dimension]
        divided = extent is not None and extent % self.sizes.get(dimension, 1) == 0
        return dimension in self.sizes and not divided and self.home(dimension) is not None

    def dense(self, wish: str, dimensions: Mapping[str, str]) -> Access:
        """A further tensor in dense levels, under these indices, whose dimensions are given."""
        name, indices = self.names.fresh(wish), tuple(dimensions)
        sizes = [self.sizes.get(dimension, 1) for dimension in dimensions.values()]
        storage = Format.dense(len(sizes), blocks=sizes)
        self.added[name] = TensorDecl(name, indices, (None,) * len(indices), storage)
        return Access.of(name, indices)

    def kind(self, statement: Statement) -> Kind | None:
        """The type that a statement computes in, if it may be another than the program's."""
        if not self.program.is_typed or self.program.value is None:
            return None
        tensors = {**self.program.tensors, **self.added}
        return kind_of(statement.rhs, types_of(replace(self.program, tensors=tensors), self.program.value))

    def inside(self, dimension: str, index: str, kind: Kind | None) -> Access:
        """What is one at each coordinate of an index of a dimension, and zero beyond, in a type."""
        key = dimension, kind
        if key not in self.insides:
            home = self.home(dimension)
            assert home is not None
            name = self.insides[key] = self.dense(f"{dimension}_inside", {index: dimension}).tensor
            self.added[name] = replace(self.added[name], value=kind)
            source, mode = home
            text = f"a one for each coordinate of {dimension}"
            self.recipes[name] = Recipe(text, (source,), partial(_ones, mode))
        return Access.of(self.insides[key], (index,))

    def home(self, dimension: str) -> tuple[str, int] | None:
        """An input that has the dimension, and the mode there."""
        for decl in self.program.operands:
            if dimension in (own := self.dimensions.of_tensor(decl.name)):
                return decl.name, own.index(dimension)
        return None


def _selected(expr: Expr, inside: Mapping[str, Access], left: Sequence[str]) -> Expr:
    """A right side whose terms are zero beyond the extents of these indices, as far as they have them or the
    left side does."""
    if isinstance(expr, Add | Sub):
        return expr.with_children([_selected(side, inside, left) for side in (expr.left, expr.right)])
    for index, ones in inside.items():
        if (index in left or index in free_indices(expr)) and not is_zero_beyond(expr, index):
            expr = Call("select", (ones, expr, Literal(0)))
    return expr


def _ones(mode: int, source: Tensor) -> Tensor:
    return Tensor.from_dense(np.ones(source.shape[mode]), "dense")
