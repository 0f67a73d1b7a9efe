"""That a pipeline delays what later stages ask for, and counts its registers."""

import numpy as np
import pytest
from amaranth.hdl import Value

from samhw.graph.numerics.fixed_arithmetic import FixedFormat
from samhw.rtl.units.functions.pipeline import Pipeline, PipelinedUnit
from tests.rtl.units.harness import run_unit

WORD = FixedFormat(16, 0, saturates=False)


def straight(p: Pipeline, f: FixedFormat, a: Value, b: Value) -> Value:
    """a * b - a + b, with a and b needed after the product."""
    x, y = p.keep(a), p.keep(b)
    p.advance()
    product = p.multiply(p[x], p[y])
    difference = p.register(p[product] - p[x])
    p.advance(2)
    return (p[difference] + p[y])[: f.width]


def branched(p: Pipeline, f: FixedFormat, a: Value, b: Value) -> Value:
    """(a + b) ^ (a - b), where the sum has the longer way."""
    x, y = p.keep(a), p.keep(b)
    sums = p.branch()
    sums.advance(3)
    total = sums.register(sums[x] + sums[y])
    difference = p.register(p[x] - p[y])
    p.join(sums)
    return (p[total] ^ p[difference])[: f.width]


@pytest.mark.verilator
@pytest.mark.parametrize(
    ("write", "registers", "exact"),
    [(straight, 5, lambda a, b: a * b - a + b), (branched, 4, lambda a, b: (a + b) ^ (a - b))],
)
def test_operands_meet_in_their_stage(write, registers, exact) -> None:
    unit = PipelinedUnit(write, WORD, "a b")
    assert unit.registers == registers
    a, b = np.random.default_rng(0).integers(0, 1 << 16, (2, 1000))
    results, overflow = run_unit(unit, [a, b])
    assert np.array_equal(results, exact(a, b) & 0xFFFF)
    assert not overflow.any()


def test_join_does_not_go_back() -> None:
    p = Pipeline()
    other = p.branch()
    p.advance(2)
    p.join(other)
    assert p.stage == 2
