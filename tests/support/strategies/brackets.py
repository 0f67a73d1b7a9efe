"""A Hypothesis strategy for brackets of a program's statements."""

from collections.abc import Sequence

from hypothesis import strategies as st

from samhw.lang import Program
from samhw.lang.brackets import Product, definitions, products_of
from samhw.lang.brackets.bracket_text import Group, Leaf, Node, Quantity, Total
from samhw.lang.brackets.products import is_sum

__all__ = ["brackets"]


@st.composite
def brackets(draw: st.DrawFn, program: Program) -> dict[str, str]:
    """A bracket for some statements of a program, whatever it costs: any tree over the products that they
    multiply out to, with some of the intermediates looked through."""
    defined = definitions(program)
    found: dict[str, str] = {}
    hidden: set[str] = set()
    for statement in reversed(program.statements):
        result = statement.lhs.tensor
        if result in hidden or not is_sum(statement) or not draw(st.booleans()):
            continue
        kept = {name for name in defined if draw(st.booleans())}
        products = products_of(statement, defined, kept)
        if products is None or max(len(product.factors) for product in products) > 8:
            continue
        terms = [(p.negative, draw(_tree(_leaves(p, 10 * n)))) for n, p in enumerate(products)]
        found[result] = str(draw(_total(terms)))
        hidden |= defined.keys() - kept
    return dict(reversed(found.items()))


def _leaves(product: Product, first: int) -> list[Leaf]:
    """Those of a product, each key's in their order."""
    return [Leaf(factor.key, first + n, factor.divides) for n, factor in enumerate(product.factors)]


@st.composite
def _tree(draw: st.DrawFn, leaves: Sequence[Node]) -> Node:
    """Parts in parentheses at random. They stay in their order, since that tells equal factors apart."""
    parts = list(leaves)
    while len(parts) > 1 and draw(st.booleans()):
        start = draw(st.integers(0, len(parts) - 2))
        stop = draw(st.integers(start + 2, len(parts)))
        # What divides stands in the group with something that it divides.
        inside = parts[start:stop]
        if all(isinstance(part, Leaf) and part.divides for part in inside):
            continue
        parts[start:stop] = [Group(Quantity(tuple(inside)))]
    return parts[0] if len(parts) == 1 and not _divides(parts[0]) else Quantity(tuple(parts))


def _divides(node: Node) -> bool:
    return isinstance(node, Leaf) and node.divides


@st.composite
def _total(draw: st.DrawFn, terms: Sequence[tuple[bool, Node]]) -> Node:
    """Terms that are added up, some of them in parentheses."""
    parts = list(terms)
    if len(parts) > 2 and draw(st.booleans()):
        stop = draw(st.integers(2, len(parts) - 1))
        parts[:stop] = [(False, Group(Total(tuple(parts[:stop]))))]
    return parts[0][1] if len(parts) == 1 and not parts[0][0] else Total(tuple(parts))
