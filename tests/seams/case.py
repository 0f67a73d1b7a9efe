"""A drawn program with its data and its schedule, as it runs and as it is printed."""

import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from samhw.lang import Program, parse

__all__ = ["Case", "WrongError"]

Array = np.ndarray[Any, np.dtype[Any]]


class WrongError(Exception):
    """What a run leaves differs from what another one leaves, or from the oracle's."""


@dataclass(frozen=True)
class Case:
    """What is compiled and run.

    Attributes:
        text: of the program.
        data: by input, a dense array.
        other: data for a second run of the same design.
        schedule: its fields.
        value: the value type.
        faces: features that say how it is run, such as ``"auto"`` and ``"command line"``.
        placing: a number that says which tensors lie off chip where a run has them there, and in what.
        wanted: the features that it was drawn for.
    """

    text: str
    data: dict[str, Array]
    other: dict[str, Array]
    schedule: dict[str, Any]
    value: str
    faces: frozenset[str] = frozenset()
    placing: int = 0
    wanted: tuple[str, ...] = field(default=(), compare=False)

    @property
    def program(self) -> Program:
        return parse(self.text)

    def with_text(self, text: str) -> "Case":
        """Another program, of inputs that this one has."""
        words = set(re.findall(r"\w+", text))
        data, other = (
            {name: array for name, array in arrays.items() if name in words}
            for arrays in (self.data, self.other)
        )
        return replace(self, text=text, data=data, other=other)

    def snippet(self) -> str:
        """A script that runs it."""
        data = ", ".join(f'"{name}": {_listed(array)}' for name, array in self.data.items())
        return (
            f'text = """{self.text}"""\n'
            f"design = samhw.compile(text, schedule={self.schedule!r}, value={self.value!r})\n"
            f"r = design.run({{{data}}})\nr.check()"
        )


def _listed(array: Array) -> str:
    if array.size == 0:
        return f"np.zeros({array.shape})"
    return str(array.tolist())
