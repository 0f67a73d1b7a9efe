"""write_at: where it stores, and when it commits."""

import pytest

from samhw.primitives.write_at.component import WriteAt
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run


def write(ref, val, *, capacity=4, stall_port=False, **options):
    component = WriteAt(arch=ARCH, stored_width=8, vals_capacity=capacity, stall_port=stall_port)
    return run(component, {"ref": ref, "val": val}, memories={"mem_vals": [99] * capacity}, **options)


def test_values():
    result = write("2 0 S0 3 S1 D", "7 255 S0 N S1 D")
    assert result.memories["mem_vals"] == [255, 99, 7, 0]
    assert result.committed == [5]
    assert not result.error


def test_a_second_run_leaves_what_it_does_not_write():
    result = write("1 D 3 D", "7 D 8 D")
    assert result.memories["mem_vals"] == [99, 7, 99, 8]
    assert result.committed == [1, 3]
    assert not result.error


@pytest.mark.parametrize(
    ("ref", "val", "error"),
    [
        ("4 S0 D", "1 S0 D", Error.RANGE),
        ("N S0 D", "1 S0 D", Error.PROTOCOL),
        ("1 S0 D", "1 2 S0 D", Error.PROTOCOL),
        ("1 S0 D", "1 S1 D", Error.PROTOCOL),
    ],
)
def test_errors(ref, val, error):
    assert error in write(ref, val, cycles=40).error


def test_stalls():
    result = write("1 D", "1 D", stall_port=True, pulses={"stall": [0, 2]})
    assert result.takes["val"] == [1, 3]
    assert result.committed == [3]
