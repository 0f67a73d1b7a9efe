"""The last row: values are read, computed and masked, and results written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from samhw.compiler.einsum import (
    CONCAT,
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
from samhw.compiler.lowering.space import FULL, RowStream, Space
from samhw.errors import StreamError
from samhw.graph.numerics import ValueType
from samhw.tensors import LevelType

__all__ = ["StoredResult", "ValueRow", "formula", "write_result", "write_values"]


# The end of a table: what a compressed result must not hold is dropped, and the rest is written.


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


class ValueRow:
    """The value streams of expressions whose operands have all come down to the depth of a space."""

    def __init__(self, builder: TableBuilder, space: Space):
        self._builder = builder
        self._space = space
        self._done: dict[Einsum, Feed] = {}

    def of(self, e: Einsum) -> Feed:
        """The value stream of e."""
        if e not in self._done:
            self._done[e] = self._of(e)
        return self._done[e]

    def pair(self, e: Einsum) -> tuple[Feed, Feed]:
        """The streams of the factor and of the value of pairs, which have a say in their coordinates or not;
        a number is made a stream beside the other."""
        assert isinstance(e, Apply)
        if e.op == EVERYWHERE:
            return self.pair(e.operands[0])
        if e.op == MASK:
            factor, val = self.pair(e.operands[0])
            # Of zeros a recurrence makes zeros, whatever the factors.
            return factor, self._masked(val, e.operands[1])
        rescales, value = e.operands
        if isinstance(rescales, Number):
            source = self.of(value)
            return self._constant(rescales, source), source
        source = self.of(rescales)
        return source, self._constant(value, source) if isinstance(value, Number) else self.of(value)

    def _constant(self, number: Number, beside: Feed) -> Feed:
        return self._alu("select", {"a": beside}, {"b": number.value, "c": number.value})

    def _of(self, e: Einsum) -> Feed:
        if e in self._space.streams:
            return self._space.streams[e].val
        match e:
            case View():
                return self._space.cursor(e).ref if e.sieve else self._read(e)
            case Intermediate():
                # By the planned output, not by its cell: a result of that name may take the cell.
                val, table = self._builder.table.resolve(self.of(e.operand)), self._builder.table
                table.fill(table.val, e.name, val, formula(e.operand, table.val))
                return val
            case Apply() if e.op == EVERYWHERE:
                return self.of(e.operands[0])
            case Apply() if e.op == MASK:
                operand, mask, *others = e.operands
                (number,) = (o.value for o in others if isinstance(o, Number)) if others else (0,)
                return self._masked(self.of(operand), mask, number)
            case Apply() if e.op == MUL:
                return self._product(e)
            case Apply() if e.op == CONCAT:
                return self._concatenation(e)
            case Apply():
                return self._operation(e)
            case RunningReduce():
                # It becomes a stream before its last row, which is another one's here.
                raise self._builder.reduced_inside(e)
            case _:
                raise AssertionError("a number is an immediate, a reduction a stream")

    def _read(self, view: View) -> Feed:
        builder, ref = self._builder, self._space.cursor(view).ref
        array = builder.make("array", view.name, self._space.depth, {"ref": ref}, vals=f"{view.tensor}.vals")
        builder.table.reads[array.name] = self._space.levels_of(view)
        label = f"Val({builder.text(ref)})"
        val = builder.table.fill(builder.table.val, view.name, array.output("val"), label)
        return val if view.to is None else self._alu("convert", {"a": val}, {}, to=view.to)

    def _product(self, e: Apply) -> Feed:
        """The product of two factors, then with each further one, then with the constant; then the masks."""
        patterns = [o for o in e.operands if isinstance(o, View) and o.pattern]
        indicators = [o for o in e.operands if isinstance(o, Indicator)]
        factors = [o for o in e.operands if o not in patterns and o not in indicators]
        source, *others = [self.of(o) for o in factors if not isinstance(o, Number)]
        for other in others:
            source = self._alu(MUL, {"a": source, "b": other}, {})
        for factor in factors:
            if isinstance(factor, Number):
                source = self._alu(MUL, {"a": source}, {"b": factor.value})
        for pattern in patterns:
            source = self._masked(source, pattern)
        for indicator in indicators:
            # Computed in a row further out, it stands for its values.
            condition = indicator if indicator in self._space.streams else indicator.values
            source = self._alu("select", {"a": self.of(condition), "b": source}, {"c": 0})
        return source

    def _concatenation(self, e: Apply) -> Feed:
        """The first part that is not zero, or else the last: a choice costs less than a sum."""
        *parts, source = map(self.of, e.operands)
        for part in reversed(parts):
            source = self._alu("select", {"a": part, "b": part, "c": source}, {})
        return source

    def _masked(self, source: Feed, mask: Einsum, number: int | float = 0) -> Feed:
        """A number where a union has brought in coordinates that the mask has not, and where the blocks of
        the mask have a zero.

        Raises:
            StreamError: for a mask that the region computes, but whose coordinates do not lead its last row.
        """
        if isinstance(mask, Sieve) and mask not in self._space.streams:
            raise StreamError(
                f"'{self._builder.title}' needs the mask {mask.tensor} where its rows are done already",
                f"end the fused region after {mask.tensor}",
            )
        blocked = isinstance(mask, View | Sieve) and mask.blocked
        if not blocked and not self._space.missing(mask):
            return source
        return self._alu("select", {"a": self.of(mask), "b": source}, {"c": number})

    def _operation(self, e: Apply) -> Feed:
        ports = dict(zip("abc", e.operands, strict=False))
        immediates = {port: o.value for port, o in ports.items() if isinstance(o, Number)}
        inputs = {port: self.of(o) for port, o in ports.items() if not isinstance(o, Number)}
        if e.to is None:
            return self._alu(e.op, inputs, immediates)
        return self._alu("convert" if e.op == "to" else e.op, inputs, immediates, to=e.to)

    def _alu(
        self, op: str, inputs: dict[str, Feed], immediates: Mapping[str, int | float], **types: ValueType
    ) -> Feed:
        params: dict[str, Any] = {"op": op, **types}
        if immediates:
            params["immediates"] = dict(immediates)
        return self._builder.make("alu", op, self._space.depth, inputs, **params).output("val")
