"""A function as a program, with the data that the program takes for those of the function."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.lang import Program
from samhw.lang.nested.arrays import ArrayList
from samhw.lang.nested.evaluate import arrays_of
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.lists import NestedTensor
from samhw.lang.nested.picked import PickedPlaces

__all__ = ["LoweredFunction", "ParameterPart"]

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
