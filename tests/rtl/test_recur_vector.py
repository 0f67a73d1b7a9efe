"""recur_vector, against cycles worked out by hand from docs/primitives.md. What both vector reducers have,
test_reduce_vector.py tests."""

import pytest

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.primitives.recur_vector.component import RecurVector
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed

pytestmark = pytest.mark.filterwarnings("ignore:.*created but never used")
"""Components that refuse their parameters."""


def recur_vector(crd0: str, factor: str, val: str, value: str = "i32"):
    component = RecurVector(arch=ARCH, value_type=value_type(value), bits=[3])
    return run(component, {"crd0": crd0, "factor": factor, "val": val})


def test_an_address_is_rescaled_when_its_sum_is_there() -> None:
    result = recur_vector("1 3 S0 1 S1 D", "2 7 S0 3 S1 D", "10 20 S0 5 S1 D")
    assert result.pops["crd0"] == timed("1@16 3@17 S0@18 D@19")
    assert result.pops["val"] == timed("35@17 20@18 S0@19 D@20")
    assert result.takes["val"] == [0, 1, 2, 5, 6, 7]
    assert not result.error


def test_errors() -> None:
    assert recur_vector("1 S0 1 S1 D", "1 S0 100 S1 D", "2 S0 1 S1 D", "i8").error == Error.OVERFLOW
    # The first factor of an address counts for nothing.
    assert not recur_vector("1 S0 1 S1 D", "100 S0 1 S1 D", "100 S0 1 S1 D", "i8").error
    assert recur_vector("9 S0 1 S1 D", "1 S0 1 S1 D", "1 S0 1 S1 D").error == Error.RANGE
    assert recur_vector("1 S0 1 S1 D", "S0 1 S1 D", "1 S0 1 S1 D").error == Error.PROTOCOL


def test_a_latency_that_cannot_be() -> None:
    with pytest.raises(InputError, match=r"'recur' on f32 in Arch\.reduce is 9; give at least 11"):
        RecurVector(arch=Arch(reduce={"f32": {"recur": 9}}), value_type=value_type("f32"), bits=[3])
