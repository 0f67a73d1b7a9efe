"""A C++ program that applies the library's operations to words, for comparison with samhw.graph.numerics."""

import subprocess
from functools import cache
from pathlib import Path

import numpy as np

from samhw.graph.numerics import NARROWINGS, OPERATIONS, OVERFLOW, Fixed, Float, Words, operation, value_type
from samhw.graph.numerics.float_format import BF16, F32
from samhw.hls.cpp import value_class
from samhw.hls.library import render
from samhw.hls.tables import FUNCTIONS, format_tables, word_tables
from samhw.targets.building.hls_tools import WARNED, compile_cpp
from tests.support.words import NARROW

TYPES = (
    "i8",
    "i16",
    "i32",
    "u8",
    "fixed<8,3>",
    "fixed<8,7>",
    "fixed<16,8>",
    "fixed<24,20>",
    "fixed<32,20>",
    "f8e4m3",
    "f8e5m2",
    "bf16",
    "f16",
    "f32",
)
WIDER = (("i8", "i32"), ("i16", "i32"), ("u8", "i32"), ("bf16", "f32"), ("f16", "f32"))
CONVERSIONS = [(a, b) for a in TYPES for b in TYPES]
SCALES = ((0x7FFF_FFFF, 62), (1, 0), (3, 1), (0x4000_0001, 30), (0, 5))

_HEADERS = ("values", "fixed", "float", "convert", "functions")

_MAIN = """
#include "functions.hpp"
#include <cstdio>
#include <string>
#include <vector>

using namespace samhw;

/// The last word of each record is the result, with bit 32 for an overflow.
template <typename R>
static void put(const R &result, bool overflow) {
    const unsigned long long word = traits<R>::to_word(result).to_uint64() | (overflow ? 1ull << 32 : 0);
    std::fwrite(&word, sizeof word, 1, stdout);
}

static std::vector<unsigned long long> operands;
static bool get(unsigned arity) {
    operands.resize(arity);
    return std::fread(operands.data(), sizeof operands[0], arity, stdin) == arity;
}

template <typename T>
static T word(unsigned k) { return traits<T>::from_word(operands[k]); }
"""


def _class(value: str) -> str:
    return value_class(value_type(value))


def _cases() -> dict[str, tuple[int, str]]:
    """For each case by name: how many operands it takes, and the expression."""
    cases = {}
    for value in TYPES:
        kind, name = value_type(value), _class(value)
        for op in kind.operations:
            is_exact = op in ("sqrt", "rint") and not (isinstance(kind, Fixed) or kind.width == 8)
            home = (
                "functions"
                if op in (*FUNCTIONS, *NARROWINGS, "sqrt", "rint") and not is_exact
                else "operations"
            )
            arguments = ", ".join(f"word<{name}>({k})" for k in range(OPERATIONS[op]))
            cases[f"{op} {value}"] = (OPERATIONS[op], f"{home}<{name}>::{op}({arguments}, overflow)")
    for source, target in CONVERSIONS:
        cases[f"convert {source} {target}"] = (
            1,
            f"convert<{_class(target)}>(word<{_class(source)}>(0), overflow)",
        )
    for target in ("i8", "u8", "i16", "i32"):
        for b, c in SCALES:
            cases[f"scale {target} {b} {c}"] = (
                1,
                f"scale<{_class(target)}>(word<ap_int<32>>(0), {b}, {c}, overflow)",
            )
    return cases


@cache
def _program() -> Path:
    context = {
        "index_bits": 32,
        "fixed": True,
        "halves": True,
        "names": list(FUNCTIONS),
        "narrowings": list(NARROWINGS),
        "tables": [format_tables(BF16), format_tables(F32)],
        "word_tables": [word_tables(kind, kind.tabulated) for kind in NARROW],
    }
    sources = {f"{name}.hpp": render(f"library/{name}.hpp.j2", **context) for name in _HEADERS}
    text = _MAIN + "int main(int, char **argv) {\n    const std::string name = argv[1];\n"
    for name, (arity, expression) in _cases().items():
        text += f'    if (name == "{name}")\n        while (get({arity})) {{\n'
        text += "            bool overflow = false;\n"
        text += (
            f"            const auto result = {expression};\n            put(result, overflow);\n        }}\n"
        )
    sources["main.cpp"] = text + "}\n"
    return compile_cpp(sources, ["main.cpp"], WARNED)


def apply(name: str, *operands: Words) -> Words:
    """What C++ makes of the operands: words, and `OVERFLOW` where it set the flag."""
    records = np.stack([np.asarray(x, dtype="<u8") for x in operands], axis=1)
    done = subprocess.run([_program(), name], input=records.tobytes(), capture_output=True, check=True)
    assert not done.stderr, done.stderr[:200]
    result = np.frombuffer(done.stdout, dtype="<i8")
    return np.where(result >> 32 & 1, OVERFLOW, result & 0xFFFF_FFFF)


def expected(name: str, *operands: Words) -> Words:
    """The definition in samhw.graph.numerics."""
    op, value, *rest = name.split()
    if op == "scale":
        b, c = (np.full_like(operands[0], int(number)) for number in rest)
        return operation("scale", value_type("i32"), value_type(value)).apply(operands[0], b, c)
    if op == "convert":
        return operation("convert", value_type(value), value_type(rest[0])).apply(*operands)
    return value_type(value).apply(op, *operands)


def names() -> list[str]:
    """The names of all cases."""
    return list(_cases())


def interesting(value: str, rng: np.random.Generator, count: int) -> Words:
    """Words of a type: the ends of the range, zeros, what is special, and random ones."""
    from tests.support.words import angles, specials

    kind = value_type(value)
    top = 1 << kind.width
    ends = [0, 1, 2, 3, top - 1, top - 2, top // 2, top // 2 - 1, top // 2 + 1, top // 4, top // 3]
    chosen = [
        np.array(ends),
        rng.integers(0, top, count),
        rng.integers(0, top, count) >> rng.integers(0, kind.width, count),
    ]
    if isinstance(kind, Float):
        chosen += [specials(kind), *([angles(kind)] if kind.width > 8 else [])]
    return np.concatenate(chosen)
