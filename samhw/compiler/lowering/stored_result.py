"""The end of a table: what a compressed result must not hold is dropped, and the rest is written."""

from dataclasses import dataclass

from samhw.compiler.einsum import (
    EVERYWHERE,
    MASK,
    MUL,
    PAIR,
    Apply,
    Einsum,
    Indicator,
    Intermediate,
    Number,
    Reduce,
    RunningReduce,
    Segment,
    Sieve,
    StepPlace,
    View,
)
from samhw.compiler.fusion_table import Feed
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.space import FULL, RowStream
from samhw.tensors import LevelType

__all__ = ["StoredResult", "formula", "write_result", "write_values"]


@dataclass(frozen=True)
class StoredResult:
    """A tensor that leaves a region: its indices and level types in storage order, outermost first."""

    tensor: str
    heading: str
    indices: tuple[str, ...]
    levels: tuple[LevelType, ...]
    tree: Einsum
    step: StepPlace | None = None
    """The step of the tensor in whose memories it lies, if it is one."""

    @property
    def dense(self) -> frozenset[str]:
        """The indices of which every coordinate is stored."""
        return frozenset(i for i, level in zip(self.indices, self.levels, strict=True) if level.is_full)


def write_result(builder: TableBuilder, result: StoredResult, rows: list[RowStream], val: Feed) -> None:
    """Drops what a compressed result must not hold, and writes coordinates and values."""
    name = result.tensor
    crds = [row.crd for row in rows]
    levels = [result.levels[result.indices.index(row.index)] for row in rows]
    # What comes from a dense level may be zero.
    full = rows and rows[-1].domain == FULL
    zeros = (
        full or any(row.filled for row in rows) or builder.makes_zeros or _makes_zeros(builder, result.tree)
    )
    if rows and zeros and not levels[-1].stores_fill:
        drop = builder.make("drop_val", name, len(rows), {"crd": crds[-1], "val": val})
        crds[-1], val = drop.output("crd"), drop.output("val")
    for n in reversed(range(len(rows) - 1)):
        if not (levels[n].is_full or levels[n + 1].is_full):
            drop = builder.make(
                "drop_crd", f"{name}_{rows[n].index}", n + 1, {"outer": crds[n], "inner": crds[n + 1]}
            )
            crds[n], crds[n + 1] = drop.output("outer"), drop.output("inner")
    for n, row in enumerate(rows):
        writer = levels[n].writer
        assert writer is not None
        params = writer.params(name, n, lambda depth: builder.dimension[rows[depth].index])
        sink = builder.make(writer.kind, f"{name}_{row.index}", n + 1, {"crd": crds[n]}, **params)
        builder.table.fill(row.index, name, crds[n], f"LW({name}_{row.index})")
        builder.table.sinks.append(sink)
    label = formula(result.tree, builder.table.val)
    if result.step is None:
        write_values(builder, result, len(rows), val, label)
    else:
        _write_step(builder, result, result.step, rows, val, label)


def _write_step(
    builder: TableBuilder,
    result: StoredResult,
    place: StepPlace,
    rows: list[RowStream],
    val: Feed,
    label: str,
) -> None:
    """Writes the values of a step, each at the place that it has below the reference of the step."""
    name = result.tensor
    ref = builder.step(place, name)
    for depth, row in enumerate(rows):
        inputs = {"ref": ref, "crd": row.crd}
        extent = builder.dimension[row.index]
        ref = builder.make("locate", f"{name}_{row.index}", depth, inputs, extent=extent).output("ref")
    sink = builder.make("write_at", name, len(rows), {"ref": ref, "val": val}, vals=f"{name}.vals")
    builder.table.sinks.append(sink)
    builder.table.fill(builder.table.val, name, val, label)


def write_values(builder: TableBuilder, result: StoredResult, depth: int, val: Feed, label: str) -> None:
    """Writes a stream of that depth as the values of a result; `label` says in the table what they are."""
    name = result.tensor
    builder.table.sinks.append(builder.make("write_val", name, depth, {"val": val}, vals=f"{name}.vals"))
    builder.table.fill(builder.table.val, name, val, label)


def _makes_zeros(builder: TableBuilder, e: Einsum) -> bool:
    """Whether e gives zeros at coordinates that the result need not hold: sums over nothing, and products
    or quotients with the number zero."""
    if isinstance(e, Reduce):
        start = builder.position[e.index]
        if all(builder.position[i] < start for i in e.free):
            return True
    if isinstance(e, Apply) and e.op in (MUL, "div"):
        # Of a quotient the numerator counts.
        factors = e.operands if e.op == MUL else e.operands[:1]
        if any(isinstance(o, Number) and o.value == 0 for o in factors):
            return True
    return any(_makes_zeros(builder, o) for o in e.operands)


def formula(e: Einsum, val: str) -> str:
    """The operations above the nearest columns, as text. `val`: the row of the values."""
    match e:
        case View() | Reduce() | Intermediate() | RunningReduce():
            return f"⟨{e.name}_{val}⟩"
        case Segment():
            return formula(e.operand, val)
        case Sieve():
            return f"NonZero({formula(e.operand, val)})"
        case Number():
            return str(e.value)
        case Apply() if e.op == PAIR:
            return ", ".join(formula(o, val) for o in e.operands)
        case Apply() if e.op in (MASK, EVERYWHERE):
            return formula(e.operands[0], val)
        case Apply() if e.op == MUL:
            indicators = [o for o in e.operands if isinstance(o, Indicator)]
            factors = [o for o in e.operands if not ((isinstance(o, View) and o.pattern) or o in indicators)]
            text = " × ".join(_grouped(factor, val) for factor in factors)
            for indicator in indicators:
                text = f"select({formula(indicator.values, val)}, {text}, 0)"
            return text
        case Apply(op="add" | "sub" | "div"):
            sign = {"add": " + ", "sub": " − ", "div": " / "}[e.op]
            return sign.join(_grouped(operand, val) for operand in e.operands)
        case Apply(op="neg"):
            return f"-{_grouped(e.operands[0], val)}"
        case _:
            return f"{e.op}({', '.join(formula(o, val) for o in e.operands)})"


def _grouped(e: Einsum, val: str) -> str:
    text = formula(e, val)
    return f"({text})" if isinstance(e, Apply) and " " in text else text
