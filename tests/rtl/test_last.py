"""last, against cycles worked out by hand from docs/primitives.md."""

import pytest

from samhw.graph.numerics import value_type
from samhw.primitives.last.component import Last
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


@pytest.mark.parametrize(
    ("val", "expected"),
    [
        # The last fiber of a list takes a cycle more.
        ("1 2 S0 S0 N S0 3 S1 D", "2@3 0@4 0@6 3@8 S0@9 D@10"),
        ("S1:1 D", "S0@1 D@2"),
        ("S0 5 S1 S1:1 S2 D", "0@1 5@3 S0@4 S0@5 0@6 S1@7 D@8"),
    ],
)
def test_fibers(val: str, expected: str) -> None:
    result = run(Last(arch=ARCH, value_type=value_type("i32")), {"val": val})
    assert result.pops["val"] == timed(expected)
    assert not result.error
