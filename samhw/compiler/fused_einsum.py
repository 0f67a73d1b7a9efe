"""From the instances of a region to its fused einsum, in which every sum stands where it belongs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from samhw.compiler.einsum import (
    CONCAT,
    EVERYWHERE,
    MASK,
    MUL,
    PAIR,
    RECUR,
    Apply,
    Einsum,
    Indicator,
    Intermediate,
    Number,
    Part,
    Reduce,
    RunningReduce,
    Segment,
    Sieve,
    StepPlace,
    View,
    reachable,
    rebuilt,
)
from samhw.compiler.sums import Sums, picked
from samhw.errors import InputError, StreamError
from samhw.graph.numerics import ValueType, neutral
from samhw.lang import (
    Access,
    Add,
    Call,
    Concat,
    Dimensions,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Recurrence,
    RunningReduction,
    Sub,
)
from samhw.lang.decision import Iteration
from samhw.lang.fusion import FusedRegion, Instance
from samhw.lang.traverse import walk
from samhw.lang.typed import types_of
from samhw.names import Names

__all__ = ["EinsumBuilder"]


@dataclass(frozen=True)
class _Space:
    """The iteration space of a statement, which producers that are multiplied out into it widen.

    Attributes:
        indices: all those in use, at whatever depth of producers. None can be summed for one factor alone.
        summed: those that the whole is summed over.
    """

    indices: set[str]
    summed: list[str]


class EinsumBuilder:
    """Builds the einsum of a region for an order of its indices.

    Args:
        dimensions: of the region's program.
        steps: for each tensor that is a step of others, the tensors that have it, and where: at most one of
            them does, and it is zero if none does.
        iteration: where it is factored, a factor without the index of a sum stays outside of it; otherwise
            all factors of a term, those of the products that it uses as well, meet in one (global) iteration
            space, as in Custard.
        value: the type of its values.

    Attributes:
        columns: the names of all views, intermediates and reductions.
    """

    def __init__(
        self,
        region: FusedRegion,
        dimensions: Dimensions,
        order: Sequence[str],
        iteration: Iteration,
        value: ValueType,
        steps: Mapping[str, Mapping[str, StepPlace]],
    ):
        self._steps = steps
        self._program = region.program
        self._given = {decl.name for decl in region.program.inputs}
        self._value = value
        self._types = types_of(region.program, value)
        self._dimensions = dimensions
        self._outputs = region.outputs
        self._recomputed = region.recomputed
        self._factored = iteration == "factored"
        self.columns = Names(region.program.tensors)
        self._sums = Sums(self.columns, order, iteration)
        self._trees: dict[Instance, Einsum] = {}
        self._intermediates: dict[Instance, Intermediate] = {}

    def tree(self, instance: Instance) -> Einsum:
        """The right side of an instance, reduced over the indices that its left side lacks."""
        if instance not in self._trees:
            self._trees[instance] = self._tree(instance)
        return self._trees[instance]

    def result(self, instance: Instance) -> Einsum:
        """The tree of an instance that leaves the region; what others read is the same node for them."""
        return self._intermediates.get(instance) or self.tree(instance)

    def _tree(self, instance: Instance) -> Einsum:
        statement = instance.statement
        reduced = [instance.rename[i] for i in statement.indices if i not in statement.lhs.names]
        restricted = statement.mask is not None and bool(statement.mask.indices)
        build = self._build_factor if restricted else self._build
        if isinstance(statement.rhs, RunningReduction):
            e = self._running(
                instance, statement.rhs, build(instance, statement.rhs.operand, None), restricted
            )
        elif isinstance(statement.rhs, Recurrence):
            e = self._recurrence(instance, statement.rhs, restricted)
        elif statement.reduction == "sum":
            e = build(instance, statement.rhs, _Space(set(instance.rename.values()), reduced))
            e = picked(self._masked(instance, e, reduced) if restricted else e, reduced)
            e = self._sums.over(e, reduced)
        else:
            e = build(instance, statement.rhs, None)
            e = Apply(MASK, (e, self._mask(instance))) if restricted else Apply(EVERYWHERE, (e,))
            if statement.rank is not None:
                (index,) = reduced
                e = self._sums.ranked(e, index, statement.reduction, instance.rename[statement.rank])
                e = self._counted(e, instance)
                if restricted and self._lacks_places(instance, index):
                    e = Apply(MASK, (e, self._mask(instance)))
            elif restricted and self._in_blocks(statement.mask):
                e = self._reduced_in_blocks(instance, e, reduced)
            else:
                # Reduced first, the outermost index keeps those that have points; after a scalar reducer of
                # the innermost, one without any would count as zero.
                e = self._sums.one_by_one(e, reduced, statement.reduction, outermost_first=restricted)
                e = self._counted(e, instance)
        if statement.mask is None or restricted:
            return e
        return Apply("select", (self._mask_values(instance), e, Number(0)))

    def _counted(self, e: Einsum, instance: Instance) -> Einsum:
        """A reduction whose coordinates, if it gives some, are of the type of its result."""
        return replace(e, value=self._types[instance.tensor]) if isinstance(e, Reduce) else e

    def _lacks_places(self, instance: Instance, index: str) -> bool:
        """Places along an index are asked for under a mask without it: where that is zero there are none, but
        the row is one of zeros, which have some."""
        places = instance.statement.reduction.startswith("arg")
        return places and index not in self._mask(instance).free

    def _reduced_in_blocks(self, instance: Instance, e: Einsum, reduced: Collection[str]) -> Einsum:
        """The maximum, minimum or product of e under a mask that lies in blocks, some elements of which are
        zero: these count for nothing, and over nothing but them it is zero."""
        statement = instance.statement
        assert isinstance(e, Apply)
        own = [index for index in reduced if index in e.operands[1].free]
        op, mask = statement.reduction, e.operands[1]
        start = Number(neutral(self._type(e.operands[0]), op)) if own else Number(0)
        e = self._sums.one_by_one(
            Apply(MASK, (e.operands[0], mask, start)), reduced, op, outermost_first=True
        )
        if not own:
            return e
        points = Apply("select", (self._mask_values(instance), Number(1), Number(0)))
        some = self._sums.one_by_one(points, own, "max", outermost_first=True)
        return Apply("select", (some, e, Number(0)))

    def _running(self, instance: Instance, run: RunningReduction, e: Einsum, restricted: bool) -> Einsum:
        """A running reduction of e, at every point or at those of its statement's mask."""
        mask = self._mask(instance) if restricted else None
        e = Apply(EVERYWHERE, (e,)) if mask is None else Apply(MASK, (e, mask))
        name = self.columns.fresh(f"{instance.tensor}_running")
        index = instance.rename[run.index]
        e = RunningReduce(name, index, e, run.reduction, run.exclusive)
        if mask is not None and index not in mask.free and run.exclusive and run.reduction == "prod":
            # It begins with a one, also in a row that the mask lacks and something beside it brings in.
            return Apply(MASK, (e, mask))
        return e

    def _recurrence(self, instance: Instance, run: Recurrence, restricted: bool) -> Einsum:
        """A recurrence, at every point or at those of its statement's mask."""
        e: Einsum = Apply(PAIR, tuple(self._build(instance, part) for part in run.children))
        e = Apply(MASK, (e, self._mask(instance))) if restricted else Apply(EVERYWHERE, (e,))
        index = instance.rename[run.index]
        name = self.columns.fresh(f"{instance.tensor}_recur")
        if instance.statement.runs_along is None:
            return Reduce(name, index, e, RECUR)
        return RunningReduce(name, index, e, RECUR, exclusive=False)

    def _build(self, instance: Instance, e: Expr, space: _Space | None = None) -> Einsum:
        """The einsum of an expression.

        Args:
            space: in which it will be summed; a producer that is multiplied out adds its own indices. None
                where no sum reaches.
        """
        match e:
            case Access():
                return self._access(instance, e, space)
            case Literal():
                return Number(e.value)
            case Neg():
                operand = self._build(instance, e.operand, space)
                return Number(-operand.value) if isinstance(operand, Number) else Apply("neg", (operand,))
            case Add() | Sub():
                op = "add" if isinstance(e, Add) else "sub"
                return _sum_of(op, *(self._build(instance, side, space) for side in (e.left, e.right)))
            case Mul():
                return _product(*(self._build_factor(instance, side, space) for side in (e.left, e.right)))
            case Div():
                return Apply("div", (self._build(instance, e.left), self._build(instance, e.right)))
            case Call() if all(isinstance(a, Literal) for a in e.arguments):
                raise InputError(f"'{e}' is a number; write it as one.")
            case Call():
                operands = tuple(self._build(instance, a) for a in e.arguments)
                operand = operands[0]
                if e.function == "to" and isinstance(operand, View) and operand.to is None:
                    return replace(operand, to=e.to)
                return Apply(e.function, operands, e.to)
            case Concat():
                return self._concat(instance, e)
            case _:
                raise AssertionError("a reshape or a running reduction stands alone")

    def _concat(self, instance: Instance, concat: Concat) -> Einsum:
        parts: list[Einsum] = []
        before: tuple[str, ...] = ()
        along = instance.rename[concat.index]
        for access in concat.operands:
            extent = self._dimensions.of_index(access, concat.index)
            producer = instance.producer(access)
            if producer is None:
                parts.append(replace(self._view(instance, access), part=Part(along, extent, before)))
            else:
                name, operand = self.columns.fresh(f"{access.tensor}_part"), self._intermediate(producer)
                if any(isinstance(e, Apply) and e.op == CONCAT for e in reachable([operand])):
                    # A union of unions, in which one fiber would come after itself.
                    raise StreamError(
                        f"'{instance.statement.lhs}' concatenates {access.tensor}, a concatenation that its "
                        "region computes as well",
                        "end the fused region between them",
                    )
                parts.append(Segment(name, operand, along, instance.parts[access], before))
            before = (*before, extent)
        return Apply(CONCAT, tuple(parts))

    def _build_factor(self, instance: Instance, e: Expr, space: _Space | None) -> Einsum:
        """The einsum of a factor. Nothing is multiplied out in one term of several, since the others lack its
        sum, which spans the whole product."""
        inner = e
        while isinstance(inner, Neg):
            inner = inner.operand
        return self._build(instance, e, None if isinstance(inner, Add | Sub) else space)

    def _access(self, instance: Instance, access: Access, space: _Space | None) -> Einsum:
        producer = instance.producer(access)
        if producer is None:
            return self._stored(instance, access)
        if self._factored or space is None or not self._multiplies_out(producer):
            return self._intermediate(producer)
        inner = [i for i in producer.rename.values() if i not in producer.indices(producer.statement.lhs)]
        if not space.indices.isdisjoint(inner):
            return self._intermediate(producer)
        space.indices.update(inner)
        space.summed.extend(inner)
        e = self._build(producer, producer.statement.rhs, space)
        return e if producer.statement.mask is None else _product(e, self._mask(producer))

    def _multiplies_out(self, producer: Instance) -> bool:
        """A producer is a sum of products, so that global iteration can take in its factors."""
        statement = producer.statement
        return (
            producer not in self._outputs
            and statement.reduction == "sum"
            and (statement.mask is None or bool(statement.mask.indices))
            and all(isinstance(part, Mul | Access | Literal) for part in walk(statement.rhs))
        )

    def _masked(self, instance: Instance, e: Einsum, summed: Collection[str]) -> Einsum:
        """e times the pattern of its statement's mask. Terms that are summed over different indices take it
        one by one: a sum over the whole product would count a term that lacks its index again and again."""
        terms = list(_terms(e))
        if len({term.free.intersection(summed) for term in terms}) == 1:
            return _product(e, self._mask(instance))

        def change(part: Einsum) -> Einsum | None:
            if part not in terms:
                return None
            if isinstance(part, Number):
                return Apply("select", (self._mask_values(instance), part, Number(0)))
            return _product(part, self._mask(instance))

        return rebuilt(e, change)

    def _mask(self, instance: Instance) -> Einsum:
        """The pattern of a statement's mask."""
        values = self._mask_values(instance)
        if not isinstance(values, View):
            if instance.statement.counts_zeros:
                name = self.columns.fresh(f"{values.tensor}_nonzero")
                blocked = self._in_blocks(instance.statement.mask)
                return Sieve(name, values, values.tensor, values.indices, blocked)
            # A product with it has its coordinates, and is zero where its value is.
            return Indicator.of(values)
        # Inputs that are masks are loaded without zeros; a dense level and a result may have them.
        sieve = values.tensor not in self._given or values.stores_fill
        return replace(values, pattern=True, sieve=sieve)

    def _mask_values(self, instance: Instance) -> View | Intermediate:
        """A statement's mask: as it is stored, or as the region computes it."""
        mask = instance.statement.mask
        assert mask is not None
        producer = instance.producer(mask)
        if producer is None and len(self._steps.get(mask.tensor, ())) > 1:
            raise StreamError(
                f"'{instance.statement.lhs}' has a mask that is an earlier step, and that starts from "
                "another tensor",
                "compute the mask in a statement of its own",
            )
        return self._view(instance, mask) if producer is None else self._intermediate(producer)

    def _stored(self, instance: Instance, access: Access) -> Einsum:
        """A stored tensor: a view, or for a step the sum of those that may have it."""
        e: Einsum = self._view(instance, access)
        for tensor, place in self._steps.get(access.tensor, {}).items():
            if tensor == access.tensor:
                continue
            view = self._view(instance, replace(access, tensor=tensor))
            e = Apply("add", (e, replace(view, step=place)))
        return e

    def _view(self, instance: Instance, access: Access) -> View:
        fmt = self._program.tensors[access.tensor].format.loaded.of_blocks
        indices = instance.indices(access)
        name = self.columns.own(access.tensor)
        # What an input stores has been checked.
        one_each = self._program.tensors[access.tensor].format.one_each if access.tensor in self._given else 0
        stored = tuple(indices[mode] for mode in fmt.mode_order)
        blocked = self._in_blocks(access)
        step = self._steps.get(access.tensor, {}).get(access.tensor)
        return View(name, access.tensor, stored, fmt.levels, one_each=one_each, blocked=blocked, step=step)

    def _type(self, e: Einsum) -> ValueType:
        """The type of what an einsum gives."""
        match e:
            case View():
                return e.to or self._types[e.tensor]
            case Apply() | Reduce(value=None):
                own = e.to if isinstance(e, Apply) else None
                operands = e.operands[-2:] if isinstance(e, Apply) and e.op == "select" else e.operands
                values = [o for o in operands if not isinstance(o, Number)] or e.operands
                return own or self._type(values[0])
            case Reduce(value=kind) if kind is not None:
                return kind
            case Number():
                return self._value
        return self._type(e.operand)

    def _in_blocks(self, access: Access | None) -> bool:
        """The tensor of an access is stored in blocks of more than one value."""
        return access is not None and prod(self._program.tensors[access.tensor].format.block_shape) > 1

    def _intermediate(self, producer: Instance) -> Intermediate:
        if producer not in self._intermediates:
            lhs = producer.statement.lhs
            name = self.columns.own(producer.tensor)
            self._intermediates[producer] = Intermediate(
                name,
                self.tree(producer),
                producer.tensor,
                producer.indices(lhs),
                producer.tensor in self._recomputed,
            )
        return self._intermediates[producer]


def _terms(e: Einsum) -> Iterator[Einsum]:
    """The operands of the outermost sums, differences and signs."""
    if isinstance(e, Apply) and e.op in ("add", "sub", "neg"):
        for operand in e.operands:
            yield from _terms(operand)
    else:
        yield e


def _sum_of(op: str, left: Einsum, right: Einsum) -> Einsum:
    """left ± right; two constants make one."""
    if isinstance(left, Number) and isinstance(right, Number):
        return Number(left.value + right.value if op == "add" else left.value - right.value)
    return Apply(op, (left, right))


def _product(left: Einsum, right: Einsum) -> Einsum:
    """left · right as one product of all factors, of which at most the last is a constant."""
    factors: list[Einsum] = []
    constant: int | float = 1
    for side in (left, right):
        for factor in side.operands if isinstance(side, Apply) and side.op == MUL else (side,):
            if isinstance(factor, Number):
                constant *= factor.value
            else:
                factors.append(factor)
    if not factors:
        return Number(constant)
    if constant != 1:
        factors.append(Number(constant))
    return factors[0] if len(factors) == 1 else Apply(MUL, tuple(factors))
