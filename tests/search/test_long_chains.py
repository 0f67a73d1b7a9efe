"""Brackets of products with many factors."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from samhw.compiler.search import Sizes, bracket_choices
from samhw.compiler.search.brackets import _Chain
from samhw.lang import Program, parse


def chain(length: int) -> Program:
    """The product of this many sparse matrices."""
    indices = [f"i{n}" for n in range(length + 1)]
    tensors = [f"A{n}[{a}=1000, {b}=1000]" for n, (a, b) in enumerate(pairwise(indices))]
    factors = " * ".join(f"A{n}[{a}, {b}]" for n, (a, b) in enumerate(pairwise(indices)))
    declared = "".join(f"tensor {tensor} : csr\n" for tensor in tensors)
    return parse(f"{declared}Y[i0, i{length}] = {factors}")


def sizes(program: Program, densities: list[float]) -> Sizes:
    by_name = {f"A{n}": density for n, density in enumerate(densities)}
    return Sizes(by_name, dict.fromkeys(by_name, (1000, 1000)))


def test_a_chain_is_planned_from_its_empty_end(monkeypatch: pytest.MonkeyPatch) -> None:
    program = chain(10)
    joins: list[object] = []
    plain = _Chain.joined

    def counted(*given: Any) -> Any:
        joins.append(given)
        return plain(*given)

    monkeypatch.setattr(_Chain, "joined", counted)
    (found,) = bracket_choices(program, sizes(program, [0.01] * 9 + [0.0]))
    assert found.text == "A0 * (A1 * (A2 * (A3 * (A4 * (A5 * (A6 * (A7 * (A8 * A9))))))))"
    assert found.after == 0
    # Of all sets of neighbours, each in two: not of all sets of factors.
    assert len(joins) == sum(10 - length for length in range(1, 10) for _ in range(length))


@pytest.mark.parametrize("seed", range(10))
def test_long_chains_are_planned_as_chains_of_matrices_are(seed: int) -> None:
    """Dense ones, by the textbook's dynamic programming over intervals."""
    rng = np.random.default_rng(seed)
    extents = rng.integers(20, 60, 8).tolist()
    program = chain(7)
    densities = {f"A{n}": 1.0 for n in range(7)}
    given = Sizes(densities, {f"A{n}": shape for n, shape in enumerate(pairwise(extents))})
    best: dict[tuple[int, int], float] = {(n, n + 1): 0.0 for n in range(7)}
    for length in range(2, 8):
        for start in range(8 - length):
            stop = start + length
            own = extents[start] * extents[stop]
            best[start, stop] = own + min(
                best[start, cut] + best[cut, stop] + own * extents[cut] for cut in range(start + 1, stop)
            )
    (found,) = bracket_choices(program, given, worth=1e12)
    # Of sums of 20 numbers and more some are expected to vanish, but hardly any.
    assert found.after == pytest.approx(best[0, 7], rel=1e-4)
