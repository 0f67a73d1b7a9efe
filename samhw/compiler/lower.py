"""Fills the fusion table of one statement (FuseFlow section 6 and Algorithm 2).

The walk goes down the rows. At a row every view that has the index is scanned, or located if its level is
dense and something sparse gives the coordinates; the coordinates meet in intersections (products) and unions
(sums); every other operand is repeated. A reduction opens a space of its own: its operand is lowered below
the rows done so far, and what comes out, a value stream and the coordinate streams of the indices inside of
the reduction, takes part in the rows that follow (factored iteration).
"""

from collections.abc import Iterable, Sequence

from samhw.compiler.einsum import (
    Combine,
    Constant,
    Einsum,
    Negate,
    Reduce,
    View,
    free,
    operands,
    views,
)
from samhw.compiler.joins import Joiner
from samhw.compiler.plan import Plan, Reduced
from samhw.compiler.result import write_result
from samhw.compiler.table import VAL, CellName, FusionTable, Source
from samhw.errors import InputError
from samhw.frontend import Program, Statement
from samhw.tensors import LevelType

__all__ = ["lower"]


def lower(
    program: Program, statement: Statement, tree: Einsum, order: Sequence[str], extents: dict[str, int]
) -> FusionTable:
    """The filled table of a statement, writers included.

    Args:
        tree: the right side from `einsum_of`.
        order: the rows.
        extents: the greatest extent of each index, which sizes the accumulators of reducers.

    Raises:
        InputError: for a schedule that streams cannot follow, with the reason and the way out.
    """
    if not any(True for _ in views(tree)):
        raise InputError(
            f"'{statement.lhs} = ..' reads no tensor, so there is nothing to stream; write the number into "
            "the data."
        )
    plan = Plan(program, statement, tree, order, extents)
    rows, val = _Lowering(plan).space(tree, 0, frozenset())
    write_result(plan, rows, val)
    return plan.table


class _Lowering:
    def __init__(self, plan: Plan):
        self.plan = plan
        self.joiner = Joiner(plan)

    def space(self, e: Einsum, depth: int, bound: frozenset[str]) -> tuple[list[tuple[str, Source]], Source]:
        """Lowers e below `depth` rows over the indices `bound`: its further coordinate streams, and its
        values."""
        rows: list[tuple[str, Source]] = []
        while True:
            # A sum is lowered as soon as the rows outside of it are done, so that no further row repeats it.
            for reduce in self.open_reductions(e):
                start = self.plan.position[reduce.index]
                kept = free(reduce)
                # What leaves a reduction with levels of its own must meet the very next rows.
                outside = kept if all(self.plan.position[i] < start for i in kept) else free(e)
                if all(i in bound for i in outside if self.plan.position[i] < start):
                    self.reduce(reduce, depth, bound)
            ahead = free(e) - bound
            if not ahead:
                return rows, self.value(e, depth)
            row = min(ahead, key=self.plan.position.__getitem__)
            rows.append((row, self.row(e, row, depth, rows, whole=e is self.plan.tree)))
            bound |= {row}
            depth += 1

    def open_reductions(self, e: Einsum) -> list[Reduce]:
        """The outermost reductions of e whose space has not been lowered."""
        if isinstance(e, Reduce):
            return [] if e in self.plan.reduced else [e]
        return [r for o in operands(e) for r in self.open_reductions(o)]

    # Rows

    def row(self, e: Einsum, row: str, depth: int, outer: list[tuple[str, Source]], *, whole: bool) -> Source:
        """Joins e at a row and advances every operand; returns the row's coordinates."""
        join = self.joiner.join(e, row, depth)
        assert join is not None
        if whole and not join.full and self.plan.output_level(row) is LevelType.dense:
            join = self.joiner.fill(join, row, depth, outer[-1][1] if outer else self.plan.root)
        if join.crd is None:
            self.joiner.scan_dense(join, row, depth)
        assert join.crd is not None
        for operand, payload in join.payloads:
            if isinstance(operand, View):
                self.plan.cursor[operand] = CellName(row, operand.name)
                self.plan.level[operand] += 1
            elif isinstance(operand, Reduce):
                self.plan.reduced[operand] = Reduced(CellName(row, operand.name))
                if (row, operand.name) not in self.plan.table.joins:
                    cell = self.plan.table.get(row, operand.name)
                    assert cell is not None
                    self.plan.table.fill(row, operand.name, payload, cell.label)
        taken = {id(operand) for operand, _ in join.payloads}
        for view in join.dense:
            locate = self.plan.make(
                "locate",
                f"{view.name}_{row}",
                depth,
                {"ref": self.plan.cursor[view], "crd": join.crd},
                extent=row,
            )
            label = f"Locate({self.plan.text(self.plan.cursor[view])})"
            self.plan.cursor[view] = self.plan.table.fill(row, view.name, locate.output("ref"), label)
            self.plan.level[view] += 1
            taken.add(id(view))
        for operand in self.operands_at(e):
            if id(operand) not in taken:
                self.repeat(operand, row, depth, join.crd)
        return join.crd

    def operands_at(self, e: Einsum) -> Iterable[View | Reduce]:
        """The views and finished reductions that a row of e advances."""
        if isinstance(e, View) or (isinstance(e, Reduce) and e in self.plan.reduced):
            yield e
            return
        for operand in operands(e):
            yield from self.operands_at(operand)

    def repeat(self, operand: View | Reduce, row: str, depth: int, crd: Source) -> None:
        if isinstance(operand, View):
            source, payload = self.plan.cursor[operand], "ref"
        else:
            state = self.plan.reduced[operand]
            if state.pending:
                if state.pending[0][0] == row:
                    # The only operand with this level: its own coordinates are the row's.
                    state.pending.pop(0)
                    return
                raise self.plan.refusal(operand, row)
            source, payload = state.val, "val"
        repeat = self.plan.make(
            "repeat", f"{operand.name}_{row}", depth, {"ref": source, "crd": crd}, payload=payload
        )
        cell = self.plan.table.fill(row, operand.name, repeat.output("ref"), f"Rep({self.plan.text(source)})")
        if isinstance(operand, View):
            self.plan.cursor[operand] = cell
        else:
            self.plan.reduced[operand] = Reduced(cell)

    # Values

    def reduce(self, reduce: Reduce, depth: int, bound: frozenset[str]) -> None:
        """Lowers the space of a reduction and reduces it."""
        rows, val = self.space(reduce.operand, depth, bound)
        (index, _), kept = rows[0], rows[1:]
        assert index == reduce.index
        name = reduce.name
        if not kept:
            node = self.plan.make("reduce_scalar", name, depth + 1, {"val": val}, op="sum")
            self.plan.reduced[reduce] = Reduced(node.output("val"))
            self.plan.table.fill(VAL, name, node.output("val"), f"Red0_{index}")
            return
        inputs: dict[str, Source] = {"crd0": kept[-1][1]}
        for n in range(1, len(kept)):
            place = len(kept) - 1 - n
            held = kept[place][1]
            for inner in range(place + 1, len(kept)):
                hold = self.plan.make(
                    "crd_hold",
                    f"{name}_{kept[place][0]}_{kept[inner][0]}",
                    depth + 1 + inner,
                    {"outer": held, "inner": kept[inner][1]},
                )
                held = hold.output("crd")
            inputs[f"crd{n}"] = held
        bits = [max(1, (self.plan.extents[i] - 1).bit_length()) for i, _ in reversed(kept)]
        node = self.plan.make(
            "reduce_vector", name, depth + 1 + len(kept), {**inputs, "val": val}, op="sum", bits=bits
        )
        pending: list[tuple[str, Source]] = []
        for n, (i, _) in enumerate(reversed(kept)):
            label = f"Red{len(kept)}_{index}[crd{n}]"
            pending.insert(0, (i, self.plan.table.fill(i, name, node.output(f"crd{n}"), label)))
        # A row takes its coordinates by the planned output, since joining the row moves the cell.
        pending = [(i, self.plan.table.resolve(source)) for i, source in pending]
        self.plan.reduced[reduce] = Reduced(node.output("val"), pending)
        self.plan.table.fill(VAL, name, node.output("val"), f"Red{len(kept)}_{index}[val]")

    def value(self, e: Einsum, depth: int) -> Source:
        """The value stream of e, whose operands have all come to depth `depth`."""
        match e:
            case View():
                array = self.plan.make(
                    "array", e.name, depth, {"ref": self.plan.cursor[e]}, vals=f"{e.tensor}.vals"
                )
                return self.plan.table.fill(
                    VAL, e.name, array.output("val"), f"Val({self.plan.text(self.plan.cursor[e])})"
                )
            case Reduce():
                return self.plan.reduced[e].val
            case Negate():
                return self.alu("neg", [self.value(e.operand, depth)], depth)
            case Combine():
                return self.combine(e, depth)
            case _:
                raise AssertionError("constants are immediates")

    def combine(self, e: Combine, depth: int) -> Source:
        numbers = [o.value for o in e.operands if isinstance(o, Constant)]
        sources = [self.value(o, depth) for o in e.operands if not isinstance(o, Constant)]
        if e.op == "sub" and isinstance(e.operands[0], Constant):
            # c - x is (-x) + c: an immediate is the second operand.
            return self.alu("add", [self.alu("neg", sources, depth)], depth, numbers[0])
        while len(sources) > 1:
            sources = [self.alu(e.op, sources[:2], depth), *sources[2:]]
        source = sources[0]
        for number in numbers:
            source = self.alu(e.op, [source], depth, number)
        return source

    def alu(self, op: str, sources: list[Source], depth: int, immediate: int | float | None = None) -> Source:
        params: dict[str, str | int | float] = {"op": op}
        if immediate is not None:
            params["immediate"] = immediate
        node = self.plan.make("alu", op, depth, dict(zip("ab", sources, strict=False)), **params)
        return node.output("val")
