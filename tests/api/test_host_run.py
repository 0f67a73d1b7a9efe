"""`design.host_run`: what a host writes and reads, without a backend of samhw between."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import samhw
from samhw.errors import InputError
from samhw.targets.backends import MODEL, find_backend

SCHEDULES = [
    {},
    {"split": {"A": "hyb(1,2)"}},
    {"permute_rows": {"A": "by length"}},
    {"split": {"A": "rows(2)"}, "permute_rows": {"A": "by length"}, "lanes": {"i": 2}},
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=["plain", "split", "ordered", "all"])
def test_words_in_and_words_out(schedule):
    rng = np.random.default_rng(3)
    a = sp.csr_array(rng.integers(1, 9, (13, 9)) * (rng.random((13, 9)) < 0.3))
    x = rng.integers(-4, 5, (9, 3))
    design = samhw.compile("T[i, j] = A[i, k] * X[k, j]", schedule=schedule)
    run = design.host_run(A=a, X=x)
    done = find_backend(MODEL.name).execute(run.compiled, run.inputs)
    assert_array_equal(run.results(done.words)["T"].to_dense(), a.toarray() @ x)


def test_a_host_run_says_what_is_missing():
    design = samhw.compile("T[i, j] = A[i, k] * X[k, j]")
    with pytest.raises(InputError, match="lacks data for X"):
        design.host_run(A=np.eye(3))
