"""Random concatenations of two to four parts that share what makes them, with what reads them.

Each is a text and its meaning in NumPy. The parts have the index e, alone or inside of rows r; what reads a
concatenation has f in the place of the index along which it goes. Values are cut to a digit now and then, so
that every type has all results.
"""

from random import Random
from typing import NamedTuple

import numpy as np

from tests.support.oracle.written import Array, Written

__all__ = ["draw"]

EXTENTS = (1, 2, 3, 5, 8, 10, 16, 31, 32, 64, 100, 128, 199, 200)
"""Powers of two too: capacities are, so that only these leave no room to spare."""
MOST_POINTS = 400
VECTORS, MATRICES = ("dense", "dense", "csf"), ("dense", "dense", "csr", "dcsr")


class Whole(NamedTuple):
    """A concatenation: its name, its meaning, and its parts by name."""

    name: str
    array: Array
    parts: tuple[str, ...]


def draw(number: int, value: str) -> tuple[Written, str]:
    """The program of a number, and its text."""
    drawing = _Drawing(number, value)
    drawing.program()
    case = drawing.case
    split = case.rng.randrange(1, len(case.lines)) if case.rng.random() < 0.1 else None
    return case, case.text(split)


def _of(name: str, axes: str) -> str:
    return f"{name}[{', '.join(axes)}]" if axes else name


def _combined(sign: str, x: Array, y: Array) -> Array:
    return {"+": x + y, "-": x - y, "*": x * y}[sign]


class _Drawing:
    def __init__(self, number: int, value: str) -> None:
        self.rng = rng = Random(f"{number} {value}")
        self.case = Written(value, rng)
        self.case.density = rng.choice((1.0, 1.0, 0.6, 0.2))
        extent = rng.choice(EXTENTS)
        rows = rng.choice((0, 0, rng.randint(1, max(1, min(6, MOST_POINTS // extent)))))
        self.extents = {"e": extent, "r": rows, "k": rng.randint(1, 4)}
        self.axes = "re" if rows else "e"
        self.along = rng.choice("eeeer") if rows else "e"
        """Along the outer index a region ends before the concatenation."""
        self.whole_axes = self.axes.replace(self.along, "f")
        self.pool: dict[str, Array] = {}
        """What may become a part, or be read to make one."""
        self.names = 0

    def name(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def input(self, axes: str, **extents: int) -> tuple[str, Array]:
        """How an input is read, and what it holds."""
        name = self.name("A")
        extents = self.extents | extents
        fmt = self.rng.choice(MATRICES if len(axes) == 2 else VECTORS)
        self.case.give(name, axes, tuple(extents[i] for i in axes), fmt)
        return _of(name, axes), self.case.inputs[name]

    def one_of_pool(self) -> tuple[str, Array]:
        """How one of the pool is read, and what it is."""
        name = self.rng.choice(list(self.pool))
        return _of(name, self.axes), self.pool[name]

    def keep(self, text: str, result: Array) -> None:
        """A statement whose result may become a part."""
        name = self.name("T")
        self.pool[name] = self.case.assign(_of(name, self.axes), text, result)

    def cut(self, text: str, result: Array) -> None:
        """The same, for what may be large."""
        raw = _of(self.name("U"), self.axes)
        self.case.assign(raw, text, result)
        self.keep(f"max(min({raw}, 9), -9)", np.clip(result, -9, 9))

    def program(self) -> None:
        rng = self.rng
        rng.choice((self.elementwise, self.elementwise, self.product))()
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            alike = (self.function, self.function, self.pair, self.scaled, self.masked)
            rng.choice((*alike, self.elementwise, self.product))()
        wholes = [self.concatenated(self.parts())]
        if rng.random() < 0.4:
            wholes.append(self.concatenated(tuple(rng.sample(wholes[0].parts, len(wholes[0].parts)))))
            self.joined(*wholes)
        if rng.random() < 0.15:
            wholes.append(self.concatenated(self.parts()))
        for whole in wholes:
            if rng.random() < 0.6:
                rng.choice((self.mapped, self.weighted, self.summed, self.multiplied, self.added))(whole)
        if rng.random() < 0.3:
            # What makes the parts is read beside the concatenation as well.
            text, x = self.one_of_pool()
            self.case.assign(_of(self.name("V"), self.axes), f"{text} * 2", x * 2)

    # What parts are made of

    def elementwise(self) -> None:
        rng = self.rng
        text, x = self.input(self.axes)
        kind = rng.randrange(4)
        if kind == 0:
            self.keep(f"2 * {text}", 2 * x)
        elif kind == 1:
            self.keep(f"{text} + 1", x + 1)
        else:
            b, y = self.input(rng.choice(self.axes))
            y = y[:, None] if b.endswith("[r]") else y
            sign = "*" if kind == 2 else "+"
            self.keep(f"{text} {sign} {b}", _combined(sign, x, y))

    def product(self) -> None:
        """A sum over k, which lies inside of e or outside of it."""
        if self.rng.random() < 0.5:
            (a, x), (b, y) = self.input(self.axes[:-1] + "k"), self.input("ke")
            self.cut(f"{a} * {b}", x @ y)
        else:
            (a, x), (b, y) = self.input("ek"), self.input(self.axes[:-1] + "k")
            self.cut(f"{a} * {b}", y @ x.T)

    def function(self) -> None:
        t, x = self.one_of_pool()
        functions = (
            (f"relu({t})", np.maximum(x, 0)),
            (f"-{t}", -x),
            (f"{t} - 1", x - 1),
            (f"abs({t})", np.abs(x)),
            (f"min({t}, 1)", np.minimum(x, 1)),
        )
        self.keep(*self.rng.choice(functions))

    def pair(self) -> None:
        (a, x), (b, y) = self.one_of_pool(), self.one_of_pool()
        sign = self.rng.choice("+-*")
        self.cut(f"{a} {sign} {b}", _combined(sign, x, y))

    def scaled(self) -> None:
        """The distance to a sum or a maximum, which waits for a whole row."""
        (text, x), (other, y) = self.one_of_pool(), self.one_of_pool()
        row = _of(self.name("s"), self.axes[:-1])
        if self.rng.random() < 0.5:
            total = self.case.assign(row, text, x.sum(-1))
        else:
            total = self.case.assign(row, text, x.max(-1), "max=")
        self.cut(f"{other} - {row}", y - total[..., None])

    def masked(self) -> None:
        (text, x), (mask, y) = self.one_of_pool(), self.one_of_pool()
        self.keep(f"{text} where {mask}", np.where(y != 0, x, 0))

    # Concatenations, and what reads them

    def parts(self) -> tuple[str, ...]:
        """Computed ones, some of them more than once, and inputs of an extent of their own."""
        return tuple(
            self.part() if self.rng.random() < 0.2 else self.rng.choice(list(self.pool))
            for _ in range(self.rng.choice((2, 2, 3, 4)))
        )

    def part(self) -> str:
        text, _ = self.input(self.axes, **{self.along: self.rng.choice((1, 2, 7, 16))})
        return text.partition("[")[0]

    def concatenated(self, parts: tuple[str, ...]) -> Whole:
        arrays = [self.pool[part] if part in self.pool else self.case.inputs[part] for part in parts]
        name = self.name("Y")
        text = ", ".join([self.along, *(_of(part, self.axes) for part in parts)])
        whole = np.concatenate(arrays, self.axes.index(self.along))
        return Whole(name, self.case.assign(_of(name, self.axes), f"concat({text})", whole), parts)

    def joined(self, a: Whole, b: Whole) -> None:
        """Two concatenations of the same parts meet."""
        sign = self.rng.choice("+-*")
        text = f"{_of(a.name, self.whole_axes)} {sign} {_of(b.name, self.whole_axes)}"
        self.case.assign(_of(self.name("W"), self.whole_axes), text, _combined(sign, a.array, b.array))

    def mapped(self, whole: Whole) -> None:
        text = f"relu({_of(whole.name, self.whole_axes)}) + 1"
        self.case.assign(_of(self.name("Z"), self.whole_axes), text, np.maximum(whole.array, 0) + 1)

    def weighted(self, whole: Whole) -> None:
        b, y = self.input("f", f=self.length(whole))
        y = y[:, None] if self.whole_axes == "fe" else y
        text = f"{_of(whole.name, self.whole_axes)} * {b}"
        self.case.assign(_of(self.name("Z"), self.whole_axes), text, whole.array * y)

    def summed(self, whole: Whole) -> None:
        """A sum along the concatenation, which may meet what its parts are made of."""
        total = _of(self.name("q"), self.whole_axes.replace("f", ""))
        axis = self.whole_axes.index("f")
        result = self.case.assign(total, _of(whole.name, self.whole_axes), whole.array.sum(axis))
        if self.rng.random() < 0.7:
            text, x = self.one_of_pool()
            right = np.expand_dims(result, axis)
            self.case.assign(_of(self.name("Z"), self.axes), f"{text} - {total}", x - right)

    def multiplied(self, whole: Whole) -> None:
        b, y = self.input("fh", f=self.length(whole), h=self.rng.randint(1, 3))
        text = f"{_of(whole.name, self.whole_axes)} * {b}"
        axes = self.whole_axes.replace("f", "")
        # As NumPy multiplies, the axis along which the whole goes is the last of the first factor.
        x = np.moveaxis(whole.array, self.whole_axes.index("f"), -1)
        self.case.assign(_of(self.name("Z"), axes + "h"), text, x @ y)

    def added(self, whole: Whole) -> None:
        b, y = self.input(self.whole_axes, f=self.length(whole))
        text = f"{_of(whole.name, self.whole_axes)} + {b}"
        self.case.assign(_of(self.name("Z"), self.whole_axes), text, whole.array + y)

    def length(self, whole: Whole) -> int:
        return int(whole.array.shape[self.whole_axes.index("f")])
