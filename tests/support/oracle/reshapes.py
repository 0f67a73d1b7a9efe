"""Random programs around reshapes, and what NumPy makes of them: tensors in every format and of every kind of
data, in one shape after the other, beside statements and concatenations that have nothing to do with them."""

import re
from dataclasses import dataclass, field
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from samhw.tensors import Tensor

__all__ = ["FORMATS", "Reshapes", "draw"]

Array = NDArray[np.int64]

INDICES = "ijklpq"
SIZES = (1, 2, 4, 6, 8, 12, 16, 24, 30)
MOST_RANK = 3

FORMATS: dict[int, list[str]] = {
    0: ["dense"],
    1: ["dense", "csf"],
    2: ["csr", "csc", "dcsr", "dcsc", "coo", "dense", "dense @ (1, 0)", "(compressed, dense)"],
    3: [
        *(f"{name} @ {order}" for name in ("dense", "csf") for order in permutations(range(3))),
        "coo",
        "(dense, compressed, compressed)",
        "(dense, dense, compressed)",
    ],
}
"""By rank."""

SCIPY = ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")


@dataclass
class Known:
    """A tensor that statements may read."""

    name: str
    array: Array
    can_be_reshaped: bool
    is_stored: bool
    """An input, or what a reshape gives, so that it never comes in a stream of the region that reads it."""


@dataclass
class Reshapes:
    """A program as text, data for it, and what its statements give."""

    inputs: dict[str, Any] = field(default_factory=dict)
    """Of every kind that a run takes."""
    expected: dict[str, Array] = field(default_factory=dict)
    declarations: list[str] = field(default_factory=list)
    regions: list[list[str]] = field(default_factory=list)

    @property
    def outputs(self) -> set[str]:
        """The results that no statement reads."""
        read = "".join(line.partition("=")[2] for region in self.regions for line in region)
        return {name for name in self.expected if not re.search(rf"\b{name}\b", read)}

    @property
    def text(self) -> str:
        blocks = (
            region if len(region) == 1 else ["fuse {", *(f"  {s}" for s in region), "}"]
            for region in self.regions
        )
        return "\n".join([*self.declarations, *(line for block in blocks for line in block)])


def draw(number: int) -> Reshapes:
    """The program of that number."""
    drawing = _Drawing(Random(number))
    for _ in range(drawing.rng.choice((1, 2, 2, 3, 3, 4, 5))):
        drawing.statement()
    return drawing.case


class _Drawing:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.case = Reshapes()
        self.known: list[Known] = []
        self.size = rng.choice(SIZES)

    # Statements

    def statement(self) -> None:
        kinds = (self.reshape, self.reshape, self.reshape, self.pointwise, self.concatenation, self.reduced)
        self.rng.choice(kinds)()

    def reshape(self) -> None:
        """One that can be, or a dense copy of one that cannot."""
        if any(known.array.size == self.size for known in self.known) and self.rng.random() < 0.6:
            source = self.rng.choice([known for known in self.known if known.array.size == self.size])
        else:
            source = self.input(self.shape(self.size), for_reshape=self.rng.random() < 0.6)
        if not source.can_be_reshaped:
            modes = self.indices(source.array.ndim)
            name = self.name("D")
            self.write(name, modes, self.access(source.name, modes), source.array, "dense")
            source = self.known[-1]
        shape = self.shape(source.array.size)
        indices = self.indices(source.array.ndim + len(shape))
        own, theirs = indices[: len(shape)], indices[len(shape) :]
        open_mode = self.rng.randrange(-1, len(shape))
        name = self.name("R")
        if len(shape) > 1 or not shape or self.rng.random() < 0.5:
            self.declare(name, own, shape, "dense" if self.rng.random() < 0.5 else None, open_mode)
        rhs = f"reshape({self.access(source.name, theirs)})"
        self.write(name, own, rhs, source.array.reshape(shape))

    def pointwise(self) -> None:
        one = self.some()
        modes = self.indices(one.array.ndim)
        same = [known for known in self.known if known.array.shape == one.array.shape]
        other = self.rng.choice(same)
        a, b = self.access(one.name, modes), self.access(other.name, modes)
        rhs, array = self.rng.choice(
            [
                (f"2 * {a}", 2 * one.array),
                (f"{a} + {b}", one.array + other.array),
                (f"relu({a}) - {b}", np.maximum(one.array, 0) - other.array),
                (f"{a} - 1", one.array - 1),
            ]
        )
        self.write(self.name("T"), modes, rhs, array, self.result_format(one.array.ndim))

    def reduced(self) -> None:
        one = self.some()
        modes = self.indices(one.array.ndim)
        axes = tuple(n for n in range(one.array.ndim) if self.rng.random() < 0.5)
        kept = "".join(index for n, index in enumerate(modes) if n not in axes)
        self.write(self.name("s"), kept, self.access(one.name, modes), one.array.sum(axes))

    def concatenation(self) -> None:
        """Along a mode. Which parts may come in streams, and in which order, is for other tests."""
        shape = self.shape(self.size) or (1,)
        axis = self.rng.randrange(len(shape))
        parts: list[Known] = []
        for _ in range(self.rng.choice((2, 2, 3))):
            fits = [
                known
                for known in self.known
                if known.is_stored and _differ_at_most_in(axis, known.array.shape, shape)
            ]
            extents = [*shape]
            extents[axis] = self.rng.randint(1, 4)
            parts.append(
                self.rng.choice(fits) if fits and self.rng.random() < 0.6 else self.input(tuple(extents))
            )
        modes = self.indices(len(shape))
        accesses = ", ".join(self.access(part.name, modes) for part in parts)
        whole = np.concatenate([part.array for part in parts], axis)
        self.write(self.name("C"), modes, f"concat({modes[axis]}, {accesses})", whole)

    def write(self, name: str, modes: str, rhs: str, array: Array, fmt: str | None = None) -> None:
        """A statement, in a region of its own or in that of the one before."""
        if fmt is not None:
            self.declare(name, modes, array.shape, fmt)
        line = f"{self.access(name, modes)} = {rhs}"
        if self.case.regions and self.rng.random() < 0.5:
            self.case.regions[-1].append(line)
        else:
            self.case.regions.append([line])
        self.case.expected[name] = array
        self.known.append(Known(name, array, fmt in (None, "dense"), is_stored=rhs.startswith("reshape")))

    # Tensors

    def some(self) -> Known:
        if self.known and self.rng.random() < 0.7:
            return self.rng.choice(self.known)
        return self.input(self.shape(self.size))

    def input(self, shape: tuple[int, ...], for_reshape: bool = False) -> Known:
        name = self.name("A")
        rng = np.random.default_rng(self.rng.randrange(1 << 30))
        array = rng.integers(-4, 5, shape) * (rng.random(shape) < self.rng.choice((0.0, 0.3, 0.6, 1.0)))
        declared = self.rng.random() < 0.5
        fmt = "dense" if for_reshape else self.rng.choice(FORMATS[len(shape)])
        if declared:
            self.declare(name, self.indices(len(shape)), shape, fmt)
        # An undeclared one is stored as its data are, unless it is reshaped.
        can_be_reshaped = for_reshape or (not declared and self.rng.random() < 0.5)
        self.known.append(Known(name, array, can_be_reshaped, is_stored=True))
        self.case.inputs[name] = self.held(array)
        return self.known[-1]

    def held(self, array: Array) -> Any:
        """The array as some kind of data."""
        kinds = ["C", "F", "strided", "tensor", "tensor", *(["scipy"] * 4 if array.ndim == 2 else [])]
        match self.rng.choice(kinds):
            case "C" | "F" as order:
                return np.array(array, order=order)
            case "strided":
                return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array
            case "tensor":
                return Tensor.from_dense(array, self.rng.choice(FORMATS[array.ndim]))
        given: Any = (sp.coo_array if self.rng.random() < 0.5 else sp.coo_matrix)(array)
        return given.asformat(self.rng.choice(SCIPY))

    def declare(
        self, name: str, modes: str, shape: tuple[int, ...], fmt: str | None, open_mode: int | None = None
    ) -> None:
        """With all extents but that of a mode; with some, where all follow from others."""
        extents = [
            index
            if n == open_mode or (open_mode is None and self.rng.random() < 0.5)
            else f"{index}={extent}"
            for n, (index, extent) in enumerate(zip(modes, shape, strict=True))
        ]
        bracket = f"[{', '.join(extents)}]" if extents else ""
        self.case.declarations.append(f"tensor {name}{bracket}" + (f" : {fmt}" if fmt and modes else ""))

    def result_format(self, rank: int) -> str | None:
        """Of a result; what is stored by columns is for other tests."""
        if self.rng.random() < 0.6:
            return None
        return self.rng.choice(
            {1: ["dense", "csf"], 2: ["dense", "csr", "dcsr"], 3: ["dense", "csf"]}.get(rank, [None])
        )

    def shape(self, size: int) -> tuple[int, ...]:
        """Some factors of a number."""
        if size == 1 and self.rng.random() < 0.3:
            return ()
        rank = self.rng.randint(1, MOST_RANK)
        factors = []
        for _ in range(rank - 1):
            factors.append(self.rng.choice([n for n in range(1, size + 1) if size % n == 0]))
            size //= factors[-1]
        factors.append(size)
        self.rng.shuffle(factors)
        return tuple(factors)

    def name(self, letter: str) -> str:
        return f"{letter}{len(self.known)}"

    def indices(self, rank: int) -> str:
        """Names that other statements have for other extents."""
        return "".join(self.rng.sample(INDICES, rank))

    @staticmethod
    def access(name: str, modes: str) -> str:
        return f"{name}[{', '.join(modes)}]" if modes else name


def _differ_at_most_in(axis: int, shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return len(shape) == len(other) and all(
        m == n for mode, (m, n) in enumerate(zip(shape, other, strict=True)) if mode != axis
    )
