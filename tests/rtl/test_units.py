"""The numeric units against `graph.numerics`, bit for bit: all pairs of bytes, corners, random words."""

import numpy as np
import pytest
from amaranth.sim import Simulator, SimulatorContext

from samhw.errors import InputError
from samhw.graph.numerics import OVERFLOW, Fixed, value_type
from samhw.rtl.units import MultiplyAdd, Unit, accumulate_unit, alu_unit

NUMERICS_OP = {"sum": "add"}
"""Where a reduction's name is not that of its operation."""


def results(unit: Unit, operands: list[np.ndarray]) -> np.ndarray:
    """What the unit makes of operands that come in every cycle; `OVERFLOW` where it says so."""
    words: list[int] = []

    async def bench(ctx: SimulatorContext) -> None:
        ports = [getattr(unit, name) for name in "abc"[: len(operands)]]
        columns = [column.tolist() + [0] * unit.registers for column in operands]
        for cycle in range(len(columns[0])):
            for port, column in zip(ports, columns, strict=True):
                ctx.set(port, column[cycle])
            if cycle >= unit.registers:
                words.append(OVERFLOW if ctx.get(unit.overflow) else ctx.get(unit.result))
            if unit.registers:
                await ctx.tick()
            else:
                await ctx.delay(1e-6)

    simulator = Simulator(unit)
    if unit.registers:
        simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return np.array(words)


def samples(width: int, count: int, seed: int) -> list[np.ndarray]:
    """Pairs of words: every pair of corners, then random ones of every magnitude."""
    rng = np.random.default_rng(seed)
    half = 1 << width - 1
    near = [0, 1, 2, half - 2, half - 1, half // 2]
    corners = np.array([*near, *(2 * half - 1 - word for word in near)])
    a, b = (grid.ravel() for grid in np.meshgrid(corners, corners))
    shifts = rng.integers(0, width, size=(2, count))
    words = rng.integers(-half, half, size=(2, count)) >> shifts
    return [np.concatenate([a, words[0] % (2 * half)]), np.concatenate([b, words[1] % (2 * half)])]


@pytest.mark.slow
def test_every_pair_of_bytes():
    # The operation in which everything happens: rounding up, down and to even, both limits.
    a, b = (grid.ravel() for grid in np.meshgrid(np.arange(256), np.arange(256)))
    value = value_type("fixed<8,3>")
    np.testing.assert_array_equal(results(alu_unit("mul", value), [a, b]), value.apply("mul", a, b))


@pytest.mark.parametrize(
    "name", ["i8", "i16", "i32", "fixed<8,0>", "fixed<16,8>", "fixed<18,17>", "fixed<19,1>", "fixed<32,16>"]
)
@pytest.mark.parametrize("op", ["add", "sub", "mul", "neg", "sum", "max", "min"])
def test_samples(op, name):
    value = value_type(name)
    unit = accumulate_unit(op, value) if op in ("sum", "max", "min") else alu_unit(op, value)
    operands = samples(value.width, 400, seed=len(op) * 100 + value.width)[: 1 if op == "neg" else 2]
    np.testing.assert_array_equal(results(unit, operands), value.apply(NUMERICS_OP.get(op, op), *operands))


@pytest.mark.parametrize("name", ["fixed<16,8>", "fixed<32,31>"])
def test_ties_go_to_even(name):
    # Products that lie halfway between two values: odd multiples of half a step, of either sign.
    value = value_type(name)
    assert isinstance(value, Fixed)
    odd = np.arange(-31, 32, 2)
    a = odd % (1 << value.width)
    b = np.full_like(a, 1 << value.fraction - 1)
    np.testing.assert_array_equal(results(alu_unit("mul", value), [a, b]), value.apply("mul", a, b))
    assert (
        value.decode(results(alu_unit("mul", value), [a, b])).tolist()
        == (np.round(odd / 2) * 2.0**-value.fraction).tolist()
    )


@pytest.mark.parametrize(("width", "registers"), [(8, 2), (18, 2), (19, 3), (32, 3)])
def test_multiply_add(width, registers):
    (a, b), (c, _) = samples(width, 300, seed=width), samples(width, 300, seed=width + 1)
    unit = MultiplyAdd(width)
    assert unit.registers == registers
    np.testing.assert_array_equal(results(unit, [a, b, c]), (a * b + c) % (1 << width))


@pytest.mark.parametrize(("op", "make"), [("div", alu_unit), ("mul", accumulate_unit)])
def test_no_such_unit(op, make):
    with pytest.raises(InputError, match=f"'{op}' on i8"):
        make(op, value_type("i8"))
