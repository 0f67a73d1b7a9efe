import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from samhw.errors import InputError
from samhw.lang import Program, parse
from samhw.lang.reference import evaluate, evaluate_program, pieces
from tests.support.brute import run_program
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.programs import programs

A = np.array([[1, 0, 2], [0, 0, 0]])
B = np.array([[-1, 5, 0], [3, 0, -2]])
C = np.array([1, 2, -3])


def result(text: str, **tensors: ArrayLike) -> np.ndarray:
    """The last tensor that the program writes."""
    results = evaluate_program(parse(DECLARED + text), {"A": A, "B": B, "c": C, **tensors})
    return list(results.values())[-1]


DECLARED = "tensor A[i, j]\ntensor B[i, j]\ntensor c[j]\nunused = A[i, j] * B[i, j] * c[j]\n"


def random_arrays(program: Program, seed: int, integers: bool) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    arrays = {}
    for decl in program.inputs:
        shape = tuple(extent or 1 for extent in decl.shape)
        whole = rng.integers(-4, 5, shape) * (rng.random(shape) < 0.6)
        arrays[decl.name] = whole if integers else whole / 4 + rng.random(shape) * (whole != 0)
    return arrays


@given(programs(max_extent=4) | chained_programs(max_extent=4), st.integers(0, 2**32))
def test_integers_against_plain_loops(program, seed):
    arrays = random_arrays(program, seed, integers=True)
    expected = run_program(program, arrays)
    for name, array in evaluate_program(program, arrays).items():
        assert array.dtype == np.int64
        assert np.array_equal(array, expected[name]), name


@given(chained_programs(max_extent=4, integers=False), st.integers(0, 2**32))
def test_floats_against_plain_loops(program, seed):
    arrays = random_arrays(program, seed, integers=False)
    expected = run_program(program, arrays)
    for name, array in evaluate_program(program, arrays).items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-9, atol=1e-9, err_msg=name)


@settings(max_examples=50)
@given(chained_programs(max_extent=4, integers=False), st.integers(0, 2**32))
def test_pieces_change_nothing(program, seed):
    arrays = random_arrays(program, seed, integers=False)
    whole = evaluate_program(program, arrays)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE", 7)
        patch.setattr(pieces, "_WHOLE", 3)
        in_pieces = evaluate_program(program, arrays)
    for name, array in whole.items():
        np.testing.assert_allclose(array, in_pieces[name], rtol=1e-12)


def test_a_sum_stands_outside_of_a_function():
    assert result("y[i] = relu(A[i, j] * c[j])").tolist() == [1, 0]
    assert result("y[i] = relu(A[i, j]) * 2 - 1").tolist() == [5, -1]
    assert result("y[i] = 6 / (A[i, j] + 1)").tolist() == [11, 18]


def test_a_quotient_is_no_integer():
    assert result("y[i] = A[i, j] / 2").tolist() == [1.5, 0]
    assert result("y[i, j] = A[i, j] * c[j] / 4 / 2").tolist() == [[0.125, 0, -0.75], [0, 0, 0]]


def test_a_mask_chooses_the_points():
    assert result("y[i, j] = B[i, j] - 1 where A[i, j]").tolist() == [[-2, 0, -1], [0, 0, 0]]
    assert result("y[i] = B[i, j] where A[i, j]").tolist() == [-1, 0]
    assert result("y[i] = exp(1000 * B[i, j]) where A[i, j]").tolist() == [1, 0]
    assert result("y[i] = B[i, j] * c[j] where c[j]").tolist() == [9, 9]


def test_max_and_min_take_zeros_in_unless_masked():
    assert result("y[i] max= B[i, j] - 10").tolist() == [-5, -7]
    assert result("y[j] min= B[i, j]").tolist() == [-1, 0, -2]
    assert result("y[i] max= B[i, j] - 10 where A[i, j]").tolist() == [-10, 0]
    assert result("y[i] min= B[i, j] + 10 where B[i, j]").tolist() == [9, 8]
    assert result("y max= A[i, j] + c[j]").tolist() == 2


@pytest.mark.parametrize("factor", [np.inf, -np.inf, np.nan])
def test_zero_times_anything_is_zero(factor):
    huge = np.array([2.0, factor, 1.0])
    assert result("tensor d[j]\ny[i] = A[i, j] * d[j]", d=huge).tolist() == [4, 0]
    assert result("tensor d[j]\ny[i, j] = A[i, j] * d[j]", d=huge).tolist() == [[2, 0, 2], [0, 0, 0]]
    assert not np.isfinite(result("tensor d[j]\ny[i] = B[i, j] * d[j]", d=huge)[0])


def test_zero_divided_by_anything_is_zero():
    assert result("tensor d[j]\ny[i, j] = A[i, j] / d[j]", d=np.zeros(3)).tolist() == [
        [np.inf, 0, np.inf],
        [0, 0, 0],
    ]


def test_integers_beyond_float64():
    program = parse("tensor D[i, j]\ntensor E[j, k]\nF[i, k] = D[i, j] * E[j, k]")
    big, small = (np.array([[2**n, 1], [1, 2**n]]) for n in (30, 25))
    assert evaluate_program(program, {"D": big, "E": small})["F"].tolist() == [
        [2**55 + 1, 2**30 + 2**25],
        [2**30 + 2**25, 2**55 + 1],
    ]


def test_one_statement_by_itself():
    program = parse("tensor A[i=2, j=3]\ny[j] max= abs(A[i, j])")
    assert evaluate(program.statements[0], {"A": -A}, {"j": 3, "i": 2}).tolist() == [1, 0, 2]


def test_moves():
    text = """
        tensor R[p, q=2]
        R[p, q] = reshape(A[i, j])
        S[p, q] = 10 * R[p, q]
        D[q, p] = concat(p, S[p, q], R[p, q])
    """
    assert result(text).tolist() == [[10, 20, 0, 1, 2, 0], [0, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"A": A}, "program '<text>' has no data for 'b'; give it an array"),
        (
            {"A": A, "b": np.ones(3)},
            "<text>:3:18: index 'i' has extent 2 in 'A' but 3 in 'b'; give both tensors the same extent, or "
            "use two indices",
        ),
    ],
)
def test_data_that_does_not_fit(tensors, message):
    with pytest.raises(InputError) as caught:
        evaluate_program(parse("tensor A[i, j]\ntensor b[i]\ny[i] = A[i, j] * b[i]"), tensors)
    assert str(caught.value).splitlines()[0] == message


def test_an_extent_that_nothing_fixes():
    program = parse("tensor A[i]\nR[p, q] = reshape(A[i])")
    with pytest.raises(
        InputError, match=r"nothing fixes the extent of 'p' in tensor 'R'; declare it, as in p=16"
    ):
        evaluate_program(program, {"A": np.ones(6)})
