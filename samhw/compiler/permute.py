"""Permuted copies (FuseFlow section 5, ResolveCycles): operands whose storage goes against every order that
the rest of a region allows are first copied into another mode order, by a region of their own. A result that
is stored against the orders of the statements is written in another mode order, and copied from it. A
transposition that stands alone is such a copy."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import networkx as nx

from samhw.compiler.capacity import Capacity, greatest_extents, memories_of
from samhw.compiler.dimensions import Dimensions
from samhw.compiler.einsum import stored_format
from samhw.compiler.fuse import FusedRegion, Sharing, StoredUse
from samhw.compiler.order import orders, partial_order
from samhw.errors import ScheduleError
from samhw.frontend import Access, Call, Concat, Expr, Neg, Program, Region, Reshape, Statement
from samhw.frontend.expr import Binary
from samhw.graph import MemoryRole
from samhw.graph.names import Names
from samhw.tensors import Format, LevelType

__all__ = ["PermutedCopy", "copy_discordant"]

MOST_BITS = 22
"""Of an address in the accumulator that sorts a copy: two banks of four million words."""


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


def copy_discordant(
    program: Program, capacity: Capacity, *, permute: bool = True
) -> tuple[Program, Capacity, Mapping[Region, PermutedCopy]]:
    """The program with a copy of each tensor that is stored discordantly.

    The order of a region is kept, or else its statements' own; then the results keep their storage, and then
    the largest operands, as far as what comes before lets them.

    Args:
        permute: permission to copy; without it only transpositions that stand alone are made copies.

    Returns:
        The program, the capacity with that of the copies, and the regions that make copies.

    Raises:
        ScheduleError: for a tensor too large to be sorted.
    """
    if not permute and not any(map(_is_transposition, program.regions)):
        return program, capacity, {}
    return _Copier(program, capacity).run(permute)


class _Copier:
    def __init__(self, program: Program, capacity: Capacity):
        self.program = program
        self.capacity = capacity
        self.dimensions = Dimensions(program)
        self.extents = greatest_extents(program, self.dimensions, capacity)
        self.of_statement = {s: self.dimensions.of_statement(s) for s in program.statements}
        self.tensors = dict(program.tensors)
        self.names = Names(program.tensors)
        self.regions: list[Region] = []
        self.copies: dict[Region, PermutedCopy] = {}
        self.copy_of: dict[tuple[str, tuple[int, ...]], str] = {}
        self.made: dict[str, int] = {}
        """The entries of each tensor that has been added."""

    def run(self, permute: bool) -> tuple[Program, Capacity, Mapping[Region, PermutedCopy]]:
        for region in self.program.regions:
            if region.order is None and _is_transposition(region) and not _is_acyclic(self.fused(region)):
                self.transpose(region)
            elif permute and not any(isinstance(s.rhs, Reshape) for s in region.statements):
                self.resolve(region)
            else:
                self.regions.append(region)
        program = replace(self.program, tensors=self.tensors, regions=tuple(self.regions))
        # A copy may come first, and name a dimension after the declaration's index.
        dimensions = Dimensions(program)
        extents = {
            dimension: self.extents[before]
            for tensor in self.program.tensors
            for dimension, before in zip(
                dimensions.of_tensor(tensor), self.dimensions.of_tensor(tensor), strict=True
            )
        }
        return program, Capacity(extents, {**self.capacity.entries, **self.made}), self.copies

    def fused(self, region: Region) -> FusedRegion:
        sharing = Sharing.REDUCED if len(region.statements) > 1 else Sharing.EQUAL
        return FusedRegion(self.program, region, self.of_statement, sharing)

    def transpose(self, region: Region) -> None:
        """A region that is a copy of a tensor."""
        read, written = self.fused(region).stored_uses()
        position = {index: mode for mode, index in enumerate(read.indices)}
        mode_order = tuple(position[index] for index in written.stored)
        if self.kind(read.tensor) is self.kind(written.tensor) is not None:
            self.copies[region] = self.permuted(written.tensor, read.tensor, mode_order, read.tensor)
            self.regions.append(region)
            return
        copy = self.copy(read.tensor, mode_order)
        statement = Statement(written.access, Access(copy, read.access.indices))
        self.regions.append(replace(region, statements=(statement,)))

    def resolve(self, region: Region) -> None:
        """The region with other tensors in the place of those that are stored discordantly, and the copies
        from and to them."""
        changes: dict[tuple[Statement, Access], Access] = {}
        results: dict[str, str] = {}
        for use, mode_order in _discordant(self.fused(region), region.order, self.entries):
            if use.is_read:
                copy = self.copy(use.tensor, mode_order)
                changes.setdefault((use.statement, use.access), Access(copy, use.access.indices))
            else:
                results[use.tensor] = self.declare(use.tensor, mode_order)
        statements = tuple(_changed(s, changes, results) for s in region.statements)
        self.regions.append(replace(region, statements=statements))
        for tensor, source in results.items():
            self.store(tensor, source)

    def store(self, tensor: str, source: str) -> None:
        """Copies a result to where the program wants it, from another mode order."""
        decl = self.tensors[tensor]
        mode_order = decl.format.mode_order
        target = tensor
        if self.kind(tensor) is None:
            # A reducer gives only the coordinates that it has met; what is missing is filled in behind it.
            target = self.declare(tensor, mode_order)
        maker = Region((Statement(Access(target, decl.indices), Access(source, decl.indices)),))
        self.copies[maker] = self.permuted(target, source, mode_order, tensor)
        self.regions.append(maker)
        if target != tensor:
            self.regions.append(
                Region((Statement(Access(tensor, decl.indices), Access(target, decl.indices)),))
            )

    def kind(self, tensor: str) -> LevelType | None:
        """The type of all levels of a tensor, if it is one."""
        levels = set(stored_format(self.tensors[tensor].format).levels)
        return levels.pop() if len(levels) == 1 else None

    def entries(self, tensor: str) -> int:
        """The most values that are stored of a tensor."""
        shape = self.dimensions.shape(tensor, self.extents)
        return memories_of(self.program, tensor, MemoryRole.INPUT, shape, self.capacity)[-1].capacity

    def copy(self, tensor: str, mode_order: tuple[int, ...]) -> str:
        """A copy of an operand, made before the region at hand; regions share it."""
        key = (tensor, mode_order)
        if key not in self.copy_of:
            indices = self.tensors[tensor].indices
            copy = self.copy_of[key] = self.declare(tensor, mode_order)
            maker = Region((Statement(Access(copy, indices), Access(tensor, indices)),))
            self.copies[maker] = self.permuted(copy, tensor, mode_order, tensor)
            self.regions.append(maker)
        return self.copy_of[key]

    def declare(self, tensor: str, mode_order: tuple[int, ...]) -> str:
        """A tensor like another one in another mode order: all dense if that is, else all compressed."""
        name = self.names.fresh(f"{tensor}_{''.join(map(str, mode_order))}")
        decl = self.tensors[tensor]
        level = LevelType.dense if decl.format.is_all_dense else LevelType.compressed
        fmt = Format((level,) * decl.rank, mode_order)
        self.tensors[name] = replace(decl, name=name, format=fmt, span=None)
        self.made[name] = self.entries(tensor)
        return name

    def permuted(self, tensor: str, of: str, mode_order: tuple[int, ...], own: str) -> PermutedCopy:
        """A copy and its cost; `own` is the tensor of the program that makes it necessary."""
        extents = self.dimensions.shape(own, self.extents)
        bits = sum(max(1, (extent - 1).bit_length()) for extent in extents)
        if bits > MOST_BITS:
            mend = mode_order if own == of else self.tensors[of].format.mode_order
            raise ScheduleError(
                f"A permuted copy of {of} takes an accumulator of {2 << bits:,} words, more than "
                f"{2 << MOST_BITS:,}; store {own} with the mode order '@ {mend}'."
            )
        return PermutedCopy(tensor, of, mode_order, 2 << bits, self.entries(own))


def _is_transposition(region: Region) -> bool:
    """One statement, which gives the elements of a tensor other indices and nothing else."""
    if len(region.statements) != 1:
        return False
    (statement,) = region.statements
    return (
        isinstance(statement.rhs, Access)
        and statement.mask is None
        and sorted(statement.rhs.indices) == sorted(statement.lhs.indices)
    )


def _is_acyclic(region: FusedRegion) -> bool:
    return bool(nx.is_directed_acyclic_graph(partial_order(region)))


def _discordant(
    region: FusedRegion, order: Sequence[str] | None, size: Callable[[str], int]
) -> Iterator[tuple[StoredUse, tuple[int, ...]]]:
    """The uses that have to be permuted, and the mode order that suits each; nothing where copies cannot
    help."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(region.dimension)
    # An order that the user asks for stands in the place of the statements' own.
    for chain in [instance.order for instance in region.instances] if order is None else [order]:
        graph.add_edges_from(pairwise(chain or ()))
    if graph.number_of_nodes() > len(region.dimension) or not nx.is_directed_acyclic_graph(graph):
        return  # That an order names other indices, or one twice, is said where it is checked.
    left = []
    for use in sorted(region.stored_uses(), key=lambda use: (use.is_read, -size(use.tensor))):
        wider = graph.copy()
        wider.add_edges_from(pairwise(use.stored))
        if nx.is_directed_acyclic_graph(wider):
            graph = wider
        else:
            left.append(use)
    position = {index: n for n, index in enumerate(next(orders(region, graph)))}
    for use in left:
        modes = sorted(range(len(use.indices)), key=lambda mode: position[use.indices[mode]])
        yield use, tuple(modes)


def _changed(
    statement: Statement, changes: Mapping[tuple[Statement, Access], Access], results: Mapping[str, str]
) -> Statement:
    """A statement with other operands, and other names of results wherever they are read."""

    def access(a: Access) -> Access:
        return changes.get((statement, a), Access(results.get(a.tensor, a.tensor), a.indices))

    def expression(e: Expr) -> Expr:
        match e:
            case Access():
                return access(e)
            case Neg():
                return Neg(expression(e.operand))
            case Binary():
                return type(e)(expression(e.left), expression(e.right))
            case Call():
                return Call(e.function, tuple(map(expression, e.arguments)))
            case Concat():
                return Concat(e.index, tuple(map(access, e.operands)))
            case _:
                return e

    mask = None if statement.mask is None else access(statement.mask)
    return replace(statement, lhs=access(statement.lhs), rhs=expression(statement.rhs), mask=mask)
