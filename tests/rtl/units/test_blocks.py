"""What the units are made of, against Python's integers."""

from itertools import product

import numpy as np
import pytest
from amaranth.hdl import Elaboratable, Module, Value

from samhw.rtl.units import Unit
from samhw.rtl.units.float_parts import shift_right_sticky
from samhw.rtl.units.twos_complement import multiply, multiply_registers
from tests.rtl.units.harness import UnitBench

pytestmark = pytest.mark.verilator

SIGNS = list(product((False, True), repeat=2))
WIDTHS = [(18, 18), (18, 19), (9, 32), (24, 31), (32, 32)]
WORD = (1 << 32) - 1


def operand(port: Value, width: int, is_signed: bool) -> Value:
    return port[:width].as_signed() if is_signed else port[:width]


def number(words: np.ndarray, width: int, is_signed: bool) -> np.ndarray:
    """The words, cut to the width, as Python's integers."""
    words = words & (1 << width) - 1
    return (words - ((words >> width - 1 & is_signed) << width)).astype(object)


class Product(Unit):
    """32 bits of a product, from bit `shift` on."""

    def __init__(self, widths: tuple[int, int], signs: tuple[bool, bool], shift: int):
        self.widths, self.signs, self.shift = widths, signs, shift
        super().__init__(32, "a b", multiply_registers(*widths))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        a = operand(self.a, self.widths[0], self.signs[0])
        b = operand(self.b, self.widths[1], self.signs[1])
        m.d.comb += self.result.eq(multiply(m, a, b).shift_right(self.shift))
        return m


@pytest.mark.slow
def test_products():
    cases = list(product(WIDTHS, SIGNS, (0, 32)))
    bench = UnitBench({f"product{i}": Product(*case) for i, case in enumerate(cases)})
    rng = np.random.default_rng(0)
    corners = np.array([0, 1, WORD, 1 << 31, WORD >> 1, 1 << 8, 1 << 17, 1 << 18, (1 << 18) - 1, 1 << 23])
    a, b = (grid.ravel() for grid in np.meshgrid(corners, corners))
    a, b = (np.concatenate([column, rng.integers(0, 1 << 32, 4096)]) for column in (a, b))
    for i, (widths, signs, shift) in enumerate(cases):
        exact = number(a, widths[0], signs[0]) * number(b, widths[1], signs[1])
        results, _ = bench.run(f"product{i}", [a, b])
        assert np.array_equal(results, (exact >> shift & WORD).astype(np.int64)), (widths, signs, shift)


class Shift(Unit):
    """a >> b, sticky."""

    def __init__(self, width: int, count_width: int, is_signed: bool):
        self.count_width, self.is_signed = count_width, is_signed
        super().__init__(width, "a b", registers=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        shifted = shift_right_sticky(
            m, operand(self.a, self.width, self.is_signed), self.b[: self.count_width]
        )
        m.d.comb += self.result.eq(shifted)
        return m


def test_sticky_shifts():
    cases = list(product([(6, 5), (8, 3), (9, 2)], (False, True)))
    bench = UnitBench({f"shift{i}": Shift(*widths, is_signed) for i, (widths, is_signed) in enumerate(cases)})
    for i, ((width, count_width), is_signed) in enumerate(cases):
        words, count = (x.ravel() for x in np.meshgrid(np.arange(1 << width), np.arange(1 << count_width)))
        value = number(words, width, is_signed)
        kept = value >> count
        exact = kept | (kept << count != value)
        results, _ = bench.run(f"shift{i}", [words, count])
        assert np.array_equal(results, (exact & (1 << width) - 1).astype(np.int64)), cases[i]
