"""Running a traced function with NumPy, in the order of its text or in that of wavefronts.

Each element is computed once and kept, and one that is not there yet when it is read is an error. So a run in
another order than that of the text is a test of that order.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError, RunError
from samhw.lang.nested.dataflow import (
    BlockNode,
    Buffer,
    Constants,
    ElementRead,
    Equation,
    Given,
    Item,
    ListView,
    Merged,
    Pieces,
    Positions,
    value_of,
)
from samhw.lang.nested.evaluated_lists import ArrayList
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.lists import NestedTensor

__all__ = ["FunctionRun", "IterationOrder", "arrays_of", "evaluate"]

Array = npt.NDArray[Any]


class IterationOrder(Protocol):
    """An order for the iterations of blocks that follow each other."""

    @property
    def blocks(self) -> tuple[BlockNode, ...]:
        """What it orders."""

    def steps(self) -> Iterator[tuple[BlockNode, tuple[int, ...]]]:
        """Blocks and iterations, in order."""


def evaluate(function: NestedFunction, *arguments: Any, schedules: Sequence[IterationOrder] = ()) -> Any:
    """What a traced function gives.

    Args:
        function: with one parameter for each of `arguments`.
        arguments: lists, or arrays.
        schedules: blocks that they do not name are computed in the order of the text.

    Raises:
        InputError: for an argument that is not of its parameter's type.
        RunError: if a schedule breaks a dependence.
    """
    run = FunctionRun(function, arrays_of(function, arguments), schedules)
    run.items(function.body, {})
    results = tuple(run.result(function.buffers[name]) for name in function.results)
    return results[0] if function.one else results


def arrays_of(function: NestedFunction, arguments: Sequence[Any]) -> dict[str, Array]:
    """The arrays of a function's parameters, by name. Raises InputError for wrong shapes."""
    found = {}
    for name, value in zip(function.parameters, arguments, strict=True):
        array = value.array if isinstance(value, ArrayList) else np.asarray(value)
        kind = function.buffers[name].type
        if array.shape != (*kind.extents, *kind.shape):
            raise InputError(
                f"parameter '{name}' is {kind}; give an array of shape {[*kind.extents, *kind.shape]}"
            )
        found[name] = array
    return found


class FunctionRun:
    """A run: the arrays of parameters, and what has been computed so far."""

    def __init__(
        self, function: NestedFunction, arrays: dict[str, Array], schedules: Sequence[IterationOrder]
    ) -> None:
        self.function, self.arrays = function, arrays
        self.computed: dict[str, dict[tuple[int, ...], Any]] = {
            name: {} for name, buffer in function.buffers.items() if isinstance(buffer, Equation)
        }
        self.schedules = {schedule.blocks[0]: schedule for schedule in schedules}
        self.scheduled = {block for schedule in schedules for block in schedule.blocks}

    def items(self, items: Sequence[Item], values: Mapping[str, int]) -> None:
        """The items of a body, where the loops around it have these values."""
        for item in items:
            if isinstance(item, str):
                self.define(item, values)
            elif item in self.schedules:
                for block, iteration in self.schedules[item].steps():
                    self.iterate(block, iteration, values)
            elif item not in self.scheduled:
                for iteration in product(*(range(loop.extent) for loop in item.loops)):
                    self.iterate(item, iteration, values)

    def iterate(self, block: BlockNode, iteration: tuple[int, ...], values: Mapping[str, int]) -> None:
        """An iteration of a block."""
        names = (loop.name for loop in block.loops)
        self.items(block.body, {**values, **dict(zip(names, iteration, strict=True))})

    def define(self, name: str, values: Mapping[str, int]) -> None:
        """What is computed in an iteration; access operators compute nothing."""
        buffer = self.function.buffers[name]
        if isinstance(buffer, Equation):
            place = tuple(values[dim.name] for dim in buffer.dims)
            if place in self.computed[name]:
                raise RunError(
                    f"{name} is computed twice at {list(place)}; the schedule repeats an iteration"
                )
            operands = [self.element(read, values) for read in buffer.arguments]
            self.computed[name][place] = buffer.operation(*operands)

    def element(self, read: ElementRead, values: Mapping[str, int]) -> Any:
        """The element of a read."""
        place = tuple(
            self.place(index, values) if isinstance(index, ElementRead) else value_of(index, values)
            for index in read.indices
        )
        return self.at(self.function.buffers[read.buffer], place)

    def place(self, read: ElementRead, values: Mapping[str, int]) -> int:
        """The place that a read names. Raises InputError for what is not a whole number."""
        found = self.element(read, values)
        if found != int(found):
            raise InputError(f"{read.buffer} names the place {found}; places are whole numbers")
        return int(found)

    def at(self, buffer: Buffer, place: tuple[int, ...]) -> Any:
        """The element of a buffer at a place."""
        if any(not 0 <= at < dim.extent for at, dim in zip(place, buffer.dims, strict=True)):
            raise InputError(f"there is no item {list(place)} in {buffer.name}, which is {buffer.type}")
        names = (dim.name for dim in buffer.dims)
        match buffer:
            case Given(name=name):
                return self.arrays[name][place]
            case Constants(value=value):
                return value[place]
            case Positions():
                return np.int64(place[0])
            case ListView(source=source):
                return self.element(source, dict(zip(names, place, strict=True)))
            case Merged(source=name, axis=axis, inner=inner):
                apart = divmod(place[axis], inner)
                return self.at(self.function.buffers[name], (*place[:axis], *apart, *place[axis + 1 :]))
            case Pieces(pieces=pieces, axis=axis):
                read = next(piece.read for piece in pieces if piece.start <= place[axis] < piece.stop)
                found = self.element(read, dict(zip(names, place, strict=True)))
                return np.broadcast_to(found, buffer.shape)
        if place not in self.computed[buffer.name]:
            raise RunError(f"{buffer.name} is read at {list(place)} before it is computed there")
        return self.computed[buffer.name][place]

    def result(self, buffer: Buffer) -> Array | NestedTensor:
        """A result as an array, or as a list."""
        extents = buffer.type.extents
        found = np.stack([self.at(buffer, place) for place in np.ndindex(*extents)])
        array = found.reshape((*extents, *found.shape[1:]))
        return ArrayList(array, len(extents)) if extents else array
