"""scan_dia, against cycles worked out by hand from docs/primitives.md.

A ref taken in t is at the walk in t + 2, and what the walk pushes then at keep three cycles later.
"""

import pytest

from samhw.primitives.scan_dia.component import ScanDia
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


def scan(off, ref, *, cnt=None, **options):
    component = ScanDia(arch=ARCH, cnt_capacity=1, off_capacity=4)
    words = [o % 2**ARCH.index_bits for o in off]
    memories = {"mem_cnt": [len(off) if cnt is None else cnt], "mem_off": words}
    return run(component, {"ref": ref}, memories=memories, controls={"extent": 3, "rows": 3}, **options)


def test_a_diagonal_outside_of_the_matrix_costs_a_cycle():
    result = scan([-1, 0, 2], "0 2 S0 D")
    assert result.pops["ref"] == timed("3@7 6@8 S0@9 2@10 5@11 S1@13 D@14")
    assert result.pops["crd"] == timed("0@7 2@8 S0@9 1@10 2@11 S1@13 D@14")
    assert not result.error


def test_a_row_without_coordinates():
    result = scan([-1], "0 1 S0 D")
    assert result.pops["crd"] == timed("S0@7 0@8 S1@9 D@10")
    assert result.pops["ref"] == timed("S0@7 1@8 S1@9 D@10")


@pytest.mark.parametrize(
    ("off", "cnt", "error"),
    [([1, 1], None, Error.PROTOCOL), ([2, 1], None, Error.PROTOCOL), ([0], 5, Error.RANGE)],
)
def test_errors(off, cnt, error):
    result = scan(off, "0 S0 D", cnt=cnt, cycles=40)
    assert error in result.error
