"""The C++ library's numbers are those of samhw.graph.numerics, bit by bit."""

import numpy as np
import pytest

from samhw.graph.numerics import OPERATIONS, value_type
from tests.hls.number_program import CONVERSIONS, SCALES, TYPES, apply, expected, interesting, names
from tests.support.words import CHUNK, pairs, random_pairs, specials

pytestmark = pytest.mark.slow

RANDOM = 1000


def agree(name: str, *operands: np.ndarray) -> None:
    actual, right = apply(name, *operands), expected(name, *operands)
    wrong = np.flatnonzero(actual != right)
    assert not len(wrong), (
        f"{name}: {len(wrong)} differ, first at {[hex(x[wrong[0]]) for x in operands]}: "
        f"{actual[wrong[0]]:#x}, not {right[wrong[0]]:#x}"
    )


def operands(name: str) -> list[np.ndarray]:
    """Every combination of narrow words, else interesting ones in random company."""
    op, value, *_ = name.split()
    source = "i32" if op == "scale" else value
    arity = 1 if op in ("scale", "convert") else OPERATIONS[op]
    width = value_type(source).width
    rng = np.random.default_rng(len(name))
    if width * arity <= 16:
        every = np.arange(1 << width)
        return [every] if arity == 1 else list(pairs(every))
    first = interesting(source, rng, RANDOM)
    return [first, *(rng.permutation(first) for _ in range(arity - 1))]


@pytest.mark.parametrize("value", TYPES)
def test_operations(value: str) -> None:
    for name in names():
        op, kind, *_ = name.split()
        if kind == value and op not in ("convert", "scale"):
            agree(name, *operands(name))


@pytest.mark.parametrize("value", ["bf16", "f16", "f32"])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
def test_rounding_of_floats(op: str, value: str) -> None:
    """Near words, whose difference cancels, and results around the smallest normal number."""
    for a, b in random_pairs(value_type(value), 4 * CHUNK):
        agree(f"{op} {value}", a[:20_000], b[:20_000])


@pytest.mark.parametrize("value", ["bf16", "f16", "f32"])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "leaky_relu"])
def test_every_pair_of_special_values(op: str, value: str) -> None:
    agree(f"{op} {value}", *pairs(specials(value_type(value))))


@pytest.mark.parametrize("source", TYPES)
def test_conversions(source: str) -> None:
    for a, b in CONVERSIONS:
        if a == source:
            agree(f"convert {a} {b}", *operands(f"convert {a} {b}"))


@pytest.mark.parametrize("target", ["i8", "u8", "i16", "i32"])
def test_scale(target: str) -> None:
    for b, c in SCALES:
        agree(f"scale {target} {b} {c}", *operands(f"scale {target} {b} {c}"))
