"""Cascades of reductions as one pass: what an earlier result would have changed in the elements is made good
later.

Of F(x, d) = G(x) ⊗ H(d), H is *deferred* where it has no functions: it is taken once, after the reduction.
Where it has, as in exp(x - m), G could leave the range. Then what was reduced so far is *rescaled* by
H(d) / H(d'), d' being d before an element, and d itself at each element is a running reduction (RedFuser,
equation 16; for softmax Milakov and Gimelshein's online normalizer).
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from samhw.lang import (
    COORDINATES,
    RANKINGS,
    Access,
    Add,
    Call,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Program,
    Recurrence,
    Region,
    RunningReduction,
    Statement,
    Sub,
    TensorDecl,
    accesses,
    free_indices,
    walk,
)
from samhw.lang.cascade.decompose import Decomposed, FiniteRank, RankTerm, decompose, terms_by
from samhw.lang.cascade.monotone import commuted
from samhw.lang.cascade.parts import Rescaling, begun
from samhw.lang.cascade.region_reductions import Reduced, RegionReductions
from samhw.lang.cascade.symbols import Symbolic, from_symbols, symbol, to_symbols
from samhw.lang.expr import TYPED
from samhw.lang.traverse import rewritten, with_accesses
from samhw.names import Names
from samhw.tensors import Format

__all__ = ["CascadeFinding", "RegionRewriter"]

PLACES = {*COORDINATES, "argtop", "argbottom"}
"""Reductions that give coordinates, and no values."""

_ROUNDING = ("rint", "f8e4m3", "f8e5m2", *TYPED)


@dataclass(frozen=True)
class CascadeFinding:
    """What the test says of a reduction that uses earlier ones."""

    tensor: str
    index: str
    words: str
    rewritten: bool

    def __str__(self) -> str:
        return f"{self.tensor} (over {self.index}): {self.words}"


class RegionRewriter:
    """The statements of a region, rewritten one after another."""

    def __init__(self, program: Program, region: Region, names: Names, mode: str):
        self.program = program
        self.asked = region
        self.known = RegionReductions(program, region)
        self.names = names
        self.mode = mode
        self.findings: list[CascadeFinding] = []
        self.tensors: dict[str, TensorDecl] = {}
        self.rescaled: dict[str, tuple[Rescaling, ...]] = {}
        self.reduced: dict[str, str] = {}
        """The reductions of cascades by tensor, each with the index that it goes over."""
        self.running: dict[str, Access] = {}
        """The running reductions by tensor, each with the result that it is of."""
        self.statements: list[Statement] = []
        self._running: dict[tuple[str, str], Access] = {}
        """Of an earlier result, by the name of its tensor and the kind of value."""
        self._versions: dict[tuple[Statement, frozenset[str]], Access] = {}

    def region(self) -> Region:
        """The region, with further statements in it."""
        for statement in self.asked.statements:
            self._add(statement)
        return replace(self.asked, statements=tuple(self.statements))

    # Whether

    def _add(self, statement: Statement) -> bool:
        """Adds a statement, or those that compute it in one pass with others; says whether it is itself."""
        found = self.known.reduced(statement)
        ways = (self._commute, self._take_apart, self._rewrite)
        if found is not None and found.earlier and any(way(found) for way in ways):
            return False
        self.statements.append(statement)
        return True

    def _say(self, reduced: Reduced, words: str, rewritten: bool) -> None:
        tensor = reduced.statement.lhs.tensor
        self.findings.append(CascadeFinding(tensor, reduced.index, words, rewritten))

    def _rewrite(self, reduced: Reduced) -> bool:
        """Rewrites a reduction if it comes apart, and says what was found."""
        parts: dict[Access, Decomposed] = {}
        refusal = self._refusal(reduced, parts)
        if refusal is None:
            rescaled = {a for a, part in parts.items() if not part.is_deferred}
            refusal = self._cannot_rescale(reduced, {access: parts[access] for access in rescaled})
        if refusal is None and self.mode != "off":
            refusal = self._emit_or_not(reduced, parts, rescaled)
        words = refusal
        if words is None:
            ways = [
                f"{'rescaled' if access in rescaled else 'deferred'} for {access}, {part}"
                for access, part in parts.items()
            ]
            words = ("could be " if self.mode == "off" else "") + "; ".join(ways)
        done = refusal is None and self.mode != "off"
        self._say(reduced, words, done)
        return done

    def _emit_or_not(
        self, reduced: Reduced, parts: Mapping[Access, Decomposed], rescaled: set[Access]
    ) -> str | None:
        """Adds the statements that compute a reduction in one pass; or says why there are none."""
        before = self._state()
        self._emit(reduced, parts, rescaled)
        for statement in self.statements[len(before["statements"]) :]:
            for index in statement.lhs.variables:
                if index not in free_indices(statement.rhs):
                    vars(self).update(before)
                    return f"left alone: without what is deferred, nothing in it has the index {index}"
        return None

    def _state(self) -> dict[str, Any]:
        """What has been made so far, to go back to."""
        return {name: copy(made) for name, made in vars(self).items() if isinstance(made, list | dict)}

    def _refusal(self, reduced: Reduced, parts: dict[Access, Decomposed]) -> str | None:
        """Why nothing is done about a reduction, or None; `parts` gets how it comes apart by each result."""
        if reduced.statement.reduction in COORDINATES:
            return "left alone: the coordinate of an extreme does not come apart"
        if reduced.statement.reduction in RANKINGS:
            return "left alone: what is put in order does not come apart"
        if reduced.statement.reduction == "prod":
            return "left alone: a product has no form to rescale"
        if not reduced.counts_alike:
            return f"left alone: it and {_listed(reduced.earlier)} do not count the same points"
        named = {access: symbol(str(access)) for access in dict.fromkeys(accesses(reduced.operand))}
        expr = to_symbols(reduced.operand, named.__getitem__)
        for access in reduced.earlier:
            others = [s for a, s in named.items() if a != access]
            found = decompose(expr, reduced.statement.reduction, others, named[access])
            if found is None and _rounds(reduced.operand, access):
                return (
                    f"left alone: it rounds inside of the sum what {access} scales, so that no form in one "
                    "pass is equal in real numbers; a program may say it with a running scale, as "
                    "'quant_gemm' does"
                )
            if found is None:
                return f"left alone: {expr} does not come apart into elements and {access}"
            if isinstance(found, FiniteRank):
                return (
                    f"left alone: it comes apart only as {found}, sums that may cancel; ask for 'finite', or "
                    "write Welford's form as statements"
                )
            parts[access] = found
        return None

    def _cannot_rescale(self, reduced: Reduced, rescaled: Mapping[Access, Decomposed]) -> str | None:
        if not rescaled:
            return None
        if self.mode == "deferred":
            return f"left alone: {_listed(rescaled)} would have to rescale it, and 'deferred' does not"
        if reduced.statement.reduction != "sum":
            return "left alone: only sums can be rescaled"
        if reduced.once is not None:
            return f"left alone: {reduced.once} is added once, and not at each {reduced.index}"
        for access, part in rescaled.items():
            if not part.can_rescale:
                return f"left alone: H = {part.results} is not surely a positive number, to rescale by"
            writer = reduced.earlier[access]
            before = self.known.reduced(writer)
            if before is None or before.earlier or writer.reduction not in ("max", "min", "sum"):
                return f"left alone: {access}, which would have to rescale it, is itself of earlier results"
        return None

    # How

    def _commute(self, reduced: Reduced) -> bool:
        """Takes elements without earlier results in the place of the operand, if they have its order."""
        statement = reduced.statement
        places = statement.reduction in PLACES
        if not places and (statement.reduction in ("sum", "prod") or not self._has_values(statement)):
            return False
        found = commuted(self.known, reduced)
        if found is None:
            return False
        used = {*free_indices(found.element), *(reduced.mask.names if reduced.mask else ()), statement.rank}
        if places and not used.issuperset(statement.lhs.names):
            return False
        words = f"of {found.element} in its place, which has the same order"
        self._say(reduced, ("could be " if self.mode == "off" else "") + words, self.mode != "off")
        if self.mode == "off" or places:
            rhs = statement.rhs if self.mode == "off" else found.element
            self.statements.append(replace(statement, rhs=rhs))
            return True
        lhs = statement.lhs
        value = Access.of("", [name for name in lhs.names if name in used])
        value = Access(self._declare(f"{lhs.tensor}_element", value, lhs), value.indices)
        order = statement.order and tuple(index for index in statement.order if index in used)
        self.reduced[value.tensor] = reduced.index
        self.statements.append(replace(statement, lhs=value, rhs=found.element, order=order))
        self.statements.append(Statement(lhs, found.back(value), self._order(statement)))
        return True

    def _has_values(self, statement: Statement) -> bool:
        """Whether each row surely has as many points as the statement gives values: others would be 0."""
        if statement.mask is not None:
            return False
        if statement.reduction not in RANKINGS:
            return True
        extents = self.program.extents(statement)
        ranks, points = (extents[i] for i in (statement.rank, *statement.reduction_indices) if i is not None)
        return ranks is not None and points is not None and ranks <= points

    def _take_apart(self, reduced: Reduced) -> bool:
        """Makes several sums of one that is of finite rank, and says so."""
        if self.mode != "finite" or reduced.statement.reduction != "sum" or not reduced.counts_alike:
            return False
        before = self._state()
        for result in reduced.earlier:
            found = terms_by(self.known, reduced, result)
            if found is None or len(found[1]) < 2:
                continue
            rank, terms = found
            self._say(reduced, f"finite rank for {result}: {rank}", True)
            self._emit_terms(reduced, terms)
            if all(finding.rewritten for finding in self.findings[len(before["findings"]) :]):
                return True
            vars(self).update(before)
        return False

    def _emit_terms(self, reduced: Reduced, terms: Sequence[RankTerm]) -> None:
        """A sum of each term's elements, and after them their sum."""
        statement = reduced.statement
        whole: Expr | None = None
        for term in terms:
            elements = self._at_each(term.elements, reduced)
            used = {*free_indices(elements), *(reduced.mask.names if reduced.mask else ())}
            lhs = Access.of("", [name for name in statement.lhs.names if name in used])
            lhs = Access(self._declare(f"{statement.lhs.tensor}_term", lhs, None), lhs.indices)
            order = statement.order and tuple(index for index in statement.order if index in used)
            term_sum = Statement(lhs, elements, order or None, mask=reduced.mask)
            if self._add(term_sum):
                self.reduced[lhs.tensor] = reduced.index
            product = _simplified(Mul(term.results, lhs))
            whole = product if whole is None else Add(whole, product)
        assert whole is not None
        self.statements.append(self._last(reduced, whole))

    def _at_each(self, elements: Expr, reduced: Reduced) -> Expr:
        """Elements as something that there is at each coordinate of what is reduced."""
        if reduced.index in free_indices(elements):
            return elements
        like = next(access for access in accesses(reduced.operand) if reduced.index in access.names)
        names = dict.fromkeys((*like.names, *free_indices(elements)))
        lhs = Access.of("", names)
        lhs = Access(self._declare(f"{reduced.statement.lhs.tensor}_each", lhs, None), lhs.indices)
        self.statements.append(Statement(lhs, Add(Mul(Literal(0), like), elements)))
        return lhs

    def _order(self, statement: Statement) -> tuple[str, ...] | None:
        """That of a statement over what another one writes."""
        order = statement.order and tuple(i for i in statement.order if i in statement.lhs.names)
        return order or None

    def _emit(self, reduced: Reduced, parts: Mapping[Access, Decomposed], rescaled: set[Access]) -> None:
        statement, index = reduced.statement, reduced.index
        put: dict[Access, Expr] = {}
        factors: list[Expr] = []
        for access, part in parts.items():
            if access not in rescaled:
                put[access] = Literal(part.point)
                continue
            running = self._run(reduced, access, exclusive=False)
            put[access] = running
            factors.append(self._factor(reduced, access, part, running))
        operand = with_accesses(reduced.summed, lambda a: self._version(a, reduced, put))
        epilogue = [
            (a, part) for a, part in parts.items() if a not in rescaled and part.results != part.point
        ]
        lhs = statement.lhs
        name = self._declare(f"{lhs.tensor}_sum", lhs, lhs) if epilogue else ""
        lhs = Access(name, lhs.indices) if epilogue else lhs
        rhs = _with(_simplified(operand), None if epilogue else reduced.once)
        mask = statement.mask
        if factors:
            rhs, mask = Recurrence(index, _product(factors), rhs), reduced.mask
            self.rescaled[lhs.tensor] = tuple(
                Rescaling(access, reduced.earlier[access], part)
                for access, part in parts.items()
                if access in rescaled
            )
        self.reduced[lhs.tensor] = index
        self.statements.append(replace(statement, lhs=lhs, rhs=rhs, mask=mask))
        if epilogue:
            self.statements.append(self._epilogue(reduced, lhs, epilogue))

    def _epilogue(
        self, reduced: Reduced, sum: Access, parts: Sequence[tuple[Access, Decomposed]]
    ) -> Statement:
        """What was deferred, after the reduction."""
        is_sum = reduced.statement.reduction == "sum"
        whole: Symbolic = symbol(str(sum))
        read = {str(sum): sum}
        for access, part in parts:
            read[str(access)] = access
            whole = whole * part.results if is_sum else whole + part.results
        rhs = from_symbols(whole, read)
        assert rhs is not None
        return self._last(reduced, rhs)

    def _last(self, reduced: Reduced, rhs: Expr) -> Statement:
        """What gives the result after its reductions, with what is added once."""
        statement = reduced.statement
        mask = None if reduced.once is None else statement.mask
        return Statement(statement.lhs, _with(rhs, reduced.once), self._order(statement), mask=mask)

    def _names(self, access: Access, writer: Statement, index: str) -> dict[str, str]:
        (own,) = writer.reduction_indices
        return {**dict(zip(writer.lhs.names, access.names, strict=True)), own: index}

    def _run(self, reduced: Reduced, access: Access, *, exclusive: bool) -> Access:
        """An earlier result as it is at each element, or before it."""
        writer = reduced.earlier[access]
        key = (f"{access} {reduced.index}", "before" if exclusive else "running")
        if key not in self._running:
            renamed = writer.renamed(self._names(access, writer, reduced.index))
            operand = begun(writer.reduction, renamed.rhs)
            rhs = RunningReduction(writer.reduction, reduced.index, operand, exclusive)
            indices = Access.of("", (*access.names, reduced.index)).indices
            like = next(iter(accesses(renamed.rhs)), None)
            name = self._declare(f"{writer.lhs.tensor}_{key[1]}", Access("", indices), like)
            self.statements.append(Statement(Access(name, indices), rhs, mask=reduced.mask))
            self.running[name] = access
            self._running[key] = Access(name, indices)
        return self._running[key]

    def _factor(self, reduced: Reduced, access: Access, part: Decomposed, running: Access) -> Expr:
        """H(d) / H(d') at each element."""
        key = (f"{access} {reduced.index}", f"factor {part.results}")
        if key not in self._running:
            before = self._run(reduced, access, exclusive=True)
            expr = part.factor(running, before)
            name = self._declare(f"{access.tensor}_factor", running, running)
            self.statements.append(Statement(Access(name, running.indices), expr, mask=reduced.mask))
            self._running[key] = Access(name, running.indices)
        return self._running[key]

    def _version(self, access: Access, reduced: Reduced, put: Mapping[Access, Expr]) -> Expr:
        """What is to be read in the place of an access: what was put instead of an earlier result, and what
        follows from that element by element."""
        if access in put:
            return put[access]
        writer = self.known.writers.get(access.tensor)
        if writer is None or not self.known.is_elementwise(writer):
            return access
        renamed = writer.renamed(dict(zip(writer.lhs.names, access.names, strict=True)))
        changed = _simplified(with_accesses(renamed.rhs, lambda a: self._version(a, reduced, put)))
        if changed == renamed.rhs:
            return access
        if isinstance(changed, Access | Literal) and renamed.mask is None:
            return changed
        statement = replace(renamed, rhs=changed)
        key = replace(statement, order=None), frozenset(access.names)
        if key not in self._versions:
            indices = access.indices
            if reduced.index not in access.names:
                # At each element, as what it follows from.
                indices = Access.of("", (*access.names, reduced.index)).indices
            name = self._declare(f"{access.tensor}_running", Access("", indices), access)
            self.statements.append(replace(statement, lhs=Access(name, indices), order=None))
            self._versions[key] = Access(name, indices)
        return self._versions[key]

    def _declare(self, wish: str, access: Access, like: Access | None) -> str:
        """A further tensor, stored like a result of another access with the same indices, else dense."""
        name = self.names.fresh(wish)
        stored = Format.dense(len(access.indices))
        if like is not None and like.indices == access.indices:
            stored = {**self.program.tensors, **self.tensors}[like.tensor].format.of_result
        self.tensors[name] = TensorDecl(name, access.names, (None,) * len(access.indices), stored)
        return name


def _with(rhs: Expr, once: Expr | None) -> Expr:
    """A right side with what is added to it once."""
    match once:
        case None:
            return rhs
        case Neg(operand):
            return Sub(rhs, operand)
    return Add(rhs, once)


def _rounds(expr: Expr, result: Access) -> bool:
    """Whether a part of it that is of a result is rounded, to whole numbers or to a narrow type."""
    rounded = [node for node in walk(expr) if isinstance(node, Call) and node.function in _ROUNDING]
    return any(result in accesses(node) for node in rounded)


def _simplified(expr: Expr) -> Expr:
    """Without products with and quotients by 1, sums with 0, and functions of numbers."""

    def change(node: Expr) -> Expr:
        match node:
            case Call(_, arguments) if all(isinstance(argument, Literal) for argument in arguments):
                value = to_symbols(node, lambda access: symbol(str(access)))
                if value.is_comparable:
                    return Literal(int(value) if value.is_Integer else float(value))
            case Mul(Literal(1), other) | Mul(other, Literal(1)) | Div(other, Literal(1)):
                return other
            case Add(other, Literal(0)) | Add(Literal(0), other) | Sub(other, Literal(0)):
                return other
        return node

    return rewritten(expr, change)


def _product(factors: Sequence[Expr]) -> Expr:
    first, *others = factors
    for other in others:
        first = Mul(first, other)
    return first


def _listed(accesses: Mapping[Access, object] | set[Access]) -> str:
    return " and ".join(sorted(map(str, accesses)))
