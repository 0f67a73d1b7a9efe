"""Permuted copies (FuseFlow section 5, ResolveCycles): operands whose storage goes against every order that
the rest of a region allows are first copied into another mode order, by a region of their own. A result that
is stored against the orders of the statements is written in another mode order, and copied from it. A
transposition that stands alone is such a copy."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from math import prod

from samhw.compiler.passes.lowerable import Lowerable, PermutedCopy
from samhw.errors import ScheduleError
from samhw.lang import Access, Region, Scan, Statement
from samhw.lang.fusion import FusedRegion, PartialOrder, StoredUse, orders, partial_order, ways_to_share
from samhw.lang.index import add_chains
from samhw.names import Names
from samhw.tensors import Format, LevelType

__all__ = ["copy_discordant", "copy_in_region"]


def copy_discordant(lowerable: Lowerable) -> Lowerable:
    """The program with a copy of each tensor that is stored discordantly.

    The order of a region is kept, or else its statements' own; then the results keep their storage, and then
    the largest operands, as far as what comes before lets them. Without permission to copy, only
    transpositions that stand alone are made copies.

    Raises:
        ScheduleError: for a tensor too large to be sorted.
    """
    if not any(_may_copy(lowerable, region) for region in lowerable.program.regions):
        return lowerable
    copier = _Copier(lowerable)
    for region in lowerable.program.regions:
        copier.add(region)
    copier.regions = _before_scans(copier.regions)
    # Without further tensors all dimensions have their names already.
    added = copier.formats or copier.copies
    return copier.lowerable().renamed() if added else copier.lowerable()


def _before_scans(regions: Sequence[Region]) -> list[Region]:
    """Regions with those that run once, and stand between two of a scan, before the scan, as a design runs
    them: a scan that is written twice is two."""
    found: list[Region] = []
    for scan, own in groupby(regions, lambda region: region.scan):
        first = next((n for n, region in enumerate(found) if scan is not None and region.scan == scan), None)
        if first is None:
            found += own
            continue
        once = [region for region in found[first:] if region.scan is None]
        found[first:] = [*once, *(region for region in found[first:] if region.scan is not None), *own]
    return found


def copy_in_region(lowerable: Lowerable, number: int) -> tuple[Lowerable, slice]:
    """The program with the copies that one of its regions needs, and the regions that have come of it; raises
    as `copy_discordant` does."""
    regions = lowerable.program.regions
    if not _may_copy(lowerable, regions[number]):
        return lowerable, slice(number, number + 1)
    copier = _Copier(lowerable)
    copier.regions += regions[:number]
    copier.add(regions[number])
    stop = len(copier.regions)
    is_unchanged = copier.regions[number:] == [regions[number]]
    if is_unchanged and not copier.formats and not copier.copies:
        return lowerable, slice(number, stop)
    copier.regions += regions[number + 1 :]
    return copier.lowerable(), slice(number, stop)


def _may_copy(lowerable: Lowerable, region: Region) -> bool:
    """Whether a region may come to have copies."""
    alone = len(region.statements) == 1 and _is_transposition(region.statements[0])
    return not region.reshapes and (lowerable.schedule.permute or alone)


class _Copier:
    """A program in the making, region by region."""

    def __init__(self, given: Lowerable):
        self.given = given
        self.program = given.program
        self.formats: dict[str, tuple[str, Format]] = {}
        """For each tensor that has been added, the one that it is in another mode order, and its format."""
        self.names = Names(self.program.tensors)
        self.regions: list[Region] = []
        self.copies: dict[str, PermutedCopy] = {}
        self.copy_of: dict[tuple[str, tuple[int, ...]], str] = {}

    def lowerable(self) -> Lowerable:
        """What has been made."""
        return self.given.with_alike(self.formats, self.regions, self.copies)

    def add(self, region: Region) -> None:
        """Goes on with a region of the program, as it stands or with its copies."""
        permute = self.given.schedule.permute
        if self.is_copy(region) and (region.order is None or (not permute and self.fills(region))):
            self.transpose(region)
        elif permute and not region.reshapes and region.is_plain:
            self.resolve(region)
        else:
            self.regions.append(region)

    def fused(self, region: Region) -> FusedRegion:
        """The region with its uses shared: as its order has the indices, or else as far as can be."""
        most, *less = ways_to_share(region)
        first = FusedRegion(self.program, region, most)
        if region.order is None:
            return first
        names = sorted(region.order)
        if sorted(first.dimension) == names:
            return first
        others = (FusedRegion(self.program, region, sharing) for sharing in less)
        return next((other for other in others if sorted(other.dimension) == names), first)

    def is_copy(self, region: Region) -> bool:
        """Whether a region is a transposition that goes against the storage of what it reads."""
        if len(region.statements) != 1 or not _is_transposition(region.statements[0]):
            return False
        return not partial_order(self.fused(region)).is_acyclic

    def fills(self, region: Region) -> bool:
        """Whether a copy is read by a further region, which has this order and stores other levels."""
        read, written = self.fused(region).stored_uses()
        kind = self.kind(written.tensor)
        return region.order == tuple(written.stored) and (kind is None or kind != self.kind(read.tensor))

    def transpose(self, region: Region) -> None:
        """A region that is a copy of a tensor."""
        read, written = self.fused(region).stored_uses()
        position = {index: mode for mode, index in enumerate(read.indices)}
        mode_order = tuple(position[index] for index in written.stored)
        if mode_order == self.format(read.tensor).mode_order:
            # Only the statement's own order is against the storage of both.
            self.regions.append(replace(region, statements=(replace(region.statements[0], order=None),)))
            return
        kind = self.kind(written.tensor)
        if read.access.indices == written.access.indices and kind == self.copied_level(read.tensor):
            # As this pass itself writes it, so that it changes nothing where it comes by again.
            self.copy_of[read.tensor, mode_order] = written.tensor
        elif kind is None or kind != self.kind(read.tensor):
            copy = self.copy(read.tensor, mode_order, region.scan)
            source = Access(copy, read.access.indices)
            statement = replace(region.statements[0], rhs=source, order=None)
            self.regions.append(replace(region, statements=(statement,)))
            return
        # What a scan writes step by step has the steps outermost, and cannot be stored in another order.
        stepped = any(p.is_written and p.tensor == read.tensor for p in self.given.slices.values())
        self.permuted(region, read.tensor, mode_order, written.tensor if stepped else read.tensor)

    def resolve(self, region: Region) -> None:
        """The region with other tensors in the place of those that are stored discordantly, and the copies
        from and to them."""
        changes: dict[tuple[Statement, Access], Access] = {}
        results: dict[str, str] = {}
        for use, mode_order in _discordant(self.fused(region), region.order, self.given.stored_values):
            if use.is_read:
                copy = self.copy(use.tensor, mode_order, region.scan)
                changes.setdefault((use.statement, use.access), Access(copy, use.access.indices))
            else:
                results[use.tensor] = self.declare(use.tensor, mode_order)

        if not changes and not results:
            self.regions.append(region)
            return

        def access(statement: Statement) -> Callable[[Access], Access]:
            return lambda a: changes.get((statement, a), replace(a, tensor=results.get(a.tensor, a.tensor)))

        statements = tuple(s.with_accesses(access(s)) for s in region.statements)
        self.regions.append(replace(region, statements=statements))
        for tensor, source in results.items():
            self.store(tensor, source, region.scan)

    def store(self, tensor: str, source: str, scan: Scan | None) -> None:
        """Copies a result to where the program wants it, from another mode order, in each step of the scan
        that makes it."""
        decl = self.program.tensors[tensor]
        mode_order = decl.format.mode_order
        target = tensor
        if self.kind(tensor) is None:
            # A reducer gives only the coordinates that it has met; what is missing is filled in after it.
            target = self.declare(tensor, mode_order)
        maker = _copying(target, source, decl.indices, scan)
        self.permuted(maker, source, mode_order, tensor)
        if target != tensor:
            self.regions.append(_copying(tensor, target, decl.indices, scan))

    def format(self, tensor: str) -> Format:
        """Of a tensor of the program, or one that has been added."""
        return self.formats[tensor][1] if tensor in self.formats else self.program.tensors[tensor].format

    def kind(self, tensor: str) -> LevelType | None:
        """What all levels of a tensor are in memory, if they are alike, and a region can write them."""
        levels = {*self.format(tensor).loaded.levels}
        return levels.pop() if len(levels) == 1 and all(level.writer for level in levels) else None

    def copied_level(self, tensor: str) -> LevelType:
        """What all levels of a copy are: dense if those of the tensor are, else compressed."""
        return Format.sparse_in([not self.format(tensor).is_all_dense]).levels[0]

    def copy(self, tensor: str, mode_order: tuple[int, ...], scan: Scan | None) -> str:
        """A copy of an operand, made before the region at hand, of this scan; regions share it."""
        key = (tensor, mode_order)
        if key not in self.copy_of:
            indices = self.program.tensors[tensor].indices
            copy = self.copy_of[key] = self.declare(tensor, mode_order)
            # What a scan makes and reads, it copies in each step; all else is copied before or after it.
            home = {s.scan for s in self.program.statements if s.lhs.tensor == tensor}
            maker = _copying(copy, tensor, indices, scan if scan in home else None)
            self.permuted(maker, tensor, mode_order, tensor)
        return self.copy_of[key]

    def declare(self, tensor: str, mode_order: tuple[int, ...]) -> str:
        """A tensor like another one in another mode order."""
        name = self.names.fresh(f"{tensor}_{''.join(map(str, mode_order))}")
        rank, block = self.program.tensors[tensor].rank, self.format(tensor).block
        self.formats[name] = tensor, Format((self.copied_level(tensor),) * rank, mode_order).blocked(block)
        return name

    def permuted(self, maker: Region, of: str, mode_order: tuple[int, ...], own: str) -> None:
        """Adds a region that makes a copy; `own` is the tensor of the program that makes it necessary."""
        sizes = [self.format(own).block_of(mode) for mode in range(len(mode_order))]
        blocks = (-(-extent // size) for extent, size in zip(self.given.shape(own), sizes, strict=True))
        # A place for each block, of all its words.
        words = prod(sizes) << sum(max(1, (count - 1).bit_length()) for count in blocks)
        if words > self.given.schedule.largest_copy:
            hint = mode_order if own == of else self.format(of).mode_order
            raise ScheduleError(
                f"A permuted copy of {of} takes an accumulator of {2 * words:,} words, more than "
                f"{2 * self.given.schedule.largest_copy:,}",
                f"store {own} with the mode order '@ {hint}'",
                f"give the schedule 'largest_copy = {words}'",
            )
        tensor = maker.statements[0].lhs.tensor
        self.copies[tensor] = PermutedCopy(tensor, of, mode_order, 2 * words, self.given.stored_values(own))
        self.regions.append(maker)


def _copying(copy: str, of: str, indices: Sequence[str], scan: Scan | None) -> Region:
    """A region that copies a tensor."""
    return Region((Statement(Access.of(copy, indices), Access.of(of, indices), scan=scan),))


def _is_transposition(statement: Statement) -> bool:
    """It gives the elements of a tensor other indices and does nothing else."""
    return (
        isinstance(statement.rhs, Access)
        and statement.is_plain
        and statement.mask is None
        and sorted(statement.rhs.names) == sorted(statement.lhs.names)
    )


def _discordant(
    region: FusedRegion, order: Sequence[str] | None, size: Callable[[str], int]
) -> Iterator[tuple[StoredUse, tuple[int, ...]]]:
    """The uses that have to be permuted, and the mode order that suits each; nothing where copies cannot
    help."""
    graph = PartialOrder(region.dimension)
    # An order that the user asks for stands in the place of the statements' own.
    for chain in [instance.order for instance in region.instances] if order is None else [order]:
        graph.add_edges(pairwise(chain or ()))
    for instance in region.instances:
        graph.add_edges(instance.runs)
    if len(graph) > len(region.dimension) or not graph.is_acyclic:
        return  # That an order names other indices, or one twice, is said where it is checked.
    uses = sorted(region.stored_uses(), key=lambda use: (use.is_read, -size(use.tensor)))
    against = add_chains(graph, [use.stored for use in uses])
    position = {index: n for n, index in enumerate(next(orders(region, graph)))}
    for use in (uses[number] for number in against):
        modes = sorted(range(len(use.indices)), key=lambda mode: position[use.indices[mode]])
        yield use, tuple(modes)
