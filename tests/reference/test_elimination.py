"""Products of many factors: chains, stars and cycles of sparse tensors, against dense NumPy."""

import os
import random
import time
from collections.abc import Sequence

import numpy as np
import pytest

from samhw.lang import Program, parse
from samhw.lang.reference import Points, Rounding, evaluate_program, pieces, results
from samhw.lang.reference.elimination import sum_next
from samhw.tensors import Tensor

PRODUCTS = int(os.environ.get("SAMHW_RANDOM_PRODUCTS", "60"))
NAMES = "abcdefghijklmnop"
F32 = Rounding.floating(23)

Shape = tuple[str, Sequence[str]]
"""The indices of a result, and those of each factor."""


def chain(count: int, _rng: random.Random) -> Shape:
    return NAMES[0] + NAMES[count], [NAMES[n : n + 2] for n in range(count)]


def star(count: int, rng: random.Random) -> Shape:
    rays = NAMES[1 : count + 1]
    return "".join(rng.sample("a" + rays, rng.randint(0, 2))), [
        rng.choice(("a" + ray, ray + "a")) for ray in rays
    ]


def cycle(count: int, rng: random.Random) -> Shape:
    around = NAMES[:count]
    return "".join(rng.sample(around, rng.randint(0, 2))), [
        around[n] + around[(n + 1) % count] for n in range(count)
    ]


def tree(count: int, rng: random.Random) -> Shape:
    """With tensors of rank 1 and 3, and some of the same indices."""
    factors = ["ab"]
    for n in range(2, count + 1):
        used = "".join(sorted(set("".join(factors))))
        own = rng.choice((NAMES[n], NAMES[n], ""))
        factors.append("".join(rng.sample(used, rng.randint(1, 2))) + own)
    used = "".join(sorted(set("".join(factors))))
    return "".join(rng.sample(used, rng.randint(0, 2))), factors


KINDS = (chain, star, cycle, tree)


def program_of(shape: Shape, *declared: str, behind: str = "") -> Program:
    left, factors = shape
    inputs = [f"tensor A{n}[{', '.join(f)}]" for n, f in enumerate(factors)]
    product = " * ".join(f"A{n}[{', '.join(f)}]" for n, f in enumerate(factors))
    target = f"Y[{', '.join(left)}]" if left else "Y"
    return parse("\n".join([*inputs, *declared, f"{target} = {product}{behind}"]))


def draw_arrays(shape: Shape, rng: random.Random, extents: Sequence[int]) -> dict[str, np.ndarray]:
    """Small whole numbers, so that floating point is exact; now and then nothing at all."""
    size = {name: rng.choice(extents) for name in NAMES}
    arrays = {}
    for n, factor in enumerate(shape[1]):
        seeded = np.random.default_rng(rng.randrange(1 << 32))
        dims = [size[i] for i in factor]
        keep = seeded.random(dims) < rng.choice((0.0, 0.3, 0.3, 0.5, 0.5, 0.9, 1.0))
        arrays[f"A{n}"] = seeded.integers(-2, 3, dims) * keep
    return arrays


def stored(arrays: dict[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: Tensor.from_dense(array, "csf") for name, array in arrays.items()}


def dense(shape: Shape, arrays: dict[str, np.ndarray]) -> np.ndarray:
    return np.einsum(f"{','.join(shape[1])}->{shape[0]}", *arrays.values(), optimize=True)


@pytest.mark.parametrize("number", range(PRODUCTS))
def test_products(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(number)
    shape = rng.choice(KINDS)(rng.randint(3, 10), rng)
    arrays = draw_arrays(shape, rng, (1, 2, 3, 4))
    monkeypatch.setattr(pieces, "PIECE", rng.choice((1, 7, 1 << 16)))
    program, expected = program_of(shape), dense(shape, arrays)
    found = evaluate_program(program, stored(arrays))["Y"]
    assert found.dtype == np.int64
    assert np.array_equal(found, expected), program
    value, bound, *_ = results(program, stored(arrays), F32)["Y"].to_array()
    assert np.array_equal(value, expected), program
    # A rounding for each product, and one for each sum on its way; none where there is nothing.
    sizes = dense(shape, {name: np.abs(array) for name, array in arrays.items()})
    points = dense(shape, {name: (array != 0).astype(int) for name, array in arrays.items()})
    operations = len(arrays) - 1 + np.maximum(points - 1, 0)
    np.testing.assert_allclose(bound, operations * sizes * 2.0**-24, rtol=1e-3, atol=1e-30)


@pytest.mark.parametrize("number", range(PRODUCTS // 4))
def test_masks_and_divisors(number: int) -> None:
    rng = random.Random(number)
    left, factors = chain(rng.randint(3, 7), rng)
    first, last = left[0], left[1]
    arrays = draw_arrays((left, factors), rng, (2, 3, 4))
    n = rng.randrange(1, len(factors))
    shared = factors[n][0]
    mask = np.random.default_rng(number).integers(0, 2, (arrays["A0"].shape[0], arrays[f"A{n}"].shape[0]))
    divisor = np.random.default_rng(number).choice((1, 2, 4), arrays[f"A{len(factors) - 1}"].shape[1])
    program = program_of(
        (left, factors),
        f"tensor d[{last}]",
        f"tensor M[{first}, {shared}]",
        behind=f" / d[{last}] where M[{first}, {shared}]",
    )
    expected = dense((left, [*factors, first + shared]), {**arrays, "M": mask}) / divisor
    found = evaluate_program(program, {**stored({**arrays, "M": mask}), "d": divisor})["Y"]
    assert np.array_equal(found, expected)


def test_rows_of_a_long_product() -> None:
    """Some rows of a result, by way of an intermediate in the middle of a chain."""
    rng = np.random.default_rng(0)
    arrays = {f"A{n}": rng.integers(-2, 3, (6, 6)) * (rng.random((6, 6)) < 0.4) for n in range(8)}
    text = "\n".join(f"tensor A{n}[i, j]" for n in range(8)) + (
        "\nT[i, e] = A0[i, j] * A1[j, k] * A2[k, l] * A3[l, e]"
        "\nY[c, i] = A4[c, d] * A5[d, e] * T[e, f] * A6[f, g] * A7[g, i]"
    )
    whole = evaluate_program(parse(text), arrays)["Y"]
    wanted = {"Y": Points(("0",), np.array([[1, 4]]))}
    found = results(parse(text), stored(arrays), wanted=wanted)["Y"].to_array()
    assert np.array_equal(found[[1, 4]], whole[[1, 4]])


@pytest.mark.parametrize("is_empty", [False, True])
def test_a_chain_takes_no_longer_than_its_links(is_empty: bool) -> None:
    """The points of all eight matrices together are some 10^10."""
    rng = np.random.default_rng(0)
    shape = chain(8, random.Random(0))
    arrays = {f"A{n}": rng.integers(-2, 3, (60, 60)) * (rng.random((60, 60)) < 0.2) for n in range(8)}
    if is_empty:
        arrays["A7"][:] = 0
    begin = time.process_time()
    found = results(program_of(shape), stored(arrays), F32)["Y"].to_array()[0]
    assert time.process_time() - begin < 5
    assert np.array_equal(found, dense(shape, arrays))


def test_nothing_is_summed_by_itself_that_costs_nothing_together() -> None:
    """SDDMM stays one join: the sampling matrix leaves the points out before the sum."""
    factors = [(("i", "k"), 1.0), (("k", "j"), 1.0), (("i", "j"), 0.001)]
    taken, summed, points = sum_next(factors, ["k"], {"i": 100, "j": 100, "k": 100})
    assert (taken, summed) == ([0, 1, 2], {"k"})
    assert points == pytest.approx(1000)
