"""What streams cannot follow in one region: the region ends there, or else it is refused; and what they can,
although it looks as if they could not."""

from typing import Any

import numpy as np
import pytest

import samhw
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors import Tensor

COUNTS = np.random.default_rng(1).integers(-2, 3, (5, 6))
OTHERS = np.random.default_rng(2).integers(-3, 4, (5, 6))


def outputs(text: str, arrays: dict[str, Any], **schedule: Any) -> tuple[Compiled, dict[str, Any]]:
    """The design, and what a simulation of it gives."""
    program = parse(text)
    found = compile_job(Job(program, Schedule(**schedule)))
    given = {n: Tensor.from_dense(np.array(a), program.tensors[n].format) for n, a in arrays.items()}
    return found, {n: t.to_dense() for n, t in run(found, given).outputs.items()}


# Under masks that the region computes

MASKED = """
tensor A[i=5, j=6] : csr
tensor X[i, j] : dense
tensor M[i, j] : {levels}
fuse {{
  M[i, j] = max(A[i, j], 0)
  s[i] {reduction}= X[i, j] where M[i, j]
  t[i] {reduction}= M[i, j] + X[i, j] where M[i, j]
  Y[i, j] = 2 * M[i, j]
}}
"""


@pytest.mark.parametrize("reduction", ["max", "min"])
@pytest.mark.parametrize("levels", ["csr", "dcsr", "dense"])
def test_a_maximum_under_a_mask_that_the_region_computes(levels: str, reduction: str) -> None:
    text = MASKED.format(levels=levels, reduction=reduction)
    found, got = outputs(text, {"A": COUNTS, "X": OTHERS})
    assert len(found.regions) == 1
    for name, values in (("s", OTHERS), ("t", np.maximum(COUNTS, 0) + OTHERS)):
        rows = [row[mask > 0] for row, mask in zip(values, COUNTS, strict=True)]
        expected = [getattr(row, reduction)() if row.size else 0 for row in rows]
        np.testing.assert_array_equal(got[name], expected)


def test_a_maximum_over_both_indices_of_a_computed_mask() -> None:
    text = MASKED.format(levels="csr", reduction="max").replace("s[i] max", "s max")
    found, got = outputs(text, {"A": COUNTS, "X": OTHERS})
    assert len(found.regions) == 1
    assert got["s"] == OTHERS[COUNTS > 0].max()


def test_a_softmax_over_what_a_product_has_stored() -> None:
    text = """
    tensor A[i=5, k=6] : csr
    tensor X[k, j=5] : csr
    tensor S[i, j] : csr
    tensor E[i, j] : csr
    fuse {
      S[i, j] = A[i, k] * X[k, j]
      m[i] max= S[i, j] where S[i, j]
      E[i, j] = S[i, j] - m[i] where S[i, j]
      l[i] = E[i, j]
    }
    """
    found, got = outputs(text, {"A": COUNTS, "X": OTHERS.T})
    assert len(found.regions) == 1
    scores = COUNTS @ OTHERS.T
    highest = np.where(scores != 0, scores, -99).max(1, keepdims=True)
    np.testing.assert_array_equal(got["l"], np.where(scores != 0, scores - highest, 0).sum(1))


# Values everywhere, into levels that store only some


def test_a_bias_into_compressed_levels() -> None:
    text = (
        "tensor A[i=5, j=6] : dcsr\ntensor b[j] : dense\ntensor Y[i, j] : dcsr\n"
        "tensor s\nfuse {\n  Y[i, j] = A[i, j] + b[j]\n}\ns = max(A[i, j] + 1, 0)\n"
    )
    few = np.where(np.arange(5)[:, None] % 2, COUNTS, 0)
    _, got = outputs(text, {"A": few, "b": [1, 0, 2, 0, 0, -1]})
    np.testing.assert_array_equal(got["Y"], few + np.array([1, 0, 2, 0, 0, -1]))
    assert got["s"] == np.maximum(few + 1, 0).sum()


# Results that streams cannot give in their format


@pytest.mark.parametrize("levels", ["dense", "csr", "csc"])
def test_a_sum_that_keeps_two_indices_into_any_format(levels: str) -> None:
    text = (
        f"tensor A[i=5, k=6] : csr\ntensor C[k, l=6] : {levels}\ntensor D[k, l] : csr\nfuse {{\n"
        "  C[k, l] = A[i, k] * A[i, l]\n  D[k, l] = 2 * C[k, l]\n}\nE[k, l] = C[k, l] + D[k, l]\n"
    )
    found, got = outputs(text, {"A": COUNTS}, permute=levels == "csc")
    product = COUNTS.T @ COUNTS
    for name, factor in (("C", 1), ("D", 2), ("E", 3)):
        np.testing.assert_array_equal(got[name], factor * product)
    if levels != "csc":
        (first, *_, last) = found.regions
        assert [s.lhs.tensor for s in first.region.statements] == ["C_csf", "D_csf"]
        assert [s.lhs.tensor for s in last.region.statements] == ["E"]
        assert first.note.startswith(
            "stores C as C_csf, from which the next region makes it: 'C[k, l] = .., D[k, l] = ..' is dense "
            "in k, but C gives only some k, each with a fiber inside; stores D as D_csf"
        )
        assert list(found.schedule.order) == ["D", "E"]
        again = compile_job(Job(parse(text), found.schedule))
        assert [r.graph for r in again.regions] == [r.graph for r in found.regions]


def test_columns_into_a_dense_result_that_keeps_three_indices() -> None:
    text = (
        "tensor A[i=5, k=6] : csc\ntensor X[k, j=2, l=3] : dense\nfuse {\n"
        "  T[i, j, l] = A[i, k] * X[k, j, l]\n  Y[i, j, l] = max(T[i, j, l], 0)\n}\n"
    )
    rng = np.random.default_rng(4)
    x = rng.integers(-2, 3, (6, 2, 3))
    found, got = outputs(text, {"A": COUNTS, "X": x})
    assert [[s.lhs.tensor for s in r.region.statements] for r in found.regions] == [["T", "Y_csf"], ["Y"]]
    np.testing.assert_array_equal(got["Y"], np.maximum(np.einsum("ik,kjl->ijl", COUNTS, x), 0))


def test_extents_of_a_result_in_other_levels_come_with_the_data() -> None:
    """The program declares none. Row-wise products of columns meet in no order in which j is outermost."""
    rows, columns = np.array([[1, 0], [2, 3]]), np.arange(8).reshape(2, 4)
    design = samhw.compile(
        "T[j, l] = A[l, i] * B[i, j]",
        formats={"A": "csc", "B": "csr", "T": "dense"},
        value=value_type("i32"),
        schedule=Schedule(permute=True),
    )
    result = design.run(A=rows, B=columns)
    np.testing.assert_array_equal(result["T"], (rows @ columns).T)


def test_columns_and_a_bias() -> None:
    """Where no row has been met, the bias is all: no format of the result helps, so the region ends."""
    text = (
        "tensor A[i=5, k=6] : csc\ntensor X[k, j=6] : dense\ntensor b[j] : dense\nfuse {\n"
        "  T[i, j] = A[i, k] * X[k, j]\n  Y[i, j] = T[i, j] + b[j]\n}\n"
    )
    found, got = outputs(text, {"A": COUNTS, "X": OTHERS.T @ OTHERS, "b": np.arange(6)})
    assert [[s.lhs.tensor for s in r.region.statements] for r in found.regions] == [["T_csf"], ["T"], ["Y"]]
    np.testing.assert_array_equal(got["Y"], COUNTS @ OTHERS.T @ OTHERS + np.arange(6))


# Where a region ends since streams cannot follow it

TWICE = """
tensor A[i=4] : csf
tensor b[i=4] : csf
tensor c[i=4] : csf
tensor D[i=4] : dense
tensor T[i=4] : csf
tensor Y[i=4] : csf
fuse {
  T[i] = A[i] * 2
  Y[i] = (T[i] * b[i] + D[i]) * (T[i] * c[i] + D[i])
  Z[i] = Y[i] + 1
}
"""
ARRAYS = {"A": [1, 0, 2, 3], "b": [0, 1, 1, 0], "c": [1, 0, 0, 1], "D": [1, 2, 0, 4]}


def test_a_region_ends_where_streams_cannot_follow() -> None:
    found, got = outputs(TWICE, ARRAYS)
    assert [[s.lhs.tensor for s in r.region.statements] for r in found.regions] == [["T"], ["Y", "Z"]]
    assert found.schedule.fuse == (("T",), ("Y", "Z"))
    assert found.regions[0].note == (
        "ends after T: streams cannot follow what comes after in the same region (A takes part in two "
        "terms of 'Y[i] = ..' that have different coordinates i)"
    )
    # T is 2, 0, 4, 6.
    np.testing.assert_array_equal(got["Z"], [4, 5, 1, 41])


def test_a_region_ends_where_a_fiber_would_be_read_again_for_each_coordinate() -> None:
    text = """
    tensor S[t=4, u=4, h=2] : csf
    tensor V[u, h, d=3]
    tensor M[t, u] : csr
    fuse {
      T[t, u, h] = 2 * S[t, u, h]
      m[t, h] max= T[t, u, h] where M[t, u]
      E[t, u, h] = T[t, u, h] - m[t, h] where M[t, u]
      O[t, h, d] = E[t, u, h] * V[u, h, d]
    }
    """
    rng = np.random.default_rng(3)
    s, v, m = rng.integers(-2, 3, (4, 4, 2)), rng.integers(-2, 3, (4, 2, 3)), rng.integers(0, 2, (4, 4))
    found, got = outputs(text, {"S": s, "V": v, "M": m})
    names = [[s.lhs.tensor for s in r.region.statements] for r in found.regions]
    assert names == [["T"], ["m", "E", "O_csf"], ["O"]]
    assert "reduces an intermediate over u, and uses it once more inside of u)" in found.regions[0].note
    mask = m[:, :, None] != 0
    highest = np.where(mask, 2 * s, -99).max(1) * mask.any(1)
    scores = np.where(mask, 2 * s - highest[:, None], 0)
    np.testing.assert_array_equal(got["O"], np.einsum("tuh,uhd->thd", scores, v))


MIDDLE = """
tensor A[k=6, i=5] : csr
tensor B[k, j=6] : csr
tensor D[i, j] : csr
tensor Y[i, j] : csr
"""
ENTERED = MIDDLE + "Y[i, j] = D[i, j] + A[k, i] * B[k, j]    order k, i, j\n"
MANY = "".join(f"tensor B{n}[i=6] : csf\n" for n in range(11)) + "tensor Y[i] : csf\n"
SUM = " + ".join(f"B{n}[i]" for n in range(1, 11))


@pytest.mark.parametrize(
    ("text", "message", "ways"),
    [
        (
            ENTERED,
            "The sum over k gives a stream over j inside of i",
            (
                (ENTERED.replace("k, i, j\n", "i, k, j\n"), {"permute": True}),
                (
                    MIDDLE + "fuse {\n  T[i, j] = A[k, i] * B[k, j]    order k, i, j\n"
                    "  Y[i, j] = D[i, j] + T[i, j]\n}\n",
                    {},
                ),
            ),
        ),
        (
            MANY + f"Y[i] = B0[i] + {SUM}\n",
            "11 streams meet at i .* compute some of the operands in a region of their own",
            ((MANY + f"tensor T[i] : csf\nT[i] = {SUM}\nY[i] = B0[i] + T[i]\n", {}),),
        ),
    ],
)
def test_the_ways_out_that_refusals_name(
    text: str, message: str, ways: tuple[tuple[str, dict[str, Any]], ...]
) -> None:
    with pytest.raises(ScheduleError, match=message):
        compile_job(Job(parse(text)))
    arrays = {
        decl.name: OTHERS.T if decl.indices == ("k", "i") else OTHERS[0] if decl.rank == 1 else COUNTS
        for decl in parse(text).inputs
    }
    arrays |= {"B": np.vstack([COUNTS, COUNTS[:1]])} if "B" in arrays else {}
    expected = COUNTS + OTHERS @ arrays["B"] if "B" in arrays else 11 * OTHERS[0]
    for way, schedule in ways:
        _, got = outputs(way, arrays, **schedule)
        np.testing.assert_array_equal(got["Y"], expected)


@pytest.mark.parametrize(
    "schedule",
    [{"share": "none"}, {"share": {"T": "buffer"}}, {"share": {"T": "recompute"}}, {"order": ("i",)}],
)
def test_a_region_that_must_not_end_is_refused(schedule: dict[str, Any]) -> None:
    with pytest.raises(ScheduleError, match="A takes part in two terms of"):
        compile_job(Job(parse(TWICE), Schedule(**schedule)))
