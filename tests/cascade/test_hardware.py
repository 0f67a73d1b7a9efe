"""Random cascades of every form and value type in RTL and HLS: the simulator's cycles and words.

The sixty programs in RTL and forty in HLS, instead of a sample:

    SAMHW_THOROUGH=1 python -m pytest -n 2 tests/cascade/test_hardware.py
"""

import random

import numpy as np
import pytest

import samhw
from samhw.lang import parse
from tests.support.cascade_programs import FORMS, VALUES, cascade_data, cascade_text, has_form
from tests.support.thorough import sample

CASES = [
    (form, value, seed) for seed in range(3) for form in FORMS for value in VALUES if has_form(form, value)
]
"""The form, the value type, and a number to draw by."""

FEW = [("segments", "f8e4m3", 0), ("tiles", "bf16", 0)]


def compared(form: str, value: str, seed: int, backend: str) -> None:
    rng = random.Random(f"{form} {value} {seed}")
    text = cascade_text(rng, form, value)
    program = parse(text)
    schedule = {
        "cascade": {
            "form": "finite" if form == "finite" else "rescaled",
            "tile": rng.choice((2, 4)) if form == "tiles" else 1,
        },
        "lanes": {"j": rng.choice((2, 4))} if form == "segments" else {},
    }
    given = cascade_data(program, value, np.random.default_rng(seed))
    design = samhw.compile(program, schedule=schedule)
    wanted, found = design.run(given), design.run(given, backend=backend)
    assert wanted.check().good, text
    for name, tensor in wanted.tensors.items():
        np.testing.assert_array_equal(found.tensors[name].to_dense(), tensor.to_dense(), err_msg=text)
    if backend == "verilator":
        assert found.cycles == wanted.cycles, text


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize(("form", "value", "seed"), sample(CASES[:60], FEW))
def test_in_rtl(form: str, value: str, seed: int) -> None:
    compared(form, value, seed, "verilator")


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.parametrize(("form", "value", "seed"), sample(CASES[-40:] + FEW, FEW))
def test_in_hls(form: str, value: str, seed: int) -> None:
    compared(form, value, seed, "hls")
