"""Hypothesis strategies for random programs of several statements."""

from collections.abc import Callable, Sequence
from math import prod

from hypothesis import strategies as st

from samhw.lang import functions as f
from samhw.lang.declaration import TensorDecl
from samhw.lang.expr import Access, Call, Expr
from samhw.lang.program import Program
from samhw.lang.python_form import Index
from samhw.lang.statement import Region, Statement
from samhw.tensors import Format

__all__ = ["chained_programs"]

_INDICES = ("i", "j", "k", "l")
_MAX_RANK = 3
# Each product may make values a hundred times as great, so that results of more of them would not fit i32.
_MAX_PRODUCTS = 2
_MAX_POINTS = 125
"""Of each part of a concatenation, for the same reason."""


@st.composite
def chained_programs(
    draw: st.DrawFn,
    *,
    max_statements: int = 6,
    max_extent: int = 5,
    integers: bool = True,
    concordant: bool = True,
    moves: bool = True,
) -> Program:
    """Valid programs of two to `max_statements` statements, each of which uses the result of the one before.

    Products with sums, plain sums, biases, residuals, scaling, functions, masks, max and min reductions,
    quotients, transpositions, reshapes and concatenations, in random regions. Divisors, and what logarithms
    are taken of, are away from zero. What fills its whole result is masked, or has dense operands only.
    All extents are known, from 1 to `max_extent` (more after a reshape or a concatenation).

    Args:
        integers: only what integers can do: no quotients, no exponentials and the like; numbers are whole.
            With the default sizes results stay below 2^31 if no input exceeds 4 in magnitude.
        concordant: all orders follow one order of the indices, and so does all storage. Otherwise both are
            random.
        moves: reshapes and concatenations too, which end a region.
    """
    chain = _Chain(draw, max_extent, integers, concordant, moves)
    for _ in range(draw(st.integers(2, max_statements))):
        chain.extend()
    return Program("random", chain.tensors, tuple(chain.regions()))


class _Chain:
    """A program that grows by a statement at a time. `result` is what the last one wrote."""

    def __init__(
        self, draw: st.DrawFn, max_extent: int, integers: bool, concordant: bool, moves: bool
    ) -> None:
        self.draw = draw
        self.integers = integers
        self.concordant = concordant
        self.max_extent = max_extent
        self.moves = moves
        self.extents = {index: draw(st.integers(1, max_extent)) for index in _INDICES}
        self.global_order = list(draw(st.permutations(_INDICES)))
        self.tensors: dict[str, TensorDecl] = {}
        self.statements: list[Statement] = []
        self.products = 0
        rank = draw(st.integers(1, _MAX_RANK))
        self.result = self.input(draw(st.permutations(_INDICES))[:rank])
        self.earlier: list[Access] = []

    # Tensors

    def declare(
        self, prefix: str, indices: Sequence[str], *, dense: bool = False, natural: bool = False
    ) -> Access:
        """A new tensor, its levels random and stored in the order of the program."""
        is_sparse = [not (dense or natural) and self.draw(st.booleans()) for _ in indices]
        modes = list(range(len(indices)))
        if not natural:
            modes = self.ordered(indices)
        name = f"{prefix}{len(self.tensors)}"
        shape = tuple(self.extents[index] for index in indices)
        self.tensors[name] = TensorDecl(name, tuple(indices), shape, Format.sparse_in(is_sparse, modes))
        return Access.of(name, indices)

    def input(self, indices: Sequence[str], *, dense: bool = False) -> Access:
        return self.declare("A", indices, dense=dense)

    def ordered(self, indices: Sequence[str]) -> list[int]:
        """Positions of `indices`, outermost first."""
        positions = list(range(len(indices)))
        if not self.concordant:
            return list(self.draw(st.permutations(positions)))
        return sorted(positions, key=lambda position: self.global_order.index(indices[position]))

    def fresh_index(self, extent: int, place: int) -> str:
        """A new index, at that place of the global order."""
        index = f"n{len(self.extents)}"
        self.extents[index] = extent
        self.global_order.insert(place, index)
        return index

    def points(self, access: Access) -> int:
        return prod(self.extents[index] for index in access.names)

    def subset(self, indices: Sequence[str], least: int = 0) -> list[str]:
        chosen = self.draw(st.lists(st.sampled_from(indices), min_size=least, unique=True)) if indices else []
        return [index for index in indices if index in chosen]

    def is_dense(self, access: Access) -> bool:
        return self.tensors[access.tensor].format.is_all_dense

    # Statements

    def extend(self) -> None:
        kinds: list[Callable[[], None]] = [self.function, self.bias, self.scaled]
        if self.products < _MAX_PRODUCTS:
            kinds += [self.product, self.product]
        if self.result.names:
            kinds += [self.sum, self.extreme]
        if any(sorted(access.names) == sorted(self.result.names) for access in self.earlier):
            kinds.append(self.residual)
        if not self.integers:
            kinds.append(self.quotient)
        if self.moves and self.is_row_major(self.result):
            kinds.append(self.reshape)
        if self.moves and self.result.names and self.points(self.result) <= _MAX_POINTS:
            kinds.append(self.concat)
        self.draw(st.sampled_from(kinds))()

    def add(
        self,
        indices: Sequence[str],
        rhs: Expr,
        *,
        mask: Access | None = None,
        reduction: str = "sum",
        dense: bool = False,
    ) -> None:
        """Assign `rhs` to a new tensor, its modes shuffled. `dense` if that fills the tensor."""
        lhs = self.declare("T", self.draw(st.permutations(indices)), dense=dense)
        used = Statement(lhs, rhs, mask=mask).indices
        order = None
        if used and self.draw(st.integers(0, 3)):
            order = tuple(used[position] for position in self.ordered(used))
        self.append(Statement(lhs, rhs, order, reduction=reduction, mask=mask))

    def append(self, statement: Statement) -> None:
        self.statements.append(statement)
        self.earlier.append(self.result)
        self.result = statement.lhs

    def mask_unless_dense(self, operand: Access) -> Access | None:
        """A mask over all indices of the operand, which is needed if it is sparse."""
        if not operand.names or (self.is_dense(operand) and self.draw(st.booleans())):
            return None
        return self.input(operand.names)

    def product(self) -> None:
        self.products += 1
        others = [index for index in _INDICES if index not in self.result.names]
        # Results of reshapes and concatenations have indices of their own, and two more are enough.
        shared = self.subset(self.result.names)
        new = self.subset(others[: _MAX_RANK - len(shared)])
        other = self.input(self.draw(st.permutations([*shared, *new])))
        used = list(dict.fromkeys((*self.result.names, *other.names)))
        kept = self.subset(used)[:_MAX_RANK]
        mask = self.input(self.subset(used, 1)) if used and self.draw(st.integers(0, 3)) == 0 else None
        self.add(kept, self.result * other, mask=mask)

    def sum(self) -> None:
        self.add(self.subset(self.result.names), self.result)

    def extreme(self) -> None:
        mask = self.mask_unless_dense(self.result)
        reduction = self.draw(st.sampled_from(("max", "min")))
        self.add(self.subset(self.result.names), self.result, mask=mask, reduction=reduction)

    def bias(self) -> None:
        bias = self.input(self.subset(self.result.names), dense=True)
        mask = self.mask_unless_dense(self.result)
        self.add(self.result.names, self.result + bias, mask=mask, dense=mask is None)

    def residual(self) -> None:
        same = [access for access in self.earlier if sorted(access.names) == sorted(self.result.names)]
        other = self.draw(st.sampled_from(same))
        signs = (self.result + other, self.result - other, -self.result + other)
        self.add(self.result.names, self.draw(st.sampled_from(signs)))

    def scaled(self) -> None:
        number = self.draw(st.integers(-3, 3) if self.integers else st.sampled_from((-1.5, 0.25, 0.5, 2)))
        self.add(self.result.names, self.draw(st.sampled_from((number * self.result, self.result * number))))

    def quotient(self) -> None:
        divisor = self.input(self.subset(self.result.names), dense=True)
        self.add(self.result.names, self.result / (f.abs(divisor) + 1))

    def function(self) -> None:
        x = self.result
        sparse: list[Call] = [f.relu(x), f.abs(x), f.max(x, 0), f.min(x, 0), f.leaky_relu(x, 2)]
        filling: list[Call] = [f.le(x, 1), f.eq(x, 0), f.max(x, 2), f.select(x, x, 1), f.lt(x, 2)]
        if not self.integers:
            sparse += [f.sqrt(f.abs(x)), f.tanh(x), f.gelu(x), f.silu(x), f.sin(x), f.leaky_relu(x, 0.1)]
            positive = f.abs(x) + 1
            filling += [
                f.exp(f.min(x, 1)),
                f.log(positive),
                f.rsqrt(positive),
                f.reciprocal(positive),
                f.sigmoid(x),
                f.cos(x),
            ]
        if self.draw(st.booleans()):
            self.add(x.names, self.draw(st.sampled_from(sparse)))
        else:
            mask = self.mask_unless_dense(x)
            self.add(x.names, self.draw(st.sampled_from(filling)), mask=mask, dense=mask is None)

    def is_row_major(self, access: Access) -> bool:
        storage = self.tensors[access.tensor].format
        return storage.is_all_dense and storage.mode_order == tuple(range(storage.rank))

    def reshape(self) -> None:
        """One mode of all elements, or two."""
        size = self.points(self.result)
        extents = [size]
        if self.draw(st.booleans()):
            outer = self.draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
            extents = [outer, size // outer]
        places = sorted(self.draw(st.integers(0, len(self.global_order))) for _ in extents)
        indices = [
            # After those that are there by now.
            self.fresh_index(extent, place + n)
            for n, (extent, place) in enumerate(zip(extents, places, strict=True))
        ]
        self.append(Statement(self.declare("T", indices, natural=True), f.reshape(self.result)))

    def concat(self) -> None:
        """The result, itself once more or new inputs, in any order."""
        index = self.draw(st.sampled_from(self.result.names))
        own = self.extents[index]
        most = min(self.max_extent, _MAX_POINTS // (self.points(self.result) // own))
        operands = [self.result]
        total = own
        for _ in range(self.draw(st.integers(1, 2))):
            if self.draw(st.booleans()):
                operands.append(self.result)
                total += own
                continue
            self.extents[index] = self.draw(st.integers(1, most))
            operands.append(self.input(self.draw(st.permutations(self.result.names))))
            total += self.extents[index]
        self.extents[index] = own
        whole = self.fresh_index(total, self.global_order.index(index))
        modes = self.draw(st.permutations(self.result.names))
        lhs = self.declare("T", [whole if mode == index else mode for mode in modes])
        rhs = f.concat(Index(index), *self.draw(st.permutations(operands)))
        order = None
        if self.draw(st.booleans()):
            order = tuple(modes[position] for position in self.ordered(modes))
        self.append(Statement(Access.of(lhs.tensor, modes), rhs, order))
        self.result = lhs

    # Regions

    def regions(self) -> list[Region]:
        """Random groups of statements that follow each other."""
        groups: list[list[Statement]] = []
        for statement in self.statements:
            if not groups or not statement.joins(groups[-1]) or self.draw(st.booleans()):
                groups.append([])
            groups[-1].append(statement)
        return [Region(tuple(group)) for group in groups]
