"""Programs of several value types: one calculation a statement, and what each is computed with."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from samhw.lang import Access, Call, Expr, Literal, Program, Statement, TensorDecl, free_indices
from samhw.lang.reference.bounds import Rounding, RunningError
from samhw.lang.reference.domain import Domain
from samhw.lang.reference.extended import OPEN, Extended
from samhw.lang.reference.relation import Relation
from samhw.lang.reference.saturating import Saturating
from samhw.lang.typed import Kind, kind_of, types_of
from samhw.tensors import Format

__all__ = ["Domains", "one_type_each"]

_WHOLE = Rounding.whole()


class Domains:
    """What the statements of a program are computed with: one domain for all, or one for each type.

    Args:
        kinds: the type of each statement, by the tensor that it writes; nothing if one domain serves all.
        made: the domain of each type, or the one under None.
    """

    def __init__(self, kinds: Mapping[str, Kind | None], made: Mapping[Kind | None, Domain]) -> None:
        self.kinds = kinds
        self.made = dict(made)

    @classmethod
    def one(cls, domain: Domain) -> "Domains":
        """One for all statements."""
        return cls({}, {None: domain})

    @classmethod
    def of_types(
        cls,
        kinds: Mapping[str, Kind | None],
        rounding: Callable[[Kind], Rounding | None],
        *,
        finite: bool,
    ) -> "Domains":
        """One for each type, by how that rounds; `finite` if no input holds an infinity or NaN."""
        found: dict[Kind | None, Domain] = {}
        for kind in dict.fromkeys(kinds.values()):
            assert kind is not None
            own = rounding(kind) or _WHOLE
            found[kind] = RunningError(own) if finite or own.relative == 0 else Extended(own)
        return cls(kinds, found)

    def of(self, tensor: str) -> Domain:
        """That in which a tensor is computed."""
        return self.made[self.kinds.get(tensor)]

    def widened(self) -> bool:
        """Takes domains that know of what leaves the range for those in which something has; whether there
        was one."""
        left = False
        for kind, domain in self.made.items():
            if type(domain) is RunningError and not domain.is_in_range:
                beyond = Saturating if domain.rounding.saturates else Extended
                self.made[kind] = beyond(domain.rounding)
                left = True
        for domain in self.made.values():
            if isinstance(domain, RunningError):
                domain.is_in_range = True
        return left

    def taken(self, tensor: str, relation: Relation, domain: Domain) -> Relation:
        """What another domain has computed, as the elements of a domain."""
        if relation.plain or tensor not in self.kinds or (own := self.of(tensor)) is domain:
            return relation
        assert isinstance(domain, RunningError)
        value, bound, is_open = own.result(relation.values)
        error = bound if isinstance(domain, Extended) else np.where(is_open > 0, np.inf, bound)
        elements = domain.element(value, error)
        if isinstance(domain, Extended):
            elements[OPEN] = np.maximum(elements[OPEN], is_open)
        return replace(relation, values=elements, provenance=None)

    def known(
        self, statement: Statement, known: Mapping[str, Relation], domain: Domain
    ) -> Mapping[str, Relation]:
        """What is known, with what a statement reads as the elements of its domain."""
        if not self.kinds:
            return known
        reads = {access.tensor for access in statement.reads if access.tensor in known}
        return {**known, **{name: self.taken(name, known[name], domain) for name in reads}}


def one_type_each(program: Program) -> tuple[Program, dict[str, Kind | None]]:
    """A program each of whose statements calculates in one type: what a conversion converts, and is more than
    a tensor, is computed in a statement of its own. And the type in which each is computed, by its result.

    Args:
        program: with its types written out, and all extents.
    """
    cutting = _Cutting(program)
    regions = [
        replace(region, statements=tuple(cutting.statements(region.statements))) for region in program.regions
    ]
    whole = replace(program, tensors=cutting.tensors, regions=tuple(regions))
    assert program.value is not None
    types = types_of(whole, program.value)
    kinds = {s.lhs.tensor: kind_of(s.rhs, types) for s in (*whole.starts, *whole.statements)}
    return whole, kinds


class _Cutting:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.tensors = dict(program.tensors)
        self.made: list[Statement] = []

    def statements(self, given: Iterable[Statement]) -> Iterable[Statement]:
        """Statements, each after those that compute its parts."""
        for statement in given:
            rhs = self.cut(statement, statement.rhs)
            yield from self.made
            self.made = []
            yield statement if rhs == statement.rhs else replace(statement, rhs=rhs)

    def cut(self, statement: Statement, expr: Expr) -> Expr:
        """An expression in which nothing is converted but tensors."""
        children = [self.cut(statement, child) for child in expr.children]
        if isinstance(expr, Call) and expr.to is not None:
            children = [
                child if self.is_taken(expr, child) else self.part(statement, child) for child in children
            ]
        return expr.with_children(children) if expr.children else expr

    def is_taken(self, call: Call, operand: Expr) -> bool:
        """Whether a function takes an operand as it is."""
        if isinstance(operand, Call) and operand.function == "to" and call.function == "scale":
            return isinstance(operand.arguments[0], Access)
        return isinstance(operand, Access | Literal)

    def part(self, statement: Statement, expr: Expr) -> Access:
        """The result of a statement that computes a part of another one."""
        scan = statement.scan
        indices = [i for i in free_indices(expr) if scan is None or i != scan.index]
        # No tensor has such a name.
        name = f"{statement.lhs.tensor} {len(self.tensors)}"
        extents = self.program.extents(statement)
        shape = tuple(extents.get(index) for index in indices)
        self.tensors[name] = TensorDecl(name, tuple(indices), shape, Format.dense(len(indices)))
        result = Access.of(name, indices)
        self.made.append(Statement(result, expr, scan=scan))
        return result
