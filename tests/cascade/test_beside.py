"""Cascades beside other statements of a program, which have nothing to do with them."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import samhw
from samhw.app.cli import main
from samhw.errors import InputError
from samhw.lang import parse
from samhw.lang.cascade import cascaded

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


RNG = np.random.default_rng(0)

ALIKE = """
tensor S[i, j]
tensor T[a]
fuse {
  m[i] max= S[i, k]
  Z[i] = exp(S[i, k] - m[i])
  n max= T[k]
  W = exp(T[k] - n)
}
"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("extent", [4, 6])
def test_two_cascades_may_call_their_indices_alike(form: str | dict[str, int], extent: int) -> None:
    other = RNG.normal(size=extent)
    found = samhw.compile(ALIKE, value="f32", schedule={"cascade": form}).run({"S": A, "T": other})
    np.testing.assert_allclose(found["Z"], SUMS, rtol=1e-5)
    np.testing.assert_allclose(found["W"], np.exp(other - other.max()).sum(), rtol=1e-5)


def test_lanes_on_two_cascades_of_one_name() -> None:
    schedule = {"cascade": "rescaled", "lanes": {"k": 2}}
    words = (
        "two cascades of a region call their indices so, those of 'Z' and 'W'; give them names of their own"
    )
    with pytest.raises(InputError, match=words):
        samhw.compile(ALIKE, value="f32", schedule=schedule).run({"S": A, "T": A[0]})


def test_tiles_of_one_index_under_two_names() -> None:
    text = (
        "tensor S[i, j]\nfuse {\nm[i] max= S[i, j]\nZ[i] = exp(S[i, j] - m[i])\nW[i] = exp(S[i, l] - m[i])\n}"
    )
    with pytest.raises(InputError, match="'W' is summed over it under another name, l; leave 'tile' out"):
        cascaded(parse(text), "rescaled", tile=2)


NESTED = """
tensor A[i, j]
tensor V[j, v]
fuse {
  m[i] max= A[i, j]
  O[i, v] = exp(A[i, j] - m[i]) * V[j, v]
  n[i] max= O[i, v]
  q[i] = exp(O[i, v] - n[i])
}
"""


@pytest.mark.parametrize(
    ("form", "lanes"),
    [*((form, {}) for form in FORMS), *(("rescaled", lanes) for lanes in ({"j": 2}, {"v": 2}, {"i": 2}))],
)
def test_a_cascade_of_what_a_cascade_gives(form: str | dict[str, int], lanes: dict[str, int]) -> None:
    values = RNG.normal(size=(4, 6))
    summed = np.exp(A - A.max(1, keepdims=True)) @ values
    schedule = {"cascade": form, "lanes": lanes}
    found = samhw.compile(NESTED, value="f32", schedule=schedule).run({"A": A, "V": values})
    np.testing.assert_allclose(found["q"], np.exp(summed - summed.max(1)[:, None]).sum(1), rtol=1e-5)


STEPS = """
tensor A[t, i, j]
tensor H[t=3, i=4, j=4]
scan t {
  fuse {
    m[i] max= H[t-1, i, j]
    Z[i] = exp(H[t-1, i, j] - m[i])
    H[t, i, j] = A[t, i, j] + exp(H[t-1, i, j] - m[i]) / Z[i]
  }
}
"""


@pytest.mark.parametrize("form", FORMS)
def test_a_softmax_of_an_earlier_step_is_as_it_is_written(form: str | dict[str, int]) -> None:
    given = RNG.normal(size=(3, 4, 4))
    steps = [np.zeros((4, 4))]
    for step in given:
        weights = np.exp(steps[-1] - steps[-1].max(1, keepdims=True))
        steps.append(step + weights / weights.sum(1, keepdims=True))
    found = samhw.compile(STEPS, value="f32", schedule={"cascade": form}).run({"A": given})
    np.testing.assert_allclose(found["H"], steps[1:], rtol=1e-5)


PLACED = """
index j=4
tensor A[i, k]
tensor P[j]
fuse {{
  m[i] max= A[i, {0}]
  Z[i] = exp(A[i, {0}] - m[i])
  Y[i, j] = exp(A[i, {0}] - m[i]) / Z[i]
}}
"""


@pytest.mark.parametrize(
    ("place", "columns"),
    [("wrap(j + 1)", [1, 2, 3, 0]), ("clamp(j + 1)", [1, 2, 3, 3]), ("P[j]", [2, 0, 1, 1])],
)
@pytest.mark.parametrize(("form", "lanes"), [("finite", {}), ({"tile": 2}, {}), ("rescaled", {"j": 2})])
def test_scores_at_computed_places(
    place: str, columns: list[int], form: str | dict[str, int], lanes: dict[str, int]
) -> None:
    text, given = PLACED.format(place), {"A": A, "P": np.array(columns)}
    if "P" not in place:
        text, given = text.replace("tensor P[j]\n", ""), {"A": A}
    # As it stands, before indices are made names, a program is left alone.
    program = parse(text)
    assert cascaded(program, "rescaled", lanes, 2).program is program
    found = samhw.compile(program, value="f32", schedule={"cascade": form, "lanes": lanes}).run(given)
    weights = np.exp(A[:, columns] - A[:, columns].max(1, keepdims=True))
    np.testing.assert_allclose(found["Y"], weights / weights.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_a_mask_of_rows(form: str | dict[str, int]) -> None:
    """Rows without any points give zeros, and their sums may be read outside of the mask."""
    text = """
    tensor A[i, j] : dcsr
    tensor M[i]
    m[i] max= A[i, k] where M[i]
    E[i, k] = exp(A[i, k] - m[i]) where M[i]
    Z[i] = E[i, k]
    P[i, k] = E[i, k] / Z[i] where M[i]
    s[i] = P[i, k]
    z[i] = Z[i] + 1
    """
    schedule = {"cascade": form, "fuse": "full"}
    found = samhw.compile(text, value="f32", schedule=schedule).run({"A": A, "M": np.array([1.0, 0])})
    np.testing.assert_allclose(found["s"], [1, 0], rtol=1e-5)
    np.testing.assert_allclose(found["z"], [SUMS[0] + 1, 1], rtol=1e-5)


def test_findings_are_of_what_computed_places_become(tmp_path: Path) -> None:
    path = tmp_path / "placed.ein"
    path.write_text(PLACED.format("P[j]"))
    found = CliRunner().invoke(main, ["compile", str(path), "--cascades", "--cascade", "rescaled"])
    assert "Z (over j): rescaled for m[i]" in found.output
