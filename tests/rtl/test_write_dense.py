"""write_dense: what it accepts, and when it commits."""

import pytest

from samhw.primitives.write_dense.component import WriteDense
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run


@pytest.mark.parametrize(
    ("extent", "crd", "errors"),
    [
        (2, "0 1 S0 0 1 S1 D", []),
        (0, "S0 S1 D", []),
        (2, "S1:1 0 1 S1 D", []),
        (1, "0 S0 D 0 S0 D", []),
        (2, "0 S0 0 1 S1 D", [(1, Error.RANGE)]),
        (2, "0 1 2 S0 D", [(3, Error.RANGE)]),
        (2, "1 0 S0 D", [(0, Error.RANGE), (1, Error.RANGE)]),
        (2, "S0 D", [(0, Error.RANGE)]),
    ],
)
def test_fibers(extent, crd, errors):
    result = run(WriteDense(arch=ARCH), {"crd": crd}, controls={"extent": extent})
    assert result.errors == errors
    assert result.committed == [k for k, word in enumerate(crd.split()) if word == "D"]


def test_stalls():
    component = WriteDense(arch=ARCH, stall_port=True)
    result = run(component, {"crd": "0 S0 D"}, controls={"extent": 1}, pulses={"stall": [1, 3]})
    assert result.takes["crd"] == [0, 2, 4]
    assert result.committed == [4]


def test_no_coordinate():
    result = run(WriteDense(arch=ARCH), {"crd": "N S0 D"}, controls={"extent": 1}, cycles=10)
    assert result.error == Error.PROTOCOL
