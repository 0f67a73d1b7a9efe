"""Random programs with a cascade beside, or of, what other features give: computed places, concatenations,
masks, other orders of modes, scans. NumPy says what they compute.

Five hundred on demand:

    SAMHW_RANDOM_BESIDE=500 python -m pytest -n 2 tests/cascade/test_random_beside.py
"""

import os
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import samhw
from samhw.errors import InputError

PROGRAMS = int(os.environ.get("SAMHW_RANDOM_BESIDE", "40"))
SHARDS = 2
FORMS = ("off", "deferred", "rescaled", "finite", "auto", {"tile": 2}, {"form": "finite", "tile": 3})
TOLERANCES = {"f32": 1e-4, "bf16": 0.06, "f8e4m3": 0.4, "fixed<24,12>": 0.03}
"""By value type, of results of about 1."""

Array = NDArray[np.float64]


@dataclass
class Drawn:
    """A program, its data, and what it computes."""

    declared: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    data: dict[str, Array] = field(default_factory=dict)
    wanted: dict[str, Array] = field(default_factory=dict)
    is_lowest: bool = False
    """Some scores are minus infinity."""

    @property
    def text(self) -> str:
        return "\n".join((*self.declared, *self.lines)) + "\n"

    def take(self, declared: str, data: Array) -> None:
        """An input."""
        name = declared.split("[")[0]
        self.declared.append(f"tensor {declared}")
        self.data[name] = data


def draw(rng: random.Random, numbers: np.random.Generator) -> Drawn:
    """A cascade over j of scores of i and j, and what is beside it."""
    drawn = Drawn()
    rows, columns = rng.choice((1, 2, 3, 4)), rng.choice((1, 2, 4, 6))
    score, scores = _scores(drawn, rng, numbers.uniform(-1, 1, (rows, columns)))
    mask, points = _mask(drawn, rng, numbers, scores.shape)
    _cascade(drawn, rng, numbers, score, scores, mask, points)
    if rng.random() < 0.3:
        _scan(drawn, numbers, rows)
    return drawn


def _scores(drawn: Drawn, rng: random.Random, A: Array) -> tuple[str, Array]:
    """What is reduced, and its numbers."""
    rows, columns = A.shape
    match rng.choice(("plain", "wrap", "clamp", "named", "row", "concat", "stored", "lowest", "product")):
        case "wrap":
            drawn.declared.append(f"index j={columns}")
            drawn.take("A[i, k]", A)
            return "A[i, wrap(j + 1)]", np.roll(A, -1, 1)
        case "clamp":
            drawn.declared.append(f"index j={columns}")
            drawn.take("A[i, k]", A)
            return "A[i, clamp(j - 1)]", A[:, np.maximum(np.arange(columns) - 1, 0)]
        case "named":
            places = np.array([rng.randrange(columns) for _ in range(columns)])
            drawn.take("A[i, k]", A)
            drawn.take("P[j]", places)
            return "A[i, P[j]]", A[:, places]
        case "row":
            places = np.array([rng.randrange(rows) for _ in range(rows)])
            drawn.take("A[k, j]", A)
            drawn.take("P[i]", places)
            return "A[P[i], j]", A[places]
        case "concat":
            drawn.take("A[i, j]", A)
            drawn.take("B[i, j]", A / 2)
            drawn.lines.append("C[i, j] = concat(j, A[i, j], B[i, j])")
            return "C[i, j]", np.concatenate([A, A / 2], 1)
        case "stored":
            drawn.take("A[i, j] : (dense, dense) @ (1, 0)", A)
            return "A[i, j]", A
        case "lowest":
            A = np.where(np.arange(columns) % 2, -np.inf, A)
            drawn.is_lowest = True
            drawn.take("A[i, j]", A)
            return "A[i, j]", A
        case "product":
            drawn.take("A[i, j]", A)
            drawn.take("w[j]", A[0])
            return "A[i, j] * w[j]", A * A[0]
    drawn.take("A[i, j]", A)
    return "A[i, j]", A


def _mask(
    drawn: Drawn, rng: random.Random, numbers: np.random.Generator, shape: tuple[int, ...]
) -> tuple[str, Array]:
    """Where the cascade counts; some rows may have nothing."""
    kind = rng.choice(("none", "none", "points", "rows"))
    if kind == "none":
        return "", np.ones(shape)
    if kind == "rows":
        points = numbers.integers(0, 2, shape[0]).astype(float)
        drawn.take("M[i]", points)
        return " where M[i]", np.repeat(points[:, None], shape[1], 1)
    points = numbers.integers(0, 2, shape).astype(float)
    drawn.take(f"M[i, j] : {rng.choice(('csr', 'dcsr', 'csc', 'dense'))}", points)
    return " where M[i, j]", points


def _cascade(
    drawn: Drawn,
    rng: random.Random,
    numbers: np.random.Generator,
    score: str,
    scores: Array,
    mask: str,
    points: Array,
) -> None:
    """An extreme and some of the sums that follow from it."""
    counts = points > 0
    greatest, least = ("max=", "{0} - m[i]", 1), ("min=", "m[i] - ({0})", -1)
    extreme, power, sign = greatest if drawn.is_lowest else rng.choice((greatest, least))
    reached = np.where(counts, sign * scores, -np.inf).max(1, keepdims=True)
    m = sign * np.where(counts.any(1, keepdims=True), reached, 0)
    with np.errstate(invalid="ignore"):
        # A row that has nothing but minus infinity is NaN, or zero in one pass.
        E = np.where(counts, np.exp(np.where(counts, sign * (scores - m), 0)), 0)
    Z = E.sum(1)
    weights = numbers.uniform(0.5, 1.5, scores.shape[1])
    drawn.lines.append(f"m[i] {extreme} {score}{mask}")
    exponential = f"exp({power.format(score)})"
    if rng.random() < 0.5:
        drawn.lines.append(f"E[i, j] = {exponential}{mask}")
        exponential, mask = "E[i, j]", rng.choice((mask, mask, ""))
    drawn.lines.append(f"Z[i] = {exponential}{mask}")
    drawn.wanted["Z"] = Z
    share = np.divide(E, Z[:, None], out=np.zeros_like(E), where=Z[:, None] != 0)
    further = {
        "S": (f"S[i] = {exponential} * w2[j]{mask}", E @ weights),
        "Q": (f"Q[i] = {exponential} / Z[i] * w2[j]{mask}", share @ weights),
        "Y": (f"Y[i, j] = {exponential} / Z[i]{mask}", share),
        "z": ("z[i] = Z[i] + 1", Z + 1),
        "D": (f"d[i, j] = {exponential} - Z[i]{mask}\nD[i] = d[i, j] * d[i, j]", None),
    }
    for name in rng.sample(sorted(further), rng.choice((1, 2, 3))):
        line, wanted = further[name]
        if wanted is None:
            wanted = np.where(counts, (E - Z[:, None]) ** 2, 0).sum(1)
            if not mask and not counts.all():
                continue
        if "w2" in line and "w2" not in drawn.data:
            drawn.take("w2[j]", weights)
        drawn.lines.append(line)
        drawn.wanted[name] = wanted
    drawn.lines += [f"{name.lower()}_again[i] = {name}[i]" for name in ("Z",) if rng.random() < 0.3]


def _scan(drawn: Drawn, numbers: np.random.Generator, rows: int) -> None:
    """A recurrence that starts somewhere, and adds what the cascade gives."""
    start = numbers.uniform(0, 1, rows)
    drawn.take("H0[i]", start)
    drawn.declared.append(f"tensor H[t=2, i={rows}]")
    drawn.lines += ["scan t {", "  H[t, i] = 0.5 * H[t-1, i] + Z[i]", "}", "H[-1, i] = H0[i]"]
    first = 0.5 * start + drawn.wanted["Z"]
    drawn.wanted["H"] = np.stack([first, 0.5 * first + drawn.wanted["Z"]])


def schedule_of(rng: random.Random) -> dict[str, Any]:
    lanes = rng.choice(({}, {}, {}, {"i": 2}, {"j": 2}, {"j": 3}))
    return {"cascade": rng.choice(FORMS), "lanes": lanes, "fuse": rng.choice(("none", "partial", "full"))}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_results_are_those_of_numpy(shard: int) -> None:
    seen: Counter[str] = Counter()
    for number in range(shard, PROGRAMS, SHARDS):
        rng, numbers = random.Random(number), np.random.default_rng(number)
        drawn, schedule = draw(rng, numbers), schedule_of(rng)
        value = rng.choice(("f32", "bf16") if drawn.is_lowest else ("f32", "f32", *TOLERANCES))
        told = f"{number}: {schedule} {value}\n{drawn.text}"
        try:
            found = samhw.compile(drawn.text, value=value, schedule=schedule).run(drawn.data)
        except InputError:
            seen["refused"] += 1
            continue
        for name in drawn.wanted.keys() & found.tensors.keys():
            wanted, tolerance = drawn.wanted[name], TOLERANCES[value]
            result = np.where(np.isnan(wanted), wanted, found.tensors[name].to_dense())
            np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance, err_msg=told)
            seen["compared"] += 1
    if PROGRAMS >= 40:
        assert seen["compared"] > PROGRAMS / SHARDS, seen
