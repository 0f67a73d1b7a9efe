"""A program under construction, written side by side with its meaning in NumPy; it shares nothing with
samhw."""

import re
from dataclasses import dataclass, field
from random import Random

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Written"]

Array = NDArray[np.float64]


@dataclass
class Written:
    """The text, its inputs, and in `expected` all of its results."""

    value: str
    rng: Random
    tensors: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    inputs: dict[str, Array] = field(default_factory=dict)
    expected: dict[str, Array] = field(default_factory=dict)
    density: float = 1.0
    """Of the inputs."""

    def text(self, split: int | None = None) -> str:
        """The program in one region, or in two."""
        parts = [self.lines] if split is None else [self.lines[:split], self.lines[split:]]
        fused = ["fuse {\n" + "".join(f"  {line}\n" for line in part) + "}\n" for part in parts if part]
        used = [n for n in self.inputs if re.search(rf"\b{n}\b", "".join(fused))]
        return "".join(f"{self.tensors[n]}\n" for n in used) + "".join(fused)

    def give(self, name: str, indices: str, shape: tuple[int, ...], fmt: str) -> None:
        """An input. Whole numbers, so that every type has them."""
        numbers = np.array([self.rng.choice((-2, -1, 1, 2)) for _ in range(int(np.prod(shape)))], float)
        keep = np.array([self.rng.random() < self.density for _ in numbers])
        self.inputs[name] = np.where(keep, numbers, 0.0).reshape(shape)
        sized = ", ".join(f"{i}={n}" for i, n in zip(indices, shape, strict=True))
        self.tensors[name] = f"tensor {name}[{sized}] : {fmt}"

    def assign(self, left: str, right: str, result: Array, sign: str = "=") -> Array:
        """A statement and what it means. `sign`: of the assignment, such as `max=`."""
        self.lines.append(f"{left} {sign} {right}")
        self.expected[left.partition("[")[0]] = result
        return result
