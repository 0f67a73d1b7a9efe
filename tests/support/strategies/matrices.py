"""Hypothesis strategies for chains of matrix products in any order of their indices."""

from collections.abc import Sequence

from hypothesis import strategies as st

from samhw.lang import functions as f
from samhw.lang.declaration import TensorDecl
from samhw.lang.expr import Access, Expr
from samhw.lang.program import Program
from samhw.lang.statement import Region, Statement
from samhw.tensors import Format

__all__ = ["matrix_chains"]

_INDICES = "ijklm"


@st.composite
def matrix_chains(draw: st.DrawFn, *, max_extent: int = 24) -> tuple[Program, tuple[str, ...]]:
    """A product of two to four matrices, bracketed at random into the statements of one region, and an order
    of its indices.

    Between the products, results may be added to a matrix, multiplied by one or restricted to one, or go
    through a function. Every index has one name, so that all storage can follow the order, and does; levels
    are random. Extents are large enough for a fiber to fill a channel, from 10 to `max_extent`.
    """
    count = draw(st.integers(2, 4))
    order = tuple(draw(st.permutations(_INDICES[: count + 1])))
    extents = {index: draw(st.integers(10, max_extent)) for index in order}
    tensors: dict[str, TensorDecl] = {}
    statements: list[Statement] = []

    def declare(prefix: str, indices: Sequence[str], *, sparse: bool = False) -> Access:
        is_sparse = [sparse or draw(st.booleans()) for _ in indices]
        modes = tuple(sorted(range(len(indices)), key=lambda mode: order.index(indices[mode])))
        name = f"{prefix}{len(tensors)}"
        shape = tuple(extents[index] for index in indices)
        tensors[name] = TensorDecl(name, tuple(indices), shape, Format.sparse_in(is_sparse, modes))
        return Access.of(name, indices)

    def assign(indices: Sequence[str], rhs: Expr, mask: Access | None = None) -> Access:
        # Dense outer levels of a reducer's result are refused.
        result = declare("T", indices, sparse=True)
        statements.append(Statement(result, rhs, mask=mask))
        return result

    def changed(x: Access) -> Access:
        kind = draw(st.sampled_from(("add", "multiply", "restrict", "function", "bias")))
        match kind:
            case "add":
                return assign(x.names, x + declare("A", x.names))
            case "multiply":
                return assign(x.names, x * declare("A", x.names))
            case "restrict":
                return assign(x.names, f.max(x, 1), declare("A", x.names))
            case "function":
                return assign(x.names, f.relu(x))
            case _:
                return assign(x.names, x * declare("A", [draw(st.sampled_from(x.names))]))

    matrices = [declare("A", _INDICES[n : n + 2]) for n in range(count)]
    while len(matrices) > 1:
        n = draw(st.integers(0, len(matrices) - 2))
        left, right = matrices[n : n + 2]
        product = assign((left.names[0], right.names[1]), left * right)
        if draw(st.integers(0, 2)) == 0:
            product = changed(product)
        matrices[n : n + 2] = [product]
    return Program("random", tensors, (Region(tuple(statements)),)), order
