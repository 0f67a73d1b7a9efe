"""arg, against cycles worked out by hand from docs/primitives.md."""

import pytest

from samhw.graph.numerics import value_type
from samhw.primitives.arg.component import Arg
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


@pytest.mark.parametrize(
    ("op", "value", "crd", "val", "expected"),
    [
        # The first of several greatest values; an EMPTY is zero, an empty fiber gives zero, and the last
        # fiber of a list takes a cycle more.
        (
            "max",
            "i32",
            "3 5 8 S0 S0 4 S0 6 7 S1 D",
            "1 2 2 S0 S0 N S0 N 1 S1 D",
            "5@4 0@5 4@7 7@10 S0@11 D@12",
        ),
        ("min", "i32", "1 2 3 S0 D", "2 4294967295 4294967295 S0 D", "2@4 D@5"),
        # One, NaN, infinity and another NaN; then -0 and 0.
        (
            "max",
            "bf16",
            "1 2 3 4 S0 5 6 S1 D",
            "16256 32704 32640 32705 S0 32768 N S1 D",
            "2@5 5@8 S0@9 D@10",
        ),
        ("max", "i32", "S1:1 D", "S1:1 D", "S0@1 D@2"),
    ],
)
def test_fibers(op: str, value: str, crd: str, val: str, expected: str) -> None:
    result = run(Arg(arch=ARCH, value_type=value_type(value), op=op), {"crd": crd, "val": val})
    assert result.pops["val"] == timed(expected)
    assert not result.error


def test_streams_out_of_step() -> None:
    assert run(Arg(arch=ARCH, value_type=value_type("i32"), op="max"), {"crd": "1 S0", "val": "1 1"}).error
