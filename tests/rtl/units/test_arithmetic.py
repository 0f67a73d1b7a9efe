"""The arithmetic units against `samhw.graph.numerics`, bit for bit, under Verilator."""

import re
from functools import cache

import numpy as np
import pytest

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import OVERFLOW, Float, Operation, operation, value_type
from samhw.graph.numerics.valuetype import Words
from samhw.rtl.units import Unit, accumulate_unit, alu_unit
from tests.rtl.units.harness import UnitBench
from tests.rtl.units.words import COUNT, operands

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

NARROW = ["f8e4m3", "f8e5m2"]
TYPES = [
    *(
        "i8",
        "u8",
        "bf16",
        "f16",
        "fixed<16,8>",
        "f32",
        "i16",
        "i32",
        "fixed<8,7>",
        "fixed<18,17>",
        "fixed<32,16>",
    ),
    *NARROW,
]
ARITHMETIC = ["add", "sub", "mul", "max", "min", "neg", "abs"]
CHOOSING = ["lt", "le", "eq", "select", "relu", "leaky_relu"]
REDUCTIONS = {"sum": "add", "max": "max", "min": "min"}
"""With the operations that they repeat."""
WIDER = {
    "i8": ["i32"],
    "i16": ["i32"],
    "u8": ["i32"],
    "bf16": ["f32"],
    "f16": ["f32"],
    "f8e4m3": ["bf16", "f16", "f32"],
    "f8e5m2": ["bf16", "f32"],
}
UNHURRIED = "mul_with_a_cycle_to_spare"
TARGETS = [*TYPES, "fixed<8,0>", "fixed<24,3>", "fixed<32,31>"]
"""Of conversions."""


def cases(source: str) -> dict[str, tuple[Unit, Operation]]:
    """By name, every unit for operands of that type, and what it should compute."""
    kind = value_type(source)
    found = {op: (alu_unit(op, kind), operation(op, kind)) for op in ARITHMETIC + CHOOSING}
    for reduction, op in REDUCTIONS.items():
        found[f"accumulate_{reduction}"] = (accumulate_unit(reduction, kind), operation(op, kind))
    if isinstance(kind, Float):
        found[UNHURRIED] = (alu_unit("mul", kind, latency=9), operation("mul", kind))
    crossing = [("convert", target) for target in TARGETS]
    crossing += [(op, wider) for wider in WIDER.get(source, ()) for op in ("add", "sub", "mul")]
    if source == "i32":
        crossing += [("scale", target) for target in ("i8", "u8", "i16", "i32")]
    for op, target in crossing:
        to = value_type(target)
        name = re.sub(r"\W", "_", f"{op}_to_{target}").strip("_")
        found[name] = (alu_unit(op, kind, to), operation(op, kind, to))
    return found


NAMES = {source: list(cases(source)) for source in TYPES}


PROGRAMS = [
    ["i8", "u8", "i16", "i32"],
    ["fixed<8,7>", "fixed<16,8>", "fixed<18,17>", "fixed<32,16>"],
    ["bf16", "f16", "f32"],
    NARROW,
]
"""The types whose units are built together."""


@cache
def program(number: int) -> UnitBench:
    """All units for operands of some types, in one program."""
    return UnitBench(
        {f"{name} {source}": unit for source in PROGRAMS[number] for name, (unit, _) in cases(source).items()}
    )


def bench(source: str) -> UnitBench:
    """The program that has the units for operands of a type."""
    (number,) = (n for n, sources in enumerate(PROGRAMS) if source in sources)
    return program(number)


def scale_operands(a: Words) -> list[Words]:
    """Factors of every magnitude, with shifts for which results fit, or nearly."""
    rng = np.random.default_rng(0)
    factor = rng.integers(0, 1 << 31, a.size) >> rng.integers(0, 31, a.size)
    factor[::16] = 1 << rng.integers(0, 31, a[::16].size)
    # Bits of the exact product, less those of some result.
    length = np.frexp(np.abs((a ^ 1 << 31) - (1 << 31)).astype(float) * factor)[1]
    shift = np.clip(
        length - rng.choice([1, 7, 8, 15, 16, 31, 32], a.size) + rng.integers(-2, 3, a.size), 0, 62
    )
    return [a, factor, shift]


@pytest.mark.nightly(but=60)
@pytest.mark.parametrize(
    ("source", "name"),
    [(source, name) for source in TYPES for name in NAMES[source]],
)
def test_every_bit(source, name):
    _, expected = cases(source)[name]
    words = operands(expected.source, 1 if expected.op == "scale" else expected.arity)
    if expected.op == "scale":
        words = scale_operands(words[0])
    assert len(words[0]) >= min(COUNT, 1 << expected.source.width * min(expected.arity, 2))
    results, overflow = bench(source).run(f"{name} {source}", words)
    exact = expected.apply(*words)
    wrong = np.flatnonzero(np.where(overflow, OVERFLOW, results) != exact)
    assert not wrong.size, [
        f"{[hex(column[i]) for column in words]}: {results[i]:#x}, not {exact[i]:#x}" for i in wrong[:8]
    ]


@pytest.mark.parametrize("source", TYPES)
def test_default_latencies_suffice(source):
    arch = Arch()
    for name, (unit, expected) in cases(source).items():
        if name == UNHURRIED:
            assert unit.registers == alu_unit("mul", value_type(source)).registers + 1
        elif name.startswith("accumulate"):
            op = name.removeprefix("accumulate_")
            unit.check_latency(arch.reduce_latency(op, value_type(source)), op)
        else:
            kind = expected.target if expected.op in ("add", "sub", "mul") else expected.source
            unit.check_latency(arch.alu_latency(expected.op, kind), name)


@pytest.mark.parametrize(
    ("op", "source", "target"),
    [("mean", "i8", "i8"), ("add", "i32", "i8"), ("max", "i8", "i32"), ("add", "i8", "f32")],
)
def test_no_such_unit(op, source, target):
    with pytest.raises(InputError, match=f"'{op}' on {source}"):
        alu_unit(op, value_type(source), value_type(target))


def test_scale_takes_i32_only():
    with pytest.raises(InputError, match="'scale' on i16 with results in i8"):
        alu_unit("scale", value_type("i16"), value_type("i8"))


def test_no_such_accumulator():
    with pytest.raises(InputError, match="'mul' on f32"):
        accumulate_unit("mul", value_type("f32"))
