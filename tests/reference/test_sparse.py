"""The reference on stored tensors, against the same meaning on dense arrays."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.lang import Literal, Program, dumps, parse, walk
from samhw.lang.reference import Points, Rounding, evaluate_program, evaluate_with_bounds, pieces, results
from samhw.tensors import Tensor
from tests.reference.test_values import random_arrays
from tests.support.dense import values as dense_values
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.programs import programs

ROUNDINGS = [Rounding.fixed(32, 8), Rounding.floating(7), Rounding.floating(23)]


def stored(program: Program, arrays: dict[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: Tensor.from_dense(array, program.tensors[name].format) for name, array in arrays.items()}


def small_pieces(patch: pytest.MonkeyPatch, elements: int) -> None:
    """Has everything be computed in pieces of about this many elements."""
    patch.setattr(pieces, "PIECE", elements)
    patch.setattr(pieces, "_WHOLE", elements)


@given(
    programs(max_extent=4) | chained_programs(max_extent=4),
    st.integers(0, 2**32),
    st.sampled_from((1, 5, 1 << 16)),
)
def test_integers(program, seed, piece):
    arrays = random_arrays(program, seed, integers=True)
    expected = dense_values.evaluate_program(program, arrays)
    with pytest.MonkeyPatch.context() as patch:
        small_pieces(patch, piece)
        found = evaluate_program(program, stored(program, arrays))
    assert found.keys() == expected.keys()
    for name, array in found.items():
        assert array.dtype == expected[name].dtype
        assert np.array_equal(array, expected[name]), name


@given(
    programs(max_extent=4) | chained_programs(max_extent=4, integers=False),
    st.integers(0, 2**32),
    st.sampled_from((1, 5, 1 << 16)),
    st.sampled_from(ROUNDINGS),
)
def test_values_and_bounds(program, seed, piece, rounding):
    """Values against the dense meaning. Bounds do not depend on what is stored, nor on the pieces; what they
    must be, test_bounds.py says."""
    arrays = random_arrays(program, seed, integers=False)
    expected = dense_values.evaluate_program(program, arrays)
    parts = (part for statement in program.statements for part in walk(statement.rhs))
    has_zero = any(isinstance(part, Literal) and part.value == 0 for part in parts)
    full = evaluate_with_bounds(program, arrays, rounding)
    with pytest.MonkeyPatch.context() as patch:
        small_pieces(patch, piece)
        found = evaluate_with_bounds(program, stored(program, arrays), rounding)
    for name, (value, bound, _) in found.items():
        np.testing.assert_allclose(
            value, expected[name], rtol=1e-9, atol=1e-12, err_msg=name + dumps(program)
        )
        if has_zero:  # What is multiplied by it stores nothing, and rounds nothing.
            assert (bound <= full[name].bound * (1 + 1e-9) + 1e-35).all(), name + dumps(program)
            continue
        # The dense one charges an addition of two zeros that are not stored.
        np.testing.assert_allclose(
            bound, full[name].bound, rtol=1e-9, atol=1e-35, err_msg=name + dumps(program)
        )


@given(
    programs(max_extent=4) | chained_programs(max_extent=4),
    st.integers(0, 2**32),
    st.sampled_from((1, 5, 1 << 16)),
    st.data(),
)
def test_some_rows_of_the_results(program, seed, piece, data):
    """Whatever they depend on, they are those of the whole."""
    arrays = random_arrays(program, seed, integers=True)
    expected = dense_values.evaluate_program(program, arrays)
    names = data.draw(st.lists(st.sampled_from(sorted(expected)), min_size=1, unique=True))
    rows: dict[str, Any] = {}
    wanted: dict[str, Points] = {}
    for name in names:
        if expected[name].ndim:
            kept = data.draw(st.sets(st.integers(0, len(expected[name]) - 1), min_size=1))
            rows[name] = sorted(kept)
            wanted[name] = Points(("0",), np.array([rows[name]]))
        else:
            rows[name], wanted[name] = ..., Points.everything()
    with pytest.MonkeyPatch.context() as patch:
        small_pieces(patch, piece)
        found = results(program, stored(program, arrays), wanted=wanted)
    for name in names:
        assert np.array_equal(found[name].to_array()[rows[name]], expected[name][rows[name]]), dumps(program)


@pytest.mark.parametrize("last", ["T[i] * C[i, j]", "C[i, j] where T[i]", "-(T[i] * C[i, j])"])
def test_a_tensor_that_is_read_twice_is_needed_for_both(last):
    """At the points of the other factors of either product, and of all as a mask."""
    program = parse(
        "tensor A[i=4000] : csf\ntensor B[i, j=2] : csf\ntensor C[i, j] : csf\n"
        f"T[i] = A[i] * 2\nx[j] = T[i] * B[i, j] + {last}"
    )
    b, c = np.zeros((2, 4000, 2), int)
    b[0], c[1] = 1, 5
    tensors = stored(program, {"A": np.arange(1, 4001), "B": b, "C": c})
    found = results(program, tensors, wanted={"x": Points(("0",), np.array([[0]]))})
    assert found["x"].to_array()[0] == results(program, tensors)["x"].to_array()[0] != 2


@pytest.mark.parametrize("value", [0, 7])
def test_a_scalar_of_what_stores_nothing_or_one_value(value):
    program = parse("tensor A[i=1] : csf\ntensor x\nD[i] = A[i]\nx = reshape(D[i])")
    assert results(program, stored(program, {"A": np.array([value])}))["x"].to_array() == value
