"""The oracle against numbers that were worked out by hand, most of them from the examples of docs/programs.md
and docs/sequences.md."""

from typing import Any

import numpy as np
import pytest

from samhw.lang import parse
from tests.seams.arithmetic import UnclearError, arithmetic
from tests.seams.oracle import Result, evaluate


def run(text: str, value: str = "i32", **data: Any) -> Result:
    return evaluate(parse(text), {name: np.array(numbers) for name, numbers in data.items()}, value)


def gives(text: str, name: str, wanted: Any, value: str = "i32", **data: Any) -> None:
    result = run(text, value, **data)
    assert result.values[name].tolist() == wanted
    assert not result.errors[name].any()


A = [[1, 2, 0], [0, 3, 4]]
MATRIX = "tensor A[i=2, j=3] : csr\n"


def test_a_sum_spans_one_term() -> None:
    gives(f"{MATRIX}tensor b[i=2]\ny[i] = b[i] - A[i, j] * 2", "y", [4, -4], A=A, b=[10, 10])


def test_a_function_is_one_factor_and_is_summed_itself() -> None:
    gives("tensor x[i=3]\ny = relu(x[i])", "y", 4, x=[-1, 3, 1])


def test_broadcasting() -> None:
    gives(
        "tensor a[i=2]\ntensor b[j=2]\nY[i, j] = a[i] + b[j]", "Y", [[11, 21], [12, 22]], a=[1, 2], b=[10, 20]
    )


def test_zeros_count_in_extremes_and_products() -> None:
    text = f"{MATRIX}m[i] max= A[i, j] - 5\np[i] prod= A[i, j] + 1\nq[i] argmin= A[i, j]"
    gives(text, "m", [-3, -1], A=A)
    gives(text, "p", [6, 20], A=A)
    gives(text, "q", [2, 0], A=A)


def test_a_product_may_overflow_before_its_zero() -> None:
    kind = arithmetic("i8")
    factors = [kind.literal(x) for x in (20, 20, 0)]
    assert kind.product(factors).is_open
    assert kind.may_overflow
    assert arithmetic("i8").product([kind.literal(x) for x in (5, 20, 0)]).is_zero


def test_the_best_of_a_row_is_filled_with_zeros() -> None:
    text = "tensor S[i=2, j=3]\ntensor V[i, r=2]\ntensor P[i, r=2]\n"
    text += "V[i, r] top= S[i, j] where S[i, j]\nP[i, r] argtop= S[i, j] where S[i, j]"
    gives(text, "V", [[5, 5], [-2, 0]], S=[[5, 1, 5], [0, 0, -2]])
    gives(text, "P", [[0, 2], [2, 0]], S=[[5, 1, 5], [0, 0, -2]])


def test_a_mask_leaves_out_points() -> None:
    text = f"{MATRIX}tensor M[i=2, j=3]\nm[i] max= A[i, j] where M[i, j]\ns[i] = A[i, j] where M[i, j]"
    gives(text, "m", [0, 3], A=A, M=[[0, 0, 0], [0, 1, 0]])
    gives(text, "s", [0, 7], A=A, M=[[0, 0, 0], [0, 1, 1]])


def test_a_coordinate_under_a_mask_is_that_of_the_tensor() -> None:
    gives("tensor x[i=3]\np argmax= x[i] where x[i]", "p", 2, x=[0, 0, -1])


def test_running_reductions_go_over_the_points_of_a_mask() -> None:
    text = "tensor x[j=4]\nc[j] = cumsum(j, x[j])\nb[j] = cumsum(j, x[j], exclusive)\n"
    text += "p[j] = cumprod(j, x[j], exclusive)\nm[j] = cummax(j, x[j] - 9) where x[j]"
    gives(text, "c", [2, 2, 5, 4], x=[2, 0, 3, -1])
    gives(text, "b", [0, 2, 2, 5], x=[2, 0, 3, -1])
    gives(text, "p", [1, 2, 0, 0], x=[2, 0, 3, -1])
    gives(text, "m", [-7, 0, -6, -6], x=[2, 0, 3, -1])


def test_a_recurrence_begins_with_its_first_summand() -> None:
    text = "tensor a[t=3]\ntensor b[t=3]\nh[t] = recur(t, a[t], b[t])\ny = recur(t, 2, b[t]) where a[t]"
    gives(text, "h", [1, 5, 23], a=[7, 3, 4], b=[1, 2, 3])
    gives(text, "y", 5, a=[1, 0, 4], b=[1, 2, 3])


def test_places_outside() -> None:
    text = (
        "index i=4\ntensor X[n=3]\nZ[i] = X[i - 1]\nC[i] = X[clamp(i - 1)]\nW[i] = X[wrap(-i - 1)]\nR = X[1]"
    )
    gives(text, "Z", [0, 1, 2, 3], X=[1, 2, 3])
    gives(text, "C", [1, 1, 2, 3], X=[1, 2, 3])
    gives(text, "W", [3, 2, 1, 3], X=[1, 2, 3])
    gives(text, "R", 2, X=[1, 2, 3])


def test_a_convolution_with_stride_2() -> None:
    text = "index i=4\ntensor X[n=8]\ntensor K[d=3]\ntensor Y[i=4]\nY[i] = X[2*i + d - 1] * K[d]"
    gives(text, "Y", [3 * 2 + 2, 2 + 6 + 12, 4 + 10 + 18, 6 + 14 + 24], X=range(1, 9), K=[1, 2, 3])


def test_what_is_scattered_adds_up_and_what_lies_outside_is_dropped() -> None:
    text = "index i=3\ntensor x[i=3]\ntensor p[i]\ntensor Y[n=2]\ntensor Z[a=3, b=3]\n"
    text += "Y[p[i]] = x[i]\nZ[i, i - 1] = x[i]"
    gives(text, "Y", [2, 4], x=[1, 2, 3], p=[1, 0, 1])
    gives(text, "Z", [[0, 0, 0], [2, 0, 0], [0, 3, 0]], x=[1, 2, 3], p=[0, 0, 0])


def test_moves() -> None:
    text = "tensor A[i=2, j=3]\ntensor B[i=2, j=1]\ntensor R[h=4, p=2]\n"
    text += "C[i, j] = concat(j, A[i, j], B[i, j])\nR[h, p] = reshape(C[i, j])"
    gives(text, "C", [[1, 2, 0, 8], [0, 3, 4, 9]], A=A, B=[[8], [9]])
    gives(text, "R", [[1, 2], [0, 8], [0, 3], [4, 9]], A=A, B=[[8], [9]])


@pytest.mark.parametrize(("word", "back", "steps"), [("", "-", [11, 13, 16]), ("down", "+", [16, 15, 13])])
def test_scans_start_before_their_first_step(word: str, back: str, steps: list[int]) -> None:
    block = f"scan t {word} {{\n  H[t] = H[t {back} 1] + x[t]\n  last = H[t]\n}}"
    text = f"tensor x[t=3]\ntensor s\n{block}\nH[-1] = s"
    gives(text, "H", steps, x=[1, 2, 3], s=10)
    gives(text, "last", 16, x=[1, 2, 3], s=10)


def test_two_steps_back_and_a_step_to_come() -> None:
    text = "tensor x[t=4]\nscan t {\n  F[t] = F[t - 1] + F[t - 2] + x[t + 1]\n}"
    # F0 = x1 = 1, F1 = F0 + x2 = 1, F2 = F1 + F0 + x3 = 2 + 1, F3 = F2 + F1 + nothing.
    gives(text, "F", [1, 1, 3, 4], x=[5, 1, 0, 1])


def test_a_sum_that_saturates_one_way_is_clear_and_another_one_open() -> None:
    text = "tensor x[i=2]\ny = x[i]"
    gives(text, "y", 127.9375, "fixed<12,4>", x=[100.0, 90.0])
    gives("tensor x[i=1]\ny[i] = rint(x[i])", "y", [127.9375], "fixed<12,4>", x=[127.9375])
    three = run("tensor x[i=3]\ny = x[i]", "fixed<12,4>", x=[100.0, 90.0, -100.0])
    assert np.isinf(three.errors["y"])


def test_integers_may_overflow_on_the_way() -> None:
    assert run("tensor x[i=3]\ny = x[i]", "i8", x=[100, 90, -100]).may_overflow
    assert not run("tensor x[i=3]\ny = x[i]", "i8", x=[100, 20, -100]).may_overflow


def test_what_roundings_decide_is_unclear() -> None:
    with pytest.raises(UnclearError):
        run("tensor x[i=2]\ny[i] = exp(x[i])\np argmax= y[i]", "f32", x=[1.0, 1.0])


def test_a_rounded_function_has_an_error_and_small_whole_numbers_have_none() -> None:
    kind = arithmetic("bf16")
    assert kind.call("exp", [kind.literal(1)]).error > 0
    assert kind.sum([kind.literal(100), kind.literal(27)]).error == 0
    assert kind.sum([kind.literal(256), kind.literal(1)]).error > 0
