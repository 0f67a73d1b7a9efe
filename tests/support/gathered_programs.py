"""Random programs with index tensors, and what NumPy makes of them."""

from dataclasses import dataclass
from random import Random

import numpy as np

__all__ = ["GatheredProgram", "gathered_program"]

EXTENTS = {"e": 5, "g": 3, "f": 4, "h": 2}
PLACES = {"n": 6, "m": 3}
INDEX_TENSORS = {"s": "e", "t": "g", "u": "eg", "v": "e"}


@dataclass(frozen=True)
class GatheredProgram:
    """A program as text, a dense array for each of its inputs, and for its last result."""

    text: str
    data: dict[str, np.ndarray]
    expected: np.ndarray


class _Maker:
    def __init__(self, random: Random):
        self.random = random
        self.rng = np.random.default_rng(random.randrange(1 << 30))
        self.lines: list[str] = []
        self.data: dict[str, np.ndarray] = {}

    def index_tensor(self, extent: int) -> str:
        """One whose numbers are below an extent, and its indices."""
        kind = self.random.choice(sorted(INDEX_TENSORS))
        name = f"{kind}{extent}"
        if name not in self.data:
            indices = INDEX_TENSORS[kind]
            shape = [EXTENTS[i] for i in indices]
            self.data[name] = self.rng.integers(0, extent, shape)
            self.lines.append(f"tensor {name}[{', '.join(indices)}]")
        return name

    def operand(self, variables: str, *, gathers: bool) -> tuple[str, np.ndarray]:
        """An access with some of the variables, and its values over all of them."""
        random, name = self.random, f"X{len(self.data)}"
        own = random.sample(variables, random.randint(0 if gathers else 1, min(2, len(variables))))
        modes: list[tuple[str, str, int]] = [(i, i, EXTENTS[i]) for i in own]
        if gathers:
            for label in random.sample(sorted(PLACES), random.choice([1, 1, 2])):
                tensor = self.index_tensor(PLACES[label])
                names = INDEX_TENSORS[tensor[0]]
                clash = set(names) & set(own) and random.random() < 0.7
                if set(names) <= set(variables) and not clash:
                    modes.append((label, tensor, PLACES[label]))
        if not modes:
            modes = [(i, i, EXTENTS[i]) for i in variables[:1]]
        random.shuffle(modes)
        shape = [extent for *_, extent in modes]
        array = self.rng.integers(-3, 4, shape) * (self.rng.random(shape) < 0.7)
        self.data[name] = array
        levels = [
            "dense" if label != place or random.random() < 0.5 else "compressed" for label, place, _ in modes
        ]
        declared = ", ".join(f"{label}={extent}" for label, _, extent in modes)
        self.lines.append(f"tensor {name}[{declared}] : ({', '.join(levels)})")
        at, places = [], []
        for label, place, _ in modes:
            at.append(
                self.spread(
                    self.numbers(place),
                    INDEX_TENSORS.get(place[0], place) if label != place else place,
                    variables,
                )
            )
            places.append(place if label == place else f"{place}[{', '.join(INDEX_TENSORS[place[0]])}]")
        shape = [EXTENTS[i] for i in variables]
        return f"{name}[{', '.join(places)}]", np.broadcast_to(array[tuple(at)], shape)

    def numbers(self, place: str) -> np.ndarray:
        return np.arange(EXTENTS[place]) if place in EXTENTS else self.data[place]

    def spread(self, array: np.ndarray, own: str, variables: str) -> np.ndarray:
        order = sorted(range(len(own)), key=lambda n: variables.index(own[n]))
        held = {own[n]: array.shape[n] for n in order}
        return array.transpose(order).reshape([held.get(i, 1) for i in variables])

    def program(self) -> GatheredProgram:
        random = self.random
        variables = "".join(random.sample("egfh", random.randint(2, 3)))
        text, value = self.operand(variables, gathers=True)
        used = {i for i in variables if f"{i}]" in text or f"{i}," in text}
        for _ in range(random.randint(0, 2)):
            other, factor = self.operand(variables, gathers=random.random() < 0.5)
            used |= {i for i in variables if f"{i}]" in other or f"{i}," in other}
            text, value = f"{text} * {other}", value * factor
        if random.random() < 0.2:
            text, value = f"relu({text})", np.maximum(value, 0)
        kept = [i for i in variables if i in used]
        value = value[tuple(slice(None) if i in used else 0 for i in variables)]
        if random.random() < 0.4:
            return self.scattered(text, value, kept)
        summed = [] if len(kept) == 1 else random.sample(kept, random.choice([0, 0, 1]))
        left = [i for i in kept if i not in summed]
        random.shuffle(left)
        result = value.sum(axis=tuple(n for n, i in enumerate(kept) if i in summed))
        rest = [i for i in kept if i not in summed]
        result = result.transpose([rest.index(i) for i in left])
        levels = random.choice(["dense", "csf"])
        self.lines.append(f"tensor Y[{', '.join(left)}] : {levels}")
        return self.done([f"Y[{', '.join(left)}] = {text}"], result)

    def scattered(self, text: str, value: np.ndarray, kept: list[str]) -> GatheredProgram:
        place = self.random.choice(sorted(PLACES))
        tensor = self.index_tensor(PLACES[place])
        names = INDEX_TENSORS[tensor[0]]
        if not set(names) <= set(kept):
            self.lines.append(f"tensor Y[{', '.join(kept)}]")
            return self.done([f"Y[{', '.join(kept)}] = {text}"], value)
        rest = [i for i in kept if i not in names]
        result = np.zeros([PLACES[place], *(EXTENTS[i] for i in rest)], np.int64)
        moved = value.transpose([kept.index(i) for i in (*names, *rest)])
        np.add.at(result, self.data[tensor], moved)
        declared = ", ".join([f"{place}={PLACES[place]}", *(f"{i}={EXTENTS[i]}" for i in rest)])
        self.lines.append(f"tensor Y[{declared}]")
        left = ", ".join([f"{tensor}[{', '.join(names)}]", *rest])
        return self.done([f"Y[{left}] = {text}"], result)

    def done(self, statements: list[str], result: np.ndarray) -> GatheredProgram:
        """With a statement after it, now and then, in one region."""
        if self.random.random() < 0.3:
            indices = self.lines[-1].split("[")[1].split("]")[0]
            names = ", ".join(part.split("=")[0] for part in indices.split(", "))
            statements = ["fuse {", *statements, f"Z[{names}] = Y[{names}] + 1", "}"]
            result = result + 1
        used = "\n".join(statements)
        lines = [line for line in self.lines if f"{line.split('[')[0].split()[1]}[" in used]
        declared = {line.split("[")[0].split()[1] for line in lines}
        data = {name: array for name, array in self.data.items() if name in declared}
        return GatheredProgram("\n".join(["value i32", *lines, *statements]), data, result)


def gathered_program(seed: int) -> GatheredProgram:
    """A random one that gathers or scatters."""
    random = Random(seed)
    while True:
        program = _Maker(random).program()
        if any(name[0] in INDEX_TENSORS for name in program.data):
            return program
