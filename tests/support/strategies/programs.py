"""Hypothesis strategies for random programs of one statement."""

from functools import reduce

from hypothesis import strategies as st

from samhw.lang.declaration import TensorDecl
from samhw.lang.expr import Access, Expr, Literal, Mul, Neg
from samhw.lang.program import Program
from samhw.lang.statement import Region, Statement
from samhw.tensors.formats import Format, level_type

__all__ = ["programs"]

_INDICES = ("i", "j", "k", "l")
_MAX_RANK = 3
# The number of tensors in each product of a sum, four in all at most.
_PRODUCT_SIZES = (
    (1,),
    (2,),
    (3,),
    (4,),
    (1, 1),
    (1, 2),
    (2, 1),
    (2, 2),
    (1, 3),
    (3, 1),
    (1, 1, 1),
    (1, 2, 1),
)


@st.composite
def programs(
    draw: st.DrawFn, *, max_extent: int = 6, literals: bool = True, every_level: bool = False
) -> Program:
    """Valid programs of one statement, a sum of products of one to four tensors of rank 0 to 3.

    An order is drawn first and every tensor, the result too, is stored concordantly: its levels, dense or
    compressed at random, follow the order. Every product uses all indices of the left side, so that no
    operand of a sum is broadcast, and may sum over others. All extents are known, from 1 to `max_extent`.
    With `literals`, products may have a small whole factor or a minus sign; with `every_level`, operands have
    ell, ragged and dia levels too.
    """
    order = draw(st.permutations(_INDICES))
    extents = {index: draw(st.integers(1, max_extent)) for index in _INDICES}
    free = draw(st.lists(st.sampled_from(_INDICES), max_size=_MAX_RANK, unique=True))
    tensors: dict[str, TensorDecl] = {}

    def declare(name: str, indices: tuple[str, ...]) -> Access:
        kinds = ["dense", "compressed"]
        if every_level and name != "X":
            kinds += [f"ell({max_extent})", "ragged"]
        levels = [draw(st.sampled_from(kinds)) for _ in indices]
        if every_level and name != "X" and len(levels) == 2 and draw(st.booleans()):
            levels = ["dense", "dia"]
        modes = sorted(range(len(indices)), key=lambda mode: order.index(indices[mode]))
        shape = tuple(extents[index] for index in indices)
        tensors[name] = TensorDecl(name, indices, shape, Format(tuple(map(level_type, levels)), tuple(modes)))
        return Access.of(name, indices)

    products: list[Expr] = []
    for size in draw(st.sampled_from(_PRODUCT_SIZES)):
        indices = draw(_factors(free, size))
        factors: list[Expr] = [declare("BCDE"[len(tensors)], modes) for modes in indices]
        if literals and draw(st.booleans()):
            factors.insert(0, Literal(draw(st.integers(-3, 3))))
        product = reduce(Mul, factors)
        products.append(Neg(product) if literals and draw(st.booleans()) else product)
    rhs = products[0]
    for product in products[1:]:
        rhs = rhs + product if draw(st.booleans()) else rhs - product
    lhs = declare("X", tuple(free))
    used = Statement(lhs, rhs).indices
    statement = Statement(lhs, rhs, tuple(index for index in order if index in used) or None)
    return Program("random", tensors, (Region((statement,)),))


@st.composite
def _factors(draw: st.DrawFn, free: list[str], size: int) -> list[tuple[str, ...]]:
    """The indices of `size` factors, which together use all of `free` and perhaps others, to sum over."""
    room = min(len(_INDICES), size * _MAX_RANK) - len(free)
    others = [index for index in _INDICES if index not in free]
    summed = draw(st.lists(st.sampled_from(others), max_size=room, unique=True))
    factors: list[list[str]] = [[] for _ in range(size)]
    for index in (*free, *summed):
        # One factor, at least, must have the index; it needs room for it.
        draw(st.sampled_from([factor for factor in factors if len(factor) < _MAX_RANK])).append(index)
    for factor in factors:
        more = [index for index in (*free, *summed) if index not in factor]
        if more and len(factor) < _MAX_RANK:
            factor += draw(st.lists(st.sampled_from(more), max_size=_MAX_RANK - len(factor), unique=True))
    return [tuple(draw(st.permutations(factor))) for factor in factors]
