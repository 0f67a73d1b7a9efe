"""Values as tensors of their own: where the next statement cannot be one with theirs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from samhw.importers.core.axes import AxisConflict
from samhw.importers.core.draft import MOST_JOINED, Build, grouped
from samhw.importers.core.host_array import HostArray
from samhw.importers.core.scaled import moved_as_integers, scaled
from samhw.importers.core.value import Value
from samhw.lang.expr import Access, Concat, Expr, Literal, Mul, Reshape
from samhw.lang.traverse import accesses, free_indices

__all__ = ["Tensors", "tensors_in"]

_FACTORS = (Access, Literal, Mul)


@dataclass
class Tensors:
    """Makes tensors of values, with statements where it takes some."""

    build: Build

    def materialized(self, value: Value, *, label: str = "", mask: Access | None = None) -> Value:
        """The value as a tensor of its own, or as a number; a mask as for a statement."""
        value = self.build.resolve(value)
        if isinstance(value.expr, Access | Literal) and mask is None:
            return value
        used = free_indices(value.expr)
        if not used and isinstance(value.expr, Literal):
            return value
        if not tensors_in(value.expr):
            # Of numbers alone, such as a step from a state of zeros; a statement needs a tensor.
            value = replace(value, expr=Mul(value.expr, self._number(1.0)))
        lhs = [index for index in value.indices if index in used]
        return replace(value, expr=self.build.statement(lhs, value.expr, label=label, mask=mask))

    def as_tensor(self, value: Value) -> tuple[Value, Access]:
        """The value as a tensor, also where it is one number all over."""
        value = self.materialized(value)
        if isinstance(value.expr, Literal):
            value = replace(value, expr=self._number(float(value.expr.value)))
        assert isinstance(value.expr, Access)
        return value, value.expr

    def _number(self, number: float) -> Expr:
        """A tensor that is one number."""
        return self.build.constant(HostArray.number(number), "number").expr

    def as_product(self, value: Value) -> Value:
        """The value as what a sum may have as a factor: a tensor, a number, or a product of some."""
        value = self.build.resolve(value)
        nodes = [value.expr] if not isinstance(value.expr, Mul) else list(_factors(value.expr))
        return value if all(isinstance(node, _FACTORS) for node in nodes) else self.materialized(value)

    def joinable(self, values: Sequence[Value]) -> list[Value]:
        """The values for one statement: each a tensor of its own where they are made of too many to meet in
        one place."""
        if sum(tensors_in(value.expr) for value in values) <= MOST_JOINED:
            return list(values)
        return [self.materialized(value) if tensors_in(value.expr) > 1 else value for value in values]

    def expanded(self, value: Value, modes: Sequence[int] | None = None) -> Value:
        """The value with an expression that has all indices of the modes, by default of all modes."""
        value = self.build.resolve(value)
        wanted = value.indices if modes is None else tuple(i for mode in modes for i in value.modes[mode])
        for index in wanted:
            if index not in free_indices(value.expr):
                value = replace(value, expr=Mul(value.expr, self._ones(index)))
        return self.build.resolve(value)

    def expanded_over(self, x: Value, indices: Sequence[str]) -> Value:
        """The value with an expression that has these indices."""
        modes = [n for n, mode in enumerate(x.modes) if set(mode) & set(indices)]
        return self.expanded(x, modes)

    def _ones(self, index: str) -> Access:
        """Ones along an index. Each axis has its own: none splits since another one does."""
        axes = self.build.axes
        size = axes.size([index])
        held = HostArray.ones(size)
        ones = self.build.input(
            ("ones", axes.key(index)), f"ones_{size}", held, lambda _: held, constant=True, is_free=True
        )
        axes.align([index], ones.indices)
        assert isinstance(ones.expr, Access)
        return Access.of(ones.expr.tensor, (index,))

    # Elements that move

    def reshaped(self, value: Value) -> Value:
        """The value with its elements moved, each mode an axis of its own: what views cannot do."""
        if (made := moved_as_integers(self.build, value, self.reshaped)) is not None:
            return made
        value = self.expanded(value)
        value, access = self.as_tensor(self.contiguous(value))
        fresh = [
            () if self.build.axes.size(mode) == 1 else (self.build.axes.index(self.build.axes.size(mode)),)
            for mode in value.modes
        ]
        lhs = [index for mode in fresh for index in mode]
        return Value(tuple(fresh), self.build.statement(lhs, Reshape(access)))

    def contiguous(self, value: Value) -> Value:
        """The value stored with its modes in their order."""
        value, access = self.as_tensor(value)
        if access.names == value.indices and self.build.stored[access.tensor].has_free_order:
            return value
        return replace(value, expr=self.build.statement(value.indices, access * Literal(1)))

    def concatenated(self, parts: Sequence[Value], dim: int) -> Value:
        """Values one after the other along a mode; many in several steps."""
        if (made := self._integers_concatenated(parts, dim)) is not None:
            return made
        if len(parts) > MOST_JOINED:
            return self.concatenated([self.concatenated(group, dim) for group in grouped(parts)], dim)
        held = [self.build.copy(self.expanded(part)) for part in parts]
        held = [self._with_one_index(part, dim) for part in held]
        first = held[0]
        sizes = [self.build.axes.size(part.modes[dim]) for part in held]
        index = self.build.axes.index(sum(sizes))
        self.build.axes.fix([index])
        accesses = []
        for n, part in enumerate(held):
            try:
                part = self._beside(first, part, dim) if n else part
            except AxisConflict:
                part = self._beside(first, self._with_one_index(self.reshaped(part), dim), dim)
            (own,) = part.modes[dim]
            self.build.axes.fix([own])
            part, access = self.as_tensor(self.build.renamed(part, {own: index}))
            accesses.append(access)
        first = self.build.resolve(first)
        modes = list(first.modes)
        modes[dim] = (index,)
        lhs = [i for mode in modes for i in mode]
        accesses = [self.build.resolve_access(access) for access in accesses]
        return Value(tuple(modes), self.build.statement(lhs, Concat(index, tuple(accesses))))

    def _integers_concatenated(self, parts: Sequence[Value], dim: int) -> Value | None:
        """Integers that all stand for numbers in the same way; None for other values."""
        forms = [None if isinstance(part.expr, Access) else scaled(self.build, part.expr) for part in parts]
        if (first := forms[0]) is None or any(
            form is None or form.of(first.whole) != first.of(first.whole) for form in forms
        ):
            return None
        kinds = {self.build.stored[form.whole.tensor].kind for form in forms if form is not None}
        if len(kinds) > 1 or any(
            set(form.whole.names) != set(self.build.resolve(part).indices)
            for form, part in zip(forms, parts, strict=True)
            if form is not None
        ):
            return None
        wholes = [
            Value(part.modes, form.whole) for part, form in zip(parts, forms, strict=True) if form is not None
        ]
        return moved_as_integers(self.build, parts[0], lambda _: self.concatenated(wholes, dim))

    def _beside(self, first: Value, part: Value, dim: int) -> Value:
        """The part with the indices of the first one, but for one mode."""
        for mode in range(len(first.modes)):
            if mode != dim:
                part = self.build.renamed(part, self.build.axes.align(first.modes[mode], part.modes[mode]))
        return part

    def _with_one_index(self, value: Value, dim: int) -> Value:
        """The value with one index in a mode: moved if there are several, of extent 1 if there is none."""
        value = self.build.resolve(value)
        if len(value.modes[dim]) > 1:
            value = self.reshaped(value)
        if not value.modes[dim]:
            held = HostArray.ones(1)
            one = self.build.input(("unit",), "one", held, lambda _: held, constant=True, is_free=True)
            assert isinstance(one.expr, Access)
            stored = self.build.stored[one.expr.tensor]
            if not stored.modes:
                stored.modes = (self.build.axes.index(1),)
            index = self.build.axes.like(stored.modes[0])
            modes = list(value.modes)
            modes[dim] = (index,)
            value = replace(value, modes=tuple(modes), expr=Mul(value.expr, Access.of(stored.name, (index,))))
        # What is put into a concatenation is a tensor that nothing else splits.
        lhs = [i for mode in value.modes for i in mode]
        if isinstance(value.expr, Access) and self.build.stored[value.expr.tensor].fetch is not None:
            return value
        if not isinstance(value.expr, Access):
            value = replace(value, expr=self.build.statement(lhs, value.expr))
        return value


def tensors_in(expr: Expr) -> int:
    """The number of tensors that an expression is made of."""
    return len(set(accesses(expr)))


def _factors(expr: Expr) -> list[Expr]:
    return [
        node for child in expr.children for node in (_factors(child) if isinstance(child, Mul) else [child])
    ]
