"""Places that lists of numbers name: they are worked out before a program runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

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
from samhw.lang.nested.evaluate import FunctionRun
from samhw.lang.nested.function import NestedFunction

__all__ = ["PickedPlaces", "is_of_numbers"]

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
