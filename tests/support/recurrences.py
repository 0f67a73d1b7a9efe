"""Random programs with scans, and what they mean, by loops over arrays that share no code with samhw."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Recurrence", "random_recurrence"]

Array = NDArray[np.int64]

FORMATS = {1: ("dense",), 2: ("dense", "csr", "dcsr"), 3: ("dense", "csf")}


KINDS = ("input", "state", "state", "element", "sparse", "bias", "now")


@dataclass
class Recurrence:
    """A program, its inputs, and its results."""

    text: str
    inputs: dict[str, Array]
    expected: dict[str, Array]


@dataclass
class _Writer:
    rng: np.random.Generator
    steps: int
    down: bool
    batch: int
    """0 for none."""
    width: int
    extra: np.random.Generator
    """Draws the levels of steps, and masks."""
    declarations: list[str] = field(default_factory=list)
    inputs: dict[str, Array] = field(default_factory=dict)

    def pick(self, *choices: object) -> object:
        return choices[self.rng.integers(len(choices))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def mode_order(self, rank: int, steps: int) -> str:
        """Of a format, as text: with the mode of the steps at some level."""
        order = [mode for mode in range(rank) if mode != steps]
        order.insert(int(self.extra.integers(rank)), steps)
        return f" @ ({', '.join(map(str, order))})"

    def input(self, name: str, modes: str, extents: tuple[int, ...], formats: tuple[str, ...]) -> Array:
        """A declared input."""
        fmt = formats[self.rng.integers(len(formats))]
        if fmt in ("dense", "csf") and "t" in modes.split() and self.extra.random() < 0.4:
            fmt += self.mode_order(len(extents), modes.split().index("t"))
        dims = ", ".join(f"{m}={n}" for m, n in zip(modes.split(), extents, strict=True))
        self.declarations.append(f"tensor {name}[{dims}] : {fmt}")
        array = self.rng.integers(-2, 3, extents)
        if "dense" not in fmt:
            array *= self.rng.random(extents) < 0.4
        self.inputs[name] = array
        return array

    @property
    def rows(self) -> str:
        return "n, " if self.batch else ""

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.batch, self.width) if self.batch else (self.width,)

    def at(self, offset: int) -> str:
        """The step this many steps back."""
        there = offset if self.down else -offset
        return f"t {'+' if there > 0 else '-'} {abs(there)}" if there else "t"


def random_recurrence(seed: int) -> Recurrence:
    """A program whose scan has one to three states, with distances of up to four steps."""
    rng = np.random.default_rng(seed)
    w = _Writer(
        rng,
        int(rng.integers(1, 7)),
        bool(rng.random() < 0.4),
        int(rng.integers(0, 3)),
        int(rng.integers(1, 5)),
        np.random.default_rng((seed, 1)),
    )
    states = [f"S{n}" for n in range(rng.integers(1, 4))]
    # Where each state has its steps among its modes.
    rank = len(w.shape) + 1
    mode = {s: int(rng.integers(rank)) for s in states}
    for s in states:
        if w.extra.random() < 0.4:
            at = [f"h={w.width}", *([f"n={w.batch}"] * bool(w.batch))][::-1]
            at.insert(mode[s], f"t={w.steps}")
            w.declarations.append(f"tensor {s}[{', '.join(at)}] : dense{w.mode_order(rank, mode[s])}")
    starts: dict[tuple[str, int], Array] = {}
    start_lines: list[str] = []
    for s in states:
        for distance in range(1, 5):
            if w.chance(0.25):
                name = f"I{len(start_lines)}"
                array = w.input(name, f"{w.rows.replace(', ', ' ')}h", w.shape, ("dense",))
                twice = w.chance(0.3)
                starts[s, distance] = 2 * array if twice else array
                at = [*"nh"[-len(w.shape) :]]
                at.insert(mode[s], f"-{distance}")
                lhs = f"{s}[{', '.join(at)}]"
                start_lines.append(f"{lhs} = {name}[{w.rows}h]{' * 2' * twice}")
    body: list[str] = []
    compute: list[Callable[[int], None]] = []
    kept: dict[str, dict[int, Array]] = {s: {} for s in states}
    now: dict[str, Array] = {}

    def state(name: str, step: int, back: int) -> Array:
        """By steps that have been made, and not by coordinates."""
        place = step - back
        if place >= 0:
            return kept[name][place]
        return starts.get((name, -place), np.zeros(w.shape, np.int64))

    def access(name: str, back: int, last: str) -> str:
        at = [*(["n"] if w.batch else []), last]
        at.insert(mode[name], w.at(back))
        return f"{name}[{', '.join(at)}]"

    def coordinate(step: int) -> int:
        return w.steps - 1 - step if w.down else step

    def term(n: int, k: int, kinds: tuple[str, ...]) -> tuple[str, Callable[[int], Array]]:
        """A term of the statement of a state."""
        tag = f"{n}_{k}"
        kind = w.pick(*kinds)
        if kind == "input":
            shift = int(rng.choice([0, 0, 1, -1]))
            x = w.input(f"X{tag}", "t k" if not w.batch else "n t k", (*w.shape[:-1], w.steps, 2), FORMATS[3])
            m = w.input(f"W{tag}", "k h", (2, w.width), FORMATS[2])
            there = f"t {'+' if shift > 0 else '-'} 1" if shift else "t"

            def product(step: int) -> Array:
                place = coordinate(step) + shift
                inside = 0 <= place < w.steps
                return np.take(x, place, -2) @ m if inside else np.zeros(w.shape, np.int64)

            return f"X{tag}[{w.rows}{there}, k] * W{tag}[k, h]", product
        if kind in ("state", "element"):
            s, back = str(w.pick(*states)), int(rng.integers(1, 5))
            if kind == "element":
                a = w.input(f"A{tag}", "h", (w.width,), ("dense",))
                return f"A{tag}[h] * {access(s, back, 'h')}", lambda step: a * state(s, step, back)
            u = w.input(f"U{tag}", "g h", (w.width, w.width), FORMATS[2])
            return f"{access(s, back, 'g')} * U{tag}[g, h]", lambda step: state(s, step, back) @ u
        if kind == "sparse":
            p = w.input(f"P{tag}", "t h", (w.steps, w.width), FORMATS[2])
            return f"P{tag}[t, h]", lambda step: np.broadcast_to(p[coordinate(step)], w.shape)
        if kind == "now" and n:
            s = states[rng.integers(n)]
            return access(s, 0, "h"), lambda step: state(s, step, 0)
        if w.batch:
            c = w.input(f"B{tag}", "n h", w.shape, ("dense", "csr"))
            return f"B{tag}[n, h]", lambda step: c
        b = w.input(f"B{tag}", "h", (w.width,), ("dense",))
        return f"B{tag}[h]", lambda step: np.broadcast_to(b, w.shape)

    def mask_of(n: int) -> tuple[str, Callable[[int], Array]]:
        """The mask of the statement of a state, as text, and what it is: an earlier step or an input's."""
        kind = w.extra.choice(["none", "none", "none", "state", "input"])
        s, back = states[w.extra.integers(len(states))], int(w.extra.integers(1, 4))
        if kind == "state" and not any(tensor == s for tensor, _ in starts):
            return f" where {access(s, back, 'h')}", lambda step: state(s, step, back)
        if kind == "input":
            m = w.input(f"M{n}", "t h", (w.steps, w.width), FORMATS[2])
            return f" where M{n}[t, h]", lambda step: m[coordinate(step)]
        return "", lambda step: np.ones(w.shape, np.int64)

    for n, s in enumerate(states):
        # In the first term, what has all rows.
        found = [term(n, k, KINDS if k or not w.batch else ("bias",)) for k in range(rng.integers(1, 4))]
        function = str(w.pick("max(min(Z, 9), -9)", "min(relu(Z), 9)", "min(abs(Z), 9)"))
        where, mask = mask_of(n)
        body.append(f"Z{n}[{w.rows}h] = {' + '.join(text for text, _ in found)}{where}")
        body.append(f"{access(s, 0, 'h')} = {function.replace('Z', f'Z{n}[{w.rows}h]')}")

        def step_of(step: int, n: int = n, s: str = s, found=found, function=function, mask=mask) -> None:
            z = sum((f(step) for _, f in found), np.zeros(w.shape, np.int64))
            now[f"Z{n}"] = z = np.where(mask(step) != 0, z, 0)
            limited = {"max": np.clip(z, -9, 9), "rel": np.clip(z, 0, 9), "abs": np.minimum(np.abs(z), 9)}
            kept[s][step] = limited[function[:3] if function[:3] == "max" else function[4:7]]

        compute.append(step_of)
    if w.chance(0.4):
        s, back = str(w.pick(*states)), int(rng.integers(0, 3))
        body.append(
            f"L[{'n' if w.batch else 'h'}] max= {access(s, back, 'h')}"
            if w.batch
            else f"L[h] = 3 * {access(s, back, 'h')}"
        )

        def last(step: int) -> None:
            v = state(s, step, back)
            now["L"] = v.max(-1) if w.batch else 3 * v

        compute.append(last)
    for step in range(w.steps):
        for make in compute:
            make(step)
    expected = dict(now)
    for s in states:
        whole = np.stack([kept[s][step] for step in range(w.steps)], axis=mode[s])
        expected[s] = np.flip(whole, mode[s]) if w.down else whole
    lines = ["value i32", f"index t={w.steps}", *w.declarations]
    if w.chance(0.5):
        body = ["fuse {", *(f"  {line}" for line in body), "}"]
    lines += [f"scan t{' down' * w.down} {{", *(f"  {line}" for line in body), "}", *start_lines]
    if w.chance(0.3):
        lines.append(f"Y[{w.rows}h] = {access(states[0], 0, 'h')}")
        expected["Y"] = expected[states[0]].sum(mode[states[0]])
    return Recurrence("\n".join(lines) + "\n", w.inputs, expected)
