"""Which brackets a program may have, and which of them are expected to take the least work.

Of each statement that sums products, those intermediates are looked through that it alone reads. What comes
of it is a sum of products, and the tree of each product is found by dynamic programming over its factors, as
the order of a chain of matrices is: what is multiplied early sums early over the indices that nothing else
has.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from samhw.compiler.search.work import ProgramWork, Sizes, joined, kept_density, work_of
from samhw.errors import InputError
from samhw.lang import Access, Add, Expr, Literal, Mul, Neg, Program, Statement, Sub, accesses
from samhw.lang.brackets import Product, apply_brackets, definitions, products_of
from samhw.lang.brackets.bracket_text import Group, Leaf, Node, Quantity, Total, leaves
from samhw.lang.brackets.matched import multiplied
from samhw.lang.brackets.products import Factor, is_sum

__all__ = ["WORTH", "BracketChoice", "bracket_choices"]

WORTH = 0.8
"""What the work of a statement must come down to before its bracket is a candidate."""

MOST_FACTORS = 10
"""How many factors of a product are put in the best order; those of longer ones stay as they are."""

FEW_FACTORS = 5
"""Of a product for which all trees are weighed."""


@dataclass(frozen=True)
class BracketChoice:
    """A bracket that is expected to take less work than the program as it is written.

    Attributes:
        result: of the statement that gets it.
        text: the bracket.
        before: the points at which the statements that it stands for are computed as they are written.
        after: those with the bracket.
    """

    result: str
    text: str
    before: float
    after: float


def bracket_choices(program: Program, sizes: Sizes, worth: float | None = None) -> list[BracketChoice]:
    """The best bracket of each statement that gains by one, in the order of the program.

    Args:
        worth: what the work of a statement must come down to, as a share; by default `WORTH`.
    """
    worth = WORTH if worth is None else worth
    work, extents = work_of(program, sizes), sizes.extents(program)
    found: list[BracketChoice] = []
    inlined: set[str] = set()
    for statement in reversed(program.statements):
        if statement.lhs.tensor in inlined or not statement.reduction_indices or not is_sum(statement):
            continue
        chain = _Chain(program, statement, extents, work)
        best = chain.best(worth)
        if best is not None:
            found.append(best)
            inlined |= chain.inlined
    return found[::-1]


@dataclass(frozen=True)
class _Part:
    """What some factors have become.

    Attributes:
        tree: in the bracket.
        variables: the indices that are left, in order of appearance.
        density: the share of the points of these indices at which there is something.
        work: the points at which it has been computed.
        groups: the work of each group in it, by the group's text.
    """

    tree: Node
    variables: tuple[str, ...]
    density: float
    work: float = 0.0
    groups: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def place(self) -> int:
        """That of its first factor in the text."""
        return min(leaf.place for leaf in leaves(self.tree))

    @property
    def parts(self) -> tuple[Node, ...]:
        """What it multiplies."""
        return self.tree.parts if isinstance(self.tree, Quantity) else (self.tree,)


Term = tuple[bool, list[_Part]]
"""Whether a product is subtracted, and its factors."""


class _Chain:
    """The products that a statement sums once intermediates are looked through, and their trees."""

    def __init__(
        self, program: Program, statement: Statement, of_dimensions: Mapping[str, int], work: ProgramWork
    ) -> None:
        self.program = program
        self.statement = statement
        self.of_dimensions = of_dimensions
        self.work = work
        self.defined = definitions(program)
        self.inlined = self.looked_through()
        self.extents: dict[str, float] = {}

    def looked_through(self) -> set[str]:
        """The intermediates that only this statement reads, or others that are looked through."""
        found: set[str] = set()
        open_ones = [self.statement]
        while open_ones:
            for access in open_ones.pop().reads:
                tensor = access.tensor
                if tensor not in self.defined or tensor in found or len(self.program.readers(tensor)) > 1:
                    continue
                if _is_plain(self.defined[tensor].rhs):
                    found.add(tensor)
                    open_ones.append(self.defined[tensor])
        return found

    def best(self, worth: float) -> BracketChoice | None:
        """The bracket of the least work, if it is worth it."""
        result = self.statement.lhs.tensor
        for inlined in (self.inlined, set[str]()):
            self.inlined = inlined
            products = products_of(self.statement, self.defined, self.defined.keys() - inlined)
            if products is None or max(len(p.factors) for p in products) > MOST_FACTORS:
                continue
            before = sum(self.work.points[name] for name in (result, *inlined))
            found = self.bracket(products)
            if found is None or not found[1] < worth * before:
                continue
            if not inlined and "(" not in found[0]:
                continue  # As it is written.
            try:
                apply_brackets(self.program, {result: found[0]})
            except InputError:
                continue
            return BracketChoice(result, found[0], before, found[1])
        return None

    def bracket(self, products: Sequence[Product]) -> tuple[str, float] | None:
        """The text of the best bracket, and its work; None for one that cannot be written."""
        self.extents = self.extents_of(products)
        lhs = set(self.statement.lhs.variables)
        found: list[tuple[bool, list[_Part], _Part | None, list[_Part]]] = []
        for negative, parts in _merged([self.term(n, product) for n, product in enumerate(products)]):
            divisors = [p for p in parts if isinstance(p.tree, Leaf) and p.tree.divides]
            if any(lhs.isdisjoint(p.variables) and p.variables for p in divisors):
                return None
            whole = self.quickest([p for p in parts if p.variables and p not in divisors])
            scalars = [p for p in parts if not p.variables and p not in divisors]
            found.append((negative, scalars, whole, divisors))
        groups = {text: work for *_, whole, _ in found if whole for text, work in whole.groups.items()}
        terms: list[tuple[bool, Node]] = []
        work = 0.0
        for negative, scalars, whole, divisors in found:
            factors = [part for p in scalars for part in p.parts]
            if whole is not None and f"({whole.tree})" in groups:
                # Another term computes the same.
                factors.append(Group(whole.tree))
            elif whole is not None:
                factors += whole.parts
                work += whole.work - sum(whole.groups.values())
            factors += [p.tree for p in divisors]
            terms.append((negative, factors[0] if len(factors) == 1 else Quantity(tuple(factors))))
        tree = terms[0][1] if len(terms) == 1 and not terms[0][0] else Total(tuple(terms))
        return (str(tree), work + sum(groups.values())) if _in_sequence(tree) else None

    def extents_of(self, products: Sequence[Product]) -> dict[str, float]:
        """The extent of each index of the products."""
        dimensions = self.program.dimensions
        return {
            index: float(self.of_dimensions[dimensions.of_index(access, index)])
            for product in products
            for factor in product.factors
            for access in accesses(factor.expr)
            for index in access.variables
        }

    def term(self, number: int, product: Product) -> Term:
        return product.negative, [
            self.part(factor, number * MOST_FACTORS + n) for n, factor in enumerate(product.factors)
        ]

    def part(self, factor: Factor, place: int) -> _Part:
        expr = factor.expr
        density = self.work.densities.get(expr.tensor, 1.0) if isinstance(expr, Access) else 1.0
        return _Part(Leaf(factor.key, place, factor.divides), factor.indices, density)

    def quickest(self, parts: Sequence[_Part]) -> _Part | None:
        """All factors of a product, in the brackets that take the least work."""
        if not parts:
            return None
        best: dict[int, _Part] = {1 << n: self.alone(part, len(parts) == 1) for n, part in enumerate(parts)}
        whole = (1 << len(parts)) - 1
        linked = _linked(parts)
        # Of many factors, what has no index in common is multiplied only where nothing else is left.
        is_long = len(parts) > FEW_FACTORS and whole in linked
        for subset in range(1, whole + 1):
            if subset in best or (is_long and subset not in linked):
                continue
            outside = set(self.statement.lhs.variables)
            outside.update(i for n, p in enumerate(parts) if not subset >> n & 1 for i in p.variables)
            low = subset & -subset
            rest = (subset - 1) & subset
            while rest:
                if not rest & low and rest in best and subset ^ rest in best:
                    one, other = sorted((best[rest], best[subset ^ rest]), key=lambda p: p.place)
                    found = self.joined(one, other, outside, subset == whole)
                    if subset not in best or found.work < best[subset].work:
                        best[subset] = found
                rest = (rest - 1) & subset
        return best[whole]

    def alone(self, part: _Part, is_whole: bool) -> _Part:
        """A factor; where it is the only one, with the work to sum it."""
        if not is_whole:
            return part
        return replace(part, work=joined(part.variables, [part.density], self.extents))

    def joined(self, a: _Part, b: _Part, outside: Collection[str], is_whole: bool) -> _Part:
        """The product of two parts, summed over the indices that nothing outside has."""
        indices = tuple(dict.fromkeys((*a.variables, *b.variables)))
        points = joined(indices, [a.density, b.density], self.extents)
        kept = tuple(index for index in indices if index in outside)
        tree: Node = Quantity((*a.parts, *b.parts))
        work, groups = a.work + b.work, {**a.groups, **b.groups}
        if kept == indices and not is_whole:
            return _Part(tree, indices, a.density * b.density, work, groups)
        places = prod(self.extents[index] for index in kept)
        density = kept_density(points, places)
        own = points + places * density
        if not is_whole:
            tree = Group(tree)
            groups[str(tree)] = own
        return _Part(tree, kept, density, work + own, groups)


def _linked(parts: Sequence[_Part]) -> set[int]:
    """The sets of parts, as bits, in which a way leads from each to each other by indices that two of them
    share."""
    shares = [
        sum(1 << n for n, other in enumerate(parts) if not set(part.variables).isdisjoint(other.variables))
        for part in parts
    ]
    found = {1 << n for n in range(len(parts))}
    for subset in range(1, 1 << len(parts)):
        members = [n for n in range(len(parts)) if subset >> n & 1]
        # One of them may be left out without parting the others.
        if any(subset ^ 1 << n in found and shares[n] & (subset ^ 1 << n) for n in members):
            found.add(subset)
    return found


def _is_plain(expr: Expr) -> bool:
    """Whether it consists of sums and products of tensors and numbers: what a product may be taken out of."""
    return isinstance(expr, Access | Literal | Add | Sub | Mul | Neg) and all(map(_is_plain, expr.children))


def _merged(terms: list[Term]) -> list[Term]:
    """Terms that differ in one factor as one: `A * X + B * X` is `(A + B) * X`."""
    found: list[Term] = []
    for term in terms:
        for place, other in enumerate(found):
            if (both := _factored(other, term)) is not None:
                found[place] = both
                break
        else:
            found.append(term)
    return found


def _factored(one: Term, other: Term) -> Term | None:
    """Both terms as one product; None if they have not all factors but one in common."""
    (negative, ours), (subtracted, theirs) = one, other
    left = list(theirs)
    names: dict[str, str] = {}
    mine: list[_Part] = []
    for part in ours:
        same = next((p for p in left if str(p.tree) == str(part.tree)), None)
        if same is None:
            mine.append(part)
            continue
        left = [p for p in left if p is not same]
        for name, known in zip(same.variables, part.variables, strict=True):
            if names.setdefault(name, known) != known:
                return None
    if len(mine) != 1 or len(left) != 1 or len(ours) < 2:
        return None
    (a,), (b,) = mine, left
    renamed = [names.get(index, index) for index in b.variables]
    if set(renamed) != set(a.variables) or any(isinstance(p.tree, Leaf) and p.tree.divides for p in (a, b)):
        return None
    inside = a.tree.inside if isinstance(a.tree, Group) else a.tree
    known_terms = inside.parts if isinstance(inside, Total) else ((False, inside),)
    total = Total((*known_terms, (subtracted != negative, b.tree)))
    both = _Part(Group(total), a.variables, min(1.0, a.density + b.density))
    return negative, [both if part is a else part for part in ours]


def _in_sequence(tree: Node) -> bool:
    """Whether factors that are written alike are mentioned as they stand in the statement, which is how a
    bracket tells them apart."""
    for _, factors in multiplied(tree):
        last: dict[str, int] = {}
        for leaf in factors:
            if leaf.place < last.get(leaf.key, -1):
                return False
            last[leaf.key] = leaf.place
    return True
