"""Segments: the index of a cascade in parts of consecutive coordinates, each with a state of its own, which
lanes compute side by side.

Each segment s has its own earlier result d_s, such as its maximum, and its own sum y_s. Behind the segments
d is reduced from all d_s, and y = Σ_s y_s · H(d) / H(d_s) (RedFuser, equation 11).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from samhw.cascade.decompose import Decomposed
from samhw.cascade.symbols import Symbolic
from samhw.errors import InputError
from samhw.frontend import (
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
)
from samhw.names import Names
from samhw.tensors import Format, LevelType, Tensor

__all__ = ["LEAST", "OnePass", "Rescaling", "SegmentView", "segmented"]

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
        added: the tensors that the cascades have brought.
    """

    program: Program
    rescaled: Mapping[str, tuple[Rescaling, ...]]
    reduced: Mapping[str, str]
    added: Collection[str]


@dataclass(frozen=True)
class SegmentView:
    """A tensor that has one of another one's modes in segments.

    Attributes:
        name: its own.
        of: the other one.
        mode: of that.
        segments: how many there are. The last ones may be shorter, or have nothing at all.
        format: that of the segments.
        is_derived: it is made of the other one, and does not lie where that lies.
        is_even: all segments are equally long, since others of the program lie where their tensors lie.
    """

    name: str
    of: str
    mode: int
    segments: int
    format: Format
    is_derived: bool
    is_even: bool = False

    def shape(self, whole: tuple[int, ...]) -> tuple[int, ...]:
        """The shape in segments of a tensor of some shape."""
        own = -(-whole[self.mode] // self.segments)
        return (*whole[: self.mode], self.segments, own, *whole[self.mode + 1 :])

    def made(self, tensor: Tensor) -> Tensor:
        """The segments of a tensor. Each entry stays one, and so do zeros that a compressed level stores.

        Raises:
            InputError: where segments are to be equally long, and cannot be.
        """
        if self.is_even:
            _check_even(self.of, tensor.shape[self.mode], self.segments)
        coords, vals = tensor.to_coo(drop_zeros=tensor.format.stores_fill)
        shape = self.shape(tensor.shape)
        segment, own = np.divmod(coords[self.mode], shape[self.mode + 1])
        moved = np.concatenate([coords[: self.mode], [segment, own], coords[self.mode + 1 :]])
        return Tensor.from_coo(moved, vals, shape, self.format)


@dataclass(frozen=True)
class Segmented:
    """A program whose cascades go over segments.

    Attributes:
        program: itself.
        views: what it reads in segments.
        indices: those that count segments, each with the views, and of each the mode, that they go along.
    """

    program: Program
    views: tuple[SegmentView, ...]
    indices: Mapping[str, Sequence[tuple[str, int]]]


def segmented(given: OnePass, lanes: Mapping[str, int]) -> Segmented:
    """The program in which cascades over an index with lanes go over its segments, one for each lane.

    The index itself counts the segments, and so has the lanes; another one counts the coordinates in one.
    What is stored along the index is read in another shape, through views.

    Args:
        lanes: by index.

    Raises:
        InputError: for a cascade that has no segments.
    """
    program = given.program
    views = _Views(program)
    regions: list[Region] = []
    for region in program.regions:
        found = {given.reduced[t] for t in region.written if t in given.reduced}
        asked = sorted(index for index in found if lanes.get(index, 1) > 1)
        if len(asked) > 1:
            raise InputError(
                f"'{asked[0]}' and '{asked[1]}' cannot both have lanes: each has a cascade of the same "
                "region; give lanes to one of them, or separate them with --fuse none."
            )
        for index in asked:
            parts = _Segments(given, region, index, lanes[index], views)
            region = parts.region()
            regions += views.made()
            views.tensors |= parts.tensors
        regions.append(region)
    made = replace(program, tensors={**program.tensors, **views.tensors}, regions=tuple(regions))
    is_even = not all(view.is_derived for view in views.views)
    even = tuple(replace(view, is_even=is_even) for view in views.views)
    return Segmented(made, even, views.along)


def _check_even(tensor: str, extent: int, segments: int) -> None:
    if extent % segments:
        raise InputError(
            f"{segments} lanes do not divide the {extent} coordinates of '{tensor}' into equal segments of a "
            "cascade; give a number of lanes that does, or lanes to another index."
        )


def in_segments(decl: TensorDecl, mode: int, segments: int, name: str) -> TensorDecl:
    """A declaration with one of its modes in two: the segment, and the coordinate in it, whose extent is
    open."""
    indices, shape, format = decl.indices, decl.shape, decl.format
    order = [m + (m > mode) for m in format.mode_order]
    level = order.index(mode)
    if format.block:
        raise InputError(f"'{decl.name}' is stored in blocks, which no segments divide; store it as csr.")
    levels = [LevelType.compressed if each is LevelType.singleton else each for each in format.levels]
    return TensorDecl(
        name,
        (*indices[: mode + 1], f"{indices[mode]}_own", *indices[mode + 1 :]),
        (*shape[:mode], segments, None, *shape[mode + 1 :]),
        Format(
            (*levels[:level], LevelType.dense, *levels[level:]),
            (*order[: level + 1], mode + 1, *order[level + 1 :]),
        ),
    )


class _Views:
    """Tensors that are stored along an index, as tensors of its segments: they lie in the same memories."""

    def __init__(self, program: Program):
        self.program = program
        self.tensors: dict[str, TensorDecl] = {}
        self.names = Names(program.tensors)
        self.indices = Names(i for s in program.statements for i in s.indices)
        self.views: list[SegmentView] = []
        self.along: dict[str, list[tuple[str, int]]] = {}
        """By index that counts segments, the views and their modes that it goes along."""
        self._of: dict[tuple[str, int, int], str] = {}
        self._made: list[Region] = []

    def made(self) -> list[Region]:
        """The regions that make what has been asked for since the last call."""
        made, self._made = self._made, []
        return made

    def of(self, tensor: str, mode: int, segments: int) -> str:
        """The name of a tensor with one of its modes in segments.

        Raises:
            InputError: for a tensor that does not lie in equal segments.
        """
        key = tensor, mode, segments
        if key not in self._of:
            decl = self.program.tensors[tensor]
            name = self._of[key] = self.names.fresh(f"{tensor}_segments")
            made = self.tensors[name] = in_segments(decl, mode, segments, name)
            is_derived = decl in self.program.inputs and not decl.format.is_all_dense
            self.views.append(SegmentView(name, tensor, mode, segments, made.format, is_derived))
            if not is_derived:
                _check_even(tensor, decl.shape[mode] or segments, segments)
                whole, parts = self.reshaped(decl, made, mode)
                self._made.append(Region((Statement(parts, Reshape(whole)),)))
        return self._of[key]

    def reshaped(self, whole: TensorDecl, parts: TensorDecl, mode: int) -> tuple[Access, Access]:
        """The accesses of a tensor and of its segments that name the same elements.

        Raises:
            InputError: for a tensor whose elements do not lie in the order of their coordinates.
        """
        for each in (whole, parts):
            format = each.format
            if not format.is_all_dense or format.mode_order != tuple(range(format.rank)):
                raise InputError(
                    f"A cascade over segments takes only what is stored dense and row by row, and "
                    f"'{each.name}' is stored as {format}; store it so, or give lanes to another index."
                )
        names = [self.indices.fresh(index) for index in whole.indices]
        own = [self.indices.fresh(index) for index in parts.indices[mode : mode + 2]]
        return Access.of(whole.name, names), Access.of(parts.name, (*names[:mode], *own, *names[mode + 1 :]))


class _Segments:
    """The statements of a region over the segments of one index.

    Args:
        index: what is cut. Behind it, it counts the segments, and `inner` the coordinates in one.
        count: of segments.
        views: where tensors come from that are stored along the index.
    """

    def __init__(self, given: OnePass, region: Region, index: str, count: int, views: _Views):
        self.given = given
        self.program = given.program
        self.asked = region
        self.index = index
        self.count = count
        self.views = views
        self.inner = views.indices.fresh(f"{index}_own")
        self.writers = {s.lhs.tensor: s for s in region.statements}
        self.earlier = {
            rescaling.writer.lhs.tensor
            for tensor in self.writers
            for rescaling in given.rescaled.get(tensor, ())
        }
        """The results that rescale others."""
        self.cut = self._cut()
        """By tensor, how the statement that writes it calls the index, if it goes over it."""
        self.tensors: dict[str, TensorDecl] = {}
        self.statements: list[Statement] = []
        self._own: dict[str, str] = {}
        self._inside: dict[str, tuple[str, int]] = {}
        self._weights: dict[tuple[Access, Symbolic], Access] = {}

    def region(self) -> Region:
        """The region over segments. Behind its statements stand those that give results their shape again."""
        for statement in self.asked.statements:
            tensor = statement.lhs.tensor
            if tensor not in self.cut:
                self.statements.append(statement)
            elif tensor in self.given.rescaled:
                self._emit_sum(statement)
            elif tensor in self.earlier:
                self._emit_earlier(statement)
            else:
                self.statements.append(self._over(statement))
        order = self.asked.order
        if order is not None and self.inner not in order:
            order = self._in_order(order, self.index)
        return replace(self.asked, statements=(*self.statements, *self._in_shape()), order=order)

    # What goes over segments

    def _cut(self) -> dict[str, str]:
        """All statements that have the index, or are linked to it through what the region computes."""
        dimension = self.program.dimensions.of_statement
        (own,) = {dimension(s)[self.index] for s in self.asked.statements if self._is_reduced(s)}
        open_ = [(s, self.index) for s in self.asked.statements if dimension(s).get(self.index) == own]
        found: dict[str, str] = {}
        while open_:
            statement, index = open_.pop()
            known = found.setdefault(statement.lhs.tensor, index)
            if known != index or (index != self.index and self.index in statement.indices):
                raise self._refusal(f"'{statement}' goes over it twice")
            self._check(statement, index)
            open_ += [
                (s, name) for s, name in self._linked(statement, index) if found.get(s.lhs.tensor) != name
            ]
        return found

    def _is_reduced(self, statement: Statement) -> bool:
        return self.given.reduced.get(statement.lhs.tensor) == self.index

    def _linked(self, statement: Statement, index: str) -> Iterator[tuple[Statement, str]]:
        """The statements that share an index with one, through a tensor that the region computes."""
        for rescaling in self.given.rescaled.get(statement.lhs.tensor, ()):
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

    def _check(self, statement: Statement, index: str) -> None:
        """Raises `InputError` for a statement that has no segments."""
        rhs, tensor = statement.rhs, statement.lhs.tensor
        runs = isinstance(rhs, RunningReduction | Recurrence) and rhs.index == index
        if runs and tensor not in self.given.added and tensor not in self.given.rescaled:
            raise self._refusal(f"'{statement}' goes along all of it")
        if statement.is_move:
            raise self._refusal(f"'{statement}' moves whole tensors")
        places = statement.reduction in COORDINATES or statement.reduction in RANKINGS
        if places and index in statement.reduction_indices:
            raise self._refusal(f"'{statement}' puts all of it in order")
        extreme = statement.reduction in ("max", "min") and index in statement.reduction_indices
        if extreme and statement.mask is not None and tensor not in self.earlier:
            raise self._refusal(f"'{statement}' has a mask, of which a segment may have nothing")

    def _refusal(self, why: str) -> InputError:
        return InputError(
            f"The cascade over '{self.index}' cannot have lanes there: {why}; give lanes to another index."
        )

    # Statements

    def _emit_earlier(self, statement: Statement) -> None:
        """A result that rescales: of each segment, and of all."""
        over = self._over(statement)
        own = self._declare(f"{statement.lhs.tensor}_own", (*statement.lhs.names, self.index))
        self._own[statement.lhs.tensor] = own.tensor
        self.statements.append(replace(over, lhs=own))
        whole = replace(over, rhs=own, mask=None, order=self._without_inner(over.order))
        if statement.reduction == "sum" or statement.mask is None:
            self.statements.append(whole)
        else:
            self._emit_extreme(over, own, whole)

    def _emit_extreme(self, over: Statement, own: Access, whole: Statement) -> None:
        """The extreme of all segments that have points at all: others have 0, which is none."""
        tensor = whole.lhs.tensor
        points = self._declare(f"{tensor}_points", own.names)
        kept = self._declare(f"{tensor}_kept", own.names)
        all_points = self._declare(f"{tensor}_row_points", whole.lhs.names)
        extreme = self._declare(f"{tensor}_extreme", whole.lhs.names)
        each = self._declare(f"{tensor}_each", (*own.names, self.inner))
        one = Add(Mul(Literal(0), over.rhs), Literal(1))
        least = Literal(LEAST if over.reduction == "max" else -LEAST)
        self.statements += (
            Statement(each, one, mask=over.mask),
            replace(over, lhs=points, rhs=each, reduction="sum"),
            Statement(kept, Call("select", (points, own, least))),
            replace(whole, lhs=extreme, rhs=kept),
            replace(whole, lhs=all_points, rhs=points, reduction="sum"),
            Statement(whole.lhs, Call("select", (all_points, extreme, Literal(0)))),
        )

    def _emit_sum(self, statement: Statement) -> None:
        """A rescaled sum: of each segment, and of all, in which each has the weight that its own results
        lack."""
        over = self._over(statement)
        rescalings = self.given.rescaled[statement.lhs.tensor]
        outer = {name for rescaling in rescalings for name in rescaling.result.names}
        names = sorted(statement.lhs.names, key=lambda name: name not in outer)
        at = sum(name in outer for name in names)
        own = self._declare(f"{statement.lhs.tensor}_own", (*names[:at], self.index, *names[at:]))
        self.statements.append(replace(over, lhs=own))
        whole: Expr = own
        for rescaling in rescalings:
            whole = Mul(whole, self._weight(rescaling))
        self.statements.append(Statement(statement.lhs, whole, self._without_inner(over.order)))

    def _weight(self, rescaling: Rescaling) -> Access:
        """H(d) / H(d_s) of each segment."""
        key = rescaling.result, rescaling.part.results
        if key not in self._weights:
            result = rescaling.result
            names = (*result.names, self.index)
            own = Access.of(self._own[result.tensor], names)
            self._weights[key] = weight = self._declare(f"{result.tensor}_weight", names)
            self.statements.append(Statement(weight, rescaling.part.factor(result, own)))
        return self._weights[key]

    def _over(self, statement: Statement) -> Statement:
        """A statement over segments."""
        index = self.cut[statement.lhs.tensor]
        over = statement.with_accesses(lambda access: self._access(access, index))
        match over.rhs:
            case RunningReduction(index=along) | Recurrence(index=along) if along == index:
                over = replace(over, rhs=replace(over.rhs, index=self.inner))
        return replace(over, order=over.order and self._in_order(over.order, index))

    def _access(self, access: Access, index: str) -> Access:
        names = access.names
        if index not in names:
            return access
        mode = names.index(index)
        computed = access.tensor in self.writers
        tensor = self._computed(access.tensor, mode) if computed else self._view(access.tensor, mode)
        return Access.of(tensor, (*names[:mode], self.index, self.inner, *names[mode + 1 :]))

    def _view(self, tensor: str, mode: int) -> str:
        name = self.views.of(tensor, mode, self.count)
        self.views.along.setdefault(self.index, []).append((name, mode))
        return name

    def _computed(self, tensor: str, mode: int) -> str:
        """What the region computes of a tensor, in segments, under another name if the user knows it."""
        if tensor not in self._inside:
            name = tensor if tensor in self.given.added else self.views.names.fresh(f"{tensor}_segments")
            self.tensors[name] = in_segments(self.program.tensors[tensor], mode, self.count, name)
            self._inside[tensor] = name, mode
        return self._inside[tensor][0]

    def _in_order(self, order: tuple[str, ...], index: str) -> tuple[str, ...]:
        return tuple(n for name in order for n in ((self.index, self.inner) if name == index else (name,)))

    def _without_inner(self, order: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return order and tuple(name for name in order if name != self.inner)

    def _declare(self, wish: str, names: tuple[str, ...]) -> Access:
        name = self.views.names.fresh(wish)
        format = Format((LevelType.dense,) * len(names), tuple(range(len(names))))
        self.tensors[name] = TensorDecl(name, names, (None,) * len(names), format)
        return Access.of(name, names)

    def _in_shape(self) -> Iterator[Statement]:
        """What gives the results that are read elsewhere their own shape again."""
        read = {decl.name for decl in self.program.outputs}
        for region in self.program.regions:
            if region is not self.asked:
                read |= {access.tensor for statement in region.statements for access in statement.reads}
        for tensor in (tensor for tensor in self._inside if tensor in read):
            decl = self.program.tensors[tensor]
            inside, mode = self._inside[tensor]
            whole, parts = self.views.reshaped(decl, self.tensors[inside], mode)
            yield Statement(whole, Reshape(parts))
