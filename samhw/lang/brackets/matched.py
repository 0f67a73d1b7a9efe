"""A bracket against the products of a statement: which factor each of its leaves is, under which indices."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from samhw.errors import InputError
from samhw.lang import Expr, Statement, renamed
from samhw.lang.brackets.bracket_text import Group, Leaf, Node, Quantity, Total
from samhw.lang.brackets.products import Factor, Product, keys

__all__ = ["Matched", "matched", "multiplied"]

Bound = tuple[int, str]
"""An index of one of the products, by the product's number; -1 for those of the left side."""


@dataclass(frozen=True)
class Matched:
    """The leaves of a bracket as factors.

    Attributes:
        factors: for each leaf, the expression under the indices that it has in the bracket.
        together: for each leaf, those in a product with it.
    """

    factors: Mapping[Leaf, Expr]
    together: Mapping[Leaf, frozenset[Leaf]]


def matched(tree: Node, products: Sequence[Product], statement: Statement, text: str) -> Matched:
    """What each leaf of a bracket is.

    Of factors that are written alike, the first one in the bracket is the first one in the statement.

    Raises:
        InputError: for a bracket that does not multiply out to these products.
    """
    result = statement.lhs.tensor
    found = _paired(list(multiplied(tree)), products, statement, text)
    indices = _Indices(statement.lhs.variables)
    first: dict[Leaf, tuple[int, Factor]] = {}
    for number, factors in enumerate(found):
        for leaf, factor in factors.items():
            if leaf not in first:
                first[leaf] = number, factor
                continue
            other, same = first[leaf]
            for one, two in zip(same.indices, factor.indices, strict=True):
                if not indices.unite((other, one), (number, two)):
                    raise InputError(
                        f"brackets.{result}: '{leaf}' stands once in '{text}' for two products, in which it "
                        "has different indices; write it for each of them."
                    )
    names = indices.named(statement, [list(factors.values()) for factors in found])
    together: dict[Leaf, set[Leaf]] = defaultdict(set)
    for factors in found:
        for leaf in factors:
            together[leaf].update(factors)
    return Matched(
        {leaf: renamed(f.expr, {i: names[n, i] for i in f.indices}) for leaf, (n, f) in first.items()},
        {leaf: frozenset(others) for leaf, others in together.items()},
    )


def multiplied(node: Node) -> Iterator[tuple[bool, tuple[Leaf, ...]]]:
    """The products that a bracket multiplies out to, each with whether it is negative."""
    match node:
        case Leaf():
            yield False, (node,)
        case Group(inside):
            yield from multiplied(inside)
        case Total(terms):
            for subtracted, part in terms:
                for negative, leaves in multiplied(part):
                    yield negative != subtracted, leaves
        case Quantity(parts):
            found: list[tuple[bool, tuple[Leaf, ...]]] = [(False, ())]
            for part in parts:
                behind = list(multiplied(part))
                found = [(n != m, (*a, *b)) for n, a in found for m, b in behind]
            yield from found


def _paired(
    multiplied: Sequence[tuple[bool, tuple[Leaf, ...]]],
    products: Sequence[Product],
    statement: Statement,
    text: str,
) -> list[dict[Leaf, Factor]]:
    """For each product of a bracket, what its leaves are."""
    left: dict[tuple[object, ...], list[Product]] = defaultdict(list)
    for product in products:
        left[product.keys].append(product)
    found = []
    for negative, leaves in multiplied:
        wanted_keys = keys(negative, (leaf.key for leaf in leaves))
        if not left[wanted_keys]:
            wanted = " + ".join(map(str, products)).replace("+ -", "- ")
            raise InputError(
                f"brackets.{statement.lhs.tensor}: '{text}' is not equal to '{statement}', which multiplies "
                f"out to {wanted}; use each of these products once."
            )
        by_key: dict[str, list[Factor]] = defaultdict(list)
        for factor in reversed(left[wanted_keys].pop(0).factors):
            by_key[factor.key].append(factor)
        ordered = sorted(leaves, key=lambda leaf: leaf.place)
        found.append({leaf: by_key[leaf.key].pop() for leaf in ordered})
    if missing := [product for rest in left.values() for product in rest]:
        raise InputError(
            f"brackets.{statement.lhs.tensor}: '{text}' lacks the product {missing[0]} of '{statement}'; add "
            "it."
        )
    return found


class _Indices:
    """Which indices of products are one, since a leaf stands for a factor of each, and what they are
    called."""

    def __init__(self, lhs: Sequence[str]) -> None:
        self.lhs = lhs
        self.parent: dict[Bound, Bound] = {}
        self.of_product: dict[Bound, dict[int, str]] = {}

    def find(self, bound: Bound) -> Bound:
        if bound[1] in self.lhs:
            bound = -1, bound[1]
        while bound in self.parent:
            bound = self.parent[bound]
        return bound

    def unite(self, one: Bound, other: Bound) -> bool:
        """Whether they can be one: each product has at most one of the indices that are."""
        ours, theirs = self.find(one), self.find(other)
        if ours == theirs:
            return True
        both = [self.of_product.get(root, {root[0]: root[1]}) for root in (ours, theirs)]
        if -1 in both[0] or -1 in both[1] or set(both[0]).intersection(both[1]):
            return False
        self.parent[theirs] = ours
        self.of_product[ours] = {**both[0], **both[1]}
        return True

    def named(self, statement: Statement, factors: Sequence[Sequence[Factor]]) -> dict[Bound, str]:
        """A name for each index: no two of one product have the same, and those that the statement has keep
        theirs."""
        products: dict[Bound, set[int]] = defaultdict(set)
        for number, of_product in enumerate(factors):
            for factor in of_product:
                for index in factor.indices:
                    products[self.find((number, index))].add(number)
        own = statement.indices
        roots = sorted(products, key=lambda root: (root[0] != -1, root[1] not in own))
        taken: dict[str, set[int]] = {index: set(range(len(factors))) for index in self.lhs}
        names: dict[Bound, str] = {(-1, index): index for index in self.lhs}
        for root in roots:
            if root in names:
                continue
            name, count = root[1], 1
            while taken.get(name, set()).intersection(products[root]):
                count += 1
                name = f"{root[1]}_{count}"
            names[root] = name
            taken.setdefault(name, set()).update(products[root])
        return {
            (number, index): names[self.find((number, index))]
            for number, of_product in enumerate(factors)
            for factor in of_product
            for index in factor.indices
        }
