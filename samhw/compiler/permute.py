"""Permuted copies (FuseFlow section 5, ResolveCycles): operands whose storage goes against every order that
the rest of a region allows are first copied into another mode order, by a region of their own."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import networkx as nx

from samhw.compiler.capacity import Capacity, greatest_extents, memories_of
from samhw.compiler.dimensions import Dimensions
from samhw.compiler.fuse import FusedRegion, Sharing, StoredUse
from samhw.compiler.order import orders
from samhw.errors import ScheduleError
from samhw.frontend import Access, Call, Concat, Expr, Neg, Program, Region, Reshape, Statement
from samhw.frontend.expr import Binary
from samhw.graph import MemoryRole
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
    program: Program, capacity: Capacity, order: Sequence[str] | None = None
) -> tuple[Program, Capacity, Mapping[Region, PermutedCopy]]:
    """The program with a copy of each operand that is stored discordantly.

    The largest operands keep their storage, as far as the results, the statements' own orders and larger
    operands let them.

    Args:
        order: that of the indices of the program's only region, if the user asks for one.

    Returns:
        The program, the capacity with that of the copies, and the regions that make copies.

    Raises:
        ScheduleError: for a tensor too large to be sorted.
    """
    return _Copier(program, capacity).run(order)


class _Copier:
    def __init__(self, program: Program, capacity: Capacity):
        self.program = program
        self.capacity = capacity
        self.dimensions = Dimensions(program)
        self.extents = greatest_extents(program, self.dimensions, capacity)
        self.of_statement = {s: self.dimensions.of_statement(s) for s in program.statements}
        self.tensors = dict(program.tensors)
        self.copies: dict[tuple[str, tuple[int, ...]], PermutedCopy] = {}

    def run(self, order: Sequence[str] | None) -> tuple[Program, Capacity, Mapping[Region, PermutedCopy]]:
        regions: list[Region] = []
        makers: dict[Region, PermutedCopy] = {}
        for region in self.program.regions:
            known = set(self.copies)
            changed = self.changed(region, order)
            for key, copy in self.copies.items():
                if key not in known:
                    maker = self.maker(copy)
                    makers[maker] = copy
                    regions.append(maker)
            regions.append(changed)
        entries = {copy.tensor: copy.entries for copy in self.copies.values()}
        program = replace(self.program, tensors=self.tensors, regions=tuple(regions))
        return program, Capacity(self.capacity.extents, {**self.capacity.entries, **entries}), makers

    def changed(self, region: Region, order: Sequence[str] | None) -> Region:
        """The region with copies in the place of what is stored discordantly."""
        if any(isinstance(s.rhs, Reshape) for s in region.statements):
            return region
        fused = FusedRegion(
            self.program,
            region,
            self.of_statement,
            Sharing.REDUCED if len(region.statements) > 1 else Sharing.EQUAL,
        )
        changes: dict[tuple[Statement, Access], Access] = {}
        for use, mode_order in _discordant(fused, order, self.entries):
            copy = self.copy(use.tensor, mode_order)
            changes.setdefault((use.statement, use.access), Access(copy.tensor, use.access.indices))
        return Region(tuple(_changed(s, changes) for s in region.statements)) if changes else region

    def entries(self, tensor: str) -> int:
        """The most values that are stored of a tensor."""
        shape = self.dimensions.shape(tensor, self.extents)
        return memories_of(self.program, tensor, MemoryRole.INPUT, shape, self.capacity)[-1].capacity

    def copy(self, tensor: str, mode_order: tuple[int, ...]) -> PermutedCopy:
        key = (tensor, mode_order)
        if key not in self.copies:
            bits = sum(
                max(1, (extent - 1).bit_length()) for extent in self.dimensions.shape(tensor, self.extents)
            )
            if bits > MOST_BITS:
                raise ScheduleError(
                    f"A permuted copy of {tensor} takes an accumulator of {2 << bits:,} words, more than "
                    f"{2 << MOST_BITS:,}; store {tensor} with the mode order '@ {mode_order}'."
                )
            name = "_".join((tensor, "".join(map(str, mode_order))))
            while name in self.tensors:
                name += "_"
            decl = self.tensors[tensor]
            level = LevelType.dense if decl.format.is_all_dense else LevelType.compressed
            fmt = Format((level,) * decl.rank, mode_order)
            self.tensors[name] = replace(decl, name=name, format=fmt, span=None)
            self.copies[key] = PermutedCopy(name, tensor, mode_order, 2 << bits, self.entries(tensor))
        return self.copies[key]

    def maker(self, copy: PermutedCopy) -> Region:
        indices = self.tensors[copy.of].indices
        return Region((Statement(Access(copy.tensor, indices), Access(copy.of, indices)),))


def _discordant(
    region: FusedRegion, order: Sequence[str] | None, size: Callable[[str], int]
) -> Iterator[tuple[StoredUse, tuple[int, ...]]]:
    """The uses that have to be permuted, and the mode order that suits each; nothing where copies cannot
    help."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(region.dimension)
    reads = []
    for use in region.stored_uses():
        if use.is_read:
            reads.append(use)
        else:
            graph.add_edges_from(pairwise(use.stored))
    asked = [instance.order for instance in region.instances]
    for chain in (order, *asked):
        graph.add_edges_from(pairwise(chain or ()))
    if not nx.is_directed_acyclic_graph(graph):
        return
    left = []
    for use in sorted(reads, key=lambda use: size(use.tensor), reverse=True):
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


def _changed(statement: Statement, changes: Mapping[tuple[Statement, Access], Access]) -> Statement:
    def access(a: Access) -> Access:
        return changes.get((statement, a), a)

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
    return replace(statement, rhs=expression(statement.rhs), mask=mask)
