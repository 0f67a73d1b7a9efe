"""scan_ell, against cycles worked out by hand from docs/primitives.md.

A ref taken in t is at the walk in t + 3 (`Arch.memory` and `Arch.step`).
"""

import pytest

from samhw.primitives.scan_ell.component import ScanEll
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


def scan(cnt, crd, ref, *, width=2, **options):
    component = ScanEll(arch=ARCH, width=width, cnt_capacity=4, crd_capacity=8)
    memories = {"mem_cnt": cnt, "mem_crd": crd}
    return run(component, {"ref": ref}, memories=memories, controls={"extent": 9}, **options)


def test_padding_costs_nothing():
    result = scan([2, 0, 1], [4, 7, 0, 0, 1, 0], "0 1 2 S0 D")
    assert result.pops["ref"] == timed("0@4 1@5 S0@6 S0@7 4@8 S1@9 D@10")
    assert result.pops["crd"] == timed("4@5 7@6 S0@7 S0@8 1@9 S1@10 D@11")
    assert not result.error


@pytest.mark.parametrize(
    ("cnt", "crd", "ref", "error"),
    [
        ([3], [1, 2, 3], "0 D", Error.RANGE),  # More than there is room for.
        ([1], [1], "4 D", Error.RANGE),
        ([1], [9], "0 D", Error.RANGE),
        ([2], [1, 1], "0 D", Error.PROTOCOL),
        ([1, 1], [8, 9, 8, 9], "0 N 1 S0 D", Error(0)),  # Nobody reads the padding.
    ],
)
def test_errors(cnt, crd, ref, error):
    assert scan(cnt, crd, ref, cycles=30).error == error
