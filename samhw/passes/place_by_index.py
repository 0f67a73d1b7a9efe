"""Index tensors: what they name is selected by matrices with a one at each place, which the host makes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from samhw.errors import InputError
from samhw.frontend import (
    Access,
    Capacity,
    Indirect,
    Name,
    Region,
    Statement,
    TensorDecl,
    with_accesses,
)
from samhw.names import Names
from samhw.passes.lowerable import Lowerable
from samhw.passes.recipe import Recipe
from samhw.tensors import Format, LevelType, Tensor

__all__ = ["place_by_index"]


def place_by_index(lowerable: Lowerable) -> Lowerable:
    """The program without index tensors. For the places that those of an access name, the host makes a matrix
    with ones.

    What is gathered, as in `Y[e, f] = E[src[e], f]`, becomes a tensor of its own in front of the statement:
    E under a mask, the matrix, whose rows are those of src, with one place in each. What is scattered, as in
    `Y[dst[e], f] = M[e, f]`, is summed under a mask too, whose rows are the places.

    Raises:
        InputError: for places along a mode whose extent nothing gives.
    """
    if not lowerable.program.index_tensors:
        return lowerable
    return _Placer(lowerable).placed()


@dataclass(frozen=True)
class _Naming:
    """How index tensors name places: for each mode with one, its position among the sources of a recipe, and
    the variables of its own modes, by their number."""

    tensors: tuple[tuple[int, tuple[int, ...]], ...]
    limits: tuple[tuple[int, int] | int, ...]
    """The extent along each of these modes: that of a mode of a source, or a number."""
    told: tuple[str, ...]
    """For errors, what the places are those of."""
    rows_first: bool
    """The levels of the variables lie outside of those of the places."""

    def matrix(self, *sources: Tensor) -> Tensor:
        """A one for each combination of the variables, at the places that are named there.

        Raises:
            InputError: for a number that is no place.
        """
        sizes = {
            variable: sources[n].shape[mode]
            for n, variables in self.tensors
            for mode, variable in enumerate(variables)
        }
        rows = tuple(sizes[variable] for variable in range(len(sizes)))
        coords = list(np.indices(rows).reshape(len(rows), -1))
        shape = list(rows)
        for (n, variables), limit, told in zip(self.tensors, self.limits, self.told, strict=True):
            extent = limit if isinstance(limit, int) else sources[limit[0]].shape[limit[1]]
            numbers = sources[n].to_dense()[tuple(coords[variable] for variable in variables)]
            wrong = (numbers != np.round(numbers)) | (numbers < 0) | (numbers >= extent)
            if wrong.any():
                raise InputError(
                    f"The index tensor of '{told}' holds {numbers[wrong][0]:g}, which is none of the places "
                    f"0 to {extent - 1}; fix its numbers."
                )
            coords.append(numbers.astype(np.int64))
            shape.append(extent)
        count, rank = prod(rows), len(shape)
        return Tensor.from_coo(np.array(coords), np.ones(count), tuple(shape), self.format(rank))

    def format(self, rank: int) -> Format:
        """Of the matrix."""
        modes = range(rank)
        first, last = modes[: rank - len(self.tensors)], modes[rank - len(self.tensors) :]
        if self.rows_first:
            levels = (LevelType.dense,) * len(first) + (LevelType.singleton,) * len(last)
            return Format(levels, (*first, *last))
        levels = (LevelType.dense,) * len(last) + (LevelType.compressed,) * len(first)
        return Format(levels, (*last, *first))


@dataclass
class _Placer:
    """A program in the making."""

    given: Lowerable
    tensors: dict[str, TensorDecl] = field(default_factory=dict)
    recipes: dict[str, Recipe] = field(default_factory=dict)
    entries: dict[str, int] = field(default_factory=dict)
    extents: dict[tuple[str, int], int] = field(default_factory=dict)
    """Of modes of the matrices, the greatest extents."""
    matrices: dict[tuple[_Naming, tuple[str, ...]], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        program = self.program = self.given.program
        self.dimensions = program.dimensions
        self.names = Names(program.tensors)
        declared = [index for decl in program.tensors.values() for index in decl.indices]
        used = [index for statement in program.statements for index in statement.indices]
        self.indices = Names((*declared, *used))

    def placed(self) -> Lowerable:
        program = self.program
        regions = tuple(self.region(region) for region in program.regions)
        kept = {name: decl for name, decl in program.tensors.items() if name not in program.index_tensors}
        made = replace(program, tensors={**kept, **self.tensors}, regions=regions, written=None).bind({})
        found = self.given.with_program(made, entries=self.entries, recipes=self.recipes)
        extents = {
            made.dimensions.of_tensor(name)[mode]: extent for (name, mode), extent in self.extents.items()
        }
        capacity = Capacity({**found.capacity.extents, **extents}, found.capacity.entries)
        return replace(found, capacity=capacity)

    def region(self, region: Region) -> Region:
        """A region, with statements of their own for what it gathers and scatters."""
        statements: list[Statement] = []
        gathered: dict[Access, Access] = {}

        def plain(access: Access) -> Access:
            if not access.index_tensors:
                return access
            if access not in gathered:
                statement = self.gathering(access)
                statements.append(statement)
                gathered[access] = statement.lhs
            return gathered[access]

        for statement in region.statements:
            mask = None if statement.mask is None else plain(statement.mask)
            right = replace(statement, rhs=with_accesses(statement.rhs, plain), mask=mask)
            statements += self.scattering(right) if right.lhs.index_tensors else [right]
        return replace(region, statements=tuple(statements))

    def gathering(self, access: Access) -> Statement:
        """The statement that gathers what an access names."""
        matrix, variables, places = self.matrix(access, rows_first=True)
        target = self.added(f"{access.tensor}_at", access.variables)
        over = Access.of(matrix, (*variables, *places))
        return Statement(target, _under(access, places), mask=over)

    def scattering(self, statement: Statement) -> list[Statement]:
        """The statements that compute what is scattered, and add it up at its places."""
        lhs = statement.lhs
        matrix, variables, places = self.matrix(lhs, rows_first=False)
        source = statement.rhs
        is_plain = isinstance(source, Access) and statement.mask is None and statement.order is None
        first = []
        if not is_plain:
            source = self.added(f"{lhs.tensor}_from", lhs.variables)
            first = [replace(statement, lhs=source)]
        over = Access.of(matrix, (*variables, *places))
        return [*first, Statement(_under(lhs, places), source, mask=over)]

    def added(self, wish: str, variables: Sequence[str]) -> Access:
        """A further tensor, under the variables of a statement."""
        name = self.names.fresh(wish)
        rank = len(variables)
        storage = Format((LevelType.dense,) * rank, tuple(range(rank)))
        self.tensors[name] = TensorDecl(name, tuple(variables), (None,) * rank, storage)
        return Access.of(name, variables)

    def matrix(self, access: Access, *, rows_first: bool) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The matrix of an access, the variables of its index tensors, and indices for the places."""
        modes = {mode: index for mode, index in enumerate(access.indices) if isinstance(index, Indirect)}
        variables = tuple(dict.fromkeys(name for index in modes.values() for name in index.names))
        sources = list(dict.fromkeys(index.tensor for index in modes.values()))
        named = tuple(
            (sources.index(index.tensor), tuple(map(variables.index, index.names)))
            for index in modes.values()
        )
        own = [self.dimensions.of_tensor(access.tensor)[mode] for mode in modes]
        limits = tuple(self.limit(access, dimension, sources) for dimension in own)
        naming = _Naming(named, limits, (str(access),) * len(modes), rows_first)
        labels = self.program.tensors[access.tensor].indices
        key = (replace(naming, told=()), tuple(sources))
        if key not in self.matrices:
            places = tuple(self.indices.fresh(labels[mode]) for mode in modes)
            name = self.matrices[key] = self.names.fresh(f"{access.tensor}_places")
            rank = len(variables) + len(places)
            storage = naming.format(rank)
            self.tensors[name] = TensorDecl(name, (*variables, *places), (None,) * rank, storage)
            text = f"a one at each place of {access}"
            self.recipes[name] = Recipe(text, tuple(sources), naming.matrix)
            greatest = [self.given.extents[d] for d in (*self.rows(list(modes.values()), variables), *own)]
            self.extents |= {(name, mode): extent for mode, extent in enumerate(greatest)}
            self.entries[name] = prod(greatest[: len(variables)])
        name = self.matrices[key]
        return name, variables, self.tensors[name].indices[len(variables) :]

    def rows(self, named: Sequence[Indirect], variables: Sequence[str]) -> list[str]:
        """The dimensions of the variables of index tensors."""
        found: dict[str, str] = {}
        for index in named:
            found |= dict(zip(index.names, self.dimensions.of_tensor(index.tensor), strict=True))
        return [found[variable] for variable in variables]

    def limit(self, access: Access, dimension: str, sources: list[str]) -> tuple[int, int] | int:
        """What gives the extent of a dimension: a mode of an input, which joins the sources, or a number."""
        for decl in self.program.operands:
            for mode, own in enumerate(self.dimensions.of_tensor(decl.name)):
                if own == dimension:
                    if decl.name not in sources:
                        sources.append(decl.name)
                    return sources.index(decl.name), mode
        extent = self.dimensions.extents[dimension]
        if extent is None:
            raise InputError(
                f"Nothing gives the extent of index {dimension} of {access.tensor}, places of which "
                f"'{access}' names; declare it, as in {dimension}=16."
            )
        return extent


def _under(access: Access, places: Sequence[str]) -> Access:
    """An access with plain indices in the place of its index tensors."""
    left = iter(places)
    indices = (Name(next(left)) if isinstance(index, Indirect) else index for index in access.indices)
    return replace(access, indices=tuple(indices))
