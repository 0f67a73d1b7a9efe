"""Functions in machine code, to be called from tests."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.sim.machine_code import UNKNOWN, address_of, call, words_at
from samhw.sim.machine_code.expression_values import StandIns

__all__ = ["compiled", "on_rows"]


def compiled(function: Any, stand_ins: StandIns | None = None) -> Callable[..., int]:
    """A function of two words in machine code."""
    address = address_of(function, stand_ins or {})
    return lambda first=0, second=0: call(address, first, second)


def on_rows(operation: Any, rows: Sequence[Sequence[int]] | NDArray[np.int64]) -> list[int]:
    """The words that an operation of one to three words gives for each row of operands, in machine code."""
    words = np.array(rows, np.int64, order="C")
    width = words.shape[1]

    def run(address: int, count: int) -> int:
        table = words_at(address, UNKNOWN)
        for n in range(count):
            at = n * width
            if width == 1:
                table[at] = operation(table[at])
            elif width == 2:
                table[at] = operation(table[at], table[at + 1])
            else:
                table[at] = operation(table[at], table[at + 1], table[at + 2])
        return 0

    compiled(run)(words.ctypes.data, len(words))
    return [int(word) for word in words[:, 0]]
