"""Statements over an index that is cut into parts: what segments and tiles have in common."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from samhw.errors import InputError
from samhw.lang import (
    COORDINATES,
    RANKINGS,
    Access,
    Add,
    Call,
    Expr,
    Literal,
    Mul,
    Program,
    Recurrence,
    Region,
    Reshape,
    RunningReduction,
    Statement,
    TensorDecl,
    reaching_beyond,
)
from samhw.lang.cascade.decompose import Decomposed
from samhw.lang.cascade.split_modes import Cut, CutViews
from samhw.names import Names
from samhw.tensors import Format

__all__ = [
    "LEAST",
    "InParts",
    "OnePass",
    "Rescaling",
    "begun",
    "blocks_of",
    "cascades_of",
    "dense",
]

# A program whose cascades are one pass, and what is known of them: what segments and tiles go by.


LEAST = -(2.0**100)
"""What a running maximum begins with, instead of minus infinity: so a score of minus infinity has the weight
exp(-inf - LEAST) = 0, and not NaN. Both floating-point types have it."""


@dataclass(frozen=True)
class Rescaling:
    """What rescales a sum: an earlier result, the statement that gives it, and how the sum depends on it."""

    result: Access
    writer: Statement
    part: Decomposed


@dataclass(frozen=True)
class OnePass:
    """A program whose cascades are one pass.

    Attributes:
        program: with the statements that nobody reads any more.
        rescaled: by tensor, what rescales a sum.
        reduced: the reductions of cascades by tensor, each with the index that it goes over.
        running: by tensor, the earlier result of which it has the value up to each coordinate, or before it.
        added: the tensors that the cascades have brought.
        outputs: the tensors that are read after the program.
    """

    program: Program
    rescaled: Mapping[str, tuple[Rescaling, ...]]
    reduced: Mapping[str, str]
    running: Mapping[str, Access]
    added: Collection[str]
    outputs: Collection[str]


def begun(reduction: str, operand: Expr) -> Expr:
    """What a running reduction takes, so that an extreme begins with `LEAST`, or -`LEAST`."""
    if reduction not in ("max", "min"):
        return operand
    return Call(reduction, (operand, Literal(LEAST if reduction == "max" else -LEAST)))


def cascades_of(given: OnePass, region: Region, results: Collection[str]) -> list[str]:
    """One of some results for each cascade of a region that they are of, in the order of the indices' names.
    Two cascades may call their indices alike."""
    dimension = given.program.dimensions.of_statement
    found: dict[tuple[str, str], str] = {}
    for statement in region.statements:
        tensor = statement.lhs.tensor
        if tensor in results:
            index = given.reduced[tensor]
            found.setdefault((index, dimension(statement)[index]), tensor)
    return [found[key] for key in sorted(found)]


def blocks_of(program: Program, statements: Iterable[Statement]) -> dict[str, int]:
    """The blocks that tensors have along the indices of some statements."""
    return {
        name: size
        for statement in statements
        for access in statement.accesses
        for mode, name in enumerate(access.names)
        if (size := program.tensors[access.tensor].format.block_of(mode)) > 1
    }


def dense(name: str, indices: tuple[str, ...], blocks: Mapping[str, int]) -> TensorDecl:
    """A declaration of what is stored dense and row by row, and of which the extents follow from others.

    Args:
        blocks: how large they are along an index, where there are some.
    """
    format = Format.dense(len(indices), blocks=[blocks.get(index, 1) for index in indices])
    return TensorDecl(name, indices, (None,) * len(indices), format)


class InParts:
    """The statements of a region over the parts of one index.

    Args:
        of: a result of the cascade whose index is cut. After it, this index counts the parts, and `inner`
            the coordinates in one.
        number: of segments, or of the coordinates in a tile.
        views: where tensors come from that are stored along the index.
    """

    is_tiles: ClassVar[bool]
    suffix: ClassVar[str]
    """Of the results of a part, and of the index that counts what is in one."""

    def __init__(self, given: OnePass, region: Region, of: str, number: int, views: CutViews):
        self.given = given
        self.program = given.program
        self.asked = region
        self.of = of
        self.index = index = given.reduced[of]
        self.number = number
        self.views = views
        self.inner = views.indices.fresh(f"{index}_{self.suffix}")
        self.writers = {s.lhs.tensor: s for s in region.statements}
        self.whole: tuple[Statement, str] | None = None
        """What needs all of the index in one place, and why."""
        self.cut = self._cut()
        """By tensor, how the statement that writes it calls the index, if it goes over it."""
        self.earlier = self._earlier(tensor for tensor in self.cut if self.is_along(self.writers[tensor]))
        """The results that rescale others of the cascade."""
        self.blocks = blocks_of(given.program, (self.writers[tensor] for tensor in self.cut))
        """How large these are along an index, where there are some."""
        if (size := self.blocks.pop(index, 1)) > 1:
            self.blocks[self.inner] = size
        self.tensors: dict[str, TensorDecl] = {}
        self.statements: list[Statement] = []
        self.made: list[Region] = []
        """What makes the tensors that are read in parts."""
        self._inside: dict[str, tuple[str, int]] = {}

    def region(self) -> Region:
        """The region over parts. After its statements stand those that give results their shape again."""
        for statement in self.asked.statements:
            if statement.lhs.tensor in self.cut:
                self.emit(statement)
            else:
                self.statements.append(self._moved(statement))
        if any(self.inner in reaching_beyond(statement) for statement in self.statements):
            self.views.counts_beyond = True
        order = self.asked.order
        if order is not None and self.inner not in order:
            order = self._in_order(order, self.index)
        return replace(self.asked, statements=(*self.statements, *self._in_shape()), order=order)

    def emit(self, statement: Statement) -> None:
        """Adds what a statement becomes that goes over the index."""
        raise NotImplementedError

    def refusal(self, why: str) -> InputError:
        """The cascade cannot have parts."""
        raise NotImplementedError

    # What goes over parts

    def _cut(self) -> dict[str, str]:
        """All statements that have the index, or are linked to it through what the region computes."""
        dimension = self.program.dimensions.of_statement
        own = dimension(self.writers[self.of])[self.index]
        open_ = [(s, self.index) for s in self.asked.statements if dimension(s).get(self.index) == own]
        found: dict[str, str] = {}
        while open_:
            statement, index = open_.pop()
            if self._back_in_shape(statement) is not None:
                continue
            known = found.setdefault(statement.lhs.tensor, index)
            if known != index or (index != self.index and self.index in statement.indices):
                raise self.refusal(f"'{statement}' goes over it twice")
            if statement.is_move:
                raise self.refusal(f"'{statement}' moves whole tensors")
            if self.whole is None and (why := self._needs_all(statement, index)) is not None:
                self.whole = statement, why
            open_ += [
                (s, name) for s, name in self._linked(statement, index) if found.get(s.lhs.tensor) != name
            ]
        return found

    def _back_in_shape(self, statement: Statement) -> Access | None:
        """What a statement gives its shape again, of which an index has been cut before; None if it does
        something else."""
        match statement.rhs:
            case Reshape(operand) if operand.tensor in self.given.added:
                return operand
        return None

    def _moved(self, statement: Statement) -> Statement:
        """A statement that does not go over the index: what it gives its shape again may now be in parts."""
        operand = self._back_in_shape(statement)
        if operand is None or operand.tensor not in self._inside:
            return statement
        name, mode = self._inside[operand.tensor]
        inner = self.views.indices.fresh(self.inner)
        names = (*operand.names[: mode + 1], inner, *operand.names[mode + 1 :])
        return replace(statement, rhs=Reshape(Access.of(name, names)))

    def _linked(self, statement: Statement, index: str) -> Iterator[tuple[Statement, str]]:
        """The statements that share an index with one, through a tensor that the region computes."""
        rescaled = self.given.rescaled if index in statement.reduction_indices else {}
        for rescaling in rescaled.get(statement.lhs.tensor, ()):
            (reduced,) = rescaling.writer.reduction_indices
            yield self.writers[rescaling.writer.lhs.tensor], reduced
        for access in statement.accesses:
            writer = self.writers.get(access.tensor)
            if writer is None or index not in access.names:
                continue
            mode = access.names.index(index)
            yield writer, writer.lhs.names[mode]
            for reader in self.asked.statements:
                yield from ((reader, a.names[mode]) for a in reader.reads if a.tensor == access.tensor)

    def _needs_all(self, statement: Statement, index: str) -> str | None:
        """Why a statement has no parts: it needs all of the index in one place. None if it has some."""
        rhs, tensor = statement.rhs, statement.lhs.tensor
        runs = isinstance(rhs, RunningReduction | Recurrence) and rhs.index == index
        if runs and tensor not in self.given.added and tensor not in self.given.rescaled:
            return f"'{statement}' goes along all of it"
        places = statement.reduction in COORDINATES or statement.reduction in RANKINGS
        if places and index in statement.reduction_indices:
            return f"'{statement}' puts all of it in order"
        if index == statement.rank:
            return f"'{statement}' counts the best values by it"
        extreme = statement.reduction in ("max", "min") and index in statement.reduction_indices
        if extreme and statement.mask is not None and tensor not in self._earlier(self.writers):
            return f"'{statement}' has a mask, of which a part may have nothing"
        return None

    def _earlier(self, tensors: Iterable[str]) -> set[str]:
        """The results that rescale some tensors."""
        return {each.writer.lhs.tensor for tensor in tensors for each in self.given.rescaled.get(tensor, ())}

    def is_along(self, statement: Statement) -> bool:
        """Whether it reduces the index, or runs along it. Others have it as a row of their own."""
        index = self.cut.get(statement.lhs.tensor)
        return index is not None and index in (*statement.reduction_indices, statement.runs_along)

    # Statements

    def emit_earlier(self, statement: Statement) -> tuple[Access, Statement]:
        """Adds a result that rescales: of each part, and of all.

        Returns:
            What stands for a part, which may have no points; and the statement that reduces all of them.
        """
        over = self.over(statement)
        own = self.declare(f"{statement.lhs.tensor}_{self.suffix}", (*statement.lhs.names, self.index))
        self.statements.append(replace(over, lhs=own))
        whole = replace(over, rhs=own, mask=None, order=self.without_inner(over.order))
        if statement.reduction == "sum" or statement.mask is None:
            self.statements.append(whole)
            return own, whole
        return self._emit_extreme(over, own, whole)

    def _emit_extreme(self, over: Statement, own: Access, whole: Statement) -> tuple[Access, Statement]:
        """The extreme of all parts that have points at all: others have 0, which is none."""
        tensor = whole.lhs.tensor
        points = self.declare(f"{tensor}_points", own.names)
        kept = self.declare(f"{tensor}_kept", own.names)
        all_points = self.declare(f"{tensor}_row_points", whole.lhs.names)
        extreme = self.declare(f"{tensor}_extreme", whole.lhs.names)
        each = self.declare(f"{tensor}_each", (*own.names, self.inner))
        one = Add(Mul(Literal(0), over.rhs), Literal(1))
        least = Literal(LEAST if over.reduction == "max" else -LEAST)
        reduced = replace(whole, lhs=extreme, rhs=kept)
        self.statements += (
            Statement(each, one, mask=over.mask),
            replace(over, lhs=points, rhs=each, reduction="sum"),
            Statement(kept, Call("select", (points, own, least))),
            reduced,
            replace(whole, lhs=all_points, rhs=points, reduction="sum"),
            Statement(whole.lhs, Call("select", (all_points, extreme, Literal(0)))),
        )
        return kept, reduced

    def own_sum(self, statement: Statement) -> Access:
        """What a part gives to a rescaled sum, as the left side of a statement."""
        rescalings = self.given.rescaled[statement.lhs.tensor]
        outer = {name for rescaling in rescalings for name in rescaling.result.names}
        names = sorted(statement.lhs.names, key=lambda name: name not in outer)
        at = sum(name in outer for name in names)
        return self.declare(f"{statement.lhs.tensor}_{self.suffix}", (*names[:at], self.index, *names[at:]))

    def over(self, statement: Statement) -> Statement:
        """A statement over parts."""
        index = self.cut[statement.lhs.tensor]
        over = statement.with_accesses(lambda access: self.access(access, index))
        return replace(over, order=over.order and self._in_order(over.order, index))

    def access(self, access: Access, index: str) -> Access:
        """An access over parts.

        Args:
            index: what its statement calls the index.
        """
        names = access.names
        if index not in names:
            return access
        mode = names.index(index)
        computed = access.tensor in self.writers
        tensor = self._computed(access.tensor, mode) if computed else self._view(access.tensor, mode)
        return Access.of(tensor, (*names[:mode], self.index, self.inner, *names[mode + 1 :]))

    def _view(self, tensor: str, mode: int) -> str:
        cut = Cut(mode, self.number, self.is_tiles)
        decl, region = self.views.of(self.program, tensor, cut, f"{self.index}_{self.suffix}")
        self.tensors[decl.name] = decl
        self.made += [] if region is None else [region]
        self.views.along.setdefault(self.index, []).append((decl.name, mode))
        return decl.name

    def _computed(self, tensor: str, mode: int) -> str:
        """What the region computes of a tensor, in parts, under another name if the user knows it."""
        if tensor not in self._inside:
            wish = f"{tensor}_{'tiles' if self.is_tiles else 'segments'}"
            name = tensor if tensor in self.given.added else self.names.fresh(wish)
            cut = Cut(mode, self.number, self.is_tiles)
            decl = self.program.tensors[tensor]
            self.tensors[name] = cut.declared(decl, name, f"{self.index}_{self.suffix}")
            self._inside[tensor] = name, mode
        return self._inside[tensor][0]

    @property
    def names(self) -> Names:
        """Those of tensors."""
        return self.views.names

    def _in_order(self, order: tuple[str, ...], index: str) -> tuple[str, ...]:
        return tuple(n for name in order for n in ((self.index, self.inner) if name == index else (name,)))

    def without_inner(self, order: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The order of a statement over what parts give."""
        return order and tuple(name for name in order if name != self.inner)

    def declare(self, wish: str, names: tuple[str, ...]) -> Access:
        """A further dense tensor."""
        name = self.names.fresh(wish)
        self.tensors[name] = dense(name, names, self.blocks)
        return Access.of(name, names)

    def _in_shape(self) -> Iterator[Statement]:
        """What gives the results that are read elsewhere their own shape again."""
        here = {*self.asked.written}
        for tensor in self._inside:
            if tensor not in self.given.outputs and self.program.readers(tensor) <= here:
                continue
            decl = self.program.tensors[tensor]
            inside, mode = self._inside[tensor]
            whole, parts = self.views.reshaped(decl, self.tensors[inside], mode)
            yield Statement(whole, Reshape(parts))
