"""Every operation of arith and math on edge values, against what NumPy makes of them in types of its own."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from samhw.errors import InputError, RunError
from samhw.importers.mlir.element_operations import ELEMENT_OPERATIONS
from samhw.importers.mlir.interpreted_elements import INTERPRETED
from tests.importers.mlir.elementwise import body_text, results

Array = npt.NDArray[Any]

DTYPES: dict[str, Any] = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64}
EDGES: dict[str, list[int]] = {
    "i8": [0, 1, -1, 2, 37, 127, -127, -128],
    "i16": [0, 1, -1, 200, 255, 32767, -32767, -32768],
    "i32": [0, 1, -1, 300, 40_000, 2**31 - 1, -(2**31) + 1, -(2**31)],
    "i64": [0, 1, -1, 300, 40_000, 2**31 - 1, -(2**31) + 1, -(2**31)],
    "index": [0, 1, -1, 300, 40_000, 2**31 - 1, -(2**31) + 1, -(2**31)],
    "i1": [0, 1],
}
FLOATS = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e18, -1e-18], np.float32)


def pairs(values: Any) -> tuple[Array, Array]:
    a, b = np.meshgrid(values, values, indexing="ij")
    return a.reshape(-1), b.reshape(-1)


def check(
    body: str, taken: list[str], gives: str, arrays: list[Array], wanted: Array, folder: Path, **how: Any
):
    """That the simulator and the interpreter both give what is wanted."""
    with np.errstate(all="ignore"):
        found, meant = results(body_text(body, taken, gives, len(wanted)), arrays, folder)
    np.testing.assert_allclose(found, np.asarray(wanted, np.float64), **{"rtol": 0, "atol": 0} | how)
    np.testing.assert_allclose(meant, np.asarray(wanted, np.float64), **{"rtol": 0, "atol": 0} | how)


# Whole numbers


def unsigned(x: Array) -> Array:
    return x.view(np.dtype(f"u{x.dtype.name}"))


INTEGERS: dict[str, Callable[[Array, Array], Array]] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.maxui": lambda a, b: np.maximum(unsigned(a), unsigned(b)).view(a.dtype),
    "arith.minui": lambda a, b: np.minimum(unsigned(a), unsigned(b)).view(a.dtype),
}
EXACT = {"arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply}


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64", "index"])
@pytest.mark.parametrize("name", INTEGERS)
def test_whole_numbers_in_integers(name: str, kind: str, tmp_path: Path) -> None:
    a, b = pairs(np.array(EDGES[kind], DTYPES[kind]))
    if name in EXACT:
        # Wider words and products do not wrap: what is beyond ends the run.
        exact = EXACT[name](a.astype(object), b.astype(object)).astype(np.int64)
        wide = kind not in ("i8", "i16")
        ends = np.iinfo(np.int32 if wide else DTYPES[kind])
        if wide or name == "arith.muli":
            kept = (exact >= ends.min) & (exact <= ends.max)
            a, b = a[kept], b[kept]
    with np.errstate(over="ignore"):
        wanted = INTEGERS[name](a, b)
    check(f"%r = {name} %a, %b : {kind}", [kind, kind], kind, [a, b], wanted, tmp_path)


@pytest.mark.parametrize("kind", ["i8", "i16", "i32"])
@pytest.mark.parametrize("name", INTEGERS)
def test_whole_numbers_in_floating_point(name: str, kind: str, tmp_path: Path) -> None:
    a, b = pairs(np.array([n for n in EDGES[kind] if abs(n) < 2**24], DTYPES[kind]))
    body = f"%n = {name} %a, %b : {kind}\n %r = arith.sitofp %n : {kind} to f32"
    if name in EXACT and kind == "i32":
        kept = np.abs(EXACT[name](a.astype(np.int64), b.astype(np.int64))) < 2**24
        a, b = a[kept], b[kept]
    with np.errstate(over="ignore"):
        wanted = INTEGERS[name](a, b)
    if (name, kind) == ("arith.muli", "i16"):
        with pytest.raises(InputError, match="of which f32 does not hold all results; extend them to i32"):
            results(body_text(body, [kind, kind], "f32", len(a)), [a, b], tmp_path)
        return
    check(body, [kind, kind], "f32", [a, b], wanted, tmp_path)


@pytest.mark.parametrize(
    ("line", "kind", "numbers"),
    [
        ("arith.muli %a, %a : i8", "i8", [1, 12]),
        ("arith.addi %a, %a : i32", "i32", [1, 2**30]),
        ("math.absi %a : i32", "i32", [1, -(2**31)]),
        ("arith.trunci %a : i32 to i8", "i32", [1, 128]),
        ("arith.trunci %a : i32 to i8", "i32", [1, -129]),
    ],
)
def test_what_integers_cannot_wrap_ends_the_run(line, kind, numbers, tmp_path: Path) -> None:
    gives = line.rpartition(" ")[2]
    text = body_text(f"%r = {line}", [kind], gives, len(numbers))
    with pytest.raises(RunError, match="overflow"):
        results(text, [np.array(numbers)], tmp_path)


CONDITIONS: dict[str, Callable[[Array, Array], Array]] = {
    "arith.andi": np.logical_and,
    "arith.ori": np.logical_or,
    "arith.xori": np.logical_xor,
    "arith.addi": np.logical_xor,
    "arith.subi": np.logical_xor,
    "arith.muli": np.logical_and,
    "arith.maxui": np.logical_or,
    "arith.minui": np.logical_and,
    "arith.maxsi": np.logical_and,  # True is -1.
    "arith.minsi": np.logical_or,
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions(name: str, tmp_path: Path) -> None:
    a, b = pairs(np.array([0, 1]))
    wanted = CONDITIONS[name](a, b).astype(int)
    check(f"%r = {name} %a, %b : i1", ["i1", "i1"], "i1", [a, b], wanted, tmp_path)


ORDERS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@pytest.mark.parametrize("kind", ["i1", "i8", "i16", "i32", "i64", "index"])
@pytest.mark.parametrize("name", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"])
def test_comparisons_of_whole_numbers(name: str, kind: str, tmp_path: Path) -> None:
    a, b = pairs(np.array(EDGES[kind], DTYPES.get(kind, np.int8)))
    one, other = a, b
    if name[0] == "u":
        one, other = unsigned(a), unsigned(b)
    elif kind == "i1" and name[0] == "s":
        one, other = -a, -b
    wanted = ORDERS[name[-2:]](one, other)
    check(f"%r = arith.cmpi {name}, %a, %b : {kind}", [kind, kind], "i1", [a, b], wanted, tmp_path)


@pytest.mark.parametrize("name", ["ult", "uge"])
@pytest.mark.parametrize("number", [-3, 0, 5])
def test_an_unsigned_comparison_with_a_number(name: str, number: int, tmp_path: Path) -> None:
    a = np.array(EDGES["i8"], np.int8)
    body = f"%n = arith.constant {number} : i8\n %r = arith.cmpi {name}, %a, %n : i8"
    wanted = ORDERS[name[-2:]](a.view(np.uint8), np.uint8(number % 256))
    check(body, ["i8"], "i1", [a], wanted, tmp_path)
    body = f"%n = arith.constant {number} : i8\n %r = arith.cmpi {name}, %n, %a : i8"
    check(body, ["i8"], "i1", [a], ORDERS[name[-2:]](np.uint8(number % 256), a.view(np.uint8)), tmp_path)


DIVISIONS: dict[str, Callable[[int, int], int]] = {
    "arith.divsi": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "arith.remsi": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
    "arith.floordivsi": lambda a, b: a // b,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.divui": lambda a, b: (a % 256) // (b % 256),
    "arith.ceildivui": lambda a, b: -(-(a % 256) // (b % 256)),
    "arith.remui": lambda a, b: (a % 256) % (b % 256),
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
    "arith.xori": lambda a, b: a ^ b,
    "arith.shli": lambda a, b: a << (b % 8),
    "arith.shrui": lambda a, b: (a % 256) >> (b % 8),
    "arith.shrsi": lambda a, b: a >> (b % 8),
}


@pytest.mark.parametrize("name", DIVISIONS)
def test_what_has_no_hardware_is_computed_of_numbers(name: str, tmp_path: Path) -> None:
    for a, b in [(7, 2), (-7, 2), (-7, -2 if "sh" not in name else 1), (100, 3), (-128, 3), (-1, 7), (6, 3)]:
        body = f"""%m = arith.constant {a} : i8
    %n = arith.constant {b} : i8
    %q = {name} %m, %n : i8
    %r = arith.addi %a, %q : i8"""
        wanted = np.array([DIVISIONS[name](a, b)]).astype(np.int8)
        check(body, ["i8"], "i8", [np.zeros(1, np.int8)], wanted, tmp_path)


@pytest.mark.parametrize("name", DIVISIONS)
def test_what_has_no_hardware_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="integers"):
        results(body_text(f"%r = {name} %a, %a : i8", ["i8"], "i8", 2), [np.ones(2, int)], tmp_path)


# Casts

I8, I16 = np.array(EDGES["i8"], np.int8), np.array(EDGES["i16"], np.int16)
SMALL = np.array([0, 1, -1, 127, 128, 200, 255, 256, 300, -128, -129, -200, 70_000, -70_000], np.int32)
BITS = np.array([0, 1])
REALS = np.array([0, 0.5, -0.5, 1.5, 2.5, -2.5, 126.9, -127.9, 99.99], np.float32)
POSITIVE = np.array([0, 0.5, 1.5, 2.5, 127.5, 128, 200.9, 255], np.float32)
CASTS: list[tuple[str, str, str, Array, Array]] = [
    ("arith.extsi", "i8", "i32", I8, I8),
    ("arith.extsi", "i1", "i8", BITS, -BITS),
    ("arith.extui", "i8", "i32", I8, I8.view(np.uint8)),
    ("arith.extui", "i8", "i16", I8, I8.view(np.uint8)),
    ("arith.extui", "i16", "i64", I16, I16.view(np.uint16)),
    ("arith.extui", "i1", "i32", BITS, BITS),
    ("arith.sitofp", "i8", "f32", I8, I8),
    ("arith.sitofp", "i1", "f32", BITS, -BITS),
    ("arith.sitofp", "i32", "f32", SMALL, SMALL),
    ("arith.uitofp", "i8", "f32", I8, I8.view(np.uint8)),
    ("arith.uitofp", "i16", "f32", I16, I16.view(np.uint16)),
    ("arith.uitofp", "i1", "f32", BITS, BITS),
    ("arith.index_cast", "i8", "index", I8, I8),
    ("arith.index_cast", "i1", "index", BITS, -BITS),
    ("arith.index_cast", "index", "i32", SMALL, SMALL),
    ("arith.index_castui", "i8", "index", I8, I8.view(np.uint8)),
    ("arith.index_castui", "i1", "index", BITS, BITS),
    ("arith.trunci", "i64", "i32", SMALL, SMALL),
    ("arith.fptosi", "f32", "i32", REALS, REALS.astype(np.int32)),
    ("arith.fptosi", "f32", "i8", REALS, REALS.astype(np.int8)),
    ("arith.fptoui", "f32", "i8", POSITIVE, POSITIVE.astype(np.uint8).view(np.int8)),
    ("arith.fptoui", "f32", "i1", POSITIVE[:3], np.array([0, 0, 1])),
    ("arith.bitcast", "i8", "i8", I8, I8),
    ("arith.bitcast", "f32", "f32", REALS, REALS),
    ("arith.extf", "bf16", "f32", REALS, REALS),
    ("arith.truncf", "f64", "f32", REALS, REALS),
    *(
        ("arith.truncf", "f32", mlir, x, x.astype(kind).astype(np.float32))
        for mlir, kind in (("f8E4M3FN", ml_dtypes.float8_e4m3fn), ("f8E5M2", ml_dtypes.float8_e5m2))
        for x in [np.array([0.3, -17.4, 1e-3, 2.0**-10, 448, 464, 465, 1e9, -1e9, 61439, 61440], np.float32)]
    ),
    *(
        ("arith.truncf", "f32", mlir, x, x.astype(kind).astype(np.float32))
        for mlir, kind, most in (("f16", np.float16, 65519), ("bf16", ml_dtypes.bfloat16, 1e9))
        for x in [np.array([0.3, -17.4, 2049, 2.0**-24, most, 1.00390625, 257], np.float32)]
    ),
]


@pytest.mark.parametrize("case", CASTS, ids=lambda case: f"{case[0]} {case[1]} to {case[2]}")
def test_a_cast(case, tmp_path: Path) -> None:
    name, taken, gives, x, wanted = case
    check(f"%r = {name} %a : {taken} to {gives}", [taken], gives, [x], np.asarray(wanted), tmp_path)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_sixteen_bits_compute_in_their_type(kind: str, tmp_path: Path) -> None:
    """Each operation rounds, as those of NumPy and ml_dtypes do."""
    body = (
        f"%p = arith.mulf %a, %b : {kind}\n %s = arith.addf %p, %a : {kind}\n %q = arith.divf %s, %b : {kind}"
    )
    body += f"\n %r = arith.maximumf %q, %a : {kind}"
    rng = np.random.default_rng(1)
    dtype = np.float16 if kind == "f16" else ml_dtypes.bfloat16
    a, b = (rng.normal(0, 4, 60).astype(dtype) for _ in "ab")
    found, _ = results(
        body_text(body, [kind, kind], kind, 60), [a.astype(np.float32), b.astype(np.float32)], tmp_path
    )
    assert np.array_equal(found, np.maximum((a * b + a) / b, a).astype(np.float64))


def test_what_is_added_in_f32_is_not_added_in_f16(tmp_path: Path) -> None:
    """A function with some f32 computes in that, and rounds where it says so."""
    body = "%x = arith.extf %a : f16 to f32\n %s = arith.mulf %x, %x : f32\n %t = arith.addf %s, %s : f32"
    body += "\n %r = arith.truncf %t : f32 to f16"
    a = np.array([300, 2.5, 0.1, 181], np.float16)
    found, meant = results(body_text(body, ["f16"], "f16", 4), [a.astype(np.float32)], tmp_path)
    wide = a.astype(np.float32)
    with np.errstate(over="ignore"):
        assert np.array_equal(found, (wide * wide + wide * wide).astype(np.float16))
    assert np.array_equal(found, meant)


@pytest.mark.parametrize("kind", ["i8", "i16"])
def test_words_are_cut_in_floating_point(kind: str, tmp_path: Path) -> None:
    body = f"%n = arith.trunci %a : i32 to {kind}\n %r = arith.sitofp %n : {kind} to f32"
    check(body, ["i32"], "f32", [SMALL], SMALL.astype(DTYPES[kind]), tmp_path)


def test_the_lowest_bit_is_cut_in_floating_point(tmp_path: Path) -> None:
    body = "%n = arith.trunci %a : i32 to i1\n %r = arith.uitofp %n : i1 to f32"
    check(body, ["i32"], "f32", [SMALL], SMALL & 1, tmp_path)


def test_a_clamped_number_is_cut_in_integers(tmp_path: Path) -> None:
    body = """%l = arith.constant -128 : i32
    %h = arith.constant 127 : i32
    %m = arith.maxsi %a, %l : i32
    %n = arith.minsi %m, %h : i32
    %r = arith.trunci %n : i32 to i8"""
    check(body, ["i32"], "i8", [SMALL], np.clip(SMALL, -128, 127), tmp_path)


def test_a_sum_of_extended_words_is_cut_in_integers(tmp_path: Path) -> None:
    a, b = pairs(I8)
    body = """%m = arith.extsi %a : i8 to i32
    %n = arith.extui %b : i8 to i32
    %s = arith.addi %m, %n : i32
    %r = arith.trunci %s : i32 to i8"""
    kept = a.astype(int) + b.view(np.uint8) < 384
    wanted = (a.astype(int) + b.view(np.uint8)).astype(np.int8)
    check(body, ["i8", "i8"], "i8", [a[kept], b[kept]], wanted[kept], tmp_path)


@pytest.mark.parametrize(
    ("line", "taken", "gives", "wrong"),
    [
        (
            "arith.uitofp %a : i32 to f32",
            "i32",
            "f32",
            "without their sign, and some are beyond the integers",
        ),
        ("arith.bitcast %a : i32 to f32", "i32", "f32", "takes the bits of i32 as f32; compute it before"),
        ("arith.trunci %a : i32 to i1", "i32", "i1", "takes the lowest bit of a number"),
        ("arith.truncf %a : f32 to f8E3M4", "f32", "f8E3M4", "rounds to f8E3M4, for which there is no hard"),
        ("math.ctpop %a : i32", "i32", "i32", "has no meaning in a program here"),
        ("arith.addf %a, %a : i32", "i32", "i32", "takes i32, for which it has no meaning; mend its type"),
        ("arith.addi %a, %a : ui8", "ui8", "ui8", "computes with ui8, which arith does not have"),
    ],
)
def test_what_has_no_exact_form_is_refused(line, taken, gives, wrong, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=wrong):
        results(body_text(f"%r = {line}", [taken], gives, 2), [np.ones(2, int)], tmp_path)


def test_a_word_that_is_not_negative_is_taken_as_it_is(tmp_path: Path) -> None:
    body = "%r = arith.uitofp nneg %a : i32 to f32"
    check(body, ["i32"], "f32", [np.array([0, 5, 2**24])], np.array([0, 5, 2**24]), tmp_path)


def test_data_and_constants_are_words(tmp_path: Path) -> None:
    """200 and -56 are the same word of i8."""
    body = "%n = arith.constant 255 : i8\n %s = arith.addi %a, %n : i8\n %r = arith.extsi %s : i8 to i32"
    check(body, ["i8"], "i32", [np.array([200, -56, 0, 255])], np.array([-57, -57, -1, -2]), tmp_path)
    with pytest.raises(InputError, match=r"%va is of i8, and its data have 256; give whole numbers of it"):
        results(body_text(body, ["i8"], "i32", 1), [np.array([256])], tmp_path)
    with pytest.raises(InputError, match=r"its data have 0\.5"):
        results(body_text(body, ["i8"], "i32", 1), [np.array([0.5])], tmp_path)


# Floating point


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    "name",
    ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"],
)
def test_comparisons_of_floating_point(name: str, known: bool, tmp_path: Path) -> None:
    a, b = pairs(FLOATS)
    if known:
        a, b = FLOATS, np.full_like(FLOATS, 0.5)
    unordered = np.isnan(a) | np.isnan(b)
    if name in ("ord", "uno"):
        wanted = unordered == (name == "uno")
    else:
        holds = (a < b) | (a > b) if name == "one" else ORDERS[name[1:]](a, b)
        wanted = holds & ~unordered if name[0] == "o" else holds | unordered
    number = "%b = arith.constant 0.5 : f32\n " if known else ""
    body = f"{number}%r = arith.cmpf {name}, %a, %b : f32"
    arrays = [a] if known else [a, b]
    check(body, ["f32"] * len(arrays), "i1", arrays, wanted, tmp_path)


@pytest.mark.parametrize("branches", [("%a", "%b"), ("%b", "%a")])
@pytest.mark.parametrize("name", ["ogt", "oge", "olt", "ole", "ugt", "uge", "ult", "ule"])
@pytest.mark.parametrize("known", [False, True])
def test_a_choice_by_a_comparison(name: str, branches: tuple[str, str], known: bool, tmp_path: Path) -> None:
    """NaN is what tells it from a maximum or minimum."""
    a, b = (FLOATS, np.full_like(FLOATS, 0.5)) if known else pairs(FLOATS)
    unordered = np.isnan(a) | np.isnan(b)
    holds = ORDERS[name[1:]](a, b) | (unordered & (name[0] == "u"))
    wanted = np.where(holds, a, b) if branches == ("%a", "%b") else np.where(holds, b, a)
    number = "%b = arith.constant 0.5 : f32\n " if known else ""
    body = f"{number}%c = arith.cmpf {name}, %a, %b : f32\n %r = arith.select %c, {', '.join(branches)} : f32"
    arrays = [a] if known else [a, b]
    check(body, ["f32"] * len(arrays), "f32", arrays, wanted, tmp_path)


def leaky(x: Array) -> Array:
    return np.where(x > 0, x, np.float32(0.25) * x)


def test_a_leaky_relu(tmp_path: Path) -> None:
    body = """%z = arith.constant 0.0 : f32
    %s = arith.constant 0.25 : f32
    %m = arith.mulf %a, %s : f32
    %c = arith.cmpf ogt, %a, %z : f32
    %r = arith.select %c, %a, %m : f32"""
    check(body, ["f32"], "f32", [FLOATS], leaky(FLOATS), tmp_path)


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    **dict.fromkeys(("arith.maximumf", "arith.maxf"), np.maximum),
    **dict.fromkeys(("arith.minimumf", "arith.minf"), np.minimum),
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "math.copysign": np.copysign,
}


@pytest.mark.parametrize("name", BINARY)
def test_two_numbers_of_floating_point(name: str, tmp_path: Path) -> None:
    a, b = pairs(FLOATS)
    if name == "arith.mulf":  # Zero wins over infinity and NaN in programs.
        kept = ((a != 0) | np.isfinite(b)) & ((b != 0) | np.isfinite(a))
    elif name == "arith.divf":
        kept = ((a != 0) | np.isfinite(b)) & (b != 0)
    else:
        kept = np.full(len(a), name != "math.copysign") | ((b != 0) & ~np.isnan(b))  # A zero has no sign.
    a, b = a[kept], b[kept]
    with np.errstate(all="ignore"):
        wanted = BINARY[name](a, b)
    check(f"%r = {name} %a, %b : f32", ["f32", "f32"], "f32", [a, b], wanted, tmp_path, rtol=1e-7)


@pytest.mark.parametrize("name", ["arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf"])
def test_a_number_of_floating_point_and_one_that_is_known(name: str, tmp_path: Path) -> None:
    body = f"%n = arith.constant 0.75 : f32\n %r = {name} %n, %a : f32"
    wanted = BINARY[name](np.float32(0.75), FLOATS)
    check(body, ["f32"], "f32", [FLOATS], wanted, tmp_path)


def away(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def erf(x: Array) -> Array:
    return np.array([math.erf(n) for n in x])


UNARY: dict[str, Callable[[Array], Array]] = {
    "arith.negf": np.negative,
    "math.absf": np.abs,
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.log": np.log,
    "math.log1p": np.log1p,
    "math.log2": np.log2,
    "math.log10": np.log10,
    "math.sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1 / np.sqrt(np.abs(x) if not x.any() else x),
    "math.tanh": np.tanh,
    "math.sin": np.sin,
    "math.cos": np.cos,
    "math.tan": np.tan,
    "math.erf": erf,
    "math.roundeven": np.rint,
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.trunc": np.trunc,
    "math.round": away,
}
NUMBERS = np.array(
    [np.nan, np.inf, -np.inf, 0, 1, -1, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.75, -3.25, 88, -88, 1e-4, 1e30],
    np.float32,
)
LIMITED = {
    "math.exp": 88,
    "math.exp2": 120,
    "math.expm1": 88,
    "math.sin": 1e9,
    "math.cos": 1e9,
    "math.tan": 1e9,
}


@pytest.mark.parametrize("name", UNARY)
def test_one_number_of_floating_point(name: str, tmp_path: Path) -> None:
    x = NUMBERS
    if name in LIMITED:  # Beyond, float64 has the greater range.
        x = x[~(np.abs(x) > LIMITED[name]) | np.isinf(x)]
    with np.errstate(all="ignore"):
        wanted = UNARY[name](x.astype(np.float64))
    exact = name in ("arith.negf", "math.absf") or name.startswith(("math.round", "math.floor", "math.ceil"))
    how = {} if exact else {"rtol": 3e-6, "atol": 1e-7}
    check(f"%r = {name} %a : f32", ["f32"], "f32", [x], wanted, tmp_path, **how)


@pytest.mark.parametrize("name", ["math.expm1", "math.log1p", "math.erf"])
def test_next_to_zero(name: str, tmp_path: Path) -> None:
    x = np.array([1e-9, -1e-9, 3e-5, -0.01, 0.3, 1e-20], np.float32)
    wanted = UNARY[name](x.astype(np.float64))
    check(f"%r = {name} %a : f32", ["f32"], "f32", [x], wanted, tmp_path, rtol=2e-6)


@pytest.mark.parametrize(
    ("line", "kind", "x", "wanted"),
    [
        ("math.powf %a, %n : f32", "2.0 : f32", [0, -3, np.inf, np.nan], [0, 9, np.inf, np.nan]),
        ("math.powf %a, %n : f32", "-1.0 : f32", [2, -4, np.inf, np.nan], [0.5, -0.25, 0, np.nan]),
        ("math.powf %a, %n : f32", "0.5 : f32", [0, 4, -1, np.inf], [0, 2, np.nan, np.inf]),
        ("math.fpowi %a, %n : f32, i32", "3 : i32", [2, -2, np.inf, np.nan], [8, -8, np.inf, np.nan]),
    ],
)
def test_a_power(line: str, kind: str, x: list[float], wanted: list[float], tmp_path: Path) -> None:
    body = f"%n = arith.constant {kind}\n %r = {line}"
    check(body, ["f32"], "f32", [np.array(x)], np.array(wanted), tmp_path, rtol=1e-6)


def test_the_power_of_zero_is_one_of_nan_too(tmp_path: Path) -> None:
    body = "%n = arith.constant 0.0 : f32\n %p = math.powf %a, %n : f32\n %r = arith.addf %b, %p : f32"
    check(body, ["f32", "f32"], "f32", [FLOATS, np.ones(12)], np.full(12, 2), tmp_path)


@pytest.mark.parametrize(("name", "wanted"), [("true", 1), ("false", 0)])
def test_comparisons_that_ask_nothing(name: str, wanted: int, tmp_path: Path) -> None:
    body = f"%c = arith.cmpf {name}, %a, %a : f32\n %n = arith.uitofp %c : i1 to f32\n"
    body += "%r = arith.addf %b, %n : f32"
    check(body, ["f32", "f32"], "f32", [FLOATS, np.ones(12)], np.full(12, 1 + wanted), tmp_path)


def test_a_power_of_words(tmp_path: Path) -> None:
    x = np.array([0, 1, -2, 3, 5])
    body = "%n = arith.constant 3 : i8\n %r = math.ipowi %a, %n : i8"
    check(body, ["i8"], "i8", [x], x**3, tmp_path)
    with pytest.raises(InputError, match="divides integers"):
        results(body_text(body.replace("3 :", "-1 :"), ["i8"], "i8", 5), [x], tmp_path)


def test_absolute_values_of_words(tmp_path: Path) -> None:
    check("%r = math.absi %a : i8", ["i8"], "i8", [I8], np.abs(I8), tmp_path)
    check("%r = math.absi %a : i1", ["i1"], "i1", [BITS], BITS, tmp_path)


def test_a_fused_product_and_sum(tmp_path: Path) -> None:
    a, b = np.array([2, 3, np.nan]), np.array([0.5, np.inf, 1])
    check("%r = math.fma %a, %b, %b : f32", ["f32", "f32"], "f32", [a, b], a * b + b, tmp_path)


@pytest.mark.parametrize("kind", ["i1", "i8", "i32", "f32"])
def test_a_choice(kind: str, tmp_path: Path) -> None:
    c, a, b = np.array([0, 1, 0, 1]), np.array([1, 0, 1, 1]), np.array([0, 1, 0, 0])
    body = f"%r = arith.select %c, %a, %b : {kind}".replace("%c, %a, %b", "%a, %b, %c")
    check(body, ["i1", kind, kind], kind, [c, a, b], np.where(c, a, b), tmp_path)


TABLES = (INTEGERS, CONDITIONS, DIVISIONS, BINARY, UNARY, {case[0] for case in CASTS})
OTHERS = {"arith.cmpi", "arith.cmpf", "arith.select", "math.powf", "math.fpowi", "math.ipowi", "math.absi"}


def test_every_operation_is_in_a_table() -> None:
    tested = {name for table in TABLES for name in table} | OTHERS | {"math.fma"}
    assert tested == set(ELEMENT_OPERATIONS)
    assert set(ELEMENT_OPERATIONS) <= INTERPRETED
