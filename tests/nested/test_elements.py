"""Python's and NumPy's own words for elements: each is traced and gives what NumPy gives, or is refused with
one sentence."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.errors import InputError
from samhw.lang import nested

XS = nested.nested_tensor(np.array([[-3, 2], [0, 1], [2, -2]]))
MASK = np.array([True, False])

TRACED: list[Callable[[Any], Any]] = [
    lambda x: x**2,
    lambda x: x**3 - x**1,
    lambda x: abs(x) ** 0.5,
    lambda x: np.power(x, 2) + np.square(x),
    lambda x: +abs(-x),
    lambda x: np.round(x * 2) + np.rint(x / 4),
    lambda x: np.sin(x) + np.cos(x),
    lambda x: np.clip(x, -1, 1) + x.clip(max=1) + x.clip(0),
    lambda x: x.mean() + np.mean(x, axis=0) + np.sum(x) + np.max(x, axis=0, keepdims=True),
    lambda x: x.transpose() + np.transpose(x),
    lambda x: x * len(x) + x.size,
    lambda x: sum([x, x]),
    lambda x: np.where(x > 0, x, -2 * x),
    lambda x: np.where(x >= 1, x, np.where(x < 0, 7, 8)),
    lambda x: np.where(np.array(2) <= x, 5, np.where(x <= -1, 6, x)),
    lambda x: np.where(x == 1, 5, np.where(x != 2, x, 9)),
    lambda x: np.where(np.array([1, 2]) < x, 5, x),
    lambda x: np.where(MASK, x, 7) + np.where(x, 1, 2),
    lambda x: np.where(x > 0, x, -np.inf).max(),
    lambda x: (x > 0) * x + x * (x > 1) + 3 * (x < 0) + np.multiply(x <= 0, 2),
    lambda x: np.where((x > 0) & (x < 2), x, 9),
    lambda x: np.where((x > 0) | ~(x == -3), x, 9),
    lambda x: np.where(MASK & (x > 0), 1, 2) + np.where((x > 0) | MASK, 1, 2),
    lambda x: np.where(np.logical_and(x > 0, x < 2), x, np.where(np.logical_not(x > 0), 3, 4)),
]

KNOWN = "is not known while it is traced; use np.maximum, np.where or a fold"
OPERATOR = "this operator cannot be traced; elements have"
NUMBER = "a comparison goes into np.where"

REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    *(
        (function, KNOWN)
        for function in (
            lambda x: min(x, 2),
            lambda x: max(x, -x),
            lambda x: x if x > 0 else -x,
            lambda x: 0 < x < 2,
            lambda x: not x,
            lambda x: x in [1, 2],
            lambda x: math.exp(x),
            lambda x: int(x),
            lambda x: range(x),
            lambda x: XS[0:x],
        )
    ),
    *(
        (function, OPERATOR)
        for function in (
            lambda x: x // 2,
            lambda x: 2 // x,
            lambda x: x % 2,
            lambda x: divmod(x, 2),
            lambda x: 2**x,
            lambda x: x << 1,
            lambda x: x & 1,
            lambda x: ~x,
            lambda x: x(),
            lambda x: math.floor(x),
            lambda x: round(x),
        )
    ),
    *((lambda x, p=p: x**p, "the exponent of an element is a number, 0.5 or") for p in (1.5, -1, 0, 17)),
    (lambda x: x**x, "the exponent of an element is a number"),
    (lambda x: x[0], "an element is not taken apart"),
    (lambda x: list(x), "an element is not taken apart"),
    (lambda x: x.reshape(2), "'reshape' cannot be traced; elements have"),
    (lambda x: x.sum(axis=(0,)), r"an element of shape \[2\] has no axis \(0,\)"),
    (lambda x: x.sum(dtype=float), "sum of an element takes axis and keepdims, not dtype"),
    (lambda x: len(x.sum()), "an element that is one number has no length"),
    (lambda x: np.add(x, 1, out=np.ones(2)), "NumPy's add.out of an element is no operation"),
    (lambda x: np.add.reduce(x), "NumPy's add.reduce of an element is no operation"),
    (lambda x: np.concatenate([x, x]), "an element is no array while its function is traced"),
    (lambda x: np.add(x, (1, 2)), "an operand is of type tuple"),
    (lambda x: x + "a", "an operand is of type str"),
    (lambda x: x > 0, "a comparison is no number"),
    (lambda x: (x > 0) + 1, NUMBER),
    (lambda x: 1 - (x > 0), NUMBER),
    (lambda x: x + (x > 0), "a comparison is no number"),
    (lambda x: (x > 0) & 1, NUMBER),
    (lambda x: np.exp(x > 0), NUMBER),
    (lambda x: (x > 0) * (x < 2), "two conditions are joined by &"),
    (lambda x: (x > 0).sum(), NUMBER),
]


def everything(xs: Any) -> Any:
    return tuple(xs.map(function) for function in TRACED)


def test_what_is_traced_is_what_numpy_computes() -> None:
    for function in TRACED:
        plain = XS.map(function)
        found = nested.evaluate(nested.trace(lambda xs, f=function: xs.map(f), XS), XS)
        assert np.array_equal(found.array, plain.array)


def test_as_a_program() -> None:
    found = nested.lowered(nested.trace(everything, XS))
    done = samhw.compile(found.program, value="f32").run(found.inputs(XS))
    assert done.check().verdict == "right"
    for one, other in zip(everything(XS), found.results(done), strict=True):
        assert np.allclose(one.array, other.array, atol=1e-5)


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_is_refused(number: int) -> None:
    function, message = REFUSED[number]
    with pytest.raises(InputError, match=message) as error:
        nested.trace(lambda xs: xs.map(function), XS)
    assert re.match(re.escape(__file__) + r":\d+: ", str(error.value))
