"""Permuted copies (FuseFlow section 5, ResolveCycles): operands whose storage goes against every order that
the rest of a region allows are first copied into another mode order, by a region of their own. A result that
is stored against the orders of the statements is written in another mode order, and copied from it. A
transposition that stands alone is such a copy; so is one inside of a longer region, which ends there, if the
orders of its statements contradict each other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import networkx as nx

from samhw.errors import ScheduleError
from samhw.frontend import Access, Expr, Region, Statement, rewritten
from samhw.fusion import (
    FusedRegion,
    Sharing,
    StoredUse,
    greatest_sizes,
    orders,
    partial_order,
    stored_format,
)
from samhw.names import Names
from samhw.passes.lowerable import Lowerable, PermutedCopy
from samhw.tensors import Format, LevelType

__all__ = ["copy_discordant"]


def copy_discordant(lowerable: Lowerable) -> Lowerable:
    """The program with a copy of each tensor that is stored discordantly.

    The order of a region is kept, or else its statements' own; then the results keep their storage, and then
    the largest operands, as far as what comes before lets them. Without permission to copy, only
    transpositions are made copies.

    Raises:
        ScheduleError: for a tensor too large to be sorted.
    """
    if not lowerable.permute and not any(map(_is_transposition, lowerable.program.statements)):
        return lowerable
    return _Copier(lowerable).run()


class _Copier:
    def __init__(self, lowerable: Lowerable):
        self.lowerable = lowerable
        self.program = lowerable.program
        self.tensors = dict(self.program.tensors)
        self.names = Names(self.program.tensors)
        self.regions: list[Region] = []
        self.copies: dict[str, PermutedCopy] = {}
        self.copy_of: dict[tuple[str, tuple[int, ...]], str] = {}
        self.made: dict[str, int] = {}
        """The entries of each tensor that has been added."""

    def run(self) -> Lowerable:
        for region in (part for whole in self.program.regions for part in self.parts(whole)):
            if region.order is None and self.is_copy(region):
                self.transpose(region)
            elif self.lowerable.permute and not region.reshapes:
                self.resolve(region)
            else:
                self.regions.append(region)
        program = replace(self.program, tensors=self.tensors, regions=tuple(self.regions))
        return self.lowerable.with_program(program, entries=self.made, copies=self.copies)

    def fused(self, region: Region) -> FusedRegion:
        sharing = Sharing.REDUCED if len(region.statements) > 1 else Sharing.EQUAL
        return FusedRegion(self.program, region, sharing)

    def is_copy(self, region: Region) -> bool:
        """Whether a region is a transposition that goes against the storage of what it reads."""
        if len(region.statements) != 1 or not _is_transposition(region.statements[0]):
            return False
        return not _is_acyclic(partial_order(self.fused(region)))

    def parts(self, region: Region) -> Iterator[Region]:
        """The region; or transpositions of what it computes itself, and what lies between them, if its
        statements' orders contradict each other, so that no order of them all can be."""
        if len(region.statements) == 1 or region.order is not None or not self.contradicts_itself(region):
            yield region
            return
        run: list[Statement] = []
        for statement in region.statements:
            written = {before.lhs.tensor for before in run}
            alone = replace(region, statements=(statement,), label=statement.lhs.tensor)
            if written & {access.tensor for access in statement.reads} and self.is_copy(alone):
                yield replace(alone, statements=tuple(run), label=run[-1].lhs.tensor)
                yield alone
                run = []
            else:
                run.append(statement)
        if run:
            yield replace(region, statements=tuple(run))

    def contradicts_itself(self, region: Region) -> bool:
        """Whether the orders of its statements have a cycle, however uses share."""
        for sharing in Sharing:
            try:
                graph = partial_order(FusedRegion(self.program, region, sharing))
            except ScheduleError:
                continue  # It has too many instances in this way.
            fixed = [(u, v) for u, v in graph.edges if graph.edges[u, v]["fixed"]]
            if _is_acyclic(nx.DiGraph(fixed)):
                return False
        return True

    def transpose(self, region: Region) -> None:
        """A region that is a copy of a tensor."""
        read, written = self.fused(region).stored_uses()
        position = {index: mode for mode, index in enumerate(read.indices)}
        mode_order = tuple(position[index] for index in written.stored)
        if mode_order == self.tensors[read.tensor].format.mode_order:
            # Only the statement's own order is against the storage of both.
            self.regions.append(replace(region, statements=(Statement(written.access, read.access),)))
            return
        kind = self.kind(written.tensor)
        if read.access.indices == written.access.indices and kind is self.copied_levels(read.tensor):
            # As this pass itself writes it, so that it changes nothing where it comes by again.
            self.copy_of[read.tensor, mode_order] = written.tensor
        elif kind is None or kind is not self.kind(read.tensor):
            copy = self.copy(read.tensor, mode_order)
            statement = Statement(written.access, Access(copy, read.access.indices))
            self.regions.append(replace(region, statements=(statement,)))
            return
        self.permuted(region, read.tensor, mode_order, read.tensor)

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
        self.permuted(maker, source, mode_order, tensor)
        if target != tensor:
            self.regions.append(
                Region((Statement(Access(tensor, decl.indices), Access(target, decl.indices)),))
            )

    def kind(self, tensor: str) -> LevelType | None:
        """The type of all levels of a tensor, if it is one."""
        levels = set(stored_format(self.tensors[tensor].format).levels)
        return levels.pop() if len(levels) == 1 else None

    def copied_levels(self, tensor: str) -> LevelType:
        """The type of all levels of a copy: dense if those of the tensor are, else compressed."""
        return LevelType.dense if self.tensors[tensor].format.is_all_dense else LevelType.compressed

    def entries(self, tensor: str) -> int:
        """The most values that are stored of a tensor."""
        fmt = stored_format(self.program.tensors[tensor].format)
        entries = self.lowerable.capacity.entries_of(tensor)
        return (greatest_sizes(fmt, self.lowerable.shape(tensor), entries) or [1])[-1]

    def copy(self, tensor: str, mode_order: tuple[int, ...]) -> str:
        """A copy of an operand, made before the region at hand; regions share it."""
        key = (tensor, mode_order)
        if key not in self.copy_of:
            indices = self.tensors[tensor].indices
            copy = self.copy_of[key] = self.declare(tensor, mode_order)
            maker = Region((Statement(Access(copy, indices), Access(tensor, indices)),))
            self.permuted(maker, tensor, mode_order, tensor)
        return self.copy_of[key]

    def declare(self, tensor: str, mode_order: tuple[int, ...]) -> str:
        """A tensor like another one in another mode order."""
        name = self.names.fresh(f"{tensor}_{''.join(map(str, mode_order))}")
        decl = self.tensors[tensor]
        fmt = Format((self.copied_levels(tensor),) * decl.rank, mode_order)
        self.tensors[name] = replace(decl, name=name, format=fmt, span=None)
        self.made[name] = self.entries(tensor)
        return name

    def permuted(self, maker: Region, of: str, mode_order: tuple[int, ...], own: str) -> None:
        """Adds a region that makes a copy; `own` is the tensor of the program that makes it necessary."""
        bits = sum(max(1, (extent - 1).bit_length()) for extent in self.lowerable.shape(own))
        if 1 << bits > self.lowerable.largest_copy:
            mend = mode_order if own == of else self.tensors[of].format.mode_order
            raise ScheduleError(
                f"A permuted copy of {of} takes an accumulator of {2 << bits:,} words, more than "
                f"{2 * self.lowerable.largest_copy:,}; store {own} with the mode order '@ {mend}', or give "
                f"the schedule 'largest_copy = {1 << bits}'."
            )
        tensor = maker.statements[0].lhs.tensor
        self.copies[tensor] = PermutedCopy(tensor, of, mode_order, 2 << bits, self.entries(own))
        self.regions.append(maker)


def _is_transposition(statement: Statement) -> bool:
    """It gives the elements of a tensor other indices and does nothing else."""
    return (
        isinstance(statement.rhs, Access)
        and statement.mask is None
        and sorted(statement.rhs.indices) == sorted(statement.lhs.indices)
    )


def _is_acyclic(graph: "nx.DiGraph[str]") -> bool:
    return bool(nx.is_directed_acyclic_graph(graph))


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

    def changed(e: Expr) -> Expr:
        return access(e) if isinstance(e, Access) else e

    mask = None if statement.mask is None else access(statement.mask)
    return replace(statement, lhs=access(statement.lhs), rhs=rewritten(statement.rhs, changed), mask=mask)
