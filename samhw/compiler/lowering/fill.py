"""Fills the fusion table of a region (FuseFlow section 6 and Algorithm 2).

The walk goes down the rows. At a row every view that has the index is scanned, or located if its level is
dense and something else gives the coordinates; the coordinates meet in intersections (products) and unions
(sums); every other operand is repeated. A reduction opens a space of its own: its operand is lowered below
the rows done so far, and what comes out, a value stream and the coordinate streams of the indices inside of
the reduction, takes part in the rows that follow (factored iteration). An intermediate that a reduction
shares with the space around it has a space of its own too, and its streams fork.
"""

from collections.abc import Mapping, Sequence

from samhw.compiler.einsum import (
    MUL,
    RECUR,
    Apply,
    Einsum,
    Intermediate,
    Number,
    Reduce,
    RunningReduce,
    Segment,
    Sieve,
    View,
    reachable,
    rebuilt,
)
from samhw.compiler.fusion_table import Feed, FusionTable
from samhw.compiler.lowering.advance import Goal, RowEnd, advance
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.bundles import Bundles
from samhw.compiler.lowering.forks import Fork, find_forks, renaming
from samhw.compiler.lowering.joiners import StreamJoiner
from samhw.compiler.lowering.ready import closed, ready
from samhw.compiler.lowering.reducers import reduced
from samhw.compiler.lowering.row import OpenRow
from samhw.compiler.lowering.scans import Scanner, pick_levels
from samhw.compiler.lowering.space import FULL, RowStream, Space, ValueStream
from samhw.compiler.lowering.stored_result import StoredResult, formula, write_result, write_values
from samhw.compiler.lowering.values import ValueRow
from samhw.errors import StreamError
from samhw.graph.numerics import ValueType
from samhw.graph.spec.base import DEEPEST
from samhw.names import Names

__all__ = ["TOO_DEEP", "lower", "lower_copy", "lower_reshape"]

TOO_DEEP = f"More than {DEEPEST} loops would be nested"
"""Why a region is refused that hardly any other order makes less deep."""


def lower(
    results: Sequence[StoredResult],
    title: str,
    order: Sequence[str],
    dimension: Mapping[str, str],
    extents: Mapping[str, int],
    columns: Names,
    value: ValueType,
) -> FusionTable:
    """The filled table of a region, writers included.

    Args:
        results: what leaves the region.
        title: the region, for error messages.
        order: the rows.
        dimension: of each index.
        extents: the greatest extent of each dimension, which sizes the accumulators of reducers.
        columns: the names that the trees have, for those that are added.
        value: the type of the program.

    Raises:
        StreamError: for a schedule that streams cannot follow, with the reason and the way out.
    """
    builder = TableBuilder(title, order, dimension, extents, columns, value)
    _Lowering(builder).region(results)
    return builder.table


def lower_copy(
    view: View,
    once: View,
    result: StoredResult,
    dimension: Mapping[str, str],
    extents: Mapping[str, int],
    columns: Names,
    value: ValueType,
) -> FusionTable:
    """The filled table of a copy in another mode order: a reducer takes the values in one order and gives
    them in the other.

    Args:
        view: the tensor, as it is stored.
        once: a dense pattern over an index of extent 1, which the reducer reduces.
        result: the copy.
        columns: the names of these three, for those that are added.
        value: the type of the program.
    """
    order = (*once.indices, *view.indices)
    builder = TableBuilder(result.heading, order, dimension, extents, columns, value)
    space = builder.space()
    reduce = Reduce(columns.fresh("sorted"), once.indices[0], Apply(MUL, (once, view)))
    builder.add_columns(reduce)
    builder.table.add_column(result.tensor, result.heading)
    _Lowering(builder).reduce(space, reduce, result.indices)
    stream = space.streams[reduce]
    write_result(builder, result, list(stream.pending), stream.val)
    return builder.table


def lower_reshape(
    view: View,
    result: StoredResult,
    dimension: Mapping[str, str],
    extents: Mapping[str, int],
    columns: Names,
    value: ValueType,
) -> FusionTable:
    """The filled table of a reshape: both tensors are dense and row-major, so the values of the one are those
    of the other, one after another.

    Args:
        view: the tensor.
        result: the tensor of the other shape. Its rows are none of the table's.
        value: the type of the program.
    """
    builder = TableBuilder(result.heading, view.indices, dimension, extents, columns, value)
    builder.add_columns(view)
    builder.table.add_column(result.tensor, result.heading)
    space = builder.space()
    _, val = _Lowering(builder).lower(space, view, Goal(result.tensor))
    write_values(builder, result, space.depth, val, f"reshape({formula(view, builder.table.val)})")
    return builder.table


class _Lowering:
    def __init__(self, builder: TableBuilder):
        self.builder = builder

    def region(self, results: Sequence[StoredResult]) -> None:
        """Lowers every result; what several of them share is computed once, if their rows allow it."""
        for result in results:
            self.builder.add_columns(result.tree)
        outermost = self.builder.space()
        trees = [result.tree for result in results]
        for n, tree in enumerate(trees):
            others = [Intermediate("", other) for other in trees[n + 1 :]]
            trees[n] = self.fork(outermost, tree, others)
        for result, tree in zip(results, trees, strict=True):
            self.builder.table.add_column(result.tensor, result.heading)
            space = outermost.inner()
            rows, val = self.lower(space, tree, Goal(result.tensor, result.dense))
            write_result(self.builder, result, rows, val)

    def lower(self, space: Space, e: Einsum, goal: Goal) -> tuple[list[RowStream], Feed]:
        """Lowers e below the rows of the space: its further rows, and its values."""
        rows, e = self.descend(space, e, goal)
        return rows, ValueRow(self.builder, space).of(e)

    def operand(
        self, space: Space, e: Einsum, op: str, goal: Goal
    ) -> tuple[list[RowStream], dict[str, Feed]]:
        """As `lower`, of what is reduced by `op`: its rows, and the value inputs of its reducer by port."""
        rows, e = self.descend(space, e, goal)
        values = ValueRow(self.builder, space)
        if op != RECUR:
            return rows, {"val": values.of(e)}
        factor, val = values.pair(e)
        return rows, {"factor": factor, "val": val}

    def descend(self, space: Space, e: Einsum, goal: Goal) -> tuple[list[RowStream], Einsum]:
        """Takes e down all rows below those of the space; gives them, and e as it has become."""
        rows: list[RowStream] = []
        while True:
            pick_levels(self.builder, space, e)
            e = self.open(space, e)
            ahead = self.builder.rows_ahead(e, space.bound)
            if not ahead:
                return rows, e
            self.settle(space, e)
            rows.append(self.row(space, e, ahead[0], goal))

    def row(self, space: Space, e: Einsum, index: str, goal: Goal) -> RowStream:
        """Takes e and the space down a row, and gives the row's coordinates."""
        if space.depth == DEEPEST:
            raise StreamError(TOO_DEEP, "compute its statements in regions of their own")
        row = OpenRow(self.builder, space, index)
        scanner, joiner = Scanner(row), StreamJoiner(row)
        found = Bundles(row, scanner, joiner).of(e)
        if found is None:
            raise self.entered_inside(space, e, index)
        stream, bundle = RowEnd(row, scanner, joiner, goal).finish(found)
        advance(row, e, stream, bundle)
        space.enter(stream)
        return stream

    def entered_inside(self, space: Space, e: Einsum, index: str) -> StreamError:
        """The refusal of a row that only streams have which have another row outside of it."""
        for node in reachable([e], space.streams):
            stream = space.streams.get(node)
            if stream is not None and index in (row.index for row in stream.pending):
                return self.builder.refusal(node, stream, index)
        raise AssertionError(f"nothing has the row {index}")

    def settle(self, space: Space, e: Einsum) -> None:
        """Computes every operation below e whose indices are all bound, so that its result is repeated by the
        rows to come, and not computed again at each of their coordinates."""
        self._settle(space, e, set())

    def _settle(self, space: Space, e: Einsum, seen: set[Einsum]) -> None:
        if e in seen or e in space.streams:
            return
        seen.add(e)
        for operand in e.operands:
            done = operand.free <= space.bound and not closed(space, operand)
            if done and operand not in space.streams and isinstance(operand, Apply | Intermediate):
                missing = space.missing(operand)
                val = ValueRow(self.builder, space).of(operand)
                space.streams[operand] = ValueStream(val, missing=missing)
            else:
                self._settle(space, operand, seen)

    # What has a space of its own

    def open(self, space: Space, e: Einsum) -> Einsum:
        """Lowers every reduction of e whose outer rows are done, so that no further row repeats it, and every
        pattern and part whose last row comes next. Returns e, in which what cannot be shared has been
        copied."""
        while own := next(ready(self.builder, space, e), None):
            forked = self.fork(space, own, [_replaced(e, own, Number(0))])
            e = _replaced(e, own, forked)
            match forked:
                case Reduce():
                    self.reduce(space, forked)
                case RunningReduce():
                    self.run(space, forked)
                case Sieve():
                    self.sieve(space, forked)
                case Segment():
                    self.segment(space, forked)
        return e

    def fork(self, space: Space, e: Einsum, others: Sequence[Einsum]) -> Einsum:
        """Makes a stream of each intermediate that e shares with others, so that it is computed once. What
        their rows do not let them share is copied in e, which is returned."""
        forks = find_forks(self.builder, space, e, others)
        for fork in forks.streams:
            self.stream(space, fork)
        return forks.e

    def stream(self, space: Space, fork: Fork) -> None:
        """Lowers an intermediate into streams that several uses take up, each under its own names."""
        node = fork.node
        rows, val = self.lower(space.inner(), fork.operand, Goal(node.name))
        for row in rows:
            self.builder.show(row.index, node.name, row.crd)
        table = self.builder.table
        table.fill(table.val, node.name, val, formula(node.operand, table.val))
        for use in fork.uses:
            names = renaming(node, use)
            space.streams[use] = ValueStream(val, tuple(row.renamed(names) for row in rows))
            self.builder.show(table.val, use.name, val)

    def run(self, space: Space, running: RunningReduce) -> None:
        """Lowers the operand of a running reduction down its last row, and reduces along that."""
        rows, inputs = self.operand(space.inner(), running.operand, running.op, Goal(running.name))
        (row,) = rows
        if row.index != running.index:
            raise StreamError(
                f"'{self.builder.title}' has a running reduction along {running.index}, with {row.index} "
                "inside of it",
                f"choose an order in which {running.index} comes after {row.index}",
            )
        make, name, depth = self.builder.make, running.name, space.depth + 1
        if running.op == RECUR:
            node = make("recur", name, depth, inputs)
        else:
            node = make("running", name, depth, inputs, op=running.op, exclusive=running.exclusive)
        space.streams[running] = ValueStream(node.output("val"), (row,))
        table = self.builder.table
        table.fill(row.index, running.name, row.crd, self.builder.text(row.crd))
        what = "Recur" if running.op == RECUR else f"Cum{running.op}"
        label = f"{what}_{running.index}({formula(running.operand, table.val)})"
        table.fill(table.val, running.name, node.output("val"), label)

    def sieve(self, space: Space, sieve: Sieve) -> None:
        """Lowers an intermediate down its last row, and keeps the coordinates at which it is not zero."""
        rows, val = self.lower(space.inner(), sieve.operand, Goal(sieve.name))
        (row,) = rows
        drop = self.builder.make("drop_val", sieve.name, space.depth + 1, {"crd": row.crd, "val": val})
        crd, left = drop.output("crd"), drop.output("val")
        domain = ("nonzero", sieve.tensor, *sieve.indices)
        space.streams[sieve] = ValueStream(left, (RowStream(row.index, crd, domain),))
        table = self.builder.table
        label = formula(sieve, table.val)
        table.fill(row.index, sieve.name, crd, label)
        table.fill(table.val, sieve.name, left, label)

    def segment(self, space: Space, segment: Segment) -> None:
        """Lowers a part of a concatenation down its last row, after the coordinates of the parts before."""
        rows, val = self.lower(space.inner(), segment.operand, Goal(segment.name))
        if len(rows) > 1:
            inside = ", ".join(row.index for row in rows if row.index != segment.own)
            raise StreamError(
                f"A concatenation along {segment.index} takes a part that its region computes, with {inside} "
                "inside",
                "end the fused region before it",
            )
        (row,) = rows
        crd = row.crd
        for extent in segment.before:
            shift = self.builder.make("shift", segment.name, space.depth + 1, {"crd": crd}, extent=extent)
            crd = shift.output("crd")
        domain = ("part", segment.name) if row.domain == FULL else None
        filled = row.filled or domain is not None
        space.streams[segment] = ValueStream(val, (RowStream(segment.index, crd, domain, filled),))
        table, behind = self.builder.table, "".join(f" + N({extent})" for extent in segment.before)
        table.fill(segment.index, segment.name, crd, f"⟨{segment.own}⟩{behind}")
        table.fill(table.val, segment.name, val, formula(segment, table.val))

    def reduce(self, space: Space, reduce: Reduce, order: Sequence[str] = ()) -> None:
        """Lowers the space of a reduction and reduces it.

        Args:
            order: of the indices that the reduction keeps, as they come out; else that of the rows.
        """
        if reduce.index in space.bound:
            raise self.builder.reduced_inside(reduce)
        rows, values = self.operand(space.inner(), reduce.operand, reduce.op, Goal(reduce.name))
        space.streams[reduce] = reduced(self.builder, reduce, rows, values, space, order)


def _replaced(e: Einsum, node: Einsum, by: Einsum) -> Einsum:
    return rebuilt(e, lambda below: by if below is node else None)
