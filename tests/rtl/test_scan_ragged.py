"""scan_ragged, against cycles worked out by hand from docs/primitives.md."""

import pytest

from samhw.primitives.scan_ragged.component import ScanRagged
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


def scan(pos, ref, **options):
    component = ScanRagged(arch=ARCH, pos_capacity=4)
    memories = {"mem_pos": pos, "mem_pos_next": pos}
    return run(component, {"ref": ref}, memories=memories, controls={"extent": 3}, **options)


def test_coordinates_begin_at_zero():
    result = scan([0, 2, 2, 3], "0 1 2 S0 D")
    assert result.pops["ref"] == timed("0@3 1@4 S0@5 S0@6 2@7 S1@8 D@9")
    assert result.pops["crd"] == timed("0@3 1@4 S0@5 S0@6 0@7 S1@8 D@9")
    assert not result.error


@pytest.mark.parametrize(
    ("pos", "ref", "error"),
    [
        ([0, 3], "0 D", Error(0)),
        ([0, 4], "0 D", Error.RANGE),
        ([2, 1], "0 D", Error.PROTOCOL),
        ([0, 1], "3 D", Error.RANGE),
    ],
)
def test_errors(pos, ref, error):
    assert scan(pos, ref, cycles=30).error == error
