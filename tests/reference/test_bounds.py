import random
from dataclasses import replace
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.graph.numerics import value_type
from samhw.lang import load_model, model_data, parse
from samhw.lang.reference import Rounding, bounds, evaluate, evaluate_program, evaluate_with_bounds
from tests.reference.test_values import random_arrays
from tests.support.brute import FixedMachine, FloatMachine, run_program
from tests.support.strategies.chains import chained_programs

FIXED = Rounding.fixed(32, 8)
BF16 = Rounding.floating(7)
F32 = Rounding.floating(23)
F8E4M3 = Rounding.gradual(3, 2.0**-9, 448, nan)
F8E5M2 = Rounding.gradual(2, 2.0**-16, 57344)


def test_the_two_kinds_of_rounding():
    greatest = 2.0**23 - 2.0**-8
    assert Rounding(0.0, 2.0**-9, greatest, greatest) == FIXED
    assert Rounding(2.0**-8, 2.0**-126, 3.3895313892515355e38) == BF16


def machines(seed):
    rng = random.Random(seed)
    return [(FIXED, FixedMachine(32, 8, rng)), (BF16, FloatMachine(7, rng)), (F32, FloatMachine(23, rng))]


@given(chained_programs(max_extent=4, integers=False), st.integers(0, 2**32))
def test_no_order_of_operations_exceeds_the_bound(program, seed):
    arrays = random_arrays(program, seed, integers=False)
    arrays = {name: np.round(array * 16) / 16 for name, array in arrays.items()}
    for rounding, machine in machines(seed):
        computed = run_program(program, arrays, machine)
        for name, (value, bound, _) in evaluate_with_bounds(program, arrays, rounding).items():
            # What the reference itself may be off by.
            slack = 1e-12 * (1 + np.abs(value))
            assert np.all(np.abs(computed[name] - value) <= bound + slack), (name, rounding)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A rounding for each product that is not zero, times the factors above 1.
        ("y[i] = A[i, j] * c[j]", [(1.5 + 4) * 2**-9, 1.5 * 2**-9]),
        ("y[i] = A[i, j] + c[j]", [0, 0]),
        ("y[i, j] = relu(A[i, j]) - 0.5 * c[j]", [[1.5 * 2**-9, 2 * 2**-9]] * 2),
        ("y[i, j] = relu(A[i, j] - 3) * c[j] / 4", [[0, 0], [0, 0]]),
        ("y[i] max= A[i, j]", [0, 0]),
        # 0.3 is no multiple of 2^-8.
        ("y[j] = 0.3 * c[j]", [2 * 1.5 * 2**-9, 2 * 2 * 2**-9]),
    ],
)
def test_fixed_point_by_hand(text, expected):
    program = parse("tensor A[i, j]\ntensor c[j]\nunused = A[i, j] * c[j]\n" + text)
    arrays = {"A": np.array([[1.0, 2.0], [0.5, 0.0]]), "c": np.array([1.5, 2.0])}
    bound = evaluate_with_bounds(program, arrays, FIXED)["y"].bound
    np.testing.assert_allclose(bound, expected, rtol=0.01)


def test_floating_point_by_hand():
    program = parse("tensor A[i, j]\ntensor c[j]\ny[i] = A[i, j] * c[j]")
    arrays = {"A": np.array([[1.0, -2.0, 4.0], [0.5, 0.0, 0.0]]), "c": np.array([1.0, 1.0, 1.0])}
    bound = evaluate_with_bounds(program, arrays, F32)["y"].bound
    # One product and two additions on the way of each summand; none where there is one summand.
    np.testing.assert_allclose(bound, [3 * 7 * 2**-24, 0.5 * 2**-24], rtol=1e-6)


def test_additions_of_floating_point():
    statement = parse("tensor A[i]\ntensor B[i]\ny[i] = A[i] - (B[i] + A[i])").statements[0]
    tensors = {"A": np.array([1.0]), "B": np.array([2.0])}
    bound = bounds(statement, tensors, {}, {"i": 1}, F32)
    np.testing.assert_allclose(bound, [(3 + 4) * 2**-24], rtol=1e-6)


def test_cancelling_terms_keep_their_roundings():
    # A compiler may sum A and B by themselves, although their difference is 0 everywhere.
    program = parse("tensor A[i]\ntensor B[i]\nD[i] = A[i] - B[i]\ny = D[i]")
    thirds = np.full(3, 1 / 3)
    bound = evaluate_with_bounds(program, {"A": thirds, "B": thirds}, F32)["y"].bound
    np.testing.assert_allclose(bound, 3 * 2 * 2**-24, rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "x", "error", "expected"),
    [
        ("exp", 1.0, 0.1, np.exp(1.1) - np.exp(1.0)),
        ("log", 2.0, 0.5, np.log(2.0) - np.log(1.5)),
        ("rsqrt", 4.0, 1.0, 3**-0.5 - 0.5),
        ("reciprocal", -2.0, 1.0, 0.5),
        ("reciprocal", 1.0, 1.0, np.inf),
        ("sqrt", 0.5, 1.0, np.inf),
        ("relu", -1.0, 1.5, 0.5),
        ("relu", -2.0, 1.5, 0.0),
        ("abs", 1.0, 0.5, 0.5),
    ],
)
def test_errors_of_arguments(function, x, error, expected):
    statement = parse(f"tensor A[i]\ny[i] = {function}(A[i])").statements[0]
    bound = bounds(statement, {"A": np.array([x])}, {"A": np.array([error])}, {"i": 1}, Rounding(0, 0))
    np.testing.assert_allclose(bound, [expected])


def test_an_uncertain_comparison_may_turn_over():
    statement = parse("tensor A[i]\ny[i] = select(lt(A[i], 1), 5, 2)").statements[0]
    errors = {"A": np.full(3, 0.1)}
    bound = bounds(statement, {"A": np.array([0.5, 0.95, 1.05])}, errors, {"i": 3}, Rounding(0, 0))
    np.testing.assert_allclose(bound, [0, 3, 3])


def test_an_uncertain_mask():
    sum_of, greatest = parse(
        "tensor A[i]\ntensor M[i]\ny = A[i] where M[i]\nz max= A[i] where M[i]"
    ).statements
    tensors = {"A": np.array([1.0, 2.0]), "M": np.array([1.0, 0.0])}
    errors = {"M": np.array([0.1, 0.1])}
    assert bounds(sum_of, tensors, errors, {"i": 2}, Rounding(0, 0)) == 2
    assert bounds(greatest, tensors, errors, {"i": 2}, Rounding(0, 0)) == np.inf
    assert bounds(greatest, tensors, {"M": np.array([0.1, 0])}, {"i": 2}, Rounding(0, 0)) == 0


def test_a_bound_of_a_product():
    program = parse("tensor A[i, j]\ntensor c[j]\ny[i] = A[i, j] * c[j]")
    statement, tensors = program.statements[0], {"A": np.eye(2), "c": np.ones(2)}
    assert np.max(bounds(statement, tensors, {}, {"i": 2, "j": 2}, Rounding(0, 0.25))) == pytest.approx(
        0.25 * 1.25**2
    )
    assert np.max(bounds(statement, tensors, {}, {"i": 2, "j": 2}, Rounding(0, 0))) == 0


@pytest.mark.parametrize(
    "name",
    ["exp", "log", "sqrt", "rsqrt", "reciprocal", "sigmoid", "tanh", "gelu", "silu", "sin", "cos", "rint"],
)
@pytest.mark.parametrize(
    ("kind", "rounding"),
    [("bf16", BF16), ("f32", F32), ("fixed<16,8>", FIXED), ("f8e4m3", F8E4M3), ("f8e5m2", F8E5M2)],
    ids=["bf16", "f32", "fixed", "f8e4m3", "f8e5m2"],
)
def test_the_value_types_keep_the_bounds_of_functions(name, kind, rounding):
    # The operations themselves, where fixed point does not saturate.
    type_ = value_type(kind)
    x = np.random.default_rng(0).uniform(0.1, 4, 2000)
    words = type_.encode(x)
    statement = parse(f"tensor A[i]\ny[i] = {name}(A[i])").statements[0]
    tensors, extents = {"A": type_.decode(words)}, {"i": len(x)}
    actual = type_.decode(type_.apply(name, words))
    error = np.abs(actual - evaluate(statement, tensors, extents))
    assert np.all(error <= bounds(statement, tensors, {}, extents, rounding))


def test_the_value_is_that_of_evaluate():
    program = load_model("gat")
    arrays = {name: tensor.to_dense() for name, tensor in model_data("gat").items()}
    plain = evaluate_program(program, arrays)
    for name, (value, bound, _) in evaluate_with_bounds(program, arrays, F32).items():
        np.testing.assert_allclose(value, plain[name], rtol=1e-12)
        assert value.shape == bound.shape


def test_numbers_that_another_type_does_not_have_are_rounded():
    """Float64 has 0.1 as it is written here, and f32 has not."""
    plain = Rounding(2.0**-53, 2.0**-155)
    finer = replace(plain, numbers=2.0**-24)

    def bound(number, rounding):
        program = parse(f"tensor a[i] : dense\ntensor x[i] : dense\nx[i] = {number} * a[i]")
        return evaluate_with_bounds(program, {"a": np.ones(2)}, rounding)["x"].bound

    assert (bound(0.1, finer) >= bound(0.1, plain) + 0.1 * 2.0**-53).all()
    assert (bound(0.5, finer) == bound(0.5, plain)).all()
