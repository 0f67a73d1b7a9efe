"""step_ref, against places and cycles worked out by hand from docs/primitives.md."""

import pytest

from samhw.primitives.step_ref.component import StepRef
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


def step(at, *, offset=0, extent=None, down=None, **options):
    component = StepRef(
        arch=ARCH,
        offset=offset,
        bounded=extent is not None,
        down=down is not None,
        stall_port="stall" in options.get("pulses", {}),
    )
    registers = {"repeat": at, "extent": extent, "down": down}
    controls = {name: value for name, value in registers.items() if value is not None}
    pulses = {"start": [0]} | options.pop("pulses", {})
    return run(component, controls=controls, pulses=pulses, **options)


@pytest.mark.parametrize(
    ("at", "registers", "expected"),
    [
        (0, {"extent": 4}, "0@2 D@3"),
        (3, {"extent": 4}, "3@2 D@3"),
        (1, {"offset": -2, "extent": 4}, "N@2 D@3"),
        (2, {"offset": -2, "extent": 4}, "0@2 D@3"),
        (3, {"offset": 1, "extent": 4}, "N@2 D@3"),
        (0, {"extent": 4, "down": 4}, "3@2 D@3"),
        (0, {"offset": 1, "extent": 4, "down": 4}, "N@2 D@3"),
        (1, {"offset": 1, "extent": 4, "down": 4}, "3@2 D@3"),
        (3, {"offset": -1, "extent": 4, "down": 4}, "N@2 D@3"),
        (2, {"offset": -2}, "0@2 D@3"),
        (3, {"offset": -2}, "N@2 D@3"),
        (1, {"offset": -2}, "N@2 D@3"),
    ],
)
def test_places(at, registers, expected):
    result = step(at, **registers)
    assert result.pops["ref"] == timed(expected)
    assert result.fired == [1, 2]


def test_waits_for_a_slot():
    assert step(1, extent=4, pops={"ref": [6]}, depth=1).pops["ref"] == timed("1@6 D@8")


def test_stalls_and_runs_again():
    result = step(1, extent=4, pulses={"start": [0, 10], "stall": [1, 2, 3, 5, 6]})
    assert result.pops["ref"] == timed("1@5 D@8 1@12 D@13")
