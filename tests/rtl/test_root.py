"""root, against cycles worked out by hand from docs/primitives.md."""

from samhw.primitives.root.component import Root
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


def test_two_tokens():
    # start in 0, VAL pushed in 1, DONE in 2.
    result = run(Root(arch=ARCH), pulses={"start": [0]})
    assert result.pops["out"] == timed("0@2 D@3")
    assert result.fired == [1, 2]


def test_runs_again():
    result = run(Root(arch=ARCH), pulses={"start": [0, 10]})
    assert result.pops["out"] == timed("0@2 D@3 0@12 D@13")


def test_waits_for_a_slot():
    # The one slot is taken in 1, popped in 6 and free in 7.
    result = run(Root(arch=ARCH), pulses={"start": [0]}, pops={"out": [6]}, depth=1)
    assert result.pops["out"] == timed("0@6 D@8")


def test_stalls():
    result = run(Root(arch=ARCH, stall_port=True), pulses={"start": [0], "stall": [1, 2, 3, 5, 6]})
    assert result.pops["out"] == timed("0@5 D@8")
    assert result.fired == [4, 7]
