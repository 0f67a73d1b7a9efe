"""Checks of results at the ends of a type's range, and beyond: what docs/numerics.md defines is right, and
what is one unit beside it is wrong."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import samhw
from samhw.app.checking import Verdict
from samhw.app.checking.check_run import check
from samhw.graph.numerics import Float, ValueType, value_type

FIXED = ["fixed<24,8>", "fixed<16,8>", "fixed<8,7>", "fixed<8,0>", "fixed<32,16>"]
KINDS = [*FIXED, "f8e4m3", "f8e5m2", "bf16", "f32"]

EXACT = [
    "-x[k]",
    "abs(x[k])",
    "relu(x[k])",
    "max(x[k], z[k])",
    "min(x[k], z[k])",
    "lt(x[k], z[k])",
    "le(x[k], z[k])",
    "eq(x[k], z[k])",
    "select(x[k], z[k], 2)",
    "max(x[k], -1000)",
]
SUMS = ["x[k] + z[k]", "x[k] - z[k]"]
OTHERS = ["x[k] * z[k]", "x[k] / z[k]", "1 / x[k]", "leaky_relu(x[k], 0.1)"]
FUNCTIONS = [
    *("exp", "log", "sqrt", "rsqrt", "reciprocal", "sigmoid", "tanh", "gelu", "silu", "sin", "cos", "rint"),
    *("f8e4m3", "f8e5m2"),
]


def edges(kind: ValueType) -> np.ndarray:
    """The ends of the range, what is next to them, and numbers around zero and one."""
    ones = [0, 1, -1, 2, -2, 0.5, -0.5, 3]
    if not isinstance(kind, Float):
        ends = kind.decode([1, 2**kind.width - 1, *(2 ** (kind.width - 1) + n for n in (-2, -1, 0, 1))])
        return np.array([x for x in ones if kind.least <= x <= kind.greatest] + ends.tolist())
    f = kind.format
    top = f.lowest_nan - 1 - f.infinities
    special = [np.nan, *((np.inf, -np.inf) if f.infinities else ())]
    ends = kind.decode([top, top - 1, top | f.sign, f.least, f.least | f.sign, f.least + 1])
    return np.array([*ones, *ends.tolist(), *special])


def ran(kind: ValueType, exprs: list[str]) -> samhw.DesignResult:
    """All of them, for every pair of edges."""
    x, z = np.array(list(product(edges(kind), repeat=2))).T
    text = "\n".join(f"y{n}[k] = {expr}" for n, expr in enumerate([*exprs, "z[k]"]))
    return samhw.compile(text, value=str(kind)).run(x=x, z=z)


def verdicts(result: samhw.DesignResult, changed: Mapping[str, np.ndarray]) -> Mapping[str, Verdict]:
    """The words for tensors with other values."""
    outputs = {name: replace(result.tensors[name], vals=vals) for name, vals in changed.items()}
    return check(result.workload, result.compiled, {**result.tensors, **outputs}).tensors


@pytest.mark.parametrize("name", KINDS)
def test_what_the_definition_says_is_right_at_the_ends_of_the_range(name: str) -> None:
    kind = value_type(name)
    functions = [f"{f}(x[k])" for f in FUNCTIONS if f in kind.operations]
    result = ran(kind, [*EXACT, *SUMS, *OTHERS, *functions])
    assert Verdict.WRONG not in result.check().tensors.values()
    assert result.check().good


REDUCTIONS = """
a = x[k]
b = x[k] * z[k]
c = x[k] * z[k] * x[k]
d = x[k] / z[k]
e = x[k] where z[k]
f max= x[k]
g min= x[k] where z[k]
h prod= x[k]
i prod= x[k] where z[k]
j[k] = cumsum(k, x[k])
l[k] = cumprod(k, x[k])
m[k] = cummax(k, x[k])
n[k] = recur(k, x[k], z[k])
o = recur(k, 0.5, x[k])
p[k] = recur(k, x[k], z[k]) where z[k]
q[k] = (x[k] + z[k]) * x[k]
r[k] = x[k] * z[k] / x[k]
s[k] = x[k] * x[k] - z[k] * z[k]
"""


@pytest.mark.parametrize("name", KINDS)
def test_what_reductions_give_at_the_ends_of_the_range_is_right(name: str) -> None:
    kind = value_type(name)
    design = samhw.compile(REDUCTIONS, value=name)
    rng = np.random.default_rng(0)
    for count in (1, 2, 3, 6):
        x, z = rng.choice(edges(kind), (2, count))
        result = design.run(x=x, z=np.abs(z) if rng.random() < 0.5 else z)
        found = check(result.workload, result.compiled, result.tensors).tensors
        wrong = [output for output, word in found.items() if word is Verdict.WRONG]
        assert not wrong, (wrong, x, z)


@pytest.mark.parametrize("name", KINDS)
def test_one_unit_beside_an_exact_result_is_wrong(name: str) -> None:
    kind = value_type(name)
    result = ran(kind, EXACT if isinstance(kind, Float) else [*EXACT, *SUMS])
    # As a change of sign and an addition, the difference from the lowest number is another one.
    has_opposite = result.tensors[f"y{len(result.tensors) - 1}"].vals != kind.least
    rng = np.random.default_rng(0)
    for _ in range(8):
        changed = {}
        for output, tensor in result.tensors.items():
            words = kind.encode(tensor.vals)
            others = kind.decode(np.where(words & 1, words - 1, words + 1))
            at = rng.choice(np.flatnonzero((others != tensor.vals) & ~np.isnan(tensor.vals) & has_opposite))
            changed[output] = tensor.vals.copy()
            changed[output][at] = others[at]
        assert set(verdicts(result, changed).values()) == {Verdict.WRONG}


@pytest.mark.parametrize("name", [name for name in KINDS if name != "fixed<32,16>"])
def test_a_function_that_is_off_by_more_than_its_rounding_is_wrong(name: str) -> None:
    kind = value_type(name)
    result = ran(kind, [f"{function}(x[k])" for function in FUNCTIONS])
    least = kind.decode(kind.format.least if isinstance(kind, Float) else 1)
    rng = np.random.default_rng(0)
    for _ in range(8):
        changed = {}
        for output, tensor in result.tensors.items():
            vals = tensor.vals.copy()
            numbers = np.flatnonzero(np.isfinite(vals) & (np.abs(vals) < kind.greatest / 2))
            if len(numbers):
                at = rng.choice(numbers)
                vals[at] += 4.1 * max(np.abs(vals[at]) * kind.unit_roundoff, least)
                changed[output] = vals
        found = verdicts(result, changed)
        assert {found[output] for output in changed} == {Verdict.WRONG}


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("y[k] = x[k] + x[k]", [20000.0, 4], [2**15 - 2**-8, 8]),
        ("y[k] = exp(x[k])", [20.0, 0], [2**15 - 2**-8, 1]),
        ("y[k] = log(x[k])", [-1.0, 1, 0], [0, 0, -(2**15)]),
        ("y[k] = cumsum(k, log(x[k]))", [0.0, 0, 1], [-(2**15)] * 3),
        ("y max= rsqrt(x[k])", [0.0, 4], 2**15 - 2**-8),
        ("y = x[k]", [-30000.0, -30000], -(2**15)),
    ],
)
def test_what_saturates_for_sure_is_proved(text: str, x: list[float], expected: object) -> None:
    result = samhw.compile(text, value="fixed<24,8>").run(x=np.array(x))
    np.testing.assert_array_equal(np.asarray(result["y"]), expected)
    found = result.check()
    assert (found.verdict, found.max_abs_error, found.unproved) == (Verdict.RIGHT, 0, 0)


def test_a_type_without_infinities_has_nan_in_their_place() -> None:
    for text in ("log(x[k])", "1 / x[k]", "reciprocal(x[k])", "rsqrt(x[k])"):
        result = samhw.compile(f"y[k] = {text}\nz[k] = exp(y[k])", value="f8e4m3").run(x=np.array([0.0, 4]))
        assert np.isnan(np.asarray(result["y"])).tolist() == [True, False]
        assert result.check().good
        for other in (448.0, 0.0):
            changed = {"y": np.array([other, np.asarray(result["y"])[1]])}
            assert verdicts(result, changed)["y"] is Verdict.WRONG
