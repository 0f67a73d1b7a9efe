"""Where coordinates meet: scanners, intersections and unions of one row."""

from dataclasses import dataclass

from samhw.compiler.einsum import Combine, Einsum, Negate, Reduce, View
from samhw.compiler.plan import Plan
from samhw.compiler.table import Source
from samhw.errors import InputError
from samhw.tensors import LevelType

__all__ = ["Join", "Joiner"]


@dataclass
class Join:
    """The coordinates of a row while they are joined. `crd` is None while only dense levels meet and none is
    scanned yet."""

    crd: Source | None
    payloads: list[tuple[View | Reduce | None, Source]]
    """The streams in lockstep with crd, each of one operand (None: only there to fill a dense output)."""
    dense: list[View]
    """Operands with a dense level here that need no scanner, because they can be located."""
    full: bool
    """Every coordinate of the extent is present."""
    nested: Reduce | None = None
    """A reduction with further levels inside: its inner streams cannot follow a join."""


class Joiner:
    """Joins expressions at a row, `depth` rows below the root."""

    def __init__(self, plan: Plan):
        self.plan = plan

    def join(self, e: Einsum, row: str, depth: int) -> Join | None:
        """The coordinates of e at a row, or None if it has no such level here."""
        match e:
            case View():
                return self.scan(e, row, depth)
            case Reduce():
                return (
                    self.join_reduced(e, row) if e in self.plan.reduced else self.join(e.operand, row, depth)
                )
            case Negate():
                return self.join(e.operand, row, depth)
            case Combine():
                parts = [self.join(o, row, depth) for o in e.operands]
                present = [p for p in parts if p is not None]
                if not present:
                    return None
                if e.op == "mul":
                    return self.intersect(present, row, depth)
                return self.union(e, present, row, depth, lacking=len(present) < len(parts))
            case _:
                return None

    def scan(self, view: View, row: str, depth: int) -> Join | None:
        if row not in view.indices:
            return None
        level = self.plan.level[view]
        assert view.indices[level] == row, "the order is concordant"
        if view.levels[level] is LevelType.dense:
            return Join(None, [], [view], full=view not in self.plan.missing)
        scan = self.plan.make(
            "scan_compressed",
            f"{view.name}_{row}",
            depth,
            {"ref": self.plan.cursor[view]},
            pos=f"{view.tensor}.pos{level}",
            crd=f"{view.tensor}.crd{level}",
        )
        self.plan.table.fill(
            row, view.name, scan.output("ref"), f"LS({self.plan.text(self.plan.cursor[view])})"
        )
        self.plan.missing.discard(view)
        return Join(scan.output("crd"), [(view, scan.output("ref"))], [], full=False)

    def scan_dense(self, join: Join, row: str, depth: int) -> None:
        """Scans the first of the operands that could have been located: it gives all the coordinates."""
        view = join.dense.pop(0)
        scan = self.plan.make(
            "scan_dense", f"{view.name}_{row}", depth, {"ref": self.plan.cursor[view]}, extent=row
        )
        self.plan.table.fill(
            row, view.name, scan.output("ref"), f"LS({self.plan.text(self.plan.cursor[view])})"
        )
        self.plan.missing.discard(view)
        join.crd = scan.output("crd")
        join.payloads.append((view, scan.output("ref")))

    def join_reduced(self, reduce: Reduce, row: str) -> Join | None:
        state = self.plan.reduced[reduce]
        if not state.pending or state.pending[0][0] != row:
            return None
        if len(state.pending) > 1:
            return Join(state.pending[0][1], [], [], full=False, nested=reduce)
        return Join(state.pending[0][1], [(reduce, state.val)], [], full=False)

    def intersect(self, parts: list[Join], row: str, depth: int) -> Join:
        sparse = [p for p in parts if p.crd is not None]
        dense = [v for p in parts for v in p.dense]
        if not sparse:
            dense.sort(key=lambda view: view in self.plan.missing)
            return Join(None, [], dense, full=any(p.full for p in parts))
        if len(sparse) == 1:
            return Join(sparse[0].crd, sparse[0].payloads, dense, sparse[0].full, sparse[0].nested)
        return self.merge("intersect", sparse, dense, row, depth, full=all(p.full for p in sparse))

    def union(self, e: Combine, parts: list[Join], row: str, depth: int, *, lacking: bool) -> Join:
        full = any(p.full for p in parts)
        if lacking and not full:
            raise InputError(
                f"A term of the sum in '{self.plan.statement.lhs} = ..' has no index {row}, so the sum has a "
                f"value at every {row}, but no other term stores {row} densely; store one with a dense level "
                f"{row}."
            )
        unscanned = sorted((p for p in parts if p.crd is None), key=lambda p: not p.full)
        if len(unscanned) == len(parts) and full:
            return Join(None, [], [v for p in unscanned for v in p.dense], full=True)
        # One operand with every coordinate locates the others; without one, each gives those that it has.
        if not any(p.full for p in parts if p.crd is not None):
            for part in unscanned[:1] if full else unscanned:
                self.scan_dense(part, row, depth)
        sparse = [p for p in parts if p.crd is not None]
        dense = [v for p in parts for v in p.dense]
        if len(sparse) == 1:
            return Join(sparse[0].crd, sparse[0].payloads, dense, full, sparse[0].nested)
        return self.merge("union", sparse, dense, row, depth, full=full)

    def merge(
        self, kind: str, parts: list[Join], dense: list[View], row: str, depth: int, *, full: bool
    ) -> Join:
        """Makes the join, and moves the cells of its operands into it. An operand with several payloads
        enters once for each."""
        for part in parts:
            if part.nested is not None:
                raise self.plan.refusal(part.nested, row)
        streams = [(part.crd, operand, payload) for part in parts for operand, payload in part.payloads]
        inputs: dict[str, Source] = {}
        kinds = []
        for n, (crd, operand, payload) in enumerate(streams):
            assert crd is not None
            inputs[f"crd{n}"], inputs[f"ref{n}"] = crd, payload
            kinds.append("val" if isinstance(operand, Reduce) else "ref")
        join = self.plan.make(kind, row, depth + 1, inputs, inputs=len(streams), payloads=kinds)
        label = f"{kind.capitalize()}_{row}"
        payloads: list[tuple[View | Reduce | None, Source]] = []
        if kind == "union":
            absent = (view for part in parts if not part.full for view, _ in part.payloads)
            self.plan.missing.update(view for view in absent if isinstance(view, View))
        for n, (_, operand, _) in enumerate(streams):
            output = join.output(f"ref{n}")
            payloads.append((operand, output))
            if operand is not None:
                if self.plan.table.get(row, operand.name) is None:
                    self.plan.table.fill(row, operand.name, output, f"⟨{operand.name}_{row}⟩")
                self.plan.table.move(row, operand.name, output, label)
        return Join(join.output("crd"), payloads, dense, full)

    def fill(self, join: Join, row: str, depth: int, outer: Source) -> Join:
        """Adds the coordinates that a dense level of the result needs and no operand has."""
        if join.nested is not None:
            raise InputError(
                f"'{self.plan.result}' is dense in {row}, but the sum over {join.nested.index} gives only "
                f"some {row}, each with a fiber inside; declare {self.plan.result} with a compressed level "
                f"{row}, such as 'csf', or choose an order in which {join.nested.index} comes later."
            )
        if join.crd is None:
            self.scan_dense(join, row, depth)
        scan = self.plan.make("scan_dense", f"{self.plan.result}_{row}", depth, {"ref": outer}, extent=row)
        every = Join(scan.output("crd"), [(None, scan.output("ref"))], [], full=True)
        return self.merge("union", [join, every], join.dense, row, depth, full=True)
