"""Shapes, and what they match."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from samhw.compiler.search.patterns import (
    Match,
    Shape,
    StatementPattern,
    access,
    any,
    call,
    either,
    find_patterns,
    reduced,
    where,
)
from samhw.errors import InputError
from samhw.lang import parse

X = "tensor X[i=4, j=5]\n"
PRODUCT = "tensor A[i=4, k=3]\ntensor B[k=3, j=5]\n"


def matched(text: str, shape: Shape) -> list[tuple[str, ...]]:
    """The results that each match has."""
    return [match.results for match in find_patterns(parse(text), [StatementPattern("it", shape)]).matches]


@pytest.mark.parametrize(
    ("text", "shape", "expected"),
    [
        (X + "Y[i, j] = exp(X[i, j])", call("exp", access()), [("Y",)]),
        (X + "Y[i, j] = exp(X[i, j])", call("relu", access()), []),
        (X + "Y[i, j] = exp(X[i, j] + 1)", call("exp", access()), []),
        (X + "Y[i, j] = exp(X[i, j] + 1)", call("exp", any()), [("Y",)]),
        # Through an intermediate.
        (
            X + "T[i, j] = exp(X[i, j])\nY[i, j] = relu(T[i, j])",
            call("relu", call("exp", any())),
            [("T", "Y")],
        ),
        # In any order, but not of a difference.
        (X + "Y[i, j] = 1 + exp(X[i, j])", call("+", call("exp", any()), any()), [("Y",)]),
        (X + "Y[i, j] = 1 - exp(X[i, j])", call("-", call("exp", any()), any()), []),
        # A name stands for one tensor.
        (X + "Y[i, j] = X[i, j] * X[i, j]", call("*", any("a"), any("a")), [("Y",)]),
        (X + "Y[i, j] = X[i, j] * exp(X[i, j])", call("*", any("a"), any("a")), []),
        # A sum is no product, and a maximum no sum.
        (PRODUCT + "Y[i, j] = A[i, k] * B[k, j]", call("*", access(), access()), []),
        (PRODUCT + "Y[i, j] = A[i, k] * B[k, j]", reduced("sum", call("*", access(), access())), [("Y",)]),
        (PRODUCT + "Y[i, j] max= A[i, k] * B[k, j]", reduced("sum", any()), []),
        (PRODUCT + "Y[i, j] max= A[i, k] * B[k, j]", reduced("max", any()), [("Y",)]),
        (X + "T[i, j] = relu(X[i, j])\nm[i] max= T[i, j]", call("relu", any()), [("T",)]),
        # A term of a sum.
        (
            PRODUCT + "tensor c[j=5]\nY[i, j] = A[i, k] * B[k, j] + c[j]",
            call("+", reduced("sum", any()), access("bias")),
            [("Y",)],
        ),
        (X + "Y[i, j] = relu(X[i, j])", either(call("exp", any()), call("relu", any())), [("Y",)]),
        (
            X + "Y[i, j] = X[i, j] * 2\nZ[i, j] = X[i, j] * 3",
            where(call("*", any(), any("n")), lambda parts: str(parts["n"]) == "3"),
            [("Z",)],
        ),
    ],
)
def test_matches(text: str, shape: Shape, expected: list[tuple[str, ...]]) -> None:
    assert matched(text, shape) == expected


CHAIN = (
    X + "A[i, j] = exp(X[i, j])\nB[i, j] = relu(A[i, j])\nC[i, j] = exp(B[i, j])\nD[i, j] = relu(C[i, j])\n"
)
EXP, BOTH = (
    StatementPattern("exp", call("exp", any())),
    StatementPattern("both", call("relu", call("exp", any()))),
)


def test_order_is_priority_and_not_size() -> None:
    """As of TVM's partition_order: what is left outside is a region of its own."""
    both = find_patterns(parse(CHAIN), [BOTH, EXP])
    assert [m.results for m in both.matches] == [("A", "B"), ("C", "D")]
    alone = find_patterns(parse(CHAIN), [EXP, BOTH])
    assert [m.results for m in alone.matches] == [("A",), ("C",)]
    assert [(r.match.results, r.why) for r in alone.refused] == [
        (("A", "B"), "'exp' has some of its statements"),
        (("C", "D"), "'exp' has some of its statements"),
    ]
    assert alone.schedule["fuse"] == [["A"], ["B"], ["C"], ["D"]]


def test_a_pattern_takes_in_its_own_matches() -> None:
    """As of TVM's match_maximal_subgraph."""
    shape = either(call("relu", call("exp", any())), call("exp", any()))
    assert matched(CHAIN, shape) == [("A", "B"), ("C", "D")]


def test_a_check_sees_the_uses_elsewhere() -> None:
    text = X + "A[i, j] = exp(X[i, j])\nB[i, j] = relu(A[i, j])\nC[i, j] = A[i, j] + B[i, j]\n"
    pattern = StatementPattern("both", BOTH.shape, lambda match: ", ".join(match.uses_elsewhere))
    found = find_patterns(parse(text), [pattern])
    assert not found.matches
    assert [(r.match.results, r.why) for r in found.refused] == [(("A", "B"), "A")]


def test_what_cannot_run_at_once_is_no_match() -> None:
    """As of TVM's cyclic_dependency: gelu lies between, and is not matched."""
    text = X + "A[i, j] = exp(X[i, j])\nG[i, j] = gelu(A[i, j])\nY[i, j] = relu(A[i, j]) + G[i, j]\n"
    shape = call("+", call("relu", call("exp", any())), access())
    (refused,) = find_patterns(parse(text), [StatementPattern("it", shape)]).refused
    assert refused.match.results == ("A", "Y")
    assert refused.why == "it needs G, which needs one of its statements"


def test_equal_matches() -> None:
    found = find_patterns(parse(CHAIN), [BOTH])
    first, second = found.matches
    assert (found.equal_to(first), found.equal_to(second)) == (None, first)
    text = CHAIN.replace("C[i, j] = exp", "tensor C[i=4, j=5] : csr\nC[i, j] = exp")
    stored = find_patterns(parse(text), [BOTH])
    assert [stored.equal_to(match) for match in stored.matches] == [None, None]


def test_matches_add_to_the_schedule() -> None:
    pattern = replace(BOTH, schedule=lambda match: {"formats": {match.results[0]: "csr"}})
    found = find_patterns(parse(CHAIN), [pattern])
    assert found.schedule == {"fuse": [["A", "B"], ["C", "D"]], "formats": {"A": "csr", "C": "csr"}}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            lambda match: {"attempts": len(match.results[0]) + ord(match.results[0])},
            "another value than a match",
        ),
        (lambda match: {"fuse": "none"}, "'both' gives 'fuse', but its match is the region"),
        (lambda match: {"lane": {"i": 2}}, "A schedule has no field 'lane'"),
    ],
)
def test_fields_that_matches_cannot_give(fields: Callable[[Match], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_patterns(parse(CHAIN), [replace(BOTH, schedule=fields)])
