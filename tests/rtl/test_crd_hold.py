"""crd_hold, against cycles worked out by hand from docs/primitives.md; test_repeat.py has more of the shared
actor."""

from samhw.primitives.crd_hold.component import CrdHold
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


def test_examples():
    result = run(CrdHold(arch=ARCH), {"outer": "7 8 9 S0 D", "inner": "0 1 S0 2 S0 S1 D"})
    assert result.pops["crd"] == timed("7@1 7@2 S0@3 8@4 S0@5 S1@7 D@8")
    assert not result.error


def test_structures_that_disagree():
    assert run(CrdHold(arch=ARCH), {"outer": "N S0 D", "inner": "1 S1 D"}, cycles=20).error == Error.PROTOCOL
    result = run(CrdHold(arch=ARCH), {"outer": "7 S0 D", "inner": "1 S0 1 S1 D"}, cycles=20)
    assert result.error == Error.PROTOCOL
    assert result.pops["crd"][:2] == timed("7@1 S0@2")
