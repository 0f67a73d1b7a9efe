"""The end of a table: what a compressed result must not hold is dropped, and the rest is written."""

from samhw.compiler.einsum import Combine, Constant, Einsum, Negate, Reduce, View, free, operands
from samhw.compiler.plan import Plan
from samhw.compiler.table import VAL, Source
from samhw.tensors import LevelType

__all__ = ["write_result"]


def write_result(plan: Plan, rows: list[tuple[str, Source]], val: Source) -> None:
    """Drops what a compressed result must not hold, and writes coordinates and values."""
    name = plan.result
    crds = [crd for _, crd in rows]
    levels = [plan.output_level(row) for row, _ in rows]
    if rows and levels[-1] is LevelType.compressed and _may_be_empty(plan, plan.tree):
        drop = plan.make("drop_val", name, len(rows), {"crd": crds[-1], "val": val})
        crds[-1], val = drop.output("crd"), drop.output("val")
    for n in reversed(range(len(rows) - 1)):
        if levels[n] is levels[n + 1] is LevelType.compressed:
            drop = plan.make(
                "drop_crd", f"{name}_{rows[n][0]}", n + 1, {"outer": crds[n], "inner": crds[n + 1]}
            )
            crds[n], crds[n + 1] = drop.output("outer"), drop.output("inner")
    for n, (row, _) in enumerate(rows):
        label = f"LW({plan.statement.lhs.tensor}_{row})"
        if levels[n] is LevelType.dense:
            sink = plan.make("write_dense", f"{name}_{row}", n + 1, {"crd": crds[n]}, extent=row)
        else:
            sink = plan.make(
                "write_compressed",
                f"{name}_{row}",
                n + 1,
                {"crd": crds[n]},
                pos=f"{name}.pos{n}",
                crd=f"{name}.crd{n}",
            )
        plan.table.fill(row, name, crds[n], label)
        plan.table.sinks.append(sink)
    plan.table.sinks.append(plan.make("write_val", name, len(rows), {"val": val}, vals=f"{name}.vals"))
    plan.table.fill(VAL, name, val, _formula(plan.tree))


def _may_be_empty(plan: Plan, e: Einsum) -> bool:
    """Whether values can be sums over nothing, at coordinates that the result need not hold."""
    if isinstance(e, Reduce):
        start = plan.position[e.index]
        return all(plan.position[i] < start for i in free(e))
    return any(_may_be_empty(plan, o) for o in operands(e))


def _formula(e: Einsum) -> str:
    match e:
        case View() | Reduce():
            return f"⟨{e.name}_val⟩"
        case Constant():
            return str(e.value)
        case Negate():
            return f"-{_formula(e.operand)}"
        case Combine():
            sign = {"mul": " × ", "add": " + ", "sub": " − "}[e.op]
            return sign.join(_formula(o) for o in e.operands)
