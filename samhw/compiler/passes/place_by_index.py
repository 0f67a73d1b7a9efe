"""Indices that are more than a name: what they come to is selected by matrices with a one at each place,
which the host makes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from samhw.compiler.passes.lowerable import Lowerable, Recipe
from samhw.errors import InputError
from samhw.lang import (
    Access,
    Call,
    ComputedIndex,
    IndexExpr,
    Indirect,
    Literal,
    Name,
    Program,
    Region,
    Statement,
    TensorDecl,
    accesses,
    block_sizes,
    with_accesses,
)
from samhw.names import Names
from samhw.tensors import Format, Tensor

__all__ = ["place_by_index"]

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


def place_by_index(lowerable: Lowerable) -> Lowerable:
    """The program with names alone as indices. For the places that those of an access name or compute, the
    host makes a matrix with ones.

    What is gathered, as in `Y[e, f] = E[src[e], f]`, becomes a tensor of its own before the statement:
    E under a mask, the matrix, whose rows are those of src, with one place in each. So does X[2*i + d - 1],
    and where that may lie outside of X, a further input says for which i and d it does not. What is
    scattered, as in `Y[dst[e], f] = M[e, f]`, is summed under a mask too, whose rows are the places.

    Raises:
        InputError: for places along a mode, or an index that is computed with, whose extent nothing gives.
    """
    if not any(_is_placed(access) for s in lowerable.program.statements for access in s.accesses):
        return lowerable
    return _Placer(lowerable).placed()


def _is_placed(access: Access) -> bool:
    """An index of it names or computes a place."""
    return any(map(_is_place, access.indices))


def _is_place(index: IndexExpr) -> bool:
    """Whether an index names or computes a place, and is neither a variable nor the step of a scan."""
    return isinstance(index, Indirect | ComputedIndex)


@dataclass(frozen=True)
class _Extent:
    """The extent of a dimension: that of a mode of a source, or what the shapes of all sources leave."""

    dimension: str
    at: tuple[int, int] | None = None
    """A source, by its number, and the mode."""

    def of(self, sources: Sequence[Tensor], known: Mapping[str, int | None]) -> int:
        found = known[self.dimension] if self.at is None else sources[self.at[0]].shape[self.at[1]]
        if found is None:
            raise InputError(
                f"Nothing gives the extent of index {self.dimension}; declare it, as in "
                f"'index {self.dimension}=16'."
            )
        return found


@dataclass(frozen=True)
class _Naming:
    """How indices come to places."""

    indices: tuple[Indirect | ComputedIndex, ...]
    """One for each mode with such an index. Their variables are numbers."""
    rows: tuple[_Extent, ...]
    """The extents of the variables, by their number."""
    limits: tuple[_Extent, ...]
    """The extent along each of these modes."""
    sources: tuple[str, ...]
    """The names of what the recipes take."""
    rows_first: bool
    """The levels of the variables lie outside of those of the places."""
    told: str = field(compare=False)
    """For errors, what the places are those of."""
    is_partial: bool
    """Rows whose places lie outside are left out."""
    is_padded: bool = field(compare=False)
    """Places may lie outside, and rows stay: the nearest ones stand in their places."""
    program: Program = field(repr=False, compare=False)
    """That of the user, by which extents follow that no source has."""

    def matrix(self, *sources: Tensor) -> Tensor:
        """A one for each combination of the variables, at the places that they come to: where these lie
        outside, at the nearest ones, or nowhere in what is scattered.

        Raises:
            InputError: for a number that is not a place.
        """
        rows, limits = self.extents(sources)
        coords, inside = self.places(sources, rows, limits)
        if not self.rows_first or self.is_partial:
            coords = coords[:, inside]
        elif not self.is_padded and not inside.all():
            raise InputError(
                f"'{self.told}' lies outside of its tensor for data of these extents, and did not for those "
                "that it was compiled for; compile it for these."
            )
        shape = (*rows, *limits)
        return Tensor.from_coo(coords, np.ones(coords.shape[1]), shape, self.format(len(shape)))

    def inside(self, *sources: Tensor) -> Tensor:
        """A one for each combination of the variables whose places lie inside."""
        rows, limits = self.extents(sources)
        _, inside = self.places(sources, rows, limits)
        return Tensor.from_dense(inside.reshape(rows).astype(np.float64), "dense")

    def extents(self, sources: Sequence[Tensor]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Those of the variables, and those of the modes of the places."""
        known: Mapping[str, int | None] = {}
        if any(extent.at is None for extent in (*self.rows, *self.limits)):
            shapes = {name: source.shape for name, source in zip(self.sources, sources, strict=True)}
            known = self.program.unbound.bind(shapes).dimensions.extents
        rows, limits = (
            tuple(extent.of(sources, known) for extent in own) for own in (self.rows, self.limits)
        )
        return rows, limits

    def places(
        self, sources: Sequence[Tensor], rows: Sequence[int], limits: Sequence[int]
    ) -> tuple[Integers, Mask]:
        """The variables and the places, a column for each combination of the variables; and which columns
        have places inside."""
        own = np.indices(rows).reshape(len(rows), prod(rows))
        coords, inside = list(own), np.ones(prod(rows), bool)
        for index, extent in zip(self.indices, limits, strict=True):
            if isinstance(index, Indirect):
                numbers = self.named(sources[self.sources.index(index.tensor)], index, own, extent)
            else:
                numbers = np.full(prod(rows), index.offset, np.int64)
                for variable, factor in index.terms:
                    numbers += factor * own[int(variable)]
                numbers = numbers % extent if index.outside == "wrap" else numbers
                if index.outside == "zero":
                    inside &= (numbers >= 0) & (numbers < extent)
            coords.append(np.clip(numbers, 0, extent - 1))
        return np.array(coords, np.int64), inside

    def named(self, source: Tensor, index: Indirect, own: Integers, extent: int) -> Integers:
        """The numbers of an index tensor."""
        numbers = source.to_dense()[tuple(own[int(variable)] for variable in index.names)]
        wrong = (numbers != np.round(numbers)) | (numbers < 0) | (numbers >= extent)
        if wrong.any():
            raise InputError(
                f"The index tensor of '{self.told}' holds {numbers[wrong][0]:g}, which is none of the places "
                f"0 to {extent - 1}; fix its numbers."
            )
        found: Integers = numbers.astype(np.int64)
        return found

    def format(self, rank: int) -> Format:
        """Of the matrix."""
        modes = range(rank)
        first, last = modes[: rank - len(self.indices)], modes[rank - len(self.indices) :]
        if not self.rows_first:
            return Format.sparse_in((mode in first for mode in (*last, *first)), (*last, *first))
        if not first:
            return Format.compressed(rank)
        return Format.points(rank, len(first) - self.is_partial, one_each=not self.is_partial)


@dataclass
class _Placer:
    """A program in the making."""

    given: Lowerable
    tensors: dict[str, TensorDecl] = field(default_factory=dict)
    recipes: dict[str, Recipe] = field(default_factory=dict)
    entries: dict[str, int] = field(default_factory=dict)
    extents: dict[tuple[str, int], int] = field(default_factory=dict)
    """Of modes of the matrices, the greatest extents."""
    matrices: dict[_Naming, str] = field(default_factory=dict)
    insides: dict[_Naming, str] = field(default_factory=dict)
    """What says for the rows of matrices which of them have places inside."""

    def __post_init__(self) -> None:
        program = self.program = self.given.program
        self.dimensions = program.dimensions
        self.text_extents = program.unbound.dimensions.extents
        self.following = self.followers()
        self.names = Names(program.tensors)
        self.blocks = block_sizes(program)
        declared = [index for decl in program.tensors.values() for index in decl.indices]
        used = [index for statement in program.statements for index in statement.indices]
        self.indices = Names((*declared, *used))

    def followers(self) -> set[str]:
        """The dimensions whose extents can follow from nothing but the accesses of one statement, which they
        then keep inside of their tensors."""
        statements = self.program.statements
        if any(statement.is_move for statement in statements):
            return set()
        found: list[str] = []
        for statement in statements:
            dimensions = self.dimensions.of_statement(statement)
            computing = (n for a in statement.accesses for index in a.computed for n in index.variables)
            found += {dimensions[name] for name in computing}
        return {
            d for d in found if found.count(d) == 1 and self.text_extents[d] is None and self.home(d) is None
        }

    def placed(self) -> Lowerable:
        program = self.program
        regions = tuple(self.region(region) for region in program.regions)
        kept = {name: decl for name, decl in program.tensors.items() if name not in program.index_tensors}
        made = replace(program, tensors={**kept, **self.tensors}, regions=regions, written=None)
        made = made.bind({})
        found = self.given.with_program(made, entries=self.entries, recipes=self.recipes)
        extents = {
            made.dimensions.of_tensor(name)[mode]: extent for (name, mode), extent in self.extents.items()
        }
        capacity = replace(found.capacity, extents={**found.capacity.extents, **extents})
        return replace(found, capacity=capacity)

    def region(self, region: Region) -> Region:
        """A region, with statements of their own for what it gathers and scatters."""
        statements: list[Statement] = []
        gathered: dict[Access, Access] = {}
        for statement in region.statements:
            for access in (*accesses(statement.rhs), *filter(None, [statement.mask])):
                if _is_placed(access) and access not in gathered:
                    statements += self.gathering(access, statement)
                    gathered[access] = statements[-1].lhs
            mask = statement.mask and gathered.get(statement.mask, statement.mask)
            rhs = with_accesses(statement.rhs, lambda access: gathered.get(access, access))
            right = replace(statement, rhs=rhs, mask=mask)
            statements += self.scattering(right, statement) if _is_placed(right.lhs) else [right]
        return replace(region, statements=tuple(statements))

    def gathering(self, access: Access, statement: Statement) -> list[Statement]:
        """The statements that gather what an access of a statement comes to; the last one does."""
        variables = _computing(access, statement)
        naming = self.naming(access, statement, variables)
        matrix, places = self.matrix(access, naming, variables)
        target = self.added(f"{access.tensor}_at", _by_loops(access.variables, statement), statement)
        over = Access.of(matrix, (*variables, *places))
        gather = Statement(target, _under(access, places), mask=over, scan=statement.scan)
        if not naming.is_padded:
            return [gather]
        inside = self.inside(access, naming, variables)
        whole = self.added(f"{access.tensor}_near", target.variables, statement)
        kept = Call("select", (Access.of(inside, variables), whole, Literal(0)))
        return [replace(gather, lhs=whole), Statement(target, kept, scan=statement.scan)]

    def scattering(self, statement: Statement, given: Statement) -> list[Statement]:
        """The statements that compute what a statement scatters, and add it up at its places.

        Args:
            given: as it was before what it gathers became tensors of their own.
        """
        lhs = statement.lhs
        variables = _computing(lhs, given)
        naming = self.naming(lhs, given, variables)
        matrix, places = self.matrix(lhs, naming, variables)
        source = statement.rhs
        is_plain = isinstance(source, Access) and statement.mask is None and statement.order is None
        first = []
        if not is_plain:
            source = self.added(f"{lhs.tensor}_from", lhs.variables, given)
            first = [replace(statement, lhs=source)]
        over = Access.of(matrix, (*variables, *places))
        return [*first, Statement(_under(lhs, places), source, mask=over)]

    def added(self, wish: str, variables: Sequence[str], statement: Statement) -> Access:
        """A further tensor, under variables of a statement, in the blocks that these have."""
        name = self.names.fresh(wish)
        dimensions = self.dimensions.of_statement(statement)
        sizes = [self.blocks.get(dimensions[variable], 1) for variable in variables]
        storage = Format.dense(len(sizes), blocks=sizes)
        self.tensors[name] = TensorDecl(name, tuple(variables), (None,) * len(sizes), storage)
        return Access.of(name, variables)

    def rows_first(self, access: Access, variables: Sequence[str], otherwise: bool) -> bool:
        """Whether the variables that places follow from lie outside of these places: as they are stored,
        where a variable is an index of the access too, as in `A[i, i + 1]`."""
        storage = self.program.tensors[access.tensor].format
        levels = [access.indices[mode] for mode in storage.mode_order]
        own = [n for n, index in enumerate(levels) if isinstance(index, Name) and index.variable in variables]
        placed = next(n for n, index in enumerate(levels) if _is_place(index))
        return own[0] < placed if own else otherwise

    def naming(self, access: Access, statement: Statement, variables: Sequence[str]) -> _Naming:
        """How an access of a statement comes to places, which follow from these variables."""
        is_scattered = access is statement.lhs
        rows_first = self.rows_first(access, variables, not is_scattered)
        modes = {mode: i for mode, i in enumerate(access.indices) if isinstance(i, Indirect | ComputedIndex)}
        dimensions = self.dimensions.of_statement(statement)
        rows = [dimensions[variable] for variable in variables]
        own = [self.dimensions.of_tensor(access.tensor)[mode] for mode in modes]
        self.check_blocks(access, (*rows, *own))
        homes = {dimension: self.home(dimension) for dimension in (*rows, *own)}
        sources = [index.tensor for index in modes.values() if isinstance(index, Indirect)]
        sources += [name for name, _ in filter(None, homes.values())]
        if None in homes.values():
            sources += [decl.name for decl in self.program.operands]
        sources = list(dict.fromkeys(sources))
        extents = {
            dimension: _Extent(dimension)
            if home is None
            else _Extent(dimension, (sources.index(home[0]), home[1]))
            for dimension, home in homes.items()
        }
        numbers = {variable: str(n) for n, variable in enumerate(variables)}
        limits = list(zip(modes.values(), own, strict=True))
        leaves = any(
            isinstance(index, ComputedIndex) and self.may_go_outside(index, extent, dimensions)
            for index, extent in limits
        )
        # What is scattered to a place outside is dropped. What is gathered there is zero, and only a tensor
        # that stores no zeros may lack it.
        may_lack = is_scattered or self.is_sparse(access, modes)
        is_partial = leaves and rows_first and bool(variables) and may_lack
        return _Naming(
            indices=tuple(index.renamed(numbers) for index in modes.values()),
            rows=tuple(extents[dimension] for dimension in rows),
            limits=tuple(extents[dimension] for dimension in own),
            sources=tuple(sources),
            rows_first=rows_first,
            told=str(access),
            is_partial=is_partial,
            is_padded=leaves and not is_partial,
            program=self.program,
        )

    def check_blocks(self, access: Access, dimensions: Sequence[str]) -> None:
        """Raises InputError for places, or variables that they follow from, along which data lie in
        blocks."""
        blocked = next((d for d in dimensions if d in self.blocks), None)
        if blocked is not None:
            raise self.program.error(
                access.span,
                f"'{access}' names places by their coordinates, and tensors are stored in blocks of "
                f"{self.blocks[blocked]} along {blocked}; store them without blocks along {blocked}",
            )

    def is_sparse(self, access: Access, modes: Collection[int]) -> bool:
        """Whether a tensor stores no coordinates along these modes but those that it has values at: what lies
        outside is then no place like many others."""
        storage = self.program.tensors[access.tensor].format
        level_of = dict(zip(storage.mode_order, storage.levels, strict=False))
        return not any(level_of[mode].stores_fill for mode in modes)

    def may_go_outside(self, index: ComputedIndex, limit: str, dimensions: Mapping[str, str]) -> bool:
        """Whether, for some data, zero stands at a coordinate that lies outside of a dimension.

        Args:
            dimensions: those of the variables.
        """
        if index.outside != "zero":
            return False
        text = self.text_extents
        following = {name for name in index.variables if dimensions[name] in self.following}
        down = {name: factor for name, factor in index.terms if factor < 0}
        up = {name: factor for name, factor in index.terms if factor > 0}

        def furthest(factors: Mapping[str, int]) -> int | None:
            sizes = {name: text[dimensions[name]] for name in factors}
            steps = [factors[name] * (size - 1) for name, size in sizes.items() if size is not None]
            return index.offset + sum(steps) if len(steps) == len(factors) else None

        least, greatest, extent = furthest(down), furthest(up), text[limit]
        before = not following & down.keys() and (least is None or least < 0)
        behind = greatest is None or extent is None or greatest >= extent
        return before or (behind and not following & up.keys())

    def matrix(
        self, access: Access, naming: _Naming, variables: Sequence[str]
    ) -> tuple[str, tuple[str, ...]]:
        """The matrix of an access, and indices for its places."""
        if naming not in self.matrices:
            decl = self.program.tensors[access.tensor]
            modes = [mode for mode, index in enumerate(access.indices) if _is_place(index)]
            places = [self.indices.fresh(decl.indices[mode]) for mode in modes]
            name = self.matrices[naming] = self.names.fresh(f"{access.tensor}_places")
            storage = naming.format(len(variables) + len(places))
            text = f"a one at each place of {access}"
            dimensions = [extent.dimension for extent in (*naming.rows, *naming.limits)]
            self.derive(name, (*variables, *places), dimensions, storage)
            self.recipes[name] = Recipe(text, naming.sources, naming.matrix)
            self.entries[name] = prod(self.given.extents[d] for d in dimensions[: len(variables)])
        name = self.matrices[naming]
        return name, self.tensors[name].indices[len(variables) :]

    def inside(self, access: Access, naming: _Naming, variables: Sequence[str]) -> str:
        """What says for which variables an access lies inside of its tensor."""
        if naming not in self.insides:
            name = self.insides[naming] = self.names.fresh(f"{access.tensor}_inside")
            rank = len(variables)
            storage = Format.dense(rank)
            self.derive(name, variables, [extent.dimension for extent in naming.rows], storage)
            self.recipes[name] = Recipe(f"a one where {access} lies inside", naming.sources, naming.inside)
        return self.insides[naming]

    def derive(self, name: str, indices: Sequence[str], dimensions: Sequence[str], storage: Format) -> None:
        """A further input, whose modes have the greatest extents of these dimensions."""
        self.tensors[name] = TensorDecl(name, tuple(indices), (None,) * len(indices), storage)
        greatest = self.given.extents
        self.extents |= {(name, mode): greatest[dimension] for mode, dimension in enumerate(dimensions)}

    def home(self, dimension: str) -> tuple[str, int] | None:
        """An input that has the dimension, and the mode there."""
        for decl in self.program.operands:
            for mode, own in enumerate(self.dimensions.of_tensor(decl.name)):
                if own == dimension:
                    return decl.name, mode
        return None


def _computing(access: Access, statement: Statement) -> tuple[str, ...]:
    """The variables that places of an access follow from."""
    found = (name for index in access.indices if _is_place(index) for name in index.variables)
    return _by_loops(tuple(dict.fromkeys(found)), statement)


def _by_loops(variables: Sequence[str], statement: Statement) -> tuple[str, ...]:
    """Variables in the order of a statement's loops."""
    return tuple(sorted(variables, key=(statement.order or statement.indices).index))


def _under(access: Access, places: Sequence[str]) -> Access:
    """An access with names in the place of its other indices."""
    left = iter(places)
    indices = (Name(next(left)) if _is_place(index) else index for index in access.indices)
    return replace(access, indices=tuple(indices))
