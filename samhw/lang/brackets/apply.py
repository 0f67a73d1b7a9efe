"""A program with brackets: the statements that compute what each of them says. What a bracket sums in
parentheses is computed by itself."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from samhw.errors import InputError
from samhw.lang import (
    Access,
    Add,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Program,
    Statement,
    Sub,
    TensorDecl,
    accesses,
    check_program,
    free_indices,
    renamed,
)
from samhw.lang.brackets.bracket_text import (
    Group,
    Leaf,
    Node,
    Quantity,
    Total,
    leaves,
    parse_bracket,
    tensors_of,
)
from samhw.lang.brackets.matched import Matched, matched
from samhw.lang.brackets.products import definitions, is_sum, products_of
from samhw.names import Names
from samhw.precedence import Precedence
from samhw.tensors import Format

__all__ = ["apply_brackets"]

LONGEST = 40
"""Letters of a name that is made of those of factors."""


class StatementMaker:
    """The statements of one bracket.

    Args:
        tensors: of the program.
        statement: that of the result.
        names: of all tensors.

    Attributes:
        made: those that come before the result's, in their order.
        tensors: what they compute.
    """

    def __init__(
        self, tensors: Mapping[str, TensorDecl], statement: Statement, leaf: Matched, names: Names
    ) -> None:
        self.known = tensors
        self.statement = statement
        self.matched = leaf
        self.names = names
        self.made: list[Statement] = []
        self.tensors: dict[str, TensorDecl] = {}
        self.alike: dict[tuple[str, tuple[str, ...]], str] = {}
        self.rank = {index: n for n, index in enumerate(self.order())}

    def last(self, tree: Node) -> Statement:
        """The statement of the result; adds to `made` what it needs."""
        rhs = self.expr(tree)
        mine = replace(self.statement, rhs=rhs, order_span=None)
        keeps = self.statement.order is not None and set(self.statement.order) == set(mine.indices)
        return mine if keeps else replace(mine, order=None)

    def expr(self, node: Node) -> Expr:
        """An expression of the language; what it sums in parentheses is a tensor in it."""
        match node:
            case Leaf():
                return self.matched.factors[node]
            case Group(inside):
                kept = self.kept(node)
                if kept is not None:
                    return self.computed(node, inside, kept)
                return self.expr(inside)
            case Total(((negative, first), *others)):
                found = Neg(self.expr(first)) if negative else self.expr(first)
                for negative, part in others:
                    found = (Sub if negative else Add)(found, self.expr(part))
                return found
            case Quantity(parts):
                return self.multiplied(parts)
        raise TypeError(f"{node!r} is no part of a bracket")

    def multiplied(self, parts: Sequence[Node]) -> Expr:
        above = [p for p in parts if not (isinstance(p, Leaf) and p.divides)]
        product = self.expr(above[0]) if above else Literal(1)
        for part in above[1:]:
            product = Mul(product, self.expr(part))
        for part in parts:
            if isinstance(part, Leaf) and part.divides:
                product = Div(product, self.expr(part))
        return product

    def kept(self, group: Group) -> tuple[str, ...] | None:
        """The indices that a group leaves to what is outside of it; None if it sums over none."""
        inside = list(leaves(group))
        outside = set().union(*(self.matched.together[leaf] for leaf in inside)).difference(inside)
        used = {index for leaf in outside for index in free_indices(self.matched.factors[leaf])}
        used.update(self.statement.lhs.variables)
        indices = {index for leaf in inside for index in free_indices(self.matched.factors[leaf])}
        if indices <= used:
            return None
        return tuple(sorted(indices & used, key=self.rank.__getitem__))

    def computed(self, group: Group, inside: Node, kept: tuple[str, ...]) -> Access:
        """The tensor that a group is, under its indices; one that is there already, if it is the same."""
        rhs = self.expr(inside)
        standard = {index: f"{n}" for n, index in enumerate(dict.fromkeys((*free_indices(rhs), *kept)))}
        like = str(renamed(rhs, standard)), tuple(standard[index] for index in kept)
        if like not in self.alike:
            name = self.alike[like] = self.names.fresh(self.wish(group))
            lhs = Access.of(name, kept)
            self.made.append(Statement(lhs, rhs, scan=self.statement.scan))
            sparse = [self.is_sparse(inside, index) for index in kept]
            fmt = Format.sparse_in(map(bool, sparse))
            self.tensors[name] = TensorDecl(name, kept, (None,) * len(kept), fmt)
        return Access.of(self.alike[like], kept)

    def wish(self, group: Group) -> str:
        """A name for what a group computes."""
        found = [a.tensor for leaf in leaves(group) for a in accesses(self.matched.factors[leaf])]
        name = "_".join(found)
        return name if len(name) <= LONGEST else f"{self.statement.lhs.tensor}_part"

    def is_sparse(self, node: Node, index: str) -> bool | None:
        """Whether only some coordinates of an index are stored of what a bracket multiplies and adds up; None
        for what lacks the index."""
        match node:
            case Leaf():
                return self.is_sparse_leaf(self.matched.factors[node], index)
            case Group(inside):
                return self.is_sparse(inside, index)
            case Quantity(parts):
                known = [s for part in parts if (s := self.is_sparse(part, index)) is not None]
                return any(known) if known else None
            case Total(terms):
                return all(self.is_sparse(part, index) for _, part in terms)
        raise TypeError(f"{node!r} is no part of a bracket")

    def is_sparse_leaf(self, expr: Expr, index: str) -> bool | None:
        if index not in free_indices(expr):
            return None
        if not isinstance(expr, Access):
            return False
        fmt = self.known[expr.tensor].format
        return not fmt.levels[fmt.mode_order.index(expr.names.index(index))].is_full

    # The order of a result's modes

    def order(self) -> list[str]:
        """All indices of the bracket, so that as many tensors as possible are stored in their order: the
        result's first, then those that come first in the bracket."""
        graph = Precedence[str]()
        for chain in self.chains():
            for outer, inner in pairwise(chain):
                if outer in graph and inner in graph and graph.leads(inner, outer):
                    continue
                graph.add_edges([(outer, inner)])
        place = {index: n for n, index in enumerate(self.indices())}
        graph.add_nodes(place)
        return list(graph.order(place.__getitem__))

    def indices(self) -> list[str]:
        found = [*self.statement.lhs.variables]
        for expr in self.matched.factors.values():
            found += free_indices(expr)
        return list(dict.fromkeys(found))

    def chains(self) -> Iterator[Collection[str]]:
        """Indices from the outermost inward, as tensors store them: those of the leaves, then the result."""
        for expr in self.matched.factors.values():
            for access in accesses(expr):
                yield self.stored(access)
        yield self.stored(self.statement.lhs)

    def stored(self, access: Access) -> list[str]:
        fmt = self.known[access.tensor].format
        return [access.names[mode] for mode in fmt.mode_order]


def apply_brackets(program: Program, brackets: Mapping[str, str]) -> Program:
    """The program in which the statements of some results are computed as brackets say.

    What a bracket sums in parentheses becomes a statement of its own, before the result's, in the same
    region. Its result is named by its factors: that of `X * W` is `X_W`. Intermediates that nobody reads any
    more are left out. Results keep their names, and dimensions theirs.

    Args:
        brackets: by result, the right side in its brackets, such as `A * (X * W)`.

    Raises:
        InputError: for a result that there is not, or a bracket that is not equal to its statement.
    """
    if not brackets:
        return program
    results = {decl.name for decl in program.outputs}
    names = Names((*program.tensors, *brackets))
    bracketed = program
    for result, text in brackets.items():
        bracketed = _with_bracket(bracketed, result, text, names)
    bracketed = _without_unread(bracketed, results)
    named = {
        (name, mode): dimension
        for name in program.tensors
        if name in bracketed.tensors
        for mode, dimension in enumerate(program.dimensions.of_tensor(name))
    }
    bracketed = replace(bracketed, named=named)
    check_program(bracketed)
    return bracketed


def _with_bracket(program: Program, result: str, text: str, names: Names) -> Program:
    statement = _statement(program, result)
    tree = parse_bracket(text, result)
    defined = definitions(program)
    mentioned = tensors_of(text, result)
    products = products_of(statement, defined, mentioned)
    if products is None:
        raise InputError(
            f"brackets.{result}: '{statement}' does not multiply out to products that each have the indices "
            f"which they are summed over; name more of its intermediates in the bracket."
        )
    maker = StatementMaker(program.tensors, statement, matched(tree, products, statement, text), names)
    last = maker.last(tree)
    if last.mask is not None and not set(last.mask.variables) <= set(last.indices):
        raise InputError(
            f"brackets.{result}: '{text}' sums in parentheses over an index of the mask '{last.mask}'; leave "
            "what has that index outside of them."
        )
    tensors: dict[str, TensorDecl] = {}
    for name, decl in program.tensors.items():
        if name == result:
            tensors |= maker.tensors
        tensors[name] = decl
    became = {statement: (*maker.made, last)}
    regions = (
        replace(region, statements=tuple(new for s in region.statements for new in became.get(s, (s,))))
        for region in program.regions
    )
    return replace(program, tensors=tensors, regions=tuple(regions))


def _statement(program: Program, result: str) -> Statement:
    """The statement that computes a result, if it can have a bracket."""
    program.check_computed("brackets", [result])
    statement = next(s for s in program.statements if s.lhs.tensor == result)
    placed = next((access for access in statement.accesses if not access.is_plain), None)
    if placed is not None:
        raise InputError(
            f"brackets.{result}: '{placed}' in '{statement}' has an index that is more than a name, which no "
            "bracket can have; leave it out, or gather what is read there in a statement before it."
        )
    if not is_sum(statement):
        raise InputError(
            f"brackets.{result}: '{statement}' is no sum of products, which alone have brackets; leave it "
            "out."
        )
    return statement


def _without_unread(program: Program, results: set[str]) -> Program:
    """Without the statements whose results are neither asked for nor read any more."""
    while True:
        unread = {decl.name for decl in program.outputs} - results
        if not unread:
            return program
        regions = [
            replace(region, statements=tuple(s for s in region.statements if s.lhs.tensor not in unread))
            for region in program.regions
        ]
        program = replace(
            program,
            tensors={name: decl for name, decl in program.tensors.items() if name not in unread},
            regions=tuple(region for region in regions if region.statements),
        )
