"""A function as a program, with the data that the program takes for those of the function.

Places that lists of numbers name: they are worked out before a program runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.lang import Program
from samhw.lang.nested.dataflow import (
    Buffer,
    Constants,
    ElementRead,
    Equation,
    Given,
    ListView,
    Loop,
    Pieces,
    Positions,
    reads_of,
)
from samhw.lang.nested.evaluate import FunctionRun, arrays_of
from samhw.lang.nested.evaluated_lists import ArrayList
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.lists import NestedTensor

__all__ = ["LoweredFunction", "ParameterPart", "PickedPlaces", "is_of_numbers"]

_OPERATIONS = ("add", "subtract", "multiply", "negative", "absolute", "maximum", "minimum")
"""By which places may be computed."""


@dataclass(frozen=True)
class PickedPlaces:
    """An input of a program: the places that a read names in all iterations.

    Attributes:
        read: of a list of numbers, or of what is computed of such lists.
        loops: the iterations.
        rows: which of them are modes of the input.
        coefficients: what its first mode, the step of a scan, counts of loops; none if it has no such mode.
        offset: the first step.
        shape: its extents; 0 stands where no iteration is.
    """

    read: ElementRead
    loops: tuple[Loop, ...]
    rows: tuple[str, ...]
    coefficients: Mapping[str, int]
    offset: int
    shape: tuple[int, ...]

    def of(
        self, function: NestedFunction, arrays: Mapping[str, npt.NDArray[np.generic]]
    ) -> npt.NDArray[np.int_]:
        """It from the parameters' data. Raises InputError for places that are not whole numbers."""
        run = _OnDemand(function, dict(arrays), ())
        found = np.zeros(self.shape, int)
        for iteration in product(*(range(loop.extent) for loop in self.loops)):
            at = {loop.name: t for loop, t in zip(self.loops, iteration, strict=True)}
            step = [self.offset + sum(a * at[name] for name, a in self.coefficients.items())]
            found[(*(step if self.coefficients else []), *(at[row] for row in self.rows))] = run.place(
                self.read, at
            )
        return found


class _OnDemand(FunctionRun):
    """A run that computes what is read when it is read."""

    def at(self, buffer: Buffer, place: tuple[int, ...]) -> object:
        if isinstance(buffer, Equation) and place not in self.computed[buffer.name]:
            self.define(buffer.name, dict(zip((dim.name for dim in buffer.dims), place, strict=True)))
        return super().at(buffer, place)


def is_of_numbers(buffers: Mapping[str, Buffer], read: ElementRead) -> bool:
    """Whether a read is of lists of numbers that are given, or of what sums and products make of them."""
    buffer = buffers[read.buffer]
    match buffer:
        case Given() | Constants() | Positions():
            is_known = not buffer.shape
        case ListView():
            is_known = True
        case Pieces(role=role):
            is_known = role != "state"
        case Equation(operation=operation):
            is_known = operation.name in _OPERATIONS
        case _:
            is_known = False
    inner = [index for index in read.indices if isinstance(index, ElementRead)]
    return is_known and all(is_of_numbers(buffers, other) for other in (*inner, *reads_of(buffer)))


Array = npt.NDArray[Any]


@dataclass(frozen=True)
class ParameterPart:
    """What an input of a program has of a parameter.

    Attributes:
        parameter: its name.
        items: for each list dimension the item that it is of; None for all of them.
        extents: of the dimensions that are left; where the list is shorter, there are zeros after it.
    """

    parameter: str
    items: tuple[int | None, ...]
    extents: tuple[int, ...]

    def of(self, array: Array) -> Array:
        """It from the parameter's data."""
        found = array[tuple(slice(None) if item is None else item for item in self.items)]
        if not found.ndim:  # One item of a list of numbers, for which there is nothing to pad.
            return found
        behind = [(0, extent - own) for extent, own in zip(self.extents, found.shape, strict=False)]
        return np.pad(found, [*behind, *[(0, 0)] * (found.ndim - len(behind))])


@dataclass(frozen=True)
class LoweredFunction:
    """What `lowered` gives.

    Attributes:
        function: what was lowered.
        program: it. Its tensors have no axes of extent 1 of elements.
        constants: the program's inputs that are not parameters: constants of the function, masks, and
            matrices that pick rows.
        parts: the inputs that are parts of parameters.
        picked: the inputs that are places.
    """

    function: NestedFunction
    program: Program
    constants: dict[str, Array]
    parts: dict[str, ParameterPart]
    picked: dict[str, PickedPlaces]

    def inputs(self, *arguments: Any) -> dict[str, Array]:
        """The program's inputs for arguments of the function. Raises InputError for wrong shapes, and for
        places that are not whole numbers."""
        found = dict(self.constants)
        arrays = arrays_of(self.function, arguments)
        operands = {decl.name for decl in self.program.operands}
        for name, whole in arrays.items():
            kind = self.function.buffers[name].type
            array = whole.reshape((*kind.extents, *(e for e in kind.shape if e > 1)))
            if name in operands:
                found[name] = array
            found |= {part: p.of(array) for part, p in self.parts.items() if p.parameter == name}
        return found | {name: picked.of(self.function, arrays) for name, picked in self.picked.items()}

    def results(self, outputs: Any) -> Any:
        """The function's results from those of the program, by name."""
        found = []
        for name in self.function.results:
            kind = self.function.buffers[name].type
            array = np.asarray(outputs[name]).reshape((*kind.extents, *kind.shape))
            found.append(ArrayList(array, len(kind.extents)) if kind.extents else array)
        results: tuple[Array | NestedTensor, ...] = tuple(found)
        return results[0] if self.function.one else results

    def __str__(self) -> str:
        return self.program.text
