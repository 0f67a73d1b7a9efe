"""What the statements of a lowered function read and store: tensors, and accesses of them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from samhw.errors import InputError
from samhw.lang import Access, Add, Expr, Literal, Mul, Statement
from samhw.lang.index import ComputedIndex, IndexExpr, Indirect, Name
from samhw.lang.nested.dataflow import (
    Affine,
    Buffer,
    Constants,
    Dim,
    ElementRead,
    Equation,
    Given,
    Index,
    ListView,
    Pieces,
    Positions,
    Stretch,
    reads_of,
    value_of,
    variable,
)
from samhw.lang.nested.iterations import STEP, CellPlace
from samhw.lang.nested.lowered import is_of_numbers
from samhw.lang.nested.merging import through
from samhw.lang.nested.stored import StoredBuffer, StoredTensors
from samhw.lang.traverse import free_indices

__all__ = ["TensorOperands"]


class TensorOperands(StoredTensors):
    """What statements read of the tensors of a program while it is written."""

    def of(self, read: ElementRead, at: Sequence[str | None], place: CellPlace, lines: list[str]) -> Expr:
        """An element's number, where its axes have these indices.

        Args:
            read: of any buffer.
            at: an index for each axis, or None; one of extent 1 needs none. If the element has fewer axes,
                they are the last ones.
            place: the iteration that reads it.
            lines: of the block that the place is in, for statements that have to come before.
        """
        buffer = self.function.buffers[read.buffer]
        fitting = at[len(at) - len(buffer.shape) :]
        axes = self._fitted(read, at)
        if isinstance(buffer, Equation) and buffer.operation.name == "transpose":
            values = {dim.name: index for dim, index in zip(buffer.dims, read.indices, strict=True)}
            return self.of(buffer.arguments[0].substituted(values), fitting[::-1], place, lines)
        if read.buffer in place.inside:
            if any(isinstance(index, ElementRead) for index in read.indices):
                raise InputError(
                    f"{read.buffer} is computed by a scan that picks items of it by a list of numbers; pick "
                    "them of a list that is there before the scan"
                )
            if isinstance(buffer, Equation):
                return self._inside(read, axes, place, lines)
            if isinstance(buffer, Pieces) and buffer.role == "state":
                return self._state(buffer, read, axes, fitting, place, lines)
        known = self._before(read, place)
        if known is None:
            assert isinstance(buffer, Constants)
            return Literal(buffer.value.flat[0].item())
        return self._outside(known, read, axes, place, lines)

    def _before(self, read: ElementRead, place: CellPlace) -> StoredBuffer | None:
        """The tensor of what is there before the present block; None for one number."""
        buffer = self.function.buffers[read.buffer]
        match buffer:
            case Constants(value=value) if np.isfinite(value).all() and np.ptp(value) == 0:
                return None
            case Given() | Constants() | Positions():
                return self.input(read.buffer)
            case Equation(name=name):
                return self.stored[name]
            case Pieces():
                return self._in_pieces(buffer, place)
        return self._listed(buffer, place)

    def _outside(
        self,
        stored: StoredBuffer,
        read: ElementRead,
        axes: tuple[str, ...],
        place: CellPlace,
        lines: list[str],
        guard: Access | None = None,
    ) -> Access:
        """An access of what is there before the present block."""
        if place.wavefront is not None and isinstance(self.function.buffers[read.buffer], Given | Constants):
            stored, read = self.part(read, place)
        if stored.stepped and any(isinstance(index, ElementRead) for index in read.indices):
            stored = self._listed(self.function.buffers[read.buffer], place)
        if stored.stepped and self._is_discordant(stored, read.indices, place):
            stored = self._with_step_inside(stored, read.indices)
        indices = [
            self._indirect(index, place) if isinstance(index, ElementRead) else place.index(index)
            for index in stored.indices(read.indices)
        ]
        names = [self._index(i, extent) for i, extent in zip(indices, stored.shape, strict=False)]
        found = Access(stored.tensor, (*names, *map(Name, axes)))
        if place.wavefront is None:
            return found
        used = [i for i in indices if isinstance(i, Affine) and i.terms]
        steps = sum(i.terms == ((place.step, 1),) for i in used)
        plain = all(
            isinstance(n, Name) or (i.terms == ((place.step, 1),) and i.offset)
            for n, i in zip(names, used, strict=False)
        )
        if plain and len(used) == len(indices) and steps <= 1:
            return (
                found if guard is None else self._now(found, place, axes, lines, f"{stored.tensor}_at", guard)
            )
        return self._gathered(found, place, axes, guard)

    def _is_discordant(self, stored: StoredBuffer, read: Sequence[Index], place: CellPlace) -> bool:
        """Whether a read has the step of a scan at a computed place, or rows beside it at such places or at
        numbers: then the step as the outermost level would be in the way."""
        step, *rows = stored.indices(read)
        extents = {loop.name: loop.extent for loop in place.loops}
        computed = not all(_is_variable(i) for i in rows)
        goes_along = _is_variable(step) and all(extents[n] == stored.shape[0] for n in step.variables)
        return computed or (bool(step.variables) and not goes_along)

    def _with_step_inside(self, stored: StoredBuffer, read: Sequence[Index]) -> StoredBuffer:
        """A copy of what a scan has stored skewed, with its step inside of the rows: that is the order in
        which rows give the step to be read. Of rows that a read names by number it has these alone."""
        at = dict(zip(stored.dims, read, strict=False))
        fixed = {
            loop: index for loop in stored.loops if isinstance(index := at[loop], Affine) and not index.terms
        }
        key = (stored.tensor, tuple(fixed.items()))
        if key not in self.copies:
            rounds, *rest = stored.shape
            step = self.indices.of(STEP, rounds)
            extents = dict(zip(stored.loops, rest, strict=False))
            modes = {loop: self.indices.of(loop, e) for loop, e in extents.items() if loop not in fixed}
            inner = [self.indices.of(f"x{n}", e) for n, e in enumerate(rest[len(extents) :])]
            source = stored.tensor
            if fixed:
                rows = [fixed[loop] if loop in fixed else Name(modes[loop]) for loop in stored.loops]
                right = Access(source, (Name(step), *rows, *map(Name, inner)))
                source = self._copied([step, *modes.values(), *inner], right)
            # A skewed step is computed of all rows; any other one is where its loop was.
            before = stored.dims[: stored.dims.index(next(iter(stored.coefficients)))]
            inside = len(modes) if len(stored.coefficients) > 1 else sum(loop in before for loop in modes)
            indices = [*modes.values()]
            indices.insert(inside, step)
            if inside:
                right = Access.of(source, (step, *modes.values(), *inner))
                source = self._copied([*indices, *inner], right)
            sizes = [extents[loop] for loop in modes]
            sizes.insert(inside, rounds)
            shape = (*sizes, *rest[len(extents) :])
            self.copies[key] = replace(stored, tensor=source, shape=shape, loops=tuple(modes), inside=inside)
        return self.copies[key]

    def _copied(self, indices: Sequence[str], right: Access) -> str:
        """A tensor with these indices, and the statement that fills it."""
        tensor = self.fresh_names.fresh(f"{right.tensor}_rows")
        self.declare(tensor, indices, [self.indices.extents[i] for i in indices])
        self.lines.append(str(Statement(Access.of(tensor, indices), right)))
        return tensor

    def _gathered(
        self, found: Access, place: CellPlace, axes: tuple[str, ...], guard: Access | None
    ) -> Access:
        """What a scan reads at computed places, put in its place before the scan."""
        variables = {*found.variables, *(guard.variables if guard is not None else ())} - set(axes)
        own = [name for name in (place.step, *place.rows) if name in variables]
        key = (found, tuple(own), axes, guard)
        if key not in self.made:
            tensor = self.fresh_names.fresh(f"{found.tensor}_at")
            indices = [*own, *axes]
            self.declare(tensor, indices, [self.indices.extents[i] for i in indices])
            self.made[key] = Access.of(tensor, indices)
            self.lines.append(str(Statement(self.made[key], found, mask=guard)))
        return self.made[key]

    def _index(self, index: Affine | Indirect, extent: int) -> IndexExpr:
        """An index of a mode: a name alone where extents agree."""
        if isinstance(index, Indirect):
            return index
        bare = len(index.terms) == 1 and index.terms[0][1] == 1 and not index.offset
        if bare and self.indices.extents[index.terms[0][0]] == extent:
            return Name(index.terms[0][0])
        return ComputedIndex(index.terms, index.offset)

    def _indirect(self, read: ElementRead, place: CellPlace) -> Indirect:
        """An index that a list of numbers gives."""
        buffer = self.function.buffers[read.buffer]
        if not is_of_numbers(self.function.buffers, read):
            raise InputError(
                f"{read.buffer} names items, and is computed by more than sums and products of lists of "
                "numbers; compute it before the run, and give it as a list"
            )
        if not read.variables:
            raise InputError(
                f"{read.buffer} names a single item, and programs take lists of them; take a list of one, "
                "as in xs[ids[:1]]"
            )
        names = [
            self._index(place.index(i), d.extent)
            for i, d in zip(read.indices, buffer.dims, strict=True)
            if isinstance(i, Affine)
        ]
        whole = [name.variable for name in names if isinstance(name, Name)]
        is_input = isinstance(buffer, Given | Constants) and place.wavefront is None
        if is_input and len(whole) == len(buffer.dims):
            return Indirect(self.input(read.buffer).tensor, tuple(whole))
        return self.places(read, place)

    def _inside(self, read: ElementRead, axes: tuple[str, ...], place: CellPlace, lines: list[str]) -> Access:
        """An access of what the present scan computes, in this step or an earlier one."""
        stored = self.stored[read.buffer]
        dims = self.function.buffers[read.buffer].dims[: len(stored.dims)]
        # Another block of the scan has loops of its own at the same places.
        loops = [loop.name for loop in place.loops][: len(dims)]
        loops += [dim.name for dim in dims[len(loops) :]]
        behind = place.offset - stored.offset
        picks: list[Expr] = []
        indices: list[str] = []
        for dim, loop, index in zip(dims, loops, read.indices, strict=False):
            assert isinstance(index, Affine)
            offset = index - variable(loop)
            if loop in place.coefficients:
                if offset.terms:
                    raise InputError(
                        f"{read.buffer} is read in an order of its own; a program reads earlier steps"
                    )
                behind -= place.coefficients[loop] * offset.offset
            if loop == place.follows:
                continue
            if not offset.terms and not offset.offset and loop in place.names:
                indices.append(place.names[loop])
                continue
            other = self.indices.of(f"e{len(picks)}", dim.extent)
            picks.append(self._pick(place, index, other, dim.extent))
            indices.append(other)
        first: list[IndexExpr] = []
        if stored.stepped:
            first = [ComputedIndex(((place.step, 1),), -behind) if behind else Name(place.step)]
        found = Access(stored.tensor, (*first, *map(Name, (*indices, *axes))))
        if not picks:
            return found
        key = (read, axes, place.own)
        if key not in self.made:
            right = reduce(Mul, [found, *picks])
            self.made[key] = self._now(right, place, axes, lines, f"{read.buffer}_at")
        return self.made[key]

    def _pick(self, place: CellPlace, index: Affine, other: str, extent: int) -> Access:
        """An input that is 1 where an index of rows has a value, as a factor that picks it."""
        inside = place.index(index)
        extents = [self.indices.extents[name] for name, _ in inside.terms]
        found = np.zeros((*extents, extent), int)
        for at in np.ndindex(*extents):
            value = value_of(inside, dict(zip((name for name, _ in inside.terms), at, strict=True)))
            if 0 <= value < extent:
                found[(*at, value)] = 1
        return self.constant("pick", found, [*(name for name, _ in inside.terms), other])

    def _now(
        self,
        right: Expr,
        place: CellPlace,
        axes: tuple[str, ...],
        lines: list[str],
        wish: str,
        guard: Access | None = None,
    ) -> Access:
        """A statement of the present block for part of another one, where there are cells or a guard is."""
        tensor = self.fresh_names.fresh(wish)
        mask = guard if guard is not None or place.mask is None else self.valid(place)
        used = {*free_indices(right), *(mask.variables if mask is not None else ())}
        indices = [*(row for row in place.rows if row in used), *axes]
        self.declare(tensor, indices, [self.indices.extents[i] for i in indices])
        found = Access.of(tensor, indices)
        lines.append(str(Statement(found, right, mask=mask)))
        return found

    def _state(
        self,
        buffer: Pieces,
        read: ElementRead,
        axes: tuple[str, ...],
        at: Sequence[str | None],
        place: CellPlace,
        lines: list[str],
    ) -> Expr:
        """What a state is: what it begins with at the first steps, and what earlier ones have given. One of
        the two is zero."""
        values = {dim.name: index for dim, index in zip(buffer.dims, read.indices, strict=True)}
        coordinate = read.indices[buffer.axis]
        assert isinstance(coordinate, Affine)
        extents = {loop.name: loop.extent for loop in place.loops}
        terms = []
        for piece in buffer.pieces:
            source = through(self.function.buffers, piece.read.substituted(values), extents)
            if self._is_zero(source):
                continue
            name = source.buffer
            if name in place.inside and isinstance(self.function.buffers[name], Equation):
                terms.append(self.of(source, at, place, lines))
                continue
            guard = self._guard(place, coordinate, piece)
            known = None if name in place.inside else self._before(source, place)
            if known is None:
                terms.append(Mul(self.of(source, at, place, lines), guard))
            else:
                terms.append(self._outside(known, source, self._fitted(source, at), place, lines, guard))
        if not terms:
            return Literal(0)
        if len(terms) == 1 and isinstance(terms[0], Access):
            return terms[0]
        key = (read, axes, place.own)
        if key not in self.made:
            self.made[key] = self._now(reduce(Add, terms), place, axes, lines, buffer.name)
        return self.made[key]

    def _fitted(self, read: ElementRead, at: Sequence[str | None]) -> tuple[str, ...]:
        shape = self.function.buffers[read.buffer].shape
        fitting = at[len(at) - len(shape) :]
        return tuple(x for x, e in zip(fitting, shape, strict=True) if e > 1 and x is not None)

    def _is_zero(self, read: ElementRead) -> bool:
        buffer = self.function.buffers[read.buffer]
        return isinstance(buffer, Constants) and not buffer.value.any()

    def _guard(self, place: CellPlace, coordinate: Affine, piece: Stretch) -> Access:
        """The cells at which a state is in a piece."""
        return self.cells(
            place,
            lambda at: piece.start <= value_of(coordinate, at) < piece.stop,
            frozenset(coordinate.variables),
        )

    def _in_pieces(self, buffer: Pieces, place: CellPlace) -> StoredBuffer:
        """Lists that are joined or padded, as a tensor: a sum of what is zero outside of its piece."""
        if buffer.name in self.stored:
            return self.stored[buffer.name]
        if self._is_inside(buffer.name, place):
            raise InputError(f"{buffer.name} is made of what a scan computes, in the scan; make it outside")
        own = self.own_place(buffer.dims)
        axes = self.axes(buffer.shape)
        dim = buffer.dims[buffer.axis]
        terms: list[Expr] = []
        for piece in buffer.pieces:
            if self._is_zero(piece.read):
                continue
            term = self.of(piece.read, axes, own, self.lines)
            if not self._ends_with(piece, dim):
                inside = np.zeros(dim.extent, int)
                inside[piece.start : piece.stop] = 1
                term = Mul(term, self.constant("part", inside, [own.names[dim.name]]))
            terms.append(term)
        stored = self.store(buffer.name, own, axes)
        left = Access.of(stored.tensor, (*own.rows, *(x for x in axes if x is not None)))
        self.lines.append(str(Statement(left, reduce(Add, terms))))
        return stored

    def _listed(self, buffer: Buffer, place: CellPlace) -> StoredBuffer:
        """A view, or what a scan has stored skewed, in the order of its dimensions: items at places that are
        not affine are taken from there."""
        if buffer.name not in self.listed:
            if self._is_inside(buffer.name, place):
                raise InputError(
                    f"{buffer.name} is made of what a scan computes, in the scan; make it outside"
                )
            own, axes = self.own_place(buffer.dims), self.axes(buffer.shape)
            here = ElementRead(buffer.name, tuple(variable(dim.name) for dim in buffer.dims))
            right = self.of(buffer.source if isinstance(buffer, ListView) else here, axes, own, self.lines)
            indices = [*own.rows, *(x for x in axes if x is not None)]
            tensor = self.fresh_names.fresh(f"{buffer.name}_list")
            shape = tuple(self.indices.extents[i] for i in indices)
            self.declare(tensor, indices, shape)
            self.lines.append(str(Statement(Access.of(tensor, indices), self.spread(right, indices))))
            dims = tuple(dim.name for dim in buffer.dims)
            self.listed[buffer.name] = StoredBuffer(tensor, shape, dims, dims, {}, False)
        return self.listed[buffer.name]

    def _is_inside(self, name: str, place: CellPlace) -> bool:
        """Whether a scan computes a buffer, or what it is a view of."""
        buffer = self.function.buffers[name]
        reads = reads_of(buffer) if isinstance(buffer, ListView | Pieces) else ()
        return name in place.inside or any(self._is_inside(read.buffer, place) for read in reads)

    def _ends_with(self, piece: Stretch, dim: Dim) -> bool:
        """Whether what a piece reads is zero outside of it, since it ends there."""
        source = self.function.buffers[piece.read.buffer]
        others = [*range(piece.start), *range(piece.stop, dim.extent)]
        for index, own in zip(piece.read.indices, source.dims, strict=True):
            if isinstance(index, Affine) and index.variables == (dim.name,):
                return not any(0 <= value_of(index, {dim.name: at}) < own.extent for at in others)
        return False


def _is_variable(index: Index) -> bool:
    return any(index == variable(name) for name in index.variables)
