"""The tensors of a lowered function: what is stored of a list, and the inputs that a program adds."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt

from samhw.lang import Access, Expr, Mul
from samhw.lang.index import Indirect
from samhw.lang.nested.dataflow import (
    Affine,
    Buffer,
    Constants,
    Dim,
    ElementRead,
    Given,
    Index,
    Loop,
    Pieces,
    Positions,
    reads_of,
    variable,
)
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.iterations import CellPlace, IndexNames
from samhw.lang.nested.lowered import ParameterPart, PickedPlaces
from samhw.lang.traverse import free_indices
from samhw.names import Names

__all__ = ["StoredBuffer", "StoredTensors"]


@dataclass(frozen=True)
class StoredBuffer:
    """Where a buffer is.

    Attributes:
        tensor: its name.
        shape: its extents.
        loops: the loops whose indices it has, in their order, after the step if it has that.
        dims: all dimensions of the buffer, in their order.
        coefficients: what the step counts of each loop.
        stepped: whether it keeps all steps of a scan.
        inside: how many of the loops the step is inside of.
        offset: the step of the first cell.
    """

    tensor: str
    shape: tuple[int, ...]
    loops: tuple[str, ...]
    dims: tuple[str, ...]
    coefficients: dict[str, int]
    stepped: bool
    inside: int = 0
    offset: int = 0

    def indices(self, read: Sequence[Index]) -> list[Index]:
        """The indices of the tensor for those of the buffer."""
        # A reduction has no dimension of its loop.
        of = dict(zip(self.dims, read, strict=False))
        found: list[Index] = [of[loop] for loop in self.loops]
        if self.stepped:
            step = Affine((), self.offset)
            for loop, a in self.coefficients.items():
                index = of[loop]
                assert isinstance(index, Affine)
                step = step + index * a
            found.insert(self.inside, step)
        return found


class StoredTensors:
    """The tensors of a program while it is written.

    Attributes:
        indices: its indices.
        constants: the inputs that are not parameters.
        parts: the inputs that are parts of parameters.
        picked: the inputs that are places.
        fresh_names: those of tensors.
        stored: where buffers are, by name.
        listed: views, and what is stored skewed, in the order of their dimensions, by name.
        copies, made: parts and copies of these, and accesses of what statements have made, each once.
    """

    def __init__(self, function: NestedFunction, lines: list[str]) -> None:
        self.function, self.lines = function, lines
        self.indices = IndexNames()
        self.constants: dict[str, npt.NDArray[np.generic]] = {}
        self.parts: dict[str, ParameterPart] = {}
        self.picked: dict[str, PickedPlaces] = {}
        self.fresh_names = Names((*function.parameters, *function.results))
        self._declared: dict[str, str] = {}
        self.stored: dict[str, StoredBuffer] = {}
        self.listed: dict[str, StoredBuffer] = {}
        self.copies: dict[tuple[object, ...], StoredBuffer] = {}
        self.made: dict[tuple[object, ...], Access] = {}

    def declarations(self) -> list[str]:
        """The head of the program's text."""
        text = "\n".join(self.lines)
        used, accessed = set(re.findall(r"\w+", text)), set(re.findall(r"\w+(?=\[)", text))
        indices = {name: extent for name, extent in self.indices.extents.items() if name in used}
        extents = ", ".join(f"{name}={extent}" for name, extent in indices.items())
        # Only scalars stand without brackets; an index may have a tensor's name.
        declared = [
            line for name, line in self._declared.items() if name in (accessed if "[" in line else used)
        ]
        return [*([f"index {extents}"] if extents else []), *declared]

    def axes(self, shape: Sequence[int], wish: str = "x") -> list[str | None]:
        """An index for each axis of an element; none for an axis of extent 1."""
        return [self.indices.of(f"{wish}{n}", e) if e > 1 else None for n, e in enumerate(shape)]

    def own_place(self, dims: Sequence[Dim]) -> CellPlace:
        """The iterations over the dimensions of a list."""
        loops = tuple(Loop(dim.name, dim.extent, "map") for dim in dims)
        return CellPlace((), {}).with_loops(loops, self.indices)

    # What is stored

    def store(self, name: str, place: CellPlace, axes: Sequence[str | None]) -> StoredBuffer:
        """The tensor of what is computed in all iterations of a place. In a scan it keeps the steps if others
        read them."""
        if name in self.stored:
            return self.stored[name]
        stepped = place.wavefront is not None and self._is_kept(name, place)
        loops = tuple(loop for loop in place.loops if loop.name in place.names)
        tensor = self.fresh_names.own(name) if name in self.function.results else self.fresh_names.fresh(name)
        shape = [loop.extent for loop in loops] + [self.indices.extents[x] for x in axes if x is not None]
        if stepped:
            shape.insert(0, self.indices.extents[place.step])
        indices = [*([place.step] if stepped else []), *place.rows, *(x for x in axes if x is not None)]
        self.declare(tensor, indices, shape)
        rows, dims = (tuple(loop.name for loop in some) for some in (loops, place.loops))
        self.stored[name] = StoredBuffer(
            tensor, tuple(shape), rows, dims, place.coefficients, stepped, offset=place.offset
        )
        return self.stored[name]

    def declare(
        self, tensor: str, indices: Sequence[str], shape: Sequence[int], format: str = "dense"
    ) -> None:
        # Labels of modes alone: a tensor may have one index twice.
        labels = Names()
        modes = ", ".join(f"{labels.fresh(i)}={e}" for i, e in zip(indices, shape, strict=True))
        self._declared[tensor] = f"tensor {tensor}[{modes}] : {format}" if modes else f"tensor {tensor}"

    def _is_kept(self, name: str, place: CellPlace) -> bool:
        """Whether a later step reads what a scan computes, or something outside of it."""
        return any(
            (isinstance(buffer, Pieces) and buffer.role == "state") or buffer.name not in place.own
            for buffer in self._readers[name]
        )

    @cached_property
    def _readers(self) -> Mapping[str, list[Buffer]]:
        """The buffers that read each one."""
        found: dict[str, list[Buffer]] = defaultdict(list)
        for buffer in self.function.buffers.values():
            for read in reads_of(buffer):
                found[read.buffer].append(buffer)
        return found

    def input(self, name: str) -> StoredBuffer:
        """A parameter, or a constant, as an input of the program."""
        if name not in self.stored:
            buffer = self.function.buffers[name]
            extents = [dim.extent for dim in buffer.dims]
            shape = [*extents, *(extent for extent in buffer.shape if extent > 1)]
            is_given = isinstance(buffer, Given)
            # One number has its digits as the name of its buffer.
            wish = name if name.isidentifier() else "constant"
            tensor = self.fresh_names.own(name) if is_given else self.fresh_names.fresh(wish)
            if isinstance(buffer, Constants):
                self.constants[tensor] = np.broadcast_to(buffer.value, (*extents, *buffer.shape)).reshape(
                    shape
                )
            elif isinstance(buffer, Positions):
                self.constants[tensor] = np.arange(extents[0])
            labels = (
                [f"{name}_{n}" for n in range(len(shape))]
                if is_given
                else [f"c{n}" for n in range(len(shape))]
            )
            self.declare(tensor, labels, shape)
            dims = tuple(dim.name for dim in buffer.dims)
            self.stored[name] = StoredBuffer(tensor, tuple(shape), dims, dims, {}, False)
        return self.stored[name]

    def part(self, read: ElementRead, place: CellPlace) -> tuple[StoredBuffer, ElementRead]:
        """A parameter or a constant as the cells of a scan read it: of lists whose items they name by number
        there is that item alone, and a list that goes with the steps is as long as these."""
        name = read.buffer
        whole, buffer = self.input(name), self.function.buffers[name]
        numbers = [i.offset if isinstance(i, Affine) and not i.terms else None for i in read.indices]
        items = tuple(
            number if number is not None and 0 <= number < dim.extent else None
            for number, dim in zip(numbers, buffer.dims, strict=True)
        )
        steps = self.indices.extents[place.step]
        kept = [n for n, item in enumerate(items) if item is None]
        extents = []
        for n in kept:
            index = read.indices[n]
            goes_along = isinstance(index, Affine) and place.index(index) == variable(place.step)
            extents.append(max(buffer.dims[n].extent, steps if goes_along else 0))
        shape = (*extents, *whole.shape[len(items) :])
        if shape == whole.shape:
            return whole, read
        key = (name, items, tuple(extents))
        if key not in self.copies:
            wish = "_".join((whole.tensor, *(str(item) for item in items if item is not None)))
            tensor = self.fresh_names.fresh(wish)
            self.declare(tensor, [f"c{n}" for n in range(len(shape))], shape)
            part = ParameterPart(name, items, tuple(extents))
            if isinstance(buffer, Given):
                self.parts[tensor] = part
            else:
                self.constants[tensor] = part.of(self.constants[whole.tensor])
            dims = tuple(buffer.dims[n].name for n in kept)
            self.copies[key] = StoredBuffer(tensor, shape, dims, dims, {}, False)
        return self.copies[key], replace(read, indices=tuple(read.indices[n] for n in kept))

    def places(self, read: ElementRead, place: CellPlace) -> Indirect:
        """An input that has what a read names in all iterations, as an index. It uses one loop at least."""
        moves = bool(place.coefficients.keys() & read.variables)
        loops = self._loops(place, read.variables)
        if not moves:
            loops = [loop for loop in loops if loop.name in read.variables]
        rows = [loop for loop in loops if loop.name in place.names]
        indices = (*([place.step] if moves else []), *(place.names[loop.name] for loop in rows))
        found = PickedPlaces(
            read,
            tuple(loops),
            tuple(loop.name for loop in rows),
            place.coefficients if moves else {},
            place.offset,
            tuple(self.indices.extents[index] for index in indices),
        )
        known = next((name for name, other in self.picked.items() if other == found), None)
        tensor = known or self.fresh_names.fresh(f"{read.buffer}_places")
        if known is None:
            self.picked[tensor] = found
            self.declare(tensor, [f"c{n}" for n in range(len(indices))], found.shape)
        return Indirect(tensor, indices)

    def constant(self, wish: str, array: npt.NDArray[np.generic], indices: Sequence[str]) -> Access:
        """An input of zeros and ones under indices."""
        key = (wish, array.tobytes(), array.shape)
        if key not in self.made:
            tensor = self.fresh_names.fresh(wish)
            format = "dense" if array.ndim == 1 else f"(dense{', compressed' * (array.ndim - 1)})"
            self.declare(tensor, [f"c{n}" for n in range(array.ndim)], array.shape, format)
            self.constants[tensor] = array
            self.made[key] = Access(tensor)
        return Access.of(self.made[key].tensor, indices)

    def spread(self, right: Expr, indices: Sequence[str]) -> Expr:
        """A right side that has all of these indices: what lacks one is the same all along it."""
        for index in indices:
            if index not in free_indices(right):
                ones = np.ones(self.indices.extents[index], int)
                right = Mul(right, self.constant("ones", ones, [index]))
        return right

    # Masks

    def mask(self, place: CellPlace) -> str | None:
        """The input that is 1 where a block of a scan has cells; None if that is everywhere."""
        return None if self._where(place, lambda _: True).all() else self.valid(place).tensor

    def valid(self, place: CellPlace) -> Access:
        """The mask of a scan's cells."""
        return self.cells(place, lambda _: True)

    def cells(
        self, place: CellPlace, chosen: Callable[[dict[str, int]], bool], more: frozenset[str] = frozenset()
    ) -> Access:
        """An input that is 1 at those cells of a scan that are chosen."""
        rows = [loop.name for loop in self._loops(place, more) if loop.name in place.names]
        found = self._where(place, chosen, more)
        return self.constant("mask", found, [place.step, *(place.names[name] for name in rows)])

    def _loops(self, place: CellPlace, more: frozenset[str]) -> list[Loop]:
        return [loop for loop in place.loops if loop.name in place.coefficients or loop.name in more]

    def _where(
        self,
        place: CellPlace,
        chosen: Callable[[dict[str, int]], bool],
        more: frozenset[str] = frozenset(),
    ) -> npt.NDArray[np.int_]:
        """A 1 for each step and the rows of each cell that is chosen."""
        loops = self._loops(place, more)
        rows = [loop for loop in loops if loop.name in place.names]
        found = np.zeros([self.indices.extents[place.step], *(loop.extent for loop in rows)], int)
        for iteration in product(*(range(loop.extent) for loop in loops)):
            at = {loop.name: t for loop, t in zip(loops, iteration, strict=True)}
            if chosen(at):
                step = place.offset + sum(a * at[name] for name, a in place.coefficients.items())
                found[(step, *(at[loop.name] for loop in rows))] = 1
        return found
