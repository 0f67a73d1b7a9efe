"""Loops of linalg as statements."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from samhw.importers.core import MOST_JOINED, Build, Operations, Tensors, UnsupportedError, Value, Views
from samhw.importers.mlir.hidden import Hidden, hidden_asked, is_zero_anyway, mask_of, shown, where_hidden
from samhw.importers.mlir.idioms import call, literal, number_of, product, simplified, sum_of
from samhw.importers.mlir.lowered_functions import flipped, numbers_only, unsigned_extreme, with_erf
from samhw.importers.mlir.moves import Moves
from samhw.importers.mlir.number_system import MARKED_WORD, NumberSystem
from samhw.importers.mlir.reduction_bodies import (
    BodyReduction,
    is_condition,
    is_factor_product,
    masks,
    reduction_of,
    replaced,
    unsampled,
)
from samhw.importers.mlir.structured import extents_of_loops
from samhw.importers.mlir.types import AffineMap
from samhw.lang.expr import Access, Add, Call, Expr, Literal, Mul
from samhw.lang.traverse import accesses, free_indices, rewritten, terms, walk, with_accesses

__all__ = ["Body", "Compute", "Init"]

_ELEMENT = re.compile(r"%(index|in|out)(\d+)")
_LARGEST = 24
"""Nodes of an expression that is not yet a statement."""
_NEUTRAL = 1e30
"""A maximum that begins with no more than its negative begins with nothing."""


@dataclass(frozen=True)
class Init:
    """What an operation writes into.

    Attributes:
        shape: the extents.
        value: the data that are there; None for none.
        warn: is called if it is read where it holds nothing.
    """

    shape: tuple[int, ...]
    value: Value | None = None
    warn: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Body:
    """What loops compute of elements.

    Attributes:
        yielded: has the elements of inputs as `%in0`, `%in1` and so on, those of outputs as `%out0`, the
            number of a loop as `%index0`.
        outer: what else it has, by name: values of no dimensions.
        where: what is not zero where there is something to reduce; None for everywhere.
    """

    yielded: Expr
    outer: Mapping[str, Value] = field(default_factory=dict)
    where: Expr | None = None


class Compute:
    """Makes statements of loops."""

    def __init__(self, build: Build, system: NumberSystem) -> None:
        self.build = build
        self.system = system
        self.tensors = Tensors(build)
        self.operations = Operations(build, self.tensors)
        self.views = Views(build, self.tensors)
        self.moves = Moves(build, self.tensors, self.operations, self.views)

    def uniform(self, number: float, shape: Sequence[int]) -> Value:
        """One number all over, which may be infinite as long as nothing computes with it."""
        modes = tuple(() if size == 1 else (self.build.axes.index(size),) for size in shape)
        return Value(modes, literal(number))

    def result(
        self,
        maps: Sequence[AffineMap],
        parallel: Sequence[bool],
        given: Sequence[Value],
        inits: Sequence[Init],
        body: Body,
        place: int = 0,
    ) -> Value:
        """One of the results of an operation.

        Args:
            maps: of the inputs, and of the outputs after them.
            parallel: of each loop, whether it is.
            given: the inputs.
            place: which result.

        Raises:
            UnsupportedError: for loops that no statement can follow.
        """
        shapes = [*(self.build.shape(value) for value in given), *(init.shape for init in inits)]
        sizes = extents_of_loops(maps, shapes)
        init, out_map, own = inits[place], maps[len(given) + place], f"%out{place}"
        reduced = [n for n, is_parallel in enumerate(parallel) if not is_parallel and sizes[n] > 1]
        yielded, where = body.yielded, body.where
        if reduced and yielded == Access(own):
            return self._untouched(init)
        plain = unsampled(yielded, own)
        if reduced and plain != yielded:
            yielded, where = plain, Access(own)
        found = self._reduction(yielded, own) if reduced else None
        term = yielded if found is None else found.term
        read = term if where is None else Add(term, where)
        operands = self.operands(maps, given, inits, replace(body, yielded=read), sizes)
        term, operands = self._folded(term, where, operands)
        joins = found is not None and found.kind == "sum" and isinstance(term, Mul)
        whole, swaps = self._whole(term, operands, sizes, as_factors=joins)
        value = replace(whole, modes=_rows(out_map, whole.modes))
        stored = None if where is None else with_accesses(where, lambda a: swaps.get(a.tensor, a))
        if value.mask is not None and (stored is not None or (found and found.kind != "max")):
            raise UnsupportedError("reduces what is -inf at places", "take the maximum, or exp before")
        if found is None:
            return self._small(value) if stored is None else self._masked(value, stored)
        if value.mask is not None:
            whole = self.tensors.expanded_over(whole, value.mask.names)
            value = replace(whole, modes=_rows(out_map, whole.modes))
        if stored is not None and (found.kind != "sum" or where == Access(own) or masks(value, stored)):
            total = self._reduced_where(value, found.kind, stored)
        else:
            total = self._reduced(value, found.kind, [index for n in reduced for index in whole.modes[n]])
        whole = self._with_init(total, found, init)
        return self._word(whole, found, math.prod(sizes[n] for n in reduced)) if found.width else whole

    def _reduction(self, yielded: Expr, own: str) -> BodyReduction:
        """The reduction that a body makes of what is there."""
        found = reduction_of(yielded, own)
        if found is not None:
            return found
        if any(access.tensor == own for access in accesses(yielded)):
            raise UnsupportedError(
                "reduces by a body that is no sum, product, maximum or minimum of what is there and "
                "something else",
                "reduce by one of these",
            )
        raise UnsupportedError("reduces, but keeps nothing of what was there", "make the loop parallel")

    def _whole(
        self, term: Expr, operands: Mapping[str, Value], sizes: Sequence[int], *, as_factors: bool
    ) -> tuple[Value, dict[str, Expr]]:
        """A term over all loops, and the expressions of its operands, by their names.

        Args:
            as_factors: the operands are to be factors of a sum.
        """
        names, held = list(operands), list(operands.values())
        fate = self._where_hidden(term, operands)
        if as_factors:
            held = [self.tensors.as_product(value) for value in held]
        held = self.tensors.joinable(held)
        modes: tuple[tuple[str, ...], ...] = tuple(() for _ in sizes)
        exprs: list[Expr] = []
        mask = None
        if held:
            modes, exprs, mask = self.operations.broadcast(
                [replace(v, modes=((),) * (len(sizes) - len(v.modes)) + v.modes) for v in held]
            )
            modes = ((),) * (len(sizes) - len(modes)) + modes
        swaps = dict(zip(names, exprs, strict=True))
        expr = self._few(with_accesses(term, lambda access: swaps.get(access.tensor, access)))
        modes = tuple(
            mode or ((self.build.axes.index(size),) if size > 1 else ())
            for mode, size in zip(modes, sizes, strict=True)
        )
        match expr:
            case Call("select", (asked, Literal(value=0), other)) if is_zero_anyway(self.build, asked, other):
                expr = other
        expr, conditions = shown(expr)
        _check_finite(expr)
        value = Value(modes, expr, mask)
        if fate is Hidden.ZERO and mask is not None:
            value = self.tensors.expanded_over(value, mask.names)
            value = self.tensors.materialized(replace(value, mask=None), mask=value.mask)
        return self._shown_where(value, conditions), swaps

    def _where_hidden(self, term: Expr, operands: Mapping[str, Value]) -> Hidden:
        """What a term is where some of its operands are -inf."""
        groups: dict[Access, set[str]] = {}
        for name, value in operands.items():
            if value.mask is not None:
                groups.setdefault(value.mask, set()).add(name)
        plain, _ = shown(term)
        found = {where_hidden(plain, names) for names in groups.values()}
        if len(found) > 1:
            raise UnsupportedError("takes values that are -inf at different places", "mask later")
        return found.pop() if found else Hidden.NOTHING_SPECIAL

    def _shown_where(self, value: Value, conditions: Sequence[Expr]) -> Value:
        """A value that is -inf where one of some conditions is zero."""
        if not conditions:
            return value
        found = [] if value.mask is None else [value.mask]
        for condition in conditions:
            made = mask_of(self.build, condition)
            if not isinstance(made, Access):
                made = self.build.statement(free_indices(made), made, label="mask")
            found.append(made)
        return replace(value, mask=self.operations.mask_product(found))

    def _few(self, expr: Expr) -> Expr:
        """The expression with statements of their own for its parts, first for what it has several times,
        until no more streams meet in it than can."""
        while sum(1 for _ in accesses(with_erf(expr))) > MOST_JOINED:
            parts = Counter(node for node in walk(expr) if len(set(accesses(node))) and node.children)
            several = [node for node, count in parts.items() if count > 1]
            others = [node for node in parts if node != expr and sum(1 for _ in accesses(node)) > 1]
            if not several and not others:
                break
            part = max(several or others, key=lambda node: sum(1 for _ in walk(node)))
            own = self.build.statement(free_indices(part), part)
            expr = replaced(expr, part, own)
        return expr

    def _small(self, value: Value) -> Value:
        nodes = sum(1 for _ in walk(value.expr))
        return self.tensors.materialized(value) if nodes > _LARGEST else value

    # Operands

    def operands(
        self,
        maps: Sequence[AffineMap],
        given: Sequence[Value],
        inits: Sequence[Init],
        body: Body,
        sizes: Sequence[int],
    ) -> dict[str, Value]:
        """By its name in the body, what it has of each operand, over all loops."""
        found: dict[str, Value] = {}
        for name in dict.fromkeys(access.tensor for access in accesses(body.yielded)):
            if name in body.outer:
                found[name] = body.outer[name]
                continue
            match = _ELEMENT.fullmatch(name)
            assert match is not None
            kind, number = match[1], int(match[2])
            if kind == "index":
                found[name] = self.moves.counted(number, sizes)
                continue
            value = given[number] if kind == "in" else inits[number].value
            if value is None:
                inits[number].warn()
                found[name] = Value((), Literal(0))
            else:
                amap = maps[number if kind == "in" else len(given) + number]
                found[name] = self.moves.over_loops(value, amap, sizes)
        return found

    # Reductions

    def _reduced(self, value: Value, kind: str, indices: Sequence[str]) -> Value:
        """The reduction of a term over indices, which the modes of the value lack."""
        build = self.build
        indices = build.axes.resolved(indices)
        if kind == "sum":
            value = self._summable(value, indices)
        used = free_indices(value.expr)
        missing = build.axes.size([index for index in indices if index not in used])
        expr = value.expr
        if missing > 1 and kind == "sum":
            expr = product(expr, Literal(missing))
        elif missing > 1 and kind == "prod" and not is_condition(expr):
            raise UnsupportedError("multiplies what is the same along a loop", "use math.powf")
        if not set(indices) & set(used):
            return replace(value, expr=expr)
        lhs = [index for index in value.indices if index in used]
        mask = value.mask
        left = None if mask is None or set(indices) & set(mask.names) else mask
        return replace(value, expr=build.statement(lhs, expr, reduction=kind, mask=mask), mask=left)

    def _reduced_where(self, value: Value, kind: str, where: Expr) -> Value:
        """The reduction of a term where an expression is not zero."""
        build = self.build
        expr = value.expr
        if isinstance(expr, Call) and expr.function == "select" and expr.arguments[0] == where:
            expr = expr.arguments[1]
        if not isinstance(where, Access):
            where = build.statement(free_indices(where), where, label="stored")
        lhs = [index for index in build.axes.resolved(value.indices) if index in free_indices(expr)]
        return replace(value, expr=build.statement(lhs, expr, reduction=kind, mask=where))

    def _masked(self, value: Value, stored: Expr) -> Value:
        """A value that is zero where an expression is."""
        if not isinstance(stored, Access) or not masks(value, stored):
            return self._small(value)
        assert isinstance(value.expr, Call)
        return self.tensors.materialized(replace(value, expr=value.expr.arguments[1]), mask=stored)

    def _untouched(self, init: Init) -> Value:
        """What was there."""
        if init.value is not None:
            return init.value
        init.warn()
        return self.build.literal(0, init.shape)

    def _summable(self, value: Value, indices: Sequence[str]) -> Value:
        """The value with an expression whose every term the sum over the indices spans."""
        parts = list(terms(value.expr))
        has = [set(indices) & set(free_indices(part)) for part in parts]
        if all(is_factor_product(part) for part in parts) and all(one == has[0] for one in has):
            return value
        # The sum is to follow it: so it has the indices itself.
        modes = (*value.modes, tuple(indices))
        held = self.tensors.materialized(replace(value, modes=modes))
        return replace(held, modes=held.modes[:-1])

    def _with_init(self, total: Value, found: BodyReduction, init: Init) -> Value:
        """The whole of what is reduced and of what was there."""
        kind = found.kind
        if found.flipped:
            if self.system.floating and found.flipped >= 32:
                raise UnsupportedError(
                    f"compares words without their signs, which {self.system.name} does not hold",
                    "compare them with their signs",
                )
            total = self.operations.elementwise(lambda expr: flipped(expr, found.flipped), total)
        if init.value is None:
            init.warn()
            return total
        value, number = init.value, number_of(init.value.expr)
        combine = found.combine or {"sum": sum_of, "prod": product}.get(kind) or partial(call, kind)
        if number is not None:
            if math.isnan(number):
                raise UnsupportedError("begins with NaN", "begin with a number")
            neutral = {
                "sum": number == 0,
                "prod": number == 1,
                "max": number <= -_NEUTRAL,
                "min": number >= _NEUTRAL,
            }
            if neutral[kind]:
                return total
            if kind in ("max", "min") and abs(number) < _NEUTRAL:
                return self.operations.elementwise(lambda a: combine(a, Literal(number)), total)
        result = self.operations.elementwise(combine, total, value)
        result = replace(result, modes=tuple(r or t for r, t in zip(result.modes, total.modes, strict=True)))
        return self.operations.fused_term(total, result) if kind == "sum" else result

    def _folded(
        self, term: Expr, where: Expr | None, operands: Mapping[str, Value]
    ) -> tuple[Expr, dict[str, Value]]:
        """A term with the operands that are numbers in it, and what is left of the operands."""

        def known(access: Access) -> Expr:
            held = operands.get(access.tensor)
            number = held is not None and held.mask is None and isinstance(held.expr, Literal)
            return held.expr if held is not None and number else access

        term, masks = hidden_asked(with_accesses(term, known), operands)
        term = simplified(self._lowered(simplified(term)))
        used = {access.tensor for part in (term, where) if part is not None for access in accesses(part)}
        return term, {name: value for name, value in {**operands, **masks}.items() if name in used}

    def _lowered(self, expr: Expr) -> Expr:
        """An expression of functions that programs have."""
        return rewritten(expr, lambda node: unsigned_extreme(numbers_only(self.system.resolved(node))))

    def _word(self, total: Value, found: BodyReduction, terms: int) -> Value:
        """The lowest bits of a reduction of this many terms.

        Raises:
            UnsupportedError: where it may be beyond the whole numbers that the program holds exactly.
        """
        is_large = found.kind == "prod" or (terms + 1) << found.width - 1 > self.system.exact
        if is_large and self.system.floating:
            raise UnsupportedError(
                f"reduces words of i{found.width}, of which {self.system.name} does not hold all results",
                "extend them to i32 before",
            )
        width = Literal(found.width)
        return self.operations.elementwise(
            lambda expr: self._lowered(Call(MARKED_WORD, (expr, width, Literal(0)))), total
        )


def _rows(out_map: AffineMap, modes: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """The modes of a result, of those of the loops."""
    rows = []
    for result in out_map.results:
        if result.loop is None and (not result.is_constant or result.offset):
            raise UnsupportedError(
                f"writes to ({result}), which is no loop", "write to one place for each iteration"
            )
        rows.append(() if result.loop is None else modes[result.loop])
    flat = [index for row in rows for index in row]
    if len(set(flat)) != len(flat):
        raise UnsupportedError("writes to a diagonal", "write to one place for each iteration")
    return tuple(rows)


def _check_finite(expr: Expr) -> None:
    for node in walk(expr):
        if isinstance(node, Literal) and not math.isfinite(node.value):
            raise UnsupportedError(f"computes with the number {node.value:g}", "use a finite one")
