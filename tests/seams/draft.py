"""A program that is being drawn: its indices, its tensors with their data, and its statements so far."""

import re
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from tests.seams import formats

__all__ = ["Draft", "Tensor", "Term"]

Array = np.ndarray[Any, np.dtype[Any]]
NAMES = "ijkl"
"""Of the indices that statements share. Places that are only computed have further ones."""

LARGE = {"fixed<12,4>": 60.0, "fixed<8,7>": 1.0}
"""How great the numbers of types are that saturate at small ones."""


@dataclass
class Tensor:
    """One of the program. A mode is named by an index, whose extent it has."""

    name: str
    modes: tuple[str, ...]
    format: str | None = None
    data: Array | None = None
    """Of an input."""
    other: Array | None = None
    """Of an input, in a second run of the same design."""
    places: bool = False
    """An index tensor."""


@dataclass
class Term:
    """The text of an operand, and the indices that it uses."""

    text: str
    used: list[str]


@dataclass
class Draft:
    """What features add to. `wishes` has those that wait for a statement that can have them."""

    random: Random
    value: str = "i32"
    sizes: dict[str, int] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    wishes: list[str] = field(default_factory=list)
    schedule: dict[str, Any] = field(default_factory=dict)
    faces: set[str] = field(default_factory=set)
    nests: list[list[str]] = field(default_factory=list)
    """The indices of each statement."""
    triples: list[tuple[str, list[str]]] = field(default_factory=list)
    """Results that are products of three tensors, with these."""
    begun: set[str] = field(default_factory=set)
    """What a scan writes whose block is being drawn."""
    computed: set[str] = field(default_factory=set)
    """Indices that something is computed with, whose extents the text has to say."""

    @classmethod
    def begin(cls, source: Random, value: str, sizes: tuple[int, ...]) -> "Draft":
        """Without statements yet."""
        return cls(source, value, dict(zip(NAMES, sizes, strict=True)))

    @property
    def is_real(self) -> bool:
        """Whether the type has the functions of floating point."""
        return self.value[0] != "i" and self.value not in ("f8e4m3", "f8e5m2")

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def take(self, *wishes: str) -> str | None:
        """One of the wishes that is open, which is then fulfilled."""
        found = [wish for wish in self.wishes if wish in wishes]
        if not found:
            return None
        self.wishes.remove(found[0])
        return found[0]

    def fresh(self, letter: str) -> str:
        """A name that no tensor and no index has."""
        return next(f"{letter}{n}" for n in range(99) if f"{letter}{n}" not in {*self.tensors, *self.sizes})

    def axis(self, extent: int | None = None) -> str:
        """An index of its own."""
        name = self.fresh("n")
        self.sizes[name] = extent or self.random.randint(1, 5)
        return name

    def some(self, most: int, least: int = 1) -> list[str]:
        """Some of the indices that statements share, in any order."""
        names = [name for name in NAMES if name in self.sizes]
        return self.random.sample(names, self.random.randint(least, min(most, len(names))))

    def shape(self, modes: tuple[str, ...] | list[str]) -> tuple[int, ...]:
        return tuple(self.sizes[mode] for mode in modes)

    def input(self, modes: list[str], *, has_these: bool = False) -> Tensor:
        """A new one, in a format that is wished for or drawn, which may take further modes unless it
        `has_these` alone."""
        wish = None if has_these and len(modes) != 2 else self.take(*formats.WISHES)
        format, modes = formats.drawn(self, wish, modes)
        shape = self.shape(modes)
        is_empty = self.take("empty") is not None
        arrays = [self._numbers(shape, is_empty) for _ in range(2)]
        data, other = (formats.fitting(format, array, self.random) for array in arrays)
        tensor = Tensor(self.fresh("ABCDEFGMPQ"[len(self.tensors) % 10]), tuple(modes), format, data, other)
        self.tensors[tensor.name] = tensor
        return tensor

    def list_of_places(self, modes: list[str], extent: int) -> Tensor:
        """A new index tensor."""
        shape = self.shape(modes)
        source = np.random.default_rng(self.random.randrange(1 << 30))
        data, other = (source.integers(0, extent, shape) for _ in range(2))
        tensor = Tensor(self.fresh("p"), tuple(modes), "dense", data, other, places=True)
        self.tensors[tensor.name] = tensor
        return tensor

    def _numbers(self, shape: tuple[int, ...], is_empty: bool) -> Array:
        """Small whole numbers, or fractions that every type has; a share of them is not stored."""
        source = np.random.default_rng(self.random.randrange(1 << 30))
        share = 0.0 if is_empty else self.random.choice([0.3, 0.6, 0.8, 1.0])
        most = 2 if self.value[0] == "i" else 3
        numbers: Array = source.integers(-most, most + 1, shape) * (source.random(shape) < share)
        if self.value[0] != "i":
            numbers = numbers * LARGE.get(self.value, 1.0) / (4 if self.value == "fixed<8,7>" else 1)
        return numbers

    def live(self) -> Tensor | None:
        """What was computed last, or sometimes earlier."""
        found = [t for t in self.tensors.values() if t.data is None and t.name not in self.begun]
        if not found:
            return None
        return found[-1] if self.chance(0.7) else self.random.choice(found)

    def base(self, least: int = 1, most: int = 3) -> Tensor:
        """What a statement is about: something that was computed, or a new input."""
        live = self.live()
        if live is not None and least <= len(live.modes) <= most and self.chance(0.8):
            return live
        named = [t for t in self.tensors.values() if t.data is not None and not t.places]
        named = [t for t in named if least <= len(t.modes) <= most]
        if named and self.chance(0.3):
            return self.random.choice(named)
        return self.input(self.some(most, least))

    def write(self, modes: list[str], right: str, *, reduction: str = "", mask: str | None = None) -> Tensor:
        """Adds a statement, whose result is a new tensor."""
        tensor = self.result(modes)
        self.nests.append([*modes])
        self.lines.append(f"{left(tensor)} {reduction}= {right}{mask or ''}")
        return tensor

    def result(self, modes: list[str], *, only_dense: bool = False, letter: str = "T") -> Tensor:
        """A tensor that a statement is about to write."""
        format = None if only_dense or self.chance(0.75) else formats.of_result(self, modes)
        tensor = Tensor(self.fresh(letter), tuple(modes), format)
        self.tensors[tensor.name] = tensor
        return tensor

    def text(self, *, with_extents: bool) -> str:
        """The whole program."""
        words = set(re.findall(r"\w+", "\n".join(self.lines)))
        named = sorted(words & (self.computed if not with_extents else {*self.computed, *self.used()}))
        lines = [f"index {', '.join(f'{name}={self.sizes[name]}' for name in named)}"] if named else []
        for tensor in self.tensors.values():
            if tensor.name not in words or (tensor.data is None and tensor.format is None):
                continue
            is_open = not with_extents and tensor.data is not None
            modes = ", ".join(mode if is_open else f"{mode}={self.sizes[mode]}" for mode in tensor.modes)
            declared = f"tensor {tensor.name}" + (f"[{modes}]" if modes else "")
            lines.append(declared + (f" : {tensor.format}" if tensor.format and modes else ""))
        return "\n".join([*lines, *self.lines])

    def used(self) -> set[str]:
        """The indices of all tensors."""
        return {mode for tensor in self.tensors.values() for mode in tensor.modes}


def left(tensor: Tensor) -> str:
    """A tensor under its own indices."""
    return f"{tensor.name}[{', '.join(tensor.modes)}]" if tensor.modes else tensor.name
