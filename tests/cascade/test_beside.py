"""Cascades beside other statements of a program, which have nothing to do with them."""

import numpy as np
import pytest

import samhw

A = np.array([[0.0, 1, 2, 3], [2, 2, 2, 2]])
SUMS = np.exp(A - A.max(1, keepdims=True)).sum(1)

FORMS = ("deferred", "rescaled", "finite", {"tile": 2})

STARTED = """
tensor A[i, j]
tensor A0[i]
tensor B[i]
tensor h
tensor G[t=3]
tensor H[t=3, i=4]
m[i] max= A[i, j]
Z[i] = exp(A[i, j] - m[i])
scan t {
  H[t, k] = 2 * H[t-1, k] + B[k]
  G[t] = G[t-1] + 1
}
H[-1, i] = A0[i]
G[-1] = h
"""


@pytest.mark.parametrize("form", FORMS)
def test_a_scan_with_a_start(form: str | dict[str, int]) -> None:
    start, step = np.array([1.0, 2, 3, 4]), np.array([1.0, 0, 1, 0])
    given = {"A": A, "A0": start, "B": step, "h": np.array(5.0)}
    found = samhw.compile(STARTED, value="f32", schedule={"cascade": form, "fuse": "full"}).run(given)
    np.testing.assert_allclose(found["Z"], SUMS, rtol=1e-5)
    np.testing.assert_array_equal(found["H"], [2**n * start + (2**n - 1) * step for n in (1, 2, 3)])
    np.testing.assert_array_equal(found["G"], [6, 7, 8])


PROBABILITIES = """
tensor A[i, j]
tensor G[t=3, i, j]
fuse {
  m[i] max= A[i, j]
  E[i, j] = exp(A[i, j] - m[i])
  Z[i] = E[i, j]
  P[i, j] = E[i, j] / Z[i]
}
scan t {
  G[t, i, j] = 2 * G[t-1, i, j]
}
G[-1, i, j] = P[i, j]
"""


@pytest.mark.parametrize(("form", "lanes"), [(form, {}) for form in FORMS] + [("rescaled", {"j": 2})])
def test_a_scan_that_starts_from_a_cascade(form: str | dict[str, int], lanes: dict[str, int]) -> None:
    schedule = {"cascade": form, "lanes": lanes}
    found = samhw.compile(PROBABILITIES, value="f32", schedule=schedule).run({"A": A})
    shares = np.exp(A - A.max(1, keepdims=True)) / SUMS[:, None]
    np.testing.assert_allclose(found["G"], [2 * shares, 4 * shares, 8 * shares], rtol=1e-5)
