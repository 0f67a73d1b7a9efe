"""Programs whose results were once wrong, and the results worked out by hand."""

import numpy as np
import pytest

from samhw.app.checking.check_run import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.iteration import ITERATIONS, Iteration
from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors import Tensor

INF, NAN = np.inf, np.nan


def results(
    text: str, arrays: dict[str, list[object]], value: str = "i32", **options: object
) -> dict[str, list[object]]:
    """The simulator's results, which the check must take for right."""
    program = parse(text)
    tensors = {
        decl.name: Tensor.from_dense(np.array(arrays[decl.name]), decl.format) for decl in program.inputs
    }
    work = Workload("by hand", program, tensors)
    compiled = compile_workload(work, value=value_type(value), **options)
    outputs = run(compiled, tensors).outputs
    assert check(work, compiled, outputs).good
    return {name: tensor.to_dense().tolist() for name, tensor in outputs.items()}


@pytest.mark.parametrize("iteration", ITERATIONS)
def test_a_number_as_a_branch(iteration: Iteration) -> None:
    """It was lowered as if zero wherever the other branch is."""
    text = (
        "tensor a[j=4] : csf\ntensor b[j=4] : csf\ntensor c[j=4] : dense\n"
        "y[j] = a[j] * select(c[j], 1, b[j])\n"
    )
    arrays = {"a": [1, 2, -1, 2], "b": [0, 0, 0, 0], "c": [-4, 0, -3, -5]}
    assert results(text, arrays, schedule=Schedule(iteration=iteration))["y"] == [1, 0, -1, 2]


def test_a_number_as_a_branch_under_a_mask() -> None:
    text = (
        "tensor c[i=3] : csf\ntensor s\ntensor d[i=3, j=2] : csr\ntensor m[i=3, j=2] : csr\n"
        "y[i, j] = select(le(c[i], min(s, c[i])), 1, d[i, j]) where m[i, j]\n"
    )
    arrays = {
        "c": [0, 3, -1],
        "s": 2,
        "d": [[0, 0], [5, 0], [0, 7]],
        "m": [[1, 1], [1, 0], [0, 1]],
    }
    assert results(text, arrays)["y"] == [[1, 1], [5, 0], [0, 1]]


def test_a_number_as_a_condition() -> None:
    text = "tensor a[i=3] : csf\ntensor b[i=3] : csf\ny[i] = select(-1, 2, a[i]) * b[i]\n"
    assert results(text, {"a": [0, 5, 0], "b": [1, 1, 0]})["y"] == [2, 2, 0]


@pytest.mark.parametrize("order", ["", "order l, i"])
@pytest.mark.parametrize("iteration", ITERATIONS)
def test_terms_of_different_sums_under_a_mask(iteration: Iteration, order: str) -> None:
    """A term without the summed index was added once for each of its coordinates."""
    form = "csc" if order else "csr"
    text = (
        f"tensor e[i=3] : csf\ntensor B[i=3, l=4] : {form}\ntensor M[i=3] : csf\n"
        f"y[i] = e[i] + B[i, l] where M[i] {order}\n"
    )
    arrays = {"e": [1, 10, 100], "B": [[1, 1, 0, 1], [2, 0, 0, 0], [0, 0, 0, 0]], "M": [1, 0, 1]}
    assert results(text, arrays, schedule=Schedule(iteration=iteration))["y"] == [4, 0, 100]


def test_a_number_beside_a_sum_under_a_mask() -> None:
    text = "tensor B[i=3, l=2] : csr\ntensor M[i=3] : csf\ny[i] = B[i, l] + 3 where M[i]\n"
    arrays = {"B": [[1, 2], [0, 0], [4, 0]], "M": [1, 1, 0]}
    assert results(text, arrays)["y"] == [6, 3, 0]


@pytest.mark.parametrize(
    "expression",
    [
        "A[i, j] * (s[i] + t[j])",
        "A[i, j] * (s[i] - t[j])",
        "A[i, j] * max(s[i], t[j])",
        "A[i, j] * lt(s[i], t[j])",
        "relu(s[i] + t[j]) where A[i, j]",
        "A[i, j] * (s[i] + 0 / t[j])",
        "A[i, j] * (t[j] - select(s[i], 0, 0))",
    ],
)
@pytest.mark.parametrize("iteration", ITERATIONS)
def test_results_have_room(expression: str, iteration: Iteration) -> None:
    """What a sum of different indices stores is as much as what it is multiplied by."""
    text = (
        "tensor A[i=9, j=9] : csr\ntensor s[i=9] : csf\ntensor t[j=9] : csf\ntensor E[i=9, j=9] : csr\n"
        f"E[i, j] = {expression}\n"
    )
    arrays = {"A": np.ones((9, 9), int), "s": [0] * 9, "t": [0] * 9}
    found = results(text, arrays, "f32", schedule=Schedule(iteration=iteration))
    assert found["E"] == np.zeros((9, 9)).tolist()


@pytest.mark.parametrize("b", ["csf", "dense"])
@pytest.mark.parametrize("iteration", ITERATIONS)
def test_zero_times_infinity(b: str, iteration: Iteration) -> None:
    text = f"tensor a[i=3] : csf\ntensor b[i=3] : {b}\ny[i] = a[i] * b[i]\n"
    arrays = {"a": [0, 1, 0], "b": [INF, 1, NAN]}
    assert results(text, arrays, "f32", schedule=Schedule(iteration=iteration))["y"] == [0, 1, 0]


@pytest.mark.parametrize("d", ["csr", "dense"])
def test_zero_times_a_quotient_by_zero(d: str) -> None:
    text = (
        f"tensor d[i=2, j=2] : {d}\ntensor e[i=2, j=2] : dense\ntensor a[j=2] : dense\n"
        "y[i, j] = d[i, j] * (e[i, j] / a[j])\n"
    )
    arrays = {"d": [[0, 1], [2, 0]], "e": [[3, 0], [0, 5]], "a": [0, 0]}
    assert results(text, arrays, "f32")["y"] == [[0, 0], [0, 0]]


@pytest.mark.parametrize("iteration", ITERATIONS)
def test_one_intermediate_in_two_terms_of_which_one_is_narrow(iteration: Iteration) -> None:
    """The term that knows only some coordinates of T gave its values to the other one too."""
    text = (
        "tensor A[j=2, k=2] : (dense, compressed) @ (1, 0)\ntensor D[k=2, j=2] : csr\n"
        "tensor X[i=2, k=2] : dense\ntensor C[k=2] : csf\ntensor T[j=2, k=2, i=2] : csf @ (2, 1, 0)\n"
        "tensor Y[j=2, i=2, k=2] : (dense, compressed, dense) @ (1, 2, 0)\n"
        "fuse {\n  T[j, k, i] = (A[j, k] + A[k, i]) * D[k, j]\n"
        "  Y[j, i, k] = (X[i, k] + T[j, k, i] * C[k]) * max(T[j, k, i], 3)\n}\n"
    )
    arrays = {"A": [[0, 0], [4, 0]], "D": [[0, 1], [0, 0]], "X": [[1, 1], [1, 1]], "C": [0, 0]}
    # T is 4 at j = 1, k = 0 and zero elsewhere, and Y the greater one of T and 3.
    expected = [[[3, 3], [3, 3]], [[4, 3], [4, 3]]]
    assert results(text, arrays, schedule=Schedule(iteration=iteration))["Y"] == expected


def test_one_intermediate_in_two_factors_and_a_function() -> None:
    """The second factor with every coordinate knows T only where b is: the function took T from it."""
    text = (
        "tensor A[i=4] : csf\ntensor b[i=4] : csf\ntensor c[i=4] : csf\ntensor D[i=4] : dense\n"
        "tensor E[i=4] : dense\ntensor T[i=4] : csf\ntensor Y[i=4] : dense\n"
        "fuse {\n  T[i] = A[i] * 2\n  Y[i] = (c[i] + E[i]) * (T[i] * b[i] + D[i]) * max(T[i], 3)\n}\n"
    )
    arrays = {"A": [1, 0, 2, 3], "b": [0, 1, 1, 0], "c": [1, 0, 0, 1], "D": [1, 2, 3, 4], "E": [1, 1, 1, 1]}
    # The factors are 2, 1, 1, 2 and 1, 2, 7, 4, and the function 3, 3, 4, 6.
    assert results(text, arrays)["Y"] == [6, 6, 28, 48]


@pytest.mark.parametrize("levels", ["dense", "csf"])
def test_one_intermediate_in_two_factors_that_each_know_a_part_of_it(levels: str) -> None:
    """The second factor was given T only where the first one knows it: where b is."""
    text = (
        "tensor A[i=4] : csf\ntensor b[i=4] : csf\ntensor c[i=4] : csf\n"
        f"tensor D[i=4] : {levels}\ntensor E[i=4] : {levels}\ntensor T[i=4] : csf\ntensor Y[i=4] : csf\n"
    )
    first, second = "T[i] = A[i] * 2\n", "Y[i] = (T[i] * b[i] + D[i]) * (T[i] * c[i] + E[i])\n"
    arrays = {"A": [1, 0, 2, 3], "b": [0, 1, 1, 0], "c": [1, 0, 0, 1], "D": [1, 2, 0, 4], "E": [1, 1, 1, 1]}
    with pytest.raises(InputError, match="A takes part in two terms of"):
        results(text + "fuse {" + first + second + "}\n", arrays, schedule=Schedule(share="none"))
    # T is 2, 0, 4, 6.
    assert results(text + first + second, arrays)["Y"] == [3, 2, 4, 28]


@pytest.mark.parametrize(
    ("reader", "expected"),
    [
        ("", [0, -2, 0]),
        ("z[i] = y[i] + c[i]\n", [7, -2, 7]),
        ("z[i] = y[i] * c[i]\n", [0, 0, 0]),
        ("z[i] = select(y[i], 1, c[i])\n", [7, 1, 7]),
        ("z max= y[i]\n", 0),
    ],
)
@pytest.mark.parametrize("levels", ["dense", "csf"])
@pytest.mark.parametrize("what", ["A[i, k]", "A[i, k] + c[i] - c[i]", "A[i, k] * 1"])
def test_a_maximum_under_a_mask_that_its_region_computes(
    reader: str, expected: object, levels: str, what: str
) -> None:
    """It ignored the mask at coordinates that only a dense result, or another operand, has."""
    declared = f"tensor A[i=3, k=2] : dense\ntensor M[i=3] : {levels}\n"
    declared += "tensor c[i=3] : csf\n" if "c[" in reader + what else ""
    text = f"{declared}fuse {{\nK[i] = M[i] * 1\ny[i] max= {what} where K[i]\n{reader}}}\n"
    arrays: dict[str, list[object]] = {"A": [[-2, -3]] * 3, "M": [0, 1, 0], "c": [7, 0, 7]}
    assert results(text, arrays)["z" if reader else "y"] == expected


def test_capacity_of_a_result_can_be_set() -> None:
    text = "tensor a[i=8] : csf\ntensor y[i=8] : csf\ny[i] = a[i] * 2\n"
    assert results(text, {"a": list(range(8))}, entries={"y": 7})["y"] == list(range(0, 16, 2))
    program = parse(text)
    tensors = {"a": Tensor.from_dense(np.arange(8), "csf")}
    compiled = compile_workload(Workload("full", program, tensors), value=value_type("i32"), entries={"y": 6})
    with pytest.raises(Exception, match=r"capacity .* \(entries=\.\.\)"):
        run(compiled, tensors)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"z": 4}, "'<text>' has no tensor 'z' to give a capacity; it has a, y"),
        ({"a": 4}, "'a' is dense, so that the greatest extents of its indices are its room"),
        ({"y": 0}, "'y' cannot have a capacity of 0"),
    ],
)
def test_capacities_that_make_no_sense(entries: dict[str, int], message: str) -> None:
    program = parse("tensor a[i=8] : dense\ntensor y[i=8] : csf\ny[i] = a[i] * 2\n")
    tensors = {"a": Tensor.from_dense(np.arange(8), "dense")}
    with pytest.raises(InputError, match=message):
        compile_workload(Workload("none", program, tensors), entries=entries)


@pytest.mark.parametrize("iteration", ITERATIONS)
def test_rows_that_two_terms_lack(iteration: Iteration) -> None:
    """The vector was read once for both terms, though each of them has rows of its own."""
    form = "(compressed, dense, dense)"
    text = (
        f"tensor A[i=3, j=2, k=2] : {form}\ntensor B[i=3, j=2, k=2] : {form}\ntensor x[j=2]\n"
        "y[i, k] = A[i, j, k] * x[j] + B[i, j, k] * x[j]\n"
    )
    arrays = {
        "A": [[[1, 2], [3, 4]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]],
        "B": [[[0, 0], [0, 0]], [[0, 0], [0, 0]], [[5, 6], [7, 8]]],
        "x": [10, 1],
    }
    assert results(text, arrays, schedule=Schedule(iteration=iteration))["y"] == [[13, 24], [0, 0], [57, 68]]


@pytest.mark.parametrize("term", ["A[i]", "A[i] * B[i]"])
def test_a_computed_mask_in_a_type_without_a_one(term: str) -> None:
    """What was kept was multiplied by the greatest number, 127/128."""
    text = (
        f"tensor A[i=4]\ntensor B[i=4]\ntensor y[i=4]\nfuse {{\nM[i] = B[i]\ny[i] = {term} where M[i]\n}}\n"
    )
    arrays = {"A": [0.75, -0.75, 0.5, 0.25], "B": [0.5, 0, -1, 0]}
    kept = {"A[i]": [0.75, 0, 0.5, 0], "A[i] * B[i]": [0.375, 0, -0.5, 0]}
    assert results(text, arrays, "fixed<8,7>", schedule=Schedule(fuse="full"))["y"] == kept[term]
