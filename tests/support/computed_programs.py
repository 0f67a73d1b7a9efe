"""Random programs with computed indices, and what NumPy makes of them."""

from dataclasses import dataclass
from random import Random

import numpy as np

__all__ = ["ComputedProgram", "computed_program"]


@dataclass(frozen=True)
class ComputedProgram:
    """A program as text, a dense array for each of its inputs, and for its last result."""

    text: str
    data: dict[str, np.ndarray]
    expected: np.ndarray


@dataclass
class Index:
    """An index as text, the coordinates that it comes to over all variables, and what stands outside."""

    text: str
    coordinates: np.ndarray
    outside: str

    def inside(self, extent: int) -> tuple[np.ndarray, np.ndarray]:
        """The coordinates in a mode, and which of them it has."""
        if self.outside == "wrap":
            return self.coordinates % extent, np.ones(self.coordinates.shape, bool)
        kept = np.minimum(np.maximum(self.coordinates, 0), extent - 1)
        return kept, (kept == self.coordinates) | (self.outside == "clamp")


class _Maker:
    def __init__(self, random: Random):
        self.random = random
        self.rng = np.random.default_rng(random.randrange(1 << 30))
        self.variables = random.sample("ijde", random.randint(1, 3))
        self.sizes = [random.randint(1, 5) for _ in self.variables]
        self.grid = dict(zip(self.variables, np.indices(self.sizes), strict=True))
        self.lines: list[str] = []
        self.data: dict[str, np.ndarray] = {}
        self.used: set[str] = set()

    def index(self) -> Index:
        random = self.random
        names = random.sample(self.variables, random.choice([0, 1, 1, 1, min(2, len(self.variables))]))
        offset = random.choice([0, 0, -1, 1, random.randint(-4, 6)])
        found = np.full(self.sizes, offset)
        text = str(offset)
        for name in names:
            factor = random.choice([1, 1, 1, 2, 3, -1, -2])
            found = found + factor * self.grid[name]
            scaled = (
                name if abs(factor) == 1 else f"{name}*{abs(factor)}" if factor < 0 else f"{factor}*{name}"
            )
            text += f" {'-' if factor < 0 else '+'} {scaled}"
            self.used.add(name)
        outside = random.choice(["zero", "zero", "zero", "clamp", "wrap"])
        return Index(text if outside == "zero" else f"{outside}({text})", found, outside)

    def plain(self, name: str) -> Index:
        self.used.add(name)
        return Index(name, self.grid[name], "zero")

    def operand(self, *, is_computed: bool) -> tuple[str, np.ndarray]:
        """An access, and its values over all variables."""
        random, name = self.random, f"X{len(self.data)}"
        plain = random.sample(
            self.variables, random.randint(0 if is_computed else 1, min(2, len(self.variables)))
        )
        modes: list[tuple[int, Index]] = [
            (self.sizes[self.variables.index(v)], self.plain(v)) for v in plain[: 1 if is_computed else 2]
        ]
        if is_computed:
            modes += [(random.randint(1, 7), self.index()) for _ in range(random.choice([1, 1, 2]))]
        random.shuffle(modes)
        shape = [extent for extent, _ in modes]
        array = self.data[name] = self.rng.integers(-3, 4, shape) * (self.rng.random(shape) < 0.8)
        levels = [random.choice(["dense", "dense", "compressed"]) for _ in modes]
        declared = ", ".join(f"m{n}={extent}" for n, extent in enumerate(shape))
        self.lines.append(f"tensor {name}[{declared}] : ({', '.join(levels)})")
        at, inside = [], np.ones(self.sizes, bool)
        for extent, index in modes:
            coordinates, is_inside = index.inside(extent)
            at.append(coordinates)
            inside = inside & is_inside
        return f"{name}[{', '.join(i.text for _, i in modes)}]", np.where(inside, array[tuple(at)], 0)

    def program(self) -> ComputedProgram:
        random = self.random
        text, value = self.operand(is_computed=True)
        first = set(self.used)
        for _ in range(random.randint(0, 2)):
            other, factor = self.operand(is_computed=random.random() < 0.5)
            text, value = f"{text} * {other}", value * factor
        if random.random() < 0.2:
            text, value = f"relu({text})", np.maximum(value, 0)
        if not first:
            return computed_program(random.randrange(1 << 30))
        kept = [v for v in self.variables if v in self.used]
        value = value[tuple(slice(None) if v in kept else 0 for v in self.variables)]
        if random.random() < 0.25:
            return self.scattered(text, value, kept)
        summed = random.sample(kept, random.choice([0, 1])) if len(kept) > 1 else []
        rest = [v for v in kept if v not in summed]
        axes = tuple(n for n, v in enumerate(kept) if v in summed)
        reduction = random.choice(["", "", "max", "min"]) if summed else ""
        result = getattr(np, reduction or "sum")(value, axis=axes)
        left = random.sample(rest, len(rest))
        result = result.transpose([rest.index(v) for v in left])
        levels = random.choice(["dense", "csf"])
        self.lines.append(f"tensor Y[{', '.join(left)}] : {levels}")
        return self.done(f"Y[{', '.join(left)}] {reduction}= {text}", left, result)

    def scattered(self, right: str, value: np.ndarray, kept: list[str]) -> ComputedProgram:
        random, extent = self.random, 6
        moved = random.choice(kept)
        grid: dict[str, np.ndarray] = dict(zip(kept, np.indices(value.shape), strict=True))
        factor, offset = random.choice([1, 2, -1]), random.randint(-2, 4)
        outside = random.choice(["zero", "zero", "clamp", "wrap"])
        text = f"{offset} {'-' if factor < 0 else '+'} {abs(factor)}*{moved}"
        text = text if outside == "zero" else f"{outside}({text})"
        places, is_inside = Index(text, offset + factor * grid[moved], outside).inside(extent)
        # What it is computed with may stay an index of the result as well.
        rest = [v for v in kept if v != moved or random.random() < 0.5]
        names = [text, *rest]
        modes = random.sample(range(len(names)), len(names))
        size = {v: self.sizes[self.variables.index(v)] for v in rest}
        result = np.zeros([extent, *size.values()], np.int64)
        np.add.at(result, (places[is_inside], *(grid[v][is_inside] for v in rest)), value[is_inside])
        declared = [f"m={extent}", *rest]
        storage = random.choice(["dense", "csf"])
        self.lines.append(f"tensor Y[{', '.join(declared[m] for m in modes)}] : {storage}")
        left = ["m", *rest]
        statement = f"Y[{', '.join(names[m] for m in modes)}] = {right}"
        return self.done(statement, [left[m] for m in modes], result.transpose(modes))

    def done(self, statement: str, indices: list[str], result: np.ndarray) -> ComputedProgram:
        """With a statement after it, now and then, in one region."""
        statements = [statement]
        if self.random.random() < 0.3:
            names = ", ".join(indices)
            statements = ["fuse {", statement, f"Z[{names}] = Y[{names}] + 1", "}"]
            result = result + 1
        sizes = ", ".join(
            f"{v}={size}" for v, size in zip(self.variables, self.sizes, strict=True) if v in self.used
        )
        return ComputedProgram(
            "\n".join(["value i32", f"index {sizes}", *self.lines, *statements]), self.data, result
        )


def computed_program(seed: int) -> ComputedProgram:
    """A random one."""
    return _Maker(Random(seed)).program()
