"""Random programs whose intermediates have several uses: residuals, norms and softmaxes, with their results.

Each is a text and its meaning in NumPy, written side by side, and shares nothing with samhw. Every step uses
an earlier tensor two to four times, once at least after a reduction or a product.
"""

from collections.abc import Callable
from random import Random

import numpy as np

from tests.support.oracle.written import Array, Written

__all__ = ["draw"]

MATRICES = ("dense", "dense", "csr", "csc", "dcsr")


def draw(number: int, value: str) -> tuple[Written, str]:
    """The program of a number, in whole numbers or with quotients, as the type lets it; and its text."""
    rng = Random(f"{number} {value}")
    case = Written(value, rng)
    case.density = rng.choice((1.0, 1.0, 0.6, 0.3))
    rows, width = rng.randint(1, 5), rng.randint(1, 6)
    case.give("X", "ie", (rows, width), rng.choice(("dense", "dense", "csr")))
    if value != "i32":
        case.tensors["count"] = "tensor count"
        case.inputs["count"] = np.array(float(width))
    now, x = "R0", case.assign("R0[i, e]", *_first(case, rng, rows, width))
    before = {now: x}
    for step in range(1, rng.randint(2, 4)):
        kind = rng.choice(_STEPS)
        now, x = kind(case, step, now, x)
        if rng.random() < 0.6:
            other = rng.choice(sorted(before))
            sign, name = rng.choice("+-"), f"R{step}"
            x = case.assign(
                f"{name}[i, e]",
                f"{now}[i, e] {sign} {other}[i, e]",
                x + before[other] if sign == "+" else x - before[other],
            )
            now = name
        if value == "i32":
            x = case.assign(f"C{step}[i, e]", f"max(min({now}[i, e], 9), -9)", np.clip(x, -9, 9))
            now = f"C{step}"
        before[now] = x
    other = rng.choice(sorted(before))
    case.assign("Y[i, e]", f"{now}[i, e] + {other}[i, e]", x + before[other])
    split = rng.randrange(1, len(case.lines)) if rng.random() < 0.2 else None
    return case, case.text(split)


def _first(case: Written, rng: Random, rows: int, width: int) -> tuple[str, Array]:
    x = case.inputs["X"]
    kind = rng.randrange(4)
    if kind == 0:
        return "X[i, e] + 1", x + 1
    if kind == 1:
        return "2 * X[i, e]", 2 * x
    if kind == 2:
        case.give("b", "e", (width,), "dense")
        return "X[i, e] + b[e]", x + case.inputs["b"]
    inner = rng.randint(1, 4)
    case.give("O", "ih", (rows, inner), rng.choice(("dense", "csr")))
    case.give("V", "he", (inner, width), "dense")
    return "O[i, h] * V[h, e]", case.inputs["O"] @ case.inputs["V"]


Step = Callable[[Written, int, str, Array], tuple[str, Array]]


def _center(case: Written, step: int, t: str, x: Array) -> tuple[str, Array]:
    whole = case.value == "i32"
    mean = x.sum(1) if whole else x.sum(1) / x.shape[1]
    case.assign(f"m{step}[i]", f"{t}[i, e]" if whole else f"{t}[i, e] / count", mean)
    return f"D{step}", case.assign(f"D{step}[i, e]", f"{t}[i, e] - m{step}[i]", x - mean[:, None])


def _norm(case: Written, step: int, t: str, x: Array) -> tuple[str, Array]:
    now, centred = _center(case, step, t, x)
    squares = (centred * centred).sum(1)
    if case.value == "i32":
        case.assign(f"v{step}[i]", f"{now}[i, e] * {now}[i, e]", squares)
        keep = np.minimum(squares, 3)
        case.assign(f"r{step}[i]", f"min(v{step}[i], 3)", keep)
    else:
        case.assign(f"v{step}[i]", f"{now}[i, e] * {now}[i, e] / count", squares / x.shape[1])
        keep = 1 / np.sqrt(squares / x.shape[1] + 1)
        case.assign(f"r{step}[i]", f"rsqrt(v{step}[i] + 1)", keep)
    name = f"N{step}"
    return name, case.assign(f"{name}[i, e]", f"{now}[i, e] * r{step}[i]", centred * keep[:, None])


def _softmax(case: Written, step: int, t: str, x: Array) -> tuple[str, Array]:
    top = case.assign(f"m{step}[i]", f"{t}[i, e]", x.max(1), "max=")
    if case.value == "i32":
        name = f"S{step}"
        return name, case.assign(f"{name}[i, e]", f"{t}[i, e] - m{step}[i]", x - top[:, None])
    e = case.assign(f"E{step}[i, e]", f"exp({t}[i, e] - m{step}[i])", np.exp(x - top[:, None]))
    total = case.assign(f"l{step}[i]", f"E{step}[i, e]", e.sum(1))
    name = f"S{step}"
    return name, case.assign(f"{name}[i, e]", f"E{step}[i, e] / l{step}[i]", e / total[:, None])


def _mlp(case: Written, step: int, t: str, x: Array) -> tuple[str, Array]:
    width, hidden = x.shape[1], case.rng.randint(1, 5)
    case.give(f"A{step}", "ef", (width, hidden), case.rng.choice(MATRICES))
    case.give(f"B{step}", "fe", (hidden, width), case.rng.choice(MATRICES))
    first, second = case.inputs[f"A{step}"], case.inputs[f"B{step}"]
    u = case.assign(f"U{step}[i, f]", f"{t}[i, e] * A{step}[e, f]", x @ first)
    g = case.assign(f"G{step}[i, f]", f"relu(U{step}[i, f])", np.maximum(u, 0))
    name = f"F{step}"
    return name, case.assign(f"{name}[i, e]", f"G{step}[i, f] * B{step}[f, e]", g @ second)


def _gate(case: Written, step: int, t: str, x: Array) -> tuple[str, Array]:
    """A row's own sum decides what of the row stays; where sums are rounded, nothing may hang on equality."""
    total = case.assign(f"g{step}[i]", f"{t}[i, e]", x.sum(1))
    name, g = f"K{step}", total[:, None]
    if case.value == "i32":
        text, kept = f"select(le({t}[i, e], g{step}[i]), {t}[i, e], 0)", np.where(x <= g, x, 0)
    else:
        text, kept = f"max({t}[i, e], g{step}[i])", np.maximum(x, g)
    return name, case.assign(f"{name}[i, e]", text, kept)


def _masked(case: Written, step: int, t: str, x: Array) -> tuple[str, Array]:
    """Where X is positive, which the region computes: the distance to the row's greatest value there."""
    mask = case.assign(f"P{step}[i, e]", "max(X[i, e], 0)", np.maximum(case.inputs["X"], 0)) != 0
    top = np.where(mask, x, -np.inf).max(1)
    top[~mask.any(1)] = 0
    case.assign(f"m{step}[i]", f"{t}[i, e] where P{step}[i, e]", top, "max=")
    name = f"M{step}"
    text = f"{t}[i, e] - m{step}[i] where P{step}[i, e]"
    return name, case.assign(f"{name}[i, e]", text, np.where(mask, x - top[:, None], 0))


_STEPS: tuple[Step, ...] = (_center, _norm, _softmax, _mlp, _mlp, _gate, _masked)
