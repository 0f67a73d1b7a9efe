"""The cases that ONNX's own package brings: of those that are read none is wrong, and nothing else than a
sentence says what is not."""

from collections import Counter

import pytest

pytest.importorskip("onnx")

from benchmarks.onnx_cases import group, known_cases, outcome

PARTS = 64


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("part", range(PARTS))
def test_cases_are_right_or_refused(part: int) -> None:
    found = {case.name: outcome(case) for case in known_cases("")[part::PARTS]}
    assert not {name: why for name, (kind, why) in found.items() if kind in ("wrong", "crash")}
    assert Counter(kind for kind, _ in found.values())["right"] > 0.6 * len(found)


def test_a_refusal_has_a_group() -> None:
    assert group("BitCast 'y' takes float for int32") == "types that samhw has not"
    assert group("Det 'y' is not read; see docs/onnx.md") == "other operators"
