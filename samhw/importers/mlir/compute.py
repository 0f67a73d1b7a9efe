"""Loops of linalg as statements."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from samhw.frontend.expr import (
    Access,
    Add,
    Call,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Sub,
    accesses,
    factors_of,
    free_indices,
    rewritten,
    terms,
    walk,
    with_accesses,
)
from samhw.importers.core import (
    MOST_JOINED,
    Build,
    HostArray,
    Operations,
    Tensors,
    UnsupportedError,
    Value,
    Views,
    contract,
)
from samhw.importers.mlir.idioms import call, difference, number_of, product, sum_of
from samhw.importers.mlir.structured import Structured
from samhw.importers.mlir.types import Affine, AffineMap

__all__ = ["Compute", "Init"]

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
    """

    shape: tuple[int, ...]
    value: Value | None = None


@dataclass(frozen=True)
class _Reduction:
    """What a body makes of what it has and of the loops that are reduced: a reduction of terms."""

    kind: str
    term: Expr


class Compute:
    """Makes statements of loops."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.tensors = Tensors(build)
        self.operations = Operations(build, self.tensors)
        self.views = Views(build, self.tensors)

    def result(
        self,
        loops: Structured,
        place: int,
        given: Sequence[Value],
        inits: Sequence[Init],
        yielded: Expr,
        outer: Mapping[str, Value],
        warn: Callable[[], None],
        *,
        where: Expr | None = None,
    ) -> Value:
        """One of the results of an operation.

        Args:
            place: which one.
            given: the inputs, whose elements `yielded` has as `%in0`, `%in1` and so on, those of outputs as
                `%out0`, the number of a loop as `%index0`.
            outer: what else it has, by name: values of no dimensions.
            warn: is called if an output is read that holds nothing.
            where: what is not zero where there is something to reduce; None for everywhere.

        Raises:
            UnsupportedError: for loops that no statement can follow.
        """
        sizes = self.extents(loops, given, inits)
        init = inits[place]
        out_map = loops.maps[len(given) + place]
        own = f"%out{place}"
        reduced = [n for n, parallel in enumerate(loops.parallel) if not parallel and sizes[n] > 1]
        if reduced and yielded == Access(own):
            return self._untouched(init, warn)
        plain = _unsampled(yielded, own)
        if reduced and plain != yielded:
            yielded, where = plain, Access(own)
        found = _reduction(yielded, own) if reduced else None
        term = yielded if found is None else found.term
        if reduced and found is None:
            if any(access.tensor == own for access in accesses(yielded)):
                raise UnsupportedError(
                    "reduces by a body that is no sum, product, maximum or minimum of what is there and "
                    "something else",
                    "reduce by one of these",
                )
            raise UnsupportedError("reduces, but keeps nothing of what was there", "make the loop parallel")
        read = term if where is None else Add(term, where)
        operands = self.operands(loops, given, inits, read, outer, sizes, warn)
        names = list(operands)
        held = [operands[name] for name in names]
        if found is not None and found.kind == "sum" and isinstance(term, Mul):
            held = [self.tensors.as_product(value) for value in held]
        held = self.tensors.joinable(held)
        modes: tuple[tuple[str, ...], ...] = tuple(() for _ in sizes)
        exprs: list[Expr] = []
        if held:
            modes, exprs, mask = self.operations.broadcast(
                [replace(v, modes=((),) * (len(sizes) - len(v.modes)) + v.modes) for v in held]
            )
            modes = ((),) * (len(sizes) - len(modes)) + modes
            if mask is not None:
                raise UnsupportedError("takes a value that is -inf at places", "mask it later")
        swaps = dict(zip(names, exprs, strict=True))
        expr = self._few(with_accesses(term, lambda access: swaps.get(access.tensor, access)))
        modes = tuple(
            mode or ((self.build.axes.index(size),) if size > 1 else ())
            for mode, size in zip(modes, sizes, strict=True)
        )
        self._check(expr)
        value = Value(self._rows(out_map, modes, init), expr)
        stored = None if where is None else with_accesses(where, lambda a: swaps.get(a.tensor, a))
        if found is None:
            return self._small(value) if stored is None else self._masked(value, stored)
        rows = tuple(modes[n] for n in reduced)
        flat = [index for row in rows for index in row]
        if stored is not None and (found.kind != "sum" or where == Access(own) or _masks(value, stored)):
            total = self._reduced_where(value, found.kind, stored)
        else:
            total = self._reduced(value, found.kind, flat)
        return self._with_init(total, found.kind, init, out_map, warn)

    def _few(self, expr: Expr) -> Expr:
        """The expression with statements of their own for its parts, first for what it has several times,
        until no more streams meet in it than can."""
        while sum(1 for _ in accesses(expr)) > MOST_JOINED:
            parts = Counter(node for node in walk(expr) if len(set(accesses(node))) and node.children)
            several = [node for node, count in parts.items() if count > 1]
            others = [node for node in parts if node != expr and sum(1 for _ in accesses(node)) > 1]
            if not several and not others:
                break
            part = max(several or others, key=lambda node: sum(1 for _ in walk(node)))
            own = self.build.statement(free_indices(part), part)
            expr = _replaced(expr, part, own)
        return expr

    def _check(self, expr: Expr) -> None:
        for node in walk(expr):
            if isinstance(node, Literal) and not math.isfinite(node.value):
                raise UnsupportedError(f"computes with the number {node.value:g}", "use a finite one")

    def _small(self, value: Value) -> Value:
        nodes = sum(1 for _ in walk(value.expr))
        return self.tensors.materialized(value) if nodes > _LARGEST else value

    def _rows(
        self, out_map: AffineMap, modes: Sequence[tuple[str, ...]], init: Init
    ) -> tuple[tuple[str, ...], ...]:
        """The modes of the result."""
        rows = []
        for result in out_map.results:
            if result.loop is not None:
                rows.append(modes[result.loop])
            elif result.is_constant and not result.offset:
                rows.append(())
            else:
                raise UnsupportedError(
                    f"writes to ({result}), which is no loop", "write to one place for each iteration"
                )
        flat = [index for row in rows for index in row]
        if len(set(flat)) != len(flat):
            raise UnsupportedError("writes to a diagonal", "write to one place for each iteration")
        return tuple(rows)

    # Extents and operands

    def extents(self, loops: Structured, given: Sequence[Value], inits: Sequence[Init]) -> list[int]:
        """Those of all loops, from whatever has a loop as a dimension."""
        shapes = [*(self.build.shape(value) for value in given), *(init.shape for init in inits)]
        found: dict[int, int] = {}
        for amap, shape in zip(loops.maps, shapes, strict=True):
            if len(amap.results) != len(shape):
                raise UnsupportedError(
                    f"has a map of {len(amap.results)} dimensions for an operand of {len(shape)}",
                    "mend the map",
                )
            for result, size in zip(amap.results, shape, strict=True):
                if result.loop is not None and found.setdefault(result.loop, size) != size:
                    raise UnsupportedError(
                        f"has operands of {found[result.loop]} and of {size} along one loop",
                        "mend their types",
                    )
        count = loops.maps[0].loops if loops.maps else 0
        for loop in range(count):
            if loop not in found:
                raise UnsupportedError(
                    f"has a loop (d{loop}) whose extent no operand gives",
                    "let an operand have it as a dimension",
                )
        return [found[loop] for loop in range(count)]

    def operands(
        self,
        loops: Structured,
        given: Sequence[Value],
        inits: Sequence[Init],
        term: Expr,
        outer: Mapping[str, Value],
        sizes: Sequence[int],
        warn: Callable[[], None],
    ) -> dict[str, Value]:
        """By its name in the term, what it has of each operand, over all loops."""
        found: dict[str, Value] = {}
        for name in dict.fromkeys(access.tensor for access in accesses(term)):
            if name in outer:
                found[name] = outer[name]
            elif name.startswith("%index"):
                loop = int(name.removeprefix("%index"))
                if loop >= len(sizes):
                    raise UnsupportedError(
                        f"asks for the loop {loop}, and has {len(sizes)}", "mend its number"
                    )
                found[name] = self._counted(loop, sizes)
            elif name.startswith("%in"):
                n = int(name.removeprefix("%in"))
                found[name] = self.over_loops(given[n], loops.maps[n], sizes)
            else:
                n = int(name.removeprefix("%out"))
                init = inits[n]
                if init.value is None:
                    warn()
                    found[name] = Value((), Literal(0))
                else:
                    found[name] = self.over_loops(init.value, loops.maps[len(given) + n], sizes)
        return found

    def _counted(self, loop: int, sizes: Sequence[int]) -> Value:
        """The number of an iteration."""
        size = sizes[loop]
        if size == 1:
            return Value((), Literal(0))
        count = self.build.constant(HostArray.dense(np.arange(size, dtype=np.float32)), f"count_{size}")
        return replace(count, modes=tuple(count.modes[0] if n == loop else () for n in range(len(sizes))))

    def over_loops(self, value: Value, amap: AffineMap, sizes: Sequence[int]) -> Value:
        """A value with a mode for each loop."""
        value = self.build.resolve(value)
        rows: list[tuple[str, ...]] = [()] * len(sizes)
        place = 0
        taken: dict[int, int] = {}
        for result in amap.results:
            if result.loop is not None and result.loop not in taken:
                taken[result.loop] = place
                place += 1
            elif result.loop is not None:
                value = self._diagonal(value, taken[result.loop], place)
            elif result.is_constant:
                value = self.slice(value, place, result.offset, 1)
                value = replace(value, modes=(*value.modes[:place], *value.modes[place + 1 :]))
            else:
                value, loops = self._window(value, place, result, sizes)
                for n, loop in enumerate(loops):
                    if loop in taken:
                        raise UnsupportedError(
                            f"has the loop d{loop} in two dimensions of an operand",
                            "write it as two operations",
                        )
                    taken[loop] = place + n
                place += len(loops)
        for loop, mode in taken.items():
            rows[loop] = value.modes[mode]
        return replace(value, modes=tuple(rows))

    def _diagonal(self, value: Value, one: int, other: int) -> Value:
        """The elements whose places in two modes are equal; the second mode goes."""
        size = self.build.axes.size(value.modes[one])
        if size == 1:
            return replace(value, modes=(*value.modes[:other], *value.modes[other + 1 :]))
        letters = [chr(ord("a") + n) for n in range(len(value.modes))]
        eye = HostArray((size, size), np.ones(size, np.float32), np.array([range(size)] * 2))
        out = "".join(letters[:other] + letters[other + 1 :])
        equation = f"{letters[one]}{letters[other]},{''.join(letters)}->{out}"
        return contract(self.tensors, equation, self.build.constant(eye, f"eye_{size}"), value)

    def _window(
        self, value: Value, place: int, result: Affine, sizes: Sequence[int]
    ) -> tuple[Value, list[int]]:
        """A mode under a sum of loops: those loops in its place, by a matrix that has a one for each."""
        if result.floordiv or result.mod:
            raise UnsupportedError(
                f"takes an operand at ({result})", "reshape it with tensor.expand_shape instead"
            )
        loops = [loop for loop, _ in result.factors]
        extents = [sizes[loop] for loop in loops]
        grid = np.indices(extents).reshape(len(loops), -1)
        at = result.offset + sum(factor * grid[n] for n, (_, factor) in enumerate(result.factors))
        size = self.build.shape(value)[place]
        if at.min() < 0 or at.max() >= size:
            raise UnsupportedError(
                f"takes an operand of {size} at ({result}), which goes from {at.min()} to {at.max()}",
                "mend its extents or the map",
            )
        if len(loops) == 1:
            factor, step = at[0], int(result.factors[0][1])
            if step > 0 or extents[0] == 1:
                return self.slice(value, place, int(factor), extents[0], max(step, 1)), loops
        ones = HostArray((*extents, size), np.ones(len(at), np.float32), np.array([*grid, at]))
        window = self.build.constant(ones, f"window_{'_'.join(map(str, (*extents, size)))}")
        return self.views.product_along(value, place, window), loops

    def slice(self, value: Value, dim: int, start: int, length: int, step: int = 1) -> Value:
        """Some of a mode's elements."""
        size = self.build.shape(value)[dim]
        if start < 0 or length < 1 or start + (length - 1) * step >= size:
            raise UnsupportedError(
                f"takes {length} elements from {start} on of a dimension of {size}", "stay within it"
            )
        return self.views.slice(value, dim, start, length, step)

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
        elif missing > 1 and kind == "prod":
            raise UnsupportedError("multiplies what is the same along a loop", "use math.powf")
        if not set(indices) & set(used):
            return replace(value, expr=expr)
        lhs = [index for index in value.indices if index in used]
        return replace(value, expr=build.statement(lhs, expr, reduction=kind))

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
        if not isinstance(stored, Access) or not _masks(value, stored):
            return self._small(value)
        assert isinstance(value.expr, Call)
        return self.tensors.materialized(replace(value, expr=value.expr.arguments[1]), mask=stored)

    def _untouched(self, init: Init, warn: Callable[[], None]) -> Value:
        """What was there."""
        if init.value is not None:
            return init.value
        warn()
        return self.build.literal(0, init.shape)

    def _summable(self, value: Value, indices: Sequence[str]) -> Value:
        """The value with an expression whose every term the sum over the indices spans."""
        parts = list(terms(value.expr))
        has = [set(indices) & set(free_indices(part)) for part in parts]
        if all(_is_factor_product(part) for part in parts) and all(one == has[0] for one in has):
            return value
        # The sum is to follow it: so it has the indices itself.
        modes = (*value.modes, tuple(indices))
        held = self.tensors.materialized(replace(value, modes=modes))
        return replace(held, modes=held.modes[:-1])

    def _with_init(
        self, total: Value, kind: str, init: Init, out_map: AffineMap, warn: Callable[[], None]
    ) -> Value:
        if init.value is None:
            warn()
            return total
        value = init.value
        number = number_of(value.expr)
        if number is not None:
            neutral = {
                "sum": number == 0,
                "prod": number == 1,
                "max": number <= -_NEUTRAL,
                "min": number >= _NEUTRAL,
            }
            if neutral[kind]:
                return total
            if kind in ("max", "min") and abs(number) < _NEUTRAL:
                return self.operations.elementwise(lambda a: call(kind, a, Literal(number)), total)
        combine = {"sum": sum_of, "prod": product}.get(kind, lambda a, b: call(kind, a, b))
        result = self.operations.elementwise(combine, total, value)
        result = replace(result, modes=tuple(r or t for r, t in zip(result.modes, total.modes, strict=True)))
        return self.operations.fused_term(total, result) if kind == "sum" else result


def _is_factor_product(expr: Expr) -> bool:
    """Whether a sum may stand outside of it: a product of tensors, numbers and functions."""
    match expr:
        case Mul(left, right):
            return _is_factor_product(left) and _is_factor_product(right)
        case Neg(operand):
            return _is_factor_product(operand)
        case Div(left, right):
            return _is_factor_product(left) and isinstance(right, Access | Literal)
    return isinstance(expr, Access | Literal | Call)


def _reduction(expr: Expr, out: str) -> _Reduction | None:
    """The reduction that an expression makes of what is there and of a term."""

    def has(part: Expr) -> bool:
        return any(access.tensor == out for access in accesses(part))

    def is_out(part: Expr) -> bool:
        return isinstance(part, Access) and part.tensor == out

    if isinstance(expr, Add | Sub):
        signed = list(_signed_terms(expr))
        mine = [sign for sign, part in signed if is_out(part)]
        others = [(sign, part) for sign, part in signed if not is_out(part)]
        if mine != [1] or any(has(part) for _, part in others) or not others:
            return None
        first_sign, total = others[0]
        total = total if first_sign > 0 else difference(Literal(0), total)
        for sign, part in others[1:]:
            total = sum_of(total, part) if sign > 0 else difference(total, part)
        return _Reduction("sum", total)
    if isinstance(expr, Mul):
        factors = list(factors_of(expr))
        rest = [factor for factor in factors if not is_out(factor)]
        if len(rest) != len(factors) - 1 or not rest or any(map(has, rest)):
            return None
        term = rest[0]
        for factor in rest[1:]:
            term = product(term, factor)
        return _Reduction("prod", term)
    if isinstance(expr, Call) and expr.function in ("max", "min"):
        a, b = expr.arguments
        for one, other in ((a, b), (b, a)):
            if is_out(one) and not has(other):
                return _Reduction(expr.function, other)
            inner = _reduction(one, out)
            if inner is not None and inner.kind == expr.function and not has(other):
                return _Reduction(expr.function, call(expr.function, inner.term, other))
    return None


def _replaced(expr: Expr, part: Expr, by: Expr) -> Expr:
    """An expression with another one in the place of a part."""
    return rewritten(expr, lambda node: by if node == part else node)


def _masks(value: Value, stored: Expr) -> bool:
    """Whether a value is something where an expression is not zero, and zero elsewhere."""
    match value.expr:
        case Call("select", (condition, term, other)) if condition == stored and number_of(other) == 0:
            return set(free_indices(stored)) <= set(free_indices(term))
    return False


def _unsampled(expr: Expr, out: str) -> Expr:
    """What is computed where the output is not zero, for an expression that has zero elsewhere, as in a
    sampled product of matrices."""

    def change(node: Expr) -> Expr:
        if isinstance(node, Call) and node.function == "select" and node.arguments[0] == Access(out):
            _, term, other = node.arguments
            return term if number_of(other) == 0 else node
        return node

    return rewritten(expr, change)


def _signed_terms(expr: Expr, sign: int = 1) -> Iterator[tuple[int, Expr]]:
    match expr:
        case Add(left, right):
            yield from _signed_terms(left, sign)
            yield from _signed_terms(right, sign)
        case Sub(left, right):
            yield from _signed_terms(left, sign)
            yield from _signed_terms(right, -sign)
        case _:
            yield sign, expr
