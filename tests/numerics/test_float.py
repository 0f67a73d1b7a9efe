"""Encoding, decoding, and that both forms of each definition agree."""

import ml_dtypes
import numpy as np
import pytest

from samhw.errors import InputError
from samhw.graph.numerics import value_type
from samhw.graph.numerics.float import Float
from samhw.graph.numerics.operations import OPERATIONS
from tests.support.words import F16, F32, NARROW, TYPES, flush, pairs, random_pairs, specials

DTYPES = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f8e4m3": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
}
BITS = {"f32": np.uint32, "bf16": np.uint16, "f16": np.uint16, "f8e4m3": np.uint8, "f8e5m2": np.uint8}
EVERY = [*TYPES, F16, *NARROW]


@pytest.mark.parametrize("kind", EVERY, ids=str)
def test_decode_then_encode(kind: Float) -> None:
    words = np.concatenate([specials(kind), *(a for a, _ in random_pairs(kind, 1))])
    values = kind.decode(words)
    assert np.array_equal(kind.encode(values), flush(kind, words))
    dtype = DTYPES[kind.name]
    want = flush(kind, words).astype(BITS[kind.name]).view(dtype).astype(np.float64)
    assert np.array_equal(values, want, equal_nan=True)
    assert np.array_equal(np.signbit(values), np.signbit(want))


@pytest.mark.parametrize("kind", EVERY, ids=str)
def test_encode_rounds_as_numpy(kind: Float) -> None:
    rng = np.random.default_rng(3)
    values = np.ldexp(rng.uniform(-2, 2, 50_000), rng.integers(-160, 130, 50_000))
    near = kind.decode(specials(kind))
    values = np.concatenate(
        [values, near, np.nextafter(near, 9e99), np.nextafter(near, -9e99), [1e-320, 1e300]]
    )
    # Halfway between neighbours: ties.
    starts = np.array([0, kind.format.one, kind.format.infinity - 3000])
    words = np.arange(1, 2000)[:, None] + starts if kind.width > 8 else np.arange(kind.format.lowest_nan - 1)
    values = np.concatenate([values, ((kind.decode(words) + kind.decode(words + 1)) / 2).ravel()])
    if kind.width == 8:
        # By way of float32, which ml_dtypes rounds to first.
        ends = [464, np.nextafter(np.float32(464), 9e9), -61440, -np.nextafter(np.float32(61440), 0)]
        values = np.concatenate([values, ends]).clip(-1e30, 1e30).astype(np.float32).astype(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        want = values.astype(DTYPES[kind.name]).view(BITS[kind.name]).astype(np.int64)
    assert np.array_equal(kind.encode(values), flush(kind, want))


def test_encode_takes_lists_integers_and_bfloat16() -> None:
    assert F32.encode([1, -2]).tolist() == [0x3F800000, 0xC0000000]
    assert F32.encode(np.array([1.5], dtype=ml_dtypes.bfloat16)).tolist() == [0x3FC00000]
    assert F32.encode([np.nan, np.inf, -np.inf]).tolist() == [0x7FC00000, 0x7F800000, 0xFF800000]
    assert Float("bf16").encode([-np.nan, np.inf, 3.4e38]).tolist() == [0x7FC0, 0x7F80, 0x7F80]
    assert F32.encode([[1e-39, -1e-39]]).tolist() == [[0, 0x80000000]]


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("kind", EVERY, ids=str)
def test_scalar_equals_vector(kind: Float, op: str) -> None:
    rng = np.random.default_rng(5)
    chunks = [pairs(specials(kind)), *((a[:1000], b[:1000]) for a, b in random_pairs(kind, 4 << 16))]
    a = np.concatenate([a for a, _ in chunks])
    operands = [a, np.concatenate([b for _, b in chunks]), rng.permutation(a)][: OPERATIONS[op]]
    if OPERATIONS[op] == 1:
        operands = [np.unique(a)]
    scalar = kind.scalar(op)
    got = [scalar(*words) for words in zip(*(x.tolist() for x in operands), strict=True)]
    assert all(type(word) is int for word in got)
    assert got == kind.apply(op, *operands).tolist()


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("kind", EVERY, ids=str)
def test_results_are_canonical(kind: Float, op: str) -> None:
    a, b = pairs(specials(kind))
    result = kind.apply(op, *(a, b, a[::-1])[: OPERATIONS[op]])
    assert np.array_equal(result, flush(kind, result))
    assert result.min() >= 0
    assert result.max() < 1 << kind.width


def test_shapes() -> None:
    words = F32.encode([[1.0, 2.0], [3.0, 4.0]])
    assert F32.apply("mul", words, F32.encode(2.0)).tolist() == F32.encode([[2.0, 4.0], [6.0, 8.0]]).tolist()
    assert F32.apply("add", F32.encode(1.0), F32.encode(1.0)).tolist() == 0x40000000
    assert F32.apply("exp", np.zeros((0, 3), dtype=np.int64)).shape == (0, 3)


@pytest.mark.parametrize("kind", EVERY, ids=str)
def test_names(kind: Float) -> None:
    assert value_type(str(kind)) == kind
    assert value_type("f32") != value_type("bf16")


def test_unknown_operation() -> None:
    with pytest.raises(InputError, match="f32 has no operation 'atan'"):
        F32.scalar("atan")
    with pytest.raises(InputError, match="f32 has no operation 'atan'"):
        F32.apply("atan", specials(F32))
