"""A statement as an expression tree whose sums over missing indices stand where they belong.

This is the fused-einsum form of the FuseFlow paper (section 5) for one statement: leaves are tensor *views*,
and each reduction is a node of its own, an intermediate tensor that the fusion table gives a column.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from samhw.frontend import Access, Add, Expr, Literal, Mul, Neg, Program, Statement, Sub
from samhw.tensors import Format, LevelType

__all__ = ["Combine", "Constant", "Einsum", "Negate", "Reduce", "View", "einsum_of"]


@dataclass(frozen=True, eq=False)
class View:
    """One use of a tensor. `indices` and `levels` are in storage order, outermost first."""

    name: str
    tensor: str
    indices: tuple[str, ...]
    levels: tuple[LevelType, ...]


@dataclass(frozen=True, eq=False)
class Constant:
    """A number of the program's text."""

    value: int | float


@dataclass(frozen=True, eq=False)
class Negate:
    """Minus the operand."""

    operand: "Einsum"


@dataclass(frozen=True, eq=False)
class Combine:
    """`mul` of two or more operands; `add` or `sub` of two."""

    op: str
    operands: tuple["Einsum", ...]


@dataclass(frozen=True, eq=False)
class Reduce:
    """The sum of the operand over an index: an intermediate tensor, named for the fusion table."""

    name: str
    index: str
    operand: "Einsum"


Einsum = View | Constant | Negate | Combine | Reduce


def operands(e: Einsum) -> tuple[Einsum, ...]:
    """The direct operands."""
    match e:
        case Combine():
            return e.operands
        case Negate() | Reduce():
            return (e.operand,)
        case _:
            return ()


def free(e: Einsum) -> frozenset[str]:
    """The indices of the tensor that e denotes."""
    match e:
        case View():
            return frozenset(e.indices)
        case Reduce():
            return free(e.operand) - {e.index}
        case _:
            return frozenset().union(*(free(o) for o in operands(e)))


def views(e: Einsum) -> Iterator[View]:
    """The leaves, from left to right."""
    if isinstance(e, View):
        yield e
    for operand in operands(e):
        yield from views(operand)


def reductions(e: Einsum) -> Iterator[Reduce]:
    """All reductions below e and e itself, producers first."""
    for operand in operands(e):
        yield from reductions(operand)
    if isinstance(e, Reduce):
        yield e


def _sum(op: str, left: Einsum, right: Einsum) -> Einsum:
    """left ± right; two constants make one."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(left.value + right.value if op == "add" else left.value - right.value)
    return Combine(op, (left, right))


def _product(left: Einsum, right: Einsum) -> Einsum:
    """left · right as one product of all factors, of which at most the last is a constant."""
    factors: list[Einsum] = []
    constant: int | float = 1
    for side in (left, right):
        for factor in side.operands if isinstance(side, Combine) and side.op == "mul" else (side,):
            if isinstance(factor, Constant):
                constant *= factor.value
            else:
                factors.append(factor)
    if not factors:
        return Constant(constant)
    if constant != 1:
        factors.append(Constant(constant))
    return factors[0] if len(factors) == 1 else Combine("mul", tuple(factors))


class _Builder:
    def __init__(self, program: Program, order: Sequence[str], factored: bool):
        self.program = program
        self.position = {index: n for n, index in enumerate(order)}
        self.factored = factored
        self.uses: dict[str, int] = {}
        self.intermediates = 0

    def build(self, e: Expr) -> Einsum:
        match e:
            case Access():
                return self.view(e)
            case Literal():
                return Constant(e.value)
            case Neg():
                operand = self.build(e.operand)
                return Constant(-operand.value) if isinstance(operand, Constant) else Negate(operand)
            case Add():
                return _sum("add", self.build(e.left), self.build(e.right))
            case Sub():
                return _sum("sub", self.build(e.left), self.build(e.right))
            case Mul():
                return _product(self.build(e.left), self.build(e.right))
            case _:
                raise TypeError(f"not an expression: {e!r}")

    def view(self, access: Access) -> View:
        fmt = stored_format(self.program.tensors[access.tensor].format)
        self.uses[access.tensor] = count = self.uses.get(access.tensor, 0) + 1
        name = access.tensor if count == 1 else f"{access.tensor}_{count}"
        return View(name, access.tensor, tuple(access.indices[mode] for mode in fmt.mode_order), fmt.levels)

    def sum(self, e: Einsum, indices: Collection[str]) -> Einsum:
        """Sums e over those of the indices that it has, each sum where it belongs."""
        mine = [i for i in indices if i in free(e)]
        match e:
            case Negate():
                return Negate(self.sum(e.operand, mine))
            case Combine(op="mul"):
                return self.sum_product(e.operands, mine)
            case Combine():
                return Combine(e.op, tuple(self.sum(o, mine) for o in e.operands))
            case _:
                for index in sorted(mine, key=self.position.__getitem__, reverse=True):
                    e = self.reduce(e, index)
                return e

    def sum_product(self, factors: tuple[Einsum, ...], indices: list[str]) -> Einsum:
        """Sums a product, one index after another: next is always the one whose sum keeps the fewest levels
        inside of it, and among equals the outermost, which brings equal coordinates together soonest."""
        while indices:
            groups = {i: self.group(factors, i) for i in indices}
            index = min(indices, key=lambda i: (self.kept_inside(groups[i], i), self.position[i]))
            group = groups[index]
            product = Combine("mul", tuple(group)) if len(group) > 1 else group[0]
            summed = self.reduce(product, index) if len(group) > 1 else self.sum(product, [index])
            # The sum takes the place of the first of its factors, so that the table reads like the text.
            first = next(n for n, factor in enumerate(factors) if factor in group)
            factors = (
                *(f for f in factors[:first] if f not in group),
                summed,
                *(f for f in factors[first:] if f not in group),
            )
            indices = [i for i in indices if i != index]
        return Combine("mul", factors) if len(factors) > 1 else factors[0]

    def reduce(self, e: Einsum, index: str) -> Reduce:
        self.intermediates += 1
        return Reduce(f"t{self.intermediates - 1}", index, e)

    def group(self, factors: Sequence[Einsum], index: str) -> list[Einsum]:
        """The factors that a sum takes in: those with the index and, since only the innermost level of a
        reducer's result can be joined later, those with an index between it and the innermost it keeps."""
        group = [f for f in factors if index in free(f) or not self.factored]
        while drawn := [f for f in factors if f not in group and self.lies_inside(f, group, index)]:
            group += drawn
        return [f for f in factors if f in group]

    def lies_inside(self, factor: Einsum, group: Sequence[Einsum], index: str) -> bool:
        start = self.position[index]
        kept = [self.position[i] for f in group for i in free(f) if self.position[i] > start]
        return bool(kept) and any(start < self.position[i] < max(kept) for i in free(factor))

    def kept_inside(self, group: Sequence[Einsum], index: str) -> int:
        kept = frozenset().union(*(free(f) for f in group))
        return sum(self.position[i] > self.position[index] for i in kept)


def stored_format(fmt: Format) -> Format:
    """The format in memory: coordinate lists (COO) are loaded as compressed levels, since the coordinates of
    a stream strictly increase and those of a list repeat."""
    levels = (LevelType.compressed if level is LevelType.singleton else level for level in fmt.levels)
    return Format(tuple(levels), fmt.mode_order, fmt.block)


def einsum_of(
    program: Program, statement: Statement, order: Sequence[str], *, factored: bool = True
) -> Einsum:
    """The tree of a statement's right side for an order of its indices.

    Each additive term is summed over its own indices that the left side lacks. With `factored` a factor
    without the index stays outside of the sum; otherwise all factors of a term meet in one (global) iteration
    space.
    """
    builder = _Builder(program, order, factored)
    return builder.sum(builder.build(statement.rhs), [i for i in order if i not in statement.lhs.indices])
