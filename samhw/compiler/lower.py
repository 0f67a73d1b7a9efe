"""Fills the fusion table of a region (FuseFlow section 6 and Algorithm 2).

The walk goes down the rows. At a row every view that has the index is scanned, or located if its level is
dense and something else gives the coordinates; the coordinates meet in intersections (products) and unions
(sums); every other operand is repeated. A reduction opens a space of its own: its operand is lowered below
the rows done so far, and what comes out, a value stream and the coordinate streams of the indices inside of
the reduction, takes part in the rows that follow (factored iteration). An intermediate that a reduction
shares with the space around it has a space of its own too, and its streams fork.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from samhw.compiler.einsum import (
    CONCAT,
    EVERYWHERE,
    MASK,
    MUL,
    Apply,
    Constant,
    Einsum,
    Intermediate,
    Reduce,
    View,
    operands,
    reachable,
    rebuilt,
    views,
    with_operands,
)
from samhw.compiler.joins import Joiner
from samhw.compiler.plan import Plan, Row, Space, Stream
from samhw.compiler.result import Result, formula, write_result, write_values
from samhw.compiler.table import FusionTable, Source
from samhw.errors import InputError, ScheduleError
from samhw.graph.names import Names
from samhw.tensors import LevelType

__all__ = ["lower", "lower_copy", "lower_reshape"]


def lower(
    results: Sequence[Result],
    title: str,
    order: Sequence[str],
    dimension: Mapping[str, str],
    extents: Mapping[str, int],
    columns: Names,
) -> FusionTable:
    """The filled table of a region, writers included.

    Args:
        results: what leaves the region.
        title: the region, for error messages.
        order: the rows.
        dimension: of each index.
        extents: the greatest extent of each dimension, which sizes the accumulators of reducers.
        columns: the names that the trees have, for those that are added.

    Raises:
        ScheduleError: for a schedule that streams cannot follow, with the reason and the way out.
    """
    for result in results:
        if not any(True for _ in views(result.tree)):
            raise InputError(
                f"'{result.tensor} = ..' reads no tensor, so there is nothing to stream; write the number "
                "into the data."
            )
    lowering = _Lowering(Plan(title, order, dimension, extents, columns))
    lowering.region(results)
    return lowering.plan.table


def lower_copy(
    view: View,
    once: View,
    result: Result,
    dimension: Mapping[str, str],
    extents: Mapping[str, int],
    columns: Names,
) -> FusionTable:
    """The filled table of a copy in another mode order: a reducer takes the values in one order and gives
    them in the other.

    Args:
        view: the tensor, as it is stored.
        once: a dense pattern over an index of extent 1, which the reducer reduces.
        result: the copy.
        columns: the names of these three, for those that are added.
    """
    lowering = _Lowering(Plan(result.heading, (*once.indices, *view.indices), dimension, extents, columns))
    plan = lowering.plan
    space = plan.space()
    reduce = Reduce(columns.fresh("sorted"), once.indices[0], Apply(MUL, (once, view)))
    plan.add_columns(reduce)
    plan.table.add_column(result.tensor, result.heading)
    lowering.reduce(space, reduce, result.indices)
    stream = space.streams[reduce]
    write_result(plan, result, list(stream.pending), stream.val)
    return plan.table


def lower_reshape(
    view: View, result: Result, dimension: Mapping[str, str], extents: Mapping[str, int], columns: Names
) -> FusionTable:
    """The filled table of a reshape: both tensors are dense and row-major, so the values of the one are those
    of the other, one after another.

    Args:
        view: the tensor.
        result: the tensor of the other shape. Its rows are none of the table's.
    """
    lowering = _Lowering(Plan(result.heading, view.indices, dimension, extents, columns))
    plan = lowering.plan
    plan.add_columns(view)
    plan.table.add_column(result.tensor, result.heading)
    space = plan.space()
    _, val = lowering.lower(space, view, result.tensor)
    write_values(plan, result, space.depth, val, f"reshape({formula(view, plan.table.val)})")
    return plan.table


class _Lowering:
    def __init__(self, plan: Plan):
        self.plan = plan

    def region(self, results: Sequence[Result]) -> None:
        """Lowers every result; what several of them share is computed once, if their rows allow it."""
        for result in results:
            self.plan.add_columns(result.tree)
        outermost = self.plan.space()
        trees = [result.tree for result in results]
        for n, tree in enumerate(trees):
            others = [Intermediate("", other, frozenset()) for other in trees[n + 1 :]]
            trees[n] = self.fork(outermost, tree, others)
        for result, tree in zip(results, trees, strict=True):
            self.plan.table.add_column(result.tensor, result.heading)
            space = outermost.inner()
            rows, val = self.lower(space, tree, result.tensor, result.dense, fill=True)
            write_result(self.plan, result, rows, val)

    def lower(
        self, space: Space, e: Einsum, name: str, dense: frozenset[str] = frozenset(), *, fill: bool = False
    ) -> tuple[list[Row], Source]:
        """Lowers e below the rows of the space: its further rows, and its values.

        Args:
            name: of what e is, for scanners that stand for it.
            dense: the indices at which coordinates may be added.
            fill: they must be.
        """
        rows: list[Row] = []
        while True:
            e = self.open(space, e)
            ahead = self.plan.rows_ahead(e, space.bound)
            if not ahead:
                return rows, self.value(space, e)
            self.settle(space, e)
            widen = ahead[0] in dense
            rows.append(self.row(space, e, ahead[0], name, fill=fill and widen, widen=widen))

    def settle(self, space: Space, e: Einsum) -> None:
        """Computes every operation below e whose indices are all bound, so that its result is repeated by the
        rows to come, and not computed again at each of their coordinates."""
        if e in space.streams:
            return
        for operand in operands(e):
            done = operand.free <= space.bound and not self.closed(space, operand)
            if done and operand not in space.streams and isinstance(operand, Apply | Intermediate):
                space.streams[operand] = Stream(self.value(space, operand))
            else:
                self.settle(space, operand)

    # What has a space of its own

    def open(self, space: Space, e: Einsum) -> Einsum:
        """Lowers every reduction of e whose outer rows are done, so that no further row repeats it. Returns
        e, in which what cannot be shared has been copied."""
        while reduce := next(self.ready(space, e), None):
            forked = self.fork(space, reduce, [_replaced(e, {reduce: Constant(0)})])
            e = _replaced(e, {reduce: forked})
            assert isinstance(forked, Reduce)
            self.reduce(space, forked)
        return e

    def ready(self, space: Space, e: Einsum) -> Iterator[Reduce]:
        """The reductions of e whose outer rows are done. One within another waits with it, unless the next
        row lies inside of it: then it would come too late."""
        ahead = self.plan.rows_ahead(e, space.bound)
        for reduce, rows in self.reductions(space, e, frozenset()):
            if self.is_ready(space, reduce, rows):
                late = bool(ahead) and ahead[0] in reduce.free and self.reduces_outside(reduce, ahead[0])
                if late or reduce in self.closed(space, e):
                    yield reduce

    def reductions(
        self, space: Space, e: Einsum, rows: frozenset[str]
    ) -> Iterator[tuple[Reduce, frozenset[str]]]:
        """The reductions below e that are no streams of the space yet, each before those within it, and the
        rows that it and what is around it go down."""
        rows |= e.free
        for reduce in self.closed(space, e):
            yield reduce, rows
            yield from self.reductions(space, reduce.operand, rows)

    def reduces_outside(self, reduce: Reduce, row: str) -> bool:
        return self.plan.position[reduce.index] < self.plan.position[row]

    def is_ready(self, space: Space, reduce: Reduce, rows: frozenset[str]) -> bool:
        """The rows outside of a reduction are done."""
        # What leaves a reduction with levels of its own must meet the very next rows.
        outside = rows if any(self.reduces_outside(reduce, i) for i in reduce.free) else reduce.free
        return all(i in space.bound or self.reduces_outside(reduce, i) for i in outside)

    def closed(self, space: Space, e: Einsum) -> list[Reduce]:
        """The outermost reductions of e that are no streams of the space yet."""
        if e in space.streams:
            return []
        if isinstance(e, Reduce):
            return [e]
        return list(dict.fromkeys(r for o in operands(e) for r in self.closed(space, o)))

    def fork(self, space: Space, e: Einsum, others: Sequence[Einsum]) -> Einsum:
        """Makes a stream of each intermediate that e shares with others, so that it is computed once. What
        their rows do not let them share is copied in e, which is returned."""
        users: dict[Intermediate | None, Einsum] = {None: e}
        """e, and what is below each intermediate that will be a stream."""
        forked = space.inner()
        candidates = [node for node in reachable([e], space.streams) if isinstance(node, Intermediate)]
        # The outermost first: what only one of them uses goes with it.
        for node in reversed(candidates):
            if node in forked.streams:
                continue
            using = [key for key, user in users.items() if self.uses(forked, user, node)]
            beside = [other for other in others if self.uses(forked, other, node)]
            if len(using) + len(beside) < 2:
                continue
            rows = self.plan.rows_ahead(node, space.bound)
            every = [*(users[key] for key in using), *beside]
            if all(
                self.takes_up(forked, user, node, rows, []) and self.selects_none(user, node, rows[:-1])
                for user in every
            ):
                users[node] = node.operand
                forked.streams[node] = Stream(self.plan.root)
                continue
            for key in using if beside else using[1:]:
                kept: dict[Einsum, Einsum] = {stream: stream for stream in forked.streams}
                copy = self.copy(space, node, forked.streams)
                users[key] = _replaced(users[key], kept | {node: copy})
        for key in reversed(users):
            if key is not None:
                self.stream(space, key, users[key])
        return users[None]

    def selects_none(self, e: Einsum, node: Einsum, rows: list[str]) -> bool:
        """No compressed level of e beside the node selects coordinates of those rows, at which its streams
        have further rows inside."""
        return not any(
            index in rows and level is LevelType.compressed
            for view in reachable([e], [node])
            if isinstance(view, View)
            for index, level in zip(view.indices, view.levels, strict=True)
        )

    def uses(self, space: Space, e: Einsum, node: Einsum) -> bool:
        return node in set(reachable([e], space.streams))

    def takes_up(self, space: Space, e: Einsum, node: Einsum, rows: list[str], done: list[str]) -> bool:
        """Whether e, lowered behind the rows `done` of the space, meets the rows of a stream one after
        another wherever it uses it, with no other row in between."""
        if not self.uses(space, e, node):
            return True
        here = space.inner()
        ahead = self.plan.rows_ahead(e, here.bound)
        for n in range(len(ahead) + 1):
            here.bound = space.bound.union(ahead[:n])
            while reduce := next(self.ready(here, e), None):
                if not self.takes_up(here, reduce.operand, node, rows, [*done, *ahead[:n]]):
                    return False
                here.streams[reduce] = Stream(self.plan.root)
        return not self.uses(here, e, node) or [*done, *ahead][: len(rows)] == rows

    def stream(self, space: Space, node: Intermediate, operand: Einsum) -> None:
        """Lowers the operand of an intermediate into streams that several uses take up."""
        rows, val = self.lower(space.inner(), operand, node.name, node.dense)
        for row in rows:
            self.show(row.index, node.name, row.crd)
        self.plan.table.fill(self.plan.table.val, node.name, val, formula(node.operand, self.plan.table.val))
        space.streams[node] = Stream(val, tuple(rows))

    def copy(self, space: Space, node: Einsum, streams: Collection[Einsum]) -> Einsum:
        """A second node of the same meaning, with views and columns of its own that stand where the space's
        stand; what is or will be a stream serves both."""
        made: dict[Einsum, Einsum] = {}
        for below in reachable([node], streams):
            if below in streams:
                made[below] = below
                continue
            fresh = with_operands(below, tuple(made[o] for o in operands(below)))
            if isinstance(fresh, View | Reduce | Intermediate):
                fresh = replace(fresh, name=self.plan.columns.fresh(fresh.name))
            if isinstance(below, View) and below in space.cursors:
                assert isinstance(fresh, View)
                space.cursors[fresh] = replace(space.cursors[below])
            made[below] = fresh
        self.plan.add_columns(made[node])
        return made[node]

    # Rows

    def row(self, space: Space, e: Einsum, index: str, name: str, *, fill: bool, widen: bool) -> Row:
        """Joins e at a row and advances every operand; returns the row's coordinates."""
        joiner = Joiner(self.plan, space, index)
        joined = joiner.join(e)
        assert joined is not None
        row, join = joiner.finish(joined, name, fill=fill, widen=widen)
        taken: set[Einsum | None] = set()
        for operand, payload in join.payloads:
            taken.add(operand)
            if isinstance(operand, View):
                cursor = self.plan.cursor(space, operand)
                cursor.ref = self.plan.table.settle(index, operand.name, payload)
                cursor.level += 1
            elif operand is not None:
                # By the planned output, not by a cell: other spaces may take the stream up too.
                space.streams[operand] = Stream(payload)
                if isinstance(operand, Reduce | Intermediate):
                    self.show(index, operand.name, payload)
        for view in join.dense:
            if view in taken:  # One use of it was scanned.
                continue
            cursor = self.plan.cursor(space, view)
            locate = self.plan.make(
                "locate",
                f"{view.name}_{index}",
                space.depth,
                {"ref": cursor.ref, "crd": row.crd},
                extent=self.plan.dimension[index],
            )
            label = f"Locate({self.plan.text(cursor.ref)})"
            cursor.ref = self.plan.table.fill(index, view.name, locate.output("ref"), label)
            cursor.level += 1
            taken.add(view)
        for operand in self.operands_at(space, e):
            if operand not in taken:
                self.repeat(space, operand, row)
        space.enter(row)
        return row

    def show(self, row: str, column: str, source: Source) -> None:
        """Fills a cell that is still empty with a reference."""
        if self.plan.table.get(row, column) is None:
            self.plan.table.fill(row, column, source, f"⟨{column}_{row}⟩")

    def operands_at(self, space: Space, e: Einsum) -> "Iterator[View | Apply | Reduce | Intermediate]":
        """The views and streams that a row of e advances."""
        for node in reachable([e], space.streams):
            if isinstance(node, View) or (not isinstance(node, Constant) and node in space.streams):
                yield node

    def repeat(self, space: Space, operand: View | Apply | Reduce | Intermediate, row: Row) -> None:
        """Repeats an operand that has no such row."""
        if isinstance(operand, View):
            cursor = self.plan.cursor(space, operand)
            # What a sieve leaves are values.
            sieved = operand.sieve and cursor.level == len(operand.levels)
            source, payload = cursor.ref, "val" if sieved else "ref"
        else:
            stream = space.streams[operand]
            if stream.pending:
                if stream.pending[0].index != row.index:
                    raise self.plan.refusal(operand, stream, row.index)
                # The outer row of a nest: its own coordinates are the row's.
                space.streams[operand] = Stream(stream.val, stream.pending[1:])
                return
            source, payload = stream.val, "val"
        name = operand.op if isinstance(operand, Apply) else operand.name
        repeat = self.plan.make(
            "repeat", f"{name}_{row.index}", space.depth, {"ref": source, "crd": row.crd}, payload=payload
        )
        label = f"Rep({self.plan.text(source)})"
        if isinstance(operand, View):
            cell = self.plan.table.fill(row.index, name, repeat.output("ref"), label)
            self.plan.cursor(space, operand).ref = cell
            return
        space.streams[operand] = Stream(repeat.output("ref"))
        # An operation within a statement has no column.
        if not isinstance(operand, Apply) and self.plan.table.get(row.index, name) is None:
            self.plan.table.fill(row.index, name, repeat.output("ref"), label)

    # Values

    def reduce(self, space: Space, reduce: Reduce, order: Sequence[str] = ()) -> None:
        """Lowers the space of a reduction and reduces it.

        Args:
            order: of the indices that the reduction keeps, as they come out; else that of the rows.
        """
        if reduce.index in space.bound:
            raise ScheduleError(
                f"'{self.plan.title}' reduces an intermediate over {reduce.index}, and uses it once more "
                f"inside of {reduce.index}; choose another order, or end the fused region between the two."
            )
        depth = space.depth
        rows, val = self.lower(space.inner(), reduce.operand, reduce.name)
        reduced, kept = rows[0], rows[1:]
        assert reduced.index == reduce.index
        name = reduce.name
        label = f"{'Red' if reduce.op == 'sum' else reduce.op.capitalize()}{len(kept)}_{reduce.index}"
        if not kept:
            node = self.plan.make("reduce_scalar", name, depth + 1, {"val": val}, op=reduce.op)
            space.streams[reduce] = Stream(node.output("val"))
            self.plan.table.fill(self.plan.table.val, name, node.output("val"), label)
            return
        crds: dict[str, Source] = {}
        for place, row in enumerate(kept):
            held = row.crd
            for inner in range(place + 1, len(kept)):
                hold = self.plan.make(
                    "crd_hold",
                    f"{name}_{row.index}_{kept[inner].index}",
                    depth + 1 + inner,
                    {"outer": held, "inner": kept[inner].crd},
                )
                held = hold.output("crd")
            crds[row.index] = held
        innermost_first = list(reversed(order or [row.index for row in kept]))
        inputs = {f"crd{n}": crds[index] for n, index in enumerate(innermost_first)}
        bits = [max(1, (self.plan.extent(index) - 1).bit_length()) for index in innermost_first]
        node = self.plan.make(
            "reduce_vector", name, depth + 1 + len(kept), {**inputs, "val": val}, op=reduce.op, bits=bits
        )
        pending: list[Row] = []
        for n, index in enumerate(innermost_first):
            # A row takes its coordinates by the planned output, since joining the row moves the cell.
            crd = node.output(f"crd{n}")
            self.plan.table.fill(index, name, crd, f"{label}[crd{n}]")
            pending.insert(0, Row(index, crd, None))
        space.streams[reduce] = Stream(node.output("val"), tuple(pending))
        self.plan.table.fill(self.plan.table.val, name, node.output("val"), f"{label}[val]")

    def value(self, space: Space, e: Einsum, done: dict[Einsum, Source] | None = None) -> Source:
        """The value stream of e, whose operands have all come down to the depth of the space."""
        done = {} if done is None else done
        if e not in done:
            done[e] = self.new_value(space, e, done)
        return done[e]

    def new_value(self, space: Space, e: Einsum, done: dict[Einsum, Source]) -> Source:
        if e in space.streams:
            return space.streams[e].val
        match e:
            case View() if e.sieve:
                return self.plan.cursor(space, e).ref
            case View():
                ref = self.plan.cursor(space, e).ref
                array = self.plan.make("array", e.name, space.depth, {"ref": ref}, vals=f"{e.tensor}.vals")
                label = f"Val({self.plan.text(ref)})"
                return self.plan.table.fill(self.plan.table.val, e.name, array.output("val"), label)
            case Intermediate():
                val = self.value(space, e.operand, done)
                row = self.plan.table.val
                return self.plan.table.fill(row, e.name, val, formula(e.operand, row))
            case Apply() if e.op == EVERYWHERE:
                return self.value(space, e.operands[0], done)
            case Apply() if e.op == MASK:
                operand, mask = e.operands
                assert isinstance(mask, View)
                return self.masked(space, self.value(space, operand, done), mask, done)
            case Apply() if e.op == MUL:
                return self.product(space, e, done)
            case Apply() if e.op == CONCAT:
                return self.concatenation(space, e, done)
            case Apply():
                return self.operation(space, e, done)
            case _:
                raise AssertionError("a constant is an immediate, a reduction a stream")

    def product(self, space: Space, e: Apply, done: dict[Einsum, Source]) -> Source:
        """The product of two factors, then with each further one, then with the constant; then the masks."""
        patterns = [o for o in e.operands if isinstance(o, View) and o.pattern]
        factors = [o for o in e.operands if o not in patterns]
        sources = [self.value(space, o, done) for o in factors if not isinstance(o, Constant)]
        source = sources[0]
        for other in sources[1:]:
            source = self.alu(space, MUL, {"a": source, "b": other}, {})
        for factor in factors:
            if isinstance(factor, Constant):
                source = self.alu(space, MUL, {"a": source}, {"b": factor.value})
        for pattern in patterns:
            source = self.masked(space, source, pattern, done)
        return source

    def concatenation(self, space: Space, e: Apply, done: dict[Einsum, Source]) -> Source:
        """The first part that is not zero, or else the last: a choice costs less than a sum."""
        *parts, source = (self.value(space, part, done) for part in e.operands)
        for part in reversed(parts):
            source = self.alu(space, "select", {"a": part, "b": part, "c": source}, {})
        return source

    def masked(self, space: Space, source: Source, mask: View, done: dict[Einsum, Source]) -> Source:
        """Zero where a union has brought in coordinates that the mask has not."""
        if not self.plan.cursor(space, mask).missing:
            return source
        return self.alu(space, "select", {"a": self.value(space, mask, done), "b": source}, {"c": 0})

    def operation(self, space: Space, e: Apply, done: dict[Einsum, Source]) -> Source:
        ports = dict(zip("abc", e.operands, strict=False))
        immediates = {port: o.value for port, o in ports.items() if isinstance(o, Constant)}
        inputs = {
            port: self.value(space, o, done) for port, o in ports.items() if not isinstance(o, Constant)
        }
        return self.alu(space, e.op, inputs, immediates)

    def alu(
        self, space: Space, op: str, inputs: dict[str, Source], immediates: Mapping[str, int | float]
    ) -> Source:
        params: dict[str, Any] = {"op": op}
        if immediates:
            params["immediates"] = dict(immediates)
        return self.plan.make("alu", op, space.depth, inputs, **params).output("val")


def _replaced(e: Einsum, changes: Mapping[Einsum, Einsum]) -> Einsum:
    return rebuilt(e, changes.get) if changes else e
