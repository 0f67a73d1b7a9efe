"""Random scans whose steps read at computed and named places, under masks and with running reductions; and
what they mean, by loops over arrays that share no code with samhw."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.support.recurrences import Recurrence

__all__ = ["random_placed_recurrence"]

Array = NDArray[np.int64]


@dataclass(frozen=True)
class Place:
    """An index over h as text, the coordinates that it comes to, and which of them there are."""

    text: str
    coordinates: Array
    inside: NDArray[np.bool_]

    def of(self, array: Array) -> Array:
        """What stands there in the last mode of an array."""
        return np.where(self.inside, array[..., self.coordinates], 0)


class _Maker:
    def __init__(self, seed: int):
        rng = self.rng = np.random.default_rng(seed)
        self.steps, self.width = int(rng.integers(1, 6)), int(rng.integers(1, 6))
        self.batch = int(rng.integers(0, 3))
        self.down = bool(rng.random() < 0.4)
        self.rows = "n, " if self.batch else ""
        self.shape = (self.batch, self.width) if self.batch else (self.width,)
        self.inputs: dict[str, Array] = {}
        self.declarations = ["value i32", f"index t={self.steps}, h={self.width}"]

    def pick(self, *words: str) -> str:
        return words[self.rng.integers(len(words))]

    def input(self, name: str, modes: str, array: Array) -> Array:
        """A declared input, once."""
        if name not in self.inputs:
            sizes = zip(modes.split(), array.shape, strict=True)
            self.declarations.append(f"tensor {name}[{', '.join(f'{m}={n}' for m, n in sizes)}] : dense")
            self.inputs[name] = array
        return self.inputs[name]

    def drawn(self, name: str, modes: str, low: int, high: int, *shape: int) -> Array:
        return self.input(name, modes, self.rng.integers(low, high, shape))

    def place(self) -> Place:
        """A plain h, or a place in its mode."""
        width, own = self.width, np.arange(self.width)
        offset = int(self.rng.integers(-3, 4))
        text = f"h {'-' if offset < 0 else '+'} {abs(offset)}"
        everywhere = np.ones(width, bool)
        match self.pick("plain", "named", "wrap", "clamp", "zero", "reversed", "strided"):
            case "named":
                named = self.drawn("places", "h", 0, width, width)
                return Place("places[h]", named, everywhere)
            case "wrap":
                return Place(f"wrap({text})", (own + offset) % width, everywhere)
            case "clamp":
                return Place(f"clamp({text})", np.clip(own + offset, 0, width - 1), everywhere)
            case "zero":
                at = own + offset
            case "reversed":
                at, text = width - 1 - own, f"{width - 1} - h"
            case "strided":
                at, text = 2 * own - 1, "2*h - 1"
            case _:
                at, text = own, "h"
        return Place(text, np.clip(at, 0, width - 1), (at >= 0) & (at < width))

    def at(self, tensor: str, offset: int, place: str) -> str:
        """An access of a step."""
        step = f"t {'+' if offset > 0 else '-'} {abs(offset)}" if offset else "t"
        return f"{tensor}[{step}, {self.rows}{place}]"


def random_placed_recurrence(seed: int) -> Recurrence:
    """A program whose scan has one state."""
    m = _Maker(seed)
    rows, shape, modes = m.rows, m.shape, f"{'n ' if m.batch else ''}h"
    x = m.drawn("X", f"t {modes}", -3, 4, m.steps, *shape)
    back, shift = int(m.rng.integers(1, 4)), int(m.rng.choice([0, 0, 1, -1]))
    of_input, of_state, of_sum = m.place(), m.place(), m.place()
    running = m.pick("", "", "cumsum", "cummax", "recur")
    of_mask = m.place() if not running and m.rng.random() < 0.4 else None
    mask = m.drawn("M", f"t {modes}", 0, 2, m.steps, *shape) if of_mask else np.zeros(0, np.int64)
    factor = m.drawn("a", "h", -1, 2, m.width) if running == "recur" else np.zeros(0, np.int64)
    body = [
        f"A[{rows}h] = {m.at('X', shift, of_input.text)} + "
        f"{m.at('S', back if m.down else -back, of_state.text)}",
        f"B[{rows}h] = max(min(A[{rows}{of_sum.text}], 9), -9)",
    ]
    last = {
        "": f"B[{rows}h]",
        "cumsum": f"cumsum(h, B[{rows}h])",
        "cummax": f"cummax(h, B[{rows}h])",
        "recur": f"recur(h, a[h], B[{rows}h])",
    }[running]
    body.append(f"S[t, {rows}h] = {last}")
    if of_mask is not None:
        body[-1] += f" where {m.at('M', 0, of_mask.text)}"
    start, begun = [], np.zeros(shape, np.int64)
    if m.rng.random() < 0.5:
        of_start = m.place()
        begun = of_start.of(m.drawn("I", modes, -3, 4, *shape))
        start = [f"S[-{back}, {rows}h] = I[{rows}{of_start.text}]"]
    if m.rng.random() < 0.4:
        body = ["fuse {", *(f"  {line}" for line in body), "}"]

    state = np.zeros((m.steps, *shape), np.int64)
    order = list(range(m.steps))[:: -1 if m.down else 1]
    for number, step in enumerate(order):
        before = number - back
        earlier = state[order[before]] if before >= 0 else begun * (before == -back)
        inside = 0 <= step + shift < m.steps
        now = of_input.of(x[step + shift]) if inside else np.zeros(shape, np.int64)
        b = np.clip(of_sum.of(now + of_state.of(earlier)), -9, 9)
        match running:
            case "cumsum":
                b = b.cumsum(-1)
            case "cummax":
                b = np.maximum.accumulate(b, -1)
            case "recur":
                for h in range(1, m.width):
                    b[..., h] += factor[h] * b[..., h - 1]
        state[step] = b if of_mask is None else b * of_mask.of(mask[step])
    lines = [*m.declarations, f"scan t{' down' * m.down} {{", *(f"  {line}" for line in body), "}", *start]
    return Recurrence("\n".join(lines) + "\n", m.inputs, {"S": state})
