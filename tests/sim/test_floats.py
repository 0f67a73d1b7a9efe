"""The compiled engine's own arithmetic on f32 gives the words of the definitions."""

import numpy as np
import pytest
from numpy.typing import NDArray

from samhw.graph.numerics import value_type
from samhw.graph.numerics.valuetype import apply
from samhw.sim.compiled import engine_code
from tests.support.compiled import on_rows
from tests.support.words import F32 as FLOAT
from tests.support.words import pairs, specials

F32 = value_type("f32")
COUNT = 100_000

EDGES = np.array([0, 1, 2, (1 << 22), (1 << 23) - 2, (1 << 23) - 1])
"""Mantissas."""


def words(rng: np.random.Generator) -> NDArray[np.int64]:
    """Any words; every exponent with mantissas at the edges; exponents that are near each other."""
    words = rng.integers(0, 1 << 32, COUNT)
    words[: COUNT // 4] = rng.integers(0, 1 << 9, COUNT // 4) << 23 | rng.choice(EDGES, COUNT // 4)
    near = slice(COUNT // 4, COUNT // 2)
    words[near] = words[near] & ~(0xFF << 23) | rng.integers(100, 130, COUNT // 4) << 23
    return words


@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_words(op: str) -> None:
    rng = np.random.default_rng(0)
    a, b = words(rng), rng.permutation(words(rng))
    # Products near the smallest normal number, and sums that cancel.
    exponent = rng.integers(1, 126, COUNT // 4)
    a[-COUNT // 4 :] = exponent << 23 | rng.choice(EDGES, COUNT // 4)
    b[-COUNT // 4 :] = 127 - exponent << 23 | rng.choice(EDGES, COUNT // 4)
    b[COUNT // 2 : COUNT // 2 + 1000] = a[COUNT // 2 : COUNT // 2 + 1000] ^ F32.format.sign  # type: ignore[attr-defined]
    got = on_rows(getattr(engine_code, f"f32_{op}"), np.array([a, b]).T)
    np.testing.assert_array_equal(got, apply(F32.definition(op), a, b))


@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_every_pair_of_special_values(op: str) -> None:
    a, b = pairs(specials(FLOAT))
    got = on_rows(getattr(engine_code, f"f32_{op}"), np.array([a, b]).T)
    np.testing.assert_array_equal(got, apply(F32.definition(op), a, b))


def test_they_stand_in_for_the_scalar_forms() -> None:
    assert engine_code.STAND_INS[F32.scalar("add")] is engine_code.f32_add
    assert value_type("bf16").scalar("add") not in engine_code.STAND_INS
