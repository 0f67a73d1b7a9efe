"""top_k, against cycles worked out by hand from docs/primitives.md."""

import pytest

from samhw.graph.numerics import value_type
from samhw.primitives.top_k.component import TopK
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


@pytest.mark.parametrize(
    ("op", "gives", "k", "value", "crd", "val", "rank", "expected"),
    [
        # An element falls out, and of two equal ones the second; an empty fiber gives zero, and so does a
        # rank that a fiber is too short for.
        (
            *("max", "places", 2, "i32"),
            "3 5 8 9 S0 S0 4 6 S1 D",
            "1 2 2 3 S0 S0 N 4294967295 S1 D",
            "0 1 S0 0 S0 0 1 2 S1 D",
            "9@5 5@6 S0@7 0@8 S0@9 4@12 6@13 0@14 S1@15 D@16",
        ),
        # One, NaN, -0 and 0.
        (
            *("min", "values", 3, "bf16"),
            "1 2 3 4 S0 D",
            "16256 32704 32768 0 S0 D",
            "0 1 2 S0 D",
            "32704@5 32768@6 0@7 S0@8 D@9",
        ),
        ("max", "values", 1, "i32", "S1:1 D", "S1:1 D", "S1:1 D", "S1:1@1 D@2"),
    ],
)
def test_fibers(
    op: str, gives: str, k: int, value: str, crd: str, val: str, rank: str, expected: str
) -> None:
    component = TopK(arch=ARCH, value_type=value_type(value), op=op, gives=gives, k=k)
    result = run(component, {"crd": crd, "val": val, "rank": rank})
    assert result.pops["val"] == timed(expected)
    assert not result.error


@pytest.mark.parametrize(
    ("crd", "val", "rank"), [("1 S0", "1 1", "0 0"), ("1 S0", "1 S0", "S1"), ("1", "S0", "0")]
)
def test_streams_out_of_step(crd: str, val: str, rank: str) -> None:
    component = TopK(arch=ARCH, value_type=value_type("i32"), op="max", gives="values", k=2)
    assert run(component, {"crd": crd, "val": val, "rank": rank}).error
