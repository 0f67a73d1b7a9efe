"""A statement as an expression tree whose sums over missing indices stand where they belong.

This is the fused-einsum form of the FuseFlow paper (section 5) for one statement: leaves are tensor *views*,
and each reduction is a node of its own, an intermediate tensor that the fusion table gives a column.
"""

from collections.abc import Iterator, Sequence
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

    def reduce(self, e: Einsum, index: str) -> Einsum:
        """Sums e over the index, as far inside as the order allows (factored iteration, section 6.2)."""
        match e:
            case Negate():
                return Negate(self.reduce(e.operand, index))
            case Combine(op="mul"):
                return self.reduce_product(e, index)
            case Combine():
                return Combine(
                    e.op, tuple(self.reduce(o, index) if index in free(o) else o for o in e.operands)
                )
            case _:
                self.intermediates += 1
                return Reduce(f"t{self.intermediates - 1}", index, e)

    def reduce_product(self, e: Combine, index: str) -> Einsum:
        group = [o for o in e.operands if index in free(o)]
        rest = [o for o in e.operands if index not in free(o)]
        if not self.factored:
            group, rest = list(e.operands), []
        while drawn := [o for o in rest if self.lies_inside(o, group, index)]:
            group += drawn
            rest = [o for o in rest if o not in drawn]
        inner = (
            self.reduce(group[0], index)
            if len(group) == 1
            else self.reduce_whole(Combine("mul", tuple(group)), index)
        )
        if not rest:
            return inner
        # The new factor takes the place of the first of its group, so that the table reads like the text.
        first = next(n for n, o in enumerate(e.operands) if o in group)
        kept: list[Einsum] = [o for o in e.operands if o in rest]
        kept.insert(sum(o in rest for o in e.operands[:first]), inner)
        return Combine("mul", tuple(kept))

    def reduce_whole(self, e: Einsum, index: str) -> Reduce:
        self.intermediates += 1
        return Reduce(f"t{self.intermediates - 1}", index, e)

    def lies_inside(self, factor: Einsum, group: Sequence[Einsum], index: str) -> bool:
        """Whether the factor has an index between the reduction and the innermost index that the reduction
        keeps.

        Such a factor cannot meet the reduced stream later: only the innermost level of a reducer's result can
            be joined.
        """
        start = self.position[index]
        kept = [self.position[i] for o in group for i in free(o) if self.position[i] > start]
        return bool(kept) and any(start < self.position[i] < max(kept) for i in free(factor))


def stored_format(fmt: Format) -> Format:
    """The format in memory. Coordinate lists (COO) are loaded as compressed levels, since the coordinates of
    a
    stream strictly increase and those of a list repeat."""
    levels = (LevelType.compressed if level is LevelType.singleton else level for level in fmt.levels)
    return Format(tuple(levels), fmt.mode_order, fmt.block)


def einsum_of(
    program: Program, statement: Statement, order: Sequence[str], *, factored: bool = True
) -> Einsum:
    """The tree of a statement's right side for an order of its indices.

    Each additive term is summed over its own indices that the left side lacks, innermost first. With
    `factored` a factor without the index stays outside of the sum; otherwise all factors of a term meet in
    one (global) iteration space.
    """
    builder = _Builder(program, order, factored)
    tree = builder.build(statement.rhs)
    kept = set(statement.lhs.indices)
    for index in reversed([i for i in order if i not in kept]):
        tree = builder.reduce(tree, index)
    return tree
