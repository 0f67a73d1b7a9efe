"""How far the nonlinear functions are from the exact results, in ulp, against SciPy in double precision."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from samhw.graph.numerics.float import Float
from samhw.graph.numerics.valuetype import Words

CHUNK = 1 << 16

REFERENCES: dict[str, Callable[[Any], Any]] = {
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp": np.exp,
    "log": np.log,
    "sigmoid": special.expit,
    "tanh": np.tanh,
    "silu": lambda x: np.where(x == -np.inf, -0.0, x * special.expit(x)),
    "gelu": lambda x: np.where(x == -np.inf, -0.0, x * special.ndtr(x)),
    "sin": np.sin,
    "cos": np.cos,
}


class Worst(NamedTuple):
    """The greatest error of a sweep, and where it is."""

    ulp: float
    at: float
    inputs: int


def every_f32() -> Iterator[Words]:
    """Every f32 with a magnitude from 2**-28 to 2**8, in chunks."""
    lowest, end = 127 - 28 << 23, 127 + 8 << 23
    for start in range(lowest, end, CHUNK // 2):
        words = np.arange(start, start + CHUNK // 2)
        yield np.concatenate([words, words | 1 << 31])


def sweep(kind: Float, count: int) -> Iterator[Words]:
    """Every bf16, or random f32 in chunks: in turn any words, and magnitudes from 2**-26 to 2**8."""
    if kind.width == 16:
        yield np.arange(1 << 16)
        return
    f = kind.format
    for n in range(-(-count // CHUNK)):
        rng = np.random.default_rng(n)
        words = rng.integers(0, 1 << kind.width, CHUNK)
        if n % 2:
            exponent = rng.integers(f.bias - 26, f.bias + 8, CHUNK)
            words = words & (f.sign | f.hidden - 1) | exponent << f.mantissa
        yield words


def worst(kind: Float, op: str, chunks: Iterable[Words]) -> Worst:
    """The greatest error over all inputs; infinite where the sign is wrong, or a NaN."""
    found = Worst(0.0, 0.0, 0)
    for words in chunks:
        x = kind.decode(words)
        with np.errstate(all="ignore"):
            exact = np.asarray(REFERENCES[op](x))
        error = ulp_error(kind, kind.decode(kind.apply(op, words)), exact)
        k = int(error.argmax())
        ulp, at = max((found.ulp, found.at), (float(error[k]), float(x[k])))
        found = Worst(ulp, at, found.inputs + len(words))
    return found


def ulp_error(kind: Float, got: NDArray[np.float64], exact: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distance in units of the last place of the exact result.

    Infinity counts as the power of two above the greatest number. An exact result below the smallest normal
    number must be flushed, or reach it if it is nearer than one unit.
    """
    f = kind.format
    smallest, beyond = 2.0 ** (1 - f.bias), 2.0 ** (f.bias + 1)
    limited = np.clip(exact, -beyond, beyond)
    magnitude = np.maximum(np.abs(limited), smallest)
    with np.errstate(invalid="ignore"):
        ulp = np.exp2(np.floor(np.log2(magnitude)) - f.mantissa)
        error = np.abs(np.clip(got, -beyond, beyond) - limited) / ulp
        error = np.where((np.abs(exact) < smallest) & (got == 0), 0, error)
        error = np.where(np.signbit(got) == np.signbit(exact), error, np.inf)
    error = np.where(np.isnan(exact) | np.isnan(got), np.inf, error)
    return np.where(np.isnan(exact) & np.isnan(got), 0, error)
