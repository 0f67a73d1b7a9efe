"""Division, roots and the nonlinear functions against `graph.numerics`, bit for bit, under Verilator."""

from functools import cache

import numpy as np
import pytest

from samhw.graph import Arch
from samhw.graph.numerics import OVERFLOW, Fixed, Float, ValueType, value_type
from samhw.graph.numerics.valuetype import Words
from samhw.rtl.units.functions import function_unit
from tests.rtl.units.harness import UnitBench
from tests.support.words import angles, pairs, random_pairs, specials

pytestmark = pytest.mark.verilator

COUNT = 1 << 18
"""Vectors, at least, unless there are fewer words."""

FUNCTIONS = [
    "sqrt",
    "reciprocal",
    "rsqrt",
    "exp",
    "log",
    "sigmoid",
    "tanh",
    "silu",
    "gelu",
    "sin",
    "cos",
    "rint",
    "f8e4m3",
    "f8e5m2",
]
PROGRAMS = {
    "bf16": {"bf16": ["div", *FUNCTIONS]},
    "f16": {"f16": ["div", *FUNCTIONS]},
    "f32": {"f32": ["div", *FUNCTIONS]},
    "f8": {name: ["div", *FUNCTIONS] for name in ("f8e4m3", "f8e5m2")},
    "fixed": {
        "fixed<16,8>": ["div", *FUNCTIONS],
        "fixed<24,23>": ["div", "rsqrt", "log", "gelu", "sin", "cos"],
        **{
            name: ["div"]
            for name in ("fixed<8,0>", "fixed<8,7>", "fixed<25,12>", "fixed<32,0>", "fixed<32,31>")
        },
    },
}
"""What is built together: types with their operations."""
UNHURRIED = {name: ["div", "sqrt"] for name in ("f32", "bf16", "f16", "f8e4m3", "f8e5m2")}
"""Those with other pipelines if they have the time."""
MUCH = 40
"""Cycles that are enough for all of them."""
CASES = [
    (program, op, name) for program, types in PROGRAMS.items() for name, ops in types.items() for op in ops
]


@cache
def bench(program: str, latency: int = 0) -> UnitBench:
    units = {}
    for name, ops in (UNHURRIED if latency else PROGRAMS[program]).items():
        for op in ops:
            unit = function_unit(op, value_type(name), latency=latency)
            assert unit is not None
            units[f"{op} {name}"] = unit
    return UnitBench(units)


@pytest.mark.nightly(but=30)
@pytest.mark.slow
@pytest.mark.parametrize(("program", "op", "name"), CASES)
def test_every_bit(program: str, op: str, name: str) -> None:
    assert_right(bench(program), op, name)


@pytest.mark.slow
@pytest.mark.parametrize(("op", "name"), [(op, name) for name, ops in UNHURRIED.items() for op in ops])
def test_every_bit_of_what_has_the_time(op: str, name: str) -> None:
    assert_right(bench("unhurried", MUCH), op, name)


def assert_right(units: UnitBench, op: str, name: str) -> None:
    kind = value_type(name)
    words = dividends_and_divisors(kind) if op == "div" else [arguments(kind)]
    assert len(words[0]) >= min(COUNT, 1 << kind.width * len(words))
    results, overflow = units.run(f"{op} {name}", words)
    exact = kind.apply(op, *words)
    wrong = np.flatnonzero(np.where(overflow, OVERFLOW, results) != exact)
    assert not wrong.size, [
        f"{[hex(column[i]) for column in words]}: {results[i]:#x}, not {exact[i]:#x}" for i in wrong[:8]
    ]


@pytest.mark.parametrize(("program", "op", "name"), CASES)
def test_default_latencies_suffice(program: str, op: str, name: str) -> None:
    unit = function_unit(op, value_type(name))
    assert unit is not None
    unit.check_latency(Arch().alu_latency(op, value_type(name)), f"{op} on {name}")


def test_a_digit_in_each_stage_if_there_is_time() -> None:
    fast, given, much = (
        [
            unit.registers
            for op in ("div", "sqrt")
            if (unit := function_unit(op, value_type("f32"), latency=latency))
        ]
        for latency in (0, 28, 29)
    )
    # 26 digits each, and of quotients a stage before; the rounding after.
    assert fast == [1 + 13 + 1, 13 + 1]
    assert given == [1 + 13 + 1, 26 + 1]
    assert much == [1 + 26 + 1, 26 + 1]


@pytest.mark.parametrize("op", ["div", "sqrt"])
def test_the_faster_profile_gives_the_time(op: str) -> None:
    kind = value_type("f32")
    latency = Arch.load("ecp5-100").alu_latency(op, kind)
    unit = function_unit(op, kind, latency=latency)
    assert unit is not None
    assert unit.registers == latency - 1


@pytest.mark.parametrize(("op", "name"), [("div", "i32"), ("exp", "fixed<25,8>"), ("add", "f32")])
def test_no_such_unit(op: str, name: str) -> None:
    assert function_unit(op, value_type(name)) is None


@cache
def arguments(kind: ValueType) -> Words:
    """Every word of up to 16 bits; else what is special in the type, and random words of every magnitude."""
    if kind.width <= 16:
        return np.arange(1 << kind.width)
    rng = np.random.default_rng(kind.width)
    mask = (1 << kind.width) - 1
    if not isinstance(kind, Float):
        return (rng.integers(-(mask + 1) // 2, mask // 2, COUNT) >> rng.integers(0, kind.width, COUNT)) & mask
    f = kind.format
    moderate = rng.integers(f.bias - 28 << f.mantissa, f.bias + 8 << f.mantissa, COUNT // 2)
    edges = np.concatenate([segment_edges(kind), kind.encode(range_edges())])
    near_one = f.one + np.arange(-(1 << 12), 1 << 12)
    directed = np.concatenate([moderate, near_one, *(edges + d for d in (-2, -1, 0, 1))])
    signs = rng.integers(0, 2, directed.size) * f.sign
    return np.concatenate([specials(kind), angles(kind), directed ^ signs, rng.integers(0, mask, COUNT // 2)])


def segment_edges(kind: Float) -> Words:
    """In every binade, where tables that the mantissa addresses go on to the next segment."""
    f = kind.format
    exponents = np.arange(2 * f.bias + 2)
    return np.add.outer(exponents << f.mantissa, np.arange(256) << f.mantissa - 8).ravel()


def range_edges() -> np.ndarray:
    """The magnitudes where a table after a range reduction goes on to the next segment."""
    step = np.log(2) / 128
    return np.concatenate(
        [
            step * np.arange(1, 150 * 128),  # exp
            np.sqrt(2 * step * np.arange(1, 185 * 128)),  # the square in gelu
            -np.log(np.arange(1, 256) / 256),  # the exponential in sigmoid
        ]
    )


@cache
def dividends_and_divisors(kind: ValueType) -> list[Words]:
    """Every pair of special words, random ones, and pairs whose quotient is a tie, or next to one."""
    rng = np.random.default_rng(kind.width)
    chunks = _float_pairs(kind, rng) if isinstance(kind, Float) else _fixed_pairs(kind, rng)
    return [np.concatenate(columns) for columns in zip(*chunks, strict=True)]


def _float_pairs(kind: Float, rng: np.random.Generator) -> list[tuple[Words, Words]]:
    f = kind.format
    chunks = [pairs(specials(kind)), *random_pairs(kind, COUNT)]
    if kind.width == 8:
        return chunks
    # Dividends on either side of a divisor times a quotient that lies halfway between two numbers.
    divisor, halfway = rng.integers(f.hidden, 2 * f.hidden, (2, COUNT // 4))
    product = divisor * (2 * halfway + 1) >> f.mantissa + 1
    for dividend in (product, product + 1):
        mantissa = np.where(dividend >= 2 * f.hidden, dividend >> 1, dividend) & f.hidden - 1
        exponents = rng.integers(1, 2 * f.bias, (2, mantissa.size)) << f.mantissa
        chunks.append((exponents[0] | mantissa, exponents[1] | divisor & f.hidden - 1))
    return chunks


def _fixed_pairs(kind: ValueType, rng: np.random.Generator) -> list[tuple[Words, Words]]:
    assert isinstance(kind, Fixed)
    half, mask = 1 << kind.width - 1, (1 << kind.width) - 1
    if kind.width == 8:
        return [pairs(np.arange(mask + 1))]
    near = np.array([0, 1, 2, 3, half // 2, half - 2, half - 1])
    a, b = rng.integers(-half, half, (2, COUNT)) >> rng.integers(0, kind.width, (2, COUNT))
    # Divisors 2 * c and dividends c * (2 * n + 1), whose quotients are ties if both fit the type.
    c, n = rng.integers(-half, half, (2, COUNT // 4)) >> rng.integers(0, kind.width, (2, COUNT // 4))
    return [
        pairs(np.concatenate([near, mask - near])),
        (a & mask, b & mask),
        (c * (2 * n + 1) & mask, (c << kind.fraction + 1) & mask),
    ]
