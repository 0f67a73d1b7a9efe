"""A function as a program, with the data that the program takes for those of the function."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.frontend import Program
from samhw.nested.arrays import ArrayList
from samhw.nested.function import NestedFunction
from samhw.nested.lists import NestedTensor

__all__ = ["LoweredFunction"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class LoweredFunction:
    """What `lowered` gives.

    Attributes:
        function: what was lowered.
        program: it. Its tensors have no axes of extent 1 of elements.
        constants: the program's inputs that are no parameters: constants of the function, masks, and
            matrices that pick rows.
    """

    function: NestedFunction
    program: Program
    constants: dict[str, Array]

    def inputs(self, *arguments: Any) -> dict[str, Array]:
        """The program's inputs for arguments of the function. Raises InputError for wrong shapes."""
        found = dict(self.constants)
        operands = {decl.name for decl in self.program.operands}
        for name, value in zip(self.function.parameters, arguments, strict=True):
            array = value.array if isinstance(value, ArrayList) else np.asarray(value)
            kind = self.function.buffers[name].type
            if array.shape != (*kind.extents, *kind.shape):
                raise InputError(
                    f"parameter '{name}' is {kind}; give an array of shape {[*kind.extents, *kind.shape]}"
                )
            if name in operands:
                found[name] = array.reshape((*kind.extents, *(e for e in kind.shape if e > 1)))
        return found

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
