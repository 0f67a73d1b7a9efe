"""Random functions of nested lists against plain Python, in every form, and as programs."""

import numpy as np
import pytest

import samhw
from samhw.errors import InputError
from samhw.lang import nested
from tests.nested.random_functions import random_function
from tests.support.thorough import THOROUGH


@pytest.mark.filterwarnings("error")
def test_in_every_form() -> None:
    for seed in range(600 if THOROUGH else 60):
        made = random_function(seed)
        expected, lists = made.plain(), made.lists
        assert np.array_equal(made.function(*lists).array, expected), seed
        traced = nested.trace(made.function, *lists)
        found = nested.coarsened(traced)
        forms = [traced, nested.fuse_access_maps(traced), found.function, nested.side_by_side(traced)]
        for form in forms:
            assert np.array_equal(nested.evaluate(form, *lists).array, expected), seed
        reordered = nested.evaluate(found.function, *lists, schedules=found.wavefronts)
        assert np.array_equal(reordered.array, expected), seed


def test_as_programs() -> None:
    """With one cell for a diagonal and with copies; what a program cannot say is refused, and is not much."""
    refused, seeds = 0, range(1000, 1120 if THOROUGH else 1005)
    for seed in seeds:
        made = random_function(seed)
        expected, lists = made.plain(), made.lists
        traced = nested.trace(made.function, *lists)
        for copies in (False, True) if THOROUGH else (seed % 2 == 0,):
            try:
                found = nested.lowered(traced, copies)
            except InputError:
                refused += 1
                continue
            done = samhw.compile(found.program, value="i32", permute=True).run(found.inputs(*lists))
            assert np.array_equal(found.results(done).array, expected), seed
    assert refused <= len(seeds) / 2
