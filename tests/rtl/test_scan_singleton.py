"""scan_singleton, against cycles worked out by hand from docs/primitives.md."""

import pytest

from samhw.primitives.scan_singleton.component import ScanSingleton
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


@pytest.mark.parametrize(
    ("ref", "refs", "crds"),
    [
        ("0 1 S0 D", "0@1 S0@2 1@3 S1@4 D@5", "50@2 S0@3 51@4 S1@5 D@6"),
        ("2 D", "2@1 S0@2 D@3", "52@2 S0@3 D@4"),
        ("N 3 S0 D", "S0@2 3@3 S1@4 D@5", "S0@3 53@4 S1@5 D@6"),
        ("S0 D", "S1:1@1 D@2", "S1:1@2 D@3"),
        ("0 D 1 D", "0@1 S0@2 D@3 1@4 S0@5 D@6", "50@2 S0@3 D@4 51@5 S0@6 D@7"),
    ],
)
def test_examples(ref, refs, crds):
    component = ScanSingleton(arch=ARCH, crd_capacity=4)
    result = run(component, {"ref": ref}, memories={"mem_crd": [50, 51, 52, 53]}, controls={"extent": 54})
    assert result.pops["ref"] == timed(refs)
    assert result.pops["crd"] == timed(crds)
    assert not result.error


@pytest.mark.parametrize(("ref", "error"), [("3 N D", Error(0)), ("4 D", Error.RANGE)])
def test_references_beyond_the_memory(ref, error):
    result = run(ScanSingleton(arch=ARCH, crd_capacity=4), {"ref": ref}, controls={"extent": 1}, cycles=20)
    assert result.error == error


@pytest.mark.parametrize(("extent", "error"), [(8, Error(0)), (7, Error.RANGE), (0, Error.RANGE)])
def test_coordinates_beyond_the_extent(extent, error):
    component = ScanSingleton(arch=ARCH, crd_capacity=4)
    memories = {"mem_crd": [5, 7, 5, 9]}  # The fibers are apart: coordinates may come again.
    result = run(component, {"ref": "0 1 2 S0 D"}, memories=memories, controls={"extent": extent}, cycles=20)
    assert result.error == error
