"""write_val: what it stores, and when it commits."""

from samhw.primitives.write_val.component import WriteVal
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run


def write(val, *, capacity=4, stall_port=False, **options):
    component = WriteVal(arch=ARCH, stored_width=8, vals_capacity=capacity, stall_port=stall_port)
    return run(component, {"val": val}, memories={"mem_vals": [99] * capacity}, **options)


def test_values():
    result = write("7 255 S0 N S1:1 S1 D")
    assert result.memories["mem_vals"] == [7, 255, 0, 99]
    assert result.committed == [6]
    assert not result.error


def test_scalar_and_second_run():
    result = write("7 D 8 D", capacity=1)
    assert result.memories["mem_vals"] == [8]
    assert result.committed == [1, 3]
    assert not result.error


def test_capacity():
    assert write("1 2 3 S0 D", capacity=3).error == Error(0)
    result = write("1 2 3 4 S0 D", capacity=3)
    assert result.errors == [(3, Error.CAPACITY)]
    assert result.memories["mem_vals"][:3] == [1, 2, 3]


def test_stalls():
    result = write("1 D", stall_port=True, pulses={"stall": [0, 2]})
    assert result.takes["val"] == [1, 3]
    assert result.committed == [3]
