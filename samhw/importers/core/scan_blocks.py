"""Scans: a block of statements that is computed once for each step, of what the steps before have given."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from samhw.importers.core.axes import AxisConflict
from samhw.importers.core.draft import Build, Made
from samhw.importers.core.tensors import Tensors
from samhw.importers.core.value import ScanBlock, Stored, TensorStep, UnsupportedError, Value, check_unmasked
from samhw.lang.expr import Access, Literal
from samhw.lang.traverse import accesses, free_indices

__all__ = ["Body", "Scans"]

Body = Callable[[Sequence[Value], Sequence[Value]], tuple[Sequence[Value], Sequence[Value]]]
"""One step: of the states before it, and of what the inputs have at it, the states after it, and what else
it gives."""


@dataclass
class Scans:
    """Makes scans of values."""

    build: Build
    tensors: Tensors

    def scan(
        self, body: Body, states: Sequence[Value], inputs: Sequence[Value], steps: int, *, down: bool = False
    ) -> tuple[list[Value], list[Value], list[Value]]:
        """The states after the last step; and what else the steps give, of all of them along a first mode,
        and of the last one.

        Args:
            states: those before the first step, of the shapes that they keep.
            inputs: with the steps along their first modes.
            steps: how many there are, at least one. A single step is no scan.
            down: they go from the last one to the first.

        Raises:
            UnsupportedError: for what cannot stand in a scan, such as another scan.
        """
        if self.build.block is not None:
            raise UnsupportedError("repeats steps in the step of a scan", "unroll one of the loops")
        check_unmasked(*states, *inputs)
        if steps == 1:
            after, given = body(states, [replace(x, modes=x.modes[1:]) for x in inputs])
            return list(after), [replace(x, modes=((), *x.modes)) for x in given], list(given)
        return _Scan(self, steps, down).made(body, states, inputs)


class _Scan:
    """A scan in the making."""

    def __init__(self, scans: Scans, steps: int, down: bool) -> None:
        self.build, self.tensors = scans.build, scans.tensors
        self.block = ScanBlock(self.build.axes.index(steps), down)
        self.build.axes.fix([self.block.index])
        self.own: set[str] = set()
        """What the block reads and computes anew at each step."""
        self.writers: dict[str, Made] = {}
        """By a result of the block, the statement that keeps it for all steps."""

    def made(
        self, body: Body, states: Sequence[Value], inputs: Sequence[Value]
    ) -> tuple[list[Value], list[Value], list[Value]]:
        """As `Scans.scan` says it."""
        build = self.build
        states = [self.whole(state) for state in states]
        wholes = [self.along(x) for x in inputs]
        first = len(build.statements)
        build.block = self.block
        try:
            now = [self.present(x) for x in wholes]
            tensors, before = zip(*map(self.before, states), strict=True) if states else ((), ())
            after, given = body(before, now)
            after = [self.same(x, one) for x, one in zip(after, before, strict=True)]
            given = [self.tensors.materialized(x) for x in map(build.resolve, given)]
            check_unmasked(*after, *given)
            self.hoist(first)
            for x, tensor, one in zip(after, tensors, before, strict=True):
                self.keep(x, tensor, one)
            every = [self.every(x) for x in given]
            return [self.last(x) for x in after], every, [self.last(x) for x in given]
        finally:
            build.block = None

    # Before the block

    def whole(self, state: Value) -> Value:
        """A state that is a number, or a tensor of all its indices."""
        value = self.tensors.materialized(state)
        if isinstance(value.expr, Literal) and value.expr.value == 0:
            return self.build.copy(value)
        value, _ = self.tensors.as_tensor(self.tensors.expanded(value))
        return self.build.copy(value)

    def along(self, x: Value) -> Value:
        """An input whose first mode is the index of the steps; one that is the same at all of them lacks
        it."""
        build = self.build
        x = build.copy(self.tensors.materialized(x))
        if not set(x.modes[0]) & set(free_indices(x.expr)):
            return replace(x, modes=((self.block.index,), *x.modes[1:]))
        x = self.tensors.expanded(x, [0])
        try:
            pairs = build.axes.align([self.block.index], x.modes[0])
        except AxisConflict:
            x = self.tensors.reshaped(x)
            pairs = build.axes.align([self.block.index], x.modes[0])
        x, access = self.tensors.as_tensor(build.renamed(x, pairs))
        rest = [index for index in access.names if index != self.block.index]
        build.hint_order(access, [self.block.index, *rest])
        return x

    # In the block

    def present(self, x: Value) -> Value:
        """What an input has at the present step."""
        x = self.build.resolve(x)
        rest = replace(x, modes=x.modes[1:])
        if self.block.index not in free_indices(x.expr):
            return rest
        assert isinstance(x.expr, Access)
        return replace(rest, expr=self.build.present_step(x.expr, self.block.index))

    def before(self, state: Value) -> tuple[str, Value]:
        """A tensor for all steps of a state, by its name, and what the step before has given."""
        build = self.build
        state = build.resolve(state)
        names = state.expr.names if isinstance(state.expr, Access) else state.indices
        tensor = self.stepped(names)
        if isinstance(state.expr, Access):
            self.block.starts[tensor] = state.expr
        step = self.step_of(tensor, 1 if self.block.down else -1)
        name = build.step(f"{tensor}_before", names, step)
        return tensor, Value(state.modes, Access.of(name, names))

    def stepped(self, like: Sequence[str]) -> str:
        """A new tensor with an index for the steps, and indices like these; gives its name."""
        build = self.build
        name = build.name(build.result_name)
        modes = tuple(build.axes.like(index) for index in (self.block.index, *like))
        build.stored[name] = Stored(name, modes, scope=build.scope)
        return name

    def step_of(self, tensor: str, offset: int = 0) -> TensorStep:
        return TensorStep(tensor, self.build.stored[tensor].modes[0], self.block, offset)

    def same(self, after: Value, before: Value) -> Value:
        """A state after a step under the indices that it has before it."""
        build = self.build
        after = build.copy(self.tensors.expanded(self.tensors.materialized(after)))
        if build.shape(after) != build.shape(before):
            raise UnsupportedError(
                f"changes the shape of a state from {build.shape(before)} to {build.shape(after)}",
                "start from one of the shape that it keeps",
            )
        for place in range(len(before.modes)):
            try:
                pairs = build.axes.align(before.modes[place], after.modes[place])
            except AxisConflict:
                raise UnsupportedError(
                    "takes a state apart in two ways that have no common parts", "reshape outside of the loop"
                ) from None
            after = build.renamed(after, pairs)
        after, _ = self.tensors.as_tensor(after)
        return after

    def hoist(self, first: int) -> None:
        """Moves before the block what is the same at all of its steps."""
        build = self.build
        own = {name for name, s in build.stored.items() if s.step is not None and s.step.block is self.block}
        moved: list[Made] = []
        stay: list[Made] = []
        for made in build.statements[first:]:
            if made.block is self.block and own & {read.tensor for read in made.reads}:
                own.add(made.lhs.tensor)
                stay.append(made)
            else:
                made.block = None
                moved.append(made)
        build.statements[first:] = [*moved, *stay]
        self.own = own

    def keep(self, x: Value, tensor: str, before: Value) -> None:
        """Keeps in its tensor what a state is after each step, under the indices that it has before it."""
        _, access = self.tensors.as_tensor(x)
        assert isinstance(before.expr, Access)
        self.write(access, self.build.axes.resolved(before.expr.names), tensor)

    def last(self, x: Value) -> Value:
        """What a value is after the last step."""
        build = self.build
        x = build.resolve(x)
        if isinstance(x.expr, Access) and build.stored[x.expr.tensor].step is not None:
            return replace(x, expr=build.statement(x.expr.names, x.expr))
        return x

    def every(self, x: Value) -> Value:
        """What a result of the step is at all steps, along a first mode."""
        build = self.build
        x = build.resolve(x)
        index = build.axes.like(self.block.index)
        if not {access.tensor for access in accesses(x.expr)} & self.own:
            return replace(x, modes=((index,), *x.modes))
        x, access = self.tensors.as_tensor(x)
        if access.tensor not in self.writers:
            self.write(access, access.names, self.stepped(access.names))
        made = self.writers[access.tensor]
        (read,) = made.reads
        names = dict(zip(build.axes.resolved(read.names), access.names, strict=True))
        left = [names[name] for name in build.axes.resolved(made.lhs.names)]
        step = build.stored[made.lhs.tensor].step
        assert step is not None
        return Value(((index,), *x.modes), Access.of(step.of, (index, *left)))

    def write(self, access: Access, names: Sequence[str], tensor: str) -> None:
        """Adds the statement that writes the present step of a tensor, whose own indices these stand for."""
        build = self.build
        name = build.step(f"{tensor}_now", names, self.step_of(tensor))
        build.axes.align(names, build.axes.resolved(build.stored[tensor].modes)[1:])
        made = Made(Access.of(name, names), access, block=self.block)
        build.statements.append(made)
        self.writers.setdefault(access.tensor, made)
