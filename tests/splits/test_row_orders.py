"""Rows in another order: what the orders are, what has them, what is refused, and results in their places."""

from pathlib import Path

import numpy as np
import pytest

import samhw
from samhw.app.checking import check
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.schedule import Schedule, with_words
from samhw.errors import InputError
from samhw.lang import load_kernel, load_model, parse
from samhw.lang.splits import check_permute_rows, order_rows
from samhw.lang.splits.renumbering import parse_row_order
from samhw.targets.backends import build, run
from samhw.tensors import Tensor

MATRIX = Tensor.from_dense(
    np.array([[0, 0, 1, 0], [0, 0, 0, 0], [1, 2, 0, 4], [3, 0, 0, 5]]),
    "csr",
)


def rows(order: str, matrix: Tensor = MATRIX) -> list[int]:
    coords, _ = matrix.to_coo()
    return parse_row_order(order).rows(coords, matrix.shape).tolist()


def test_orders_by_hand(tmp_path: Path) -> None:
    assert rows("by length") == [2, 3, 0, 1]
    # Lane 0 has the rows 2 and 1, of three entries, and lane 1 the rows 3 and 0, of three too.
    assert rows("even(2)") == [2, 3, 1, 0]
    assert rows("even(3)") == [2, 3, 0, 1]
    (tmp_path / "own.py").write_text("def turned(coords, shape):\n    return list(range(shape[0]))[::-1]\n")
    assert rows(f"{tmp_path / 'own.py'}:turned") == [3, 2, 1, 0]


def test_even_lanes_have_as_many_rows_as_are_dealt_to_them() -> None:
    lengths = np.array([9, 1, 1, 1, 1, 1, 1])
    matrix = Tensor.from_dense(np.arange(9) < lengths[:, None], "csr")
    found = rows("even(3)", matrix)
    assert sorted(found) == list(range(7))
    assert found[0] == 0
    assert [lengths[found[lane::3]].sum() for lane in range(3)] == [11, 2, 2]


def test_a_band_comes_back_from_a_shuffled_one() -> None:
    near = np.abs(np.subtract.outer(range(30), range(30))) <= 1
    shuffle = np.random.default_rng(0).permutation(30)
    matrix = near[shuffle][:, shuffle]
    found = rows("Reverse  Cuthill-McKee", Tensor.from_dense(matrix, "csr"))
    coords = np.nonzero(matrix[found][:, found])
    assert np.abs(coords[0] - coords[1]).max() == 1


def test_all_that_have_the_dimension_are_renumbered() -> None:
    assert order_rows(load_kernel("spmm"), {"A": "by length"}).modes == {"A": {0: "A"}, "T": {0: "A"}}
    both = order_rows(load_kernel("spmm"), {"A": "reverse Cuthill-McKee"}).modes
    assert both == {"A": {0: "A", 1: "A"}, "X": {0: "A"}, "T": {0: "A"}}
    gcn = order_rows(load_model("gcn"), {"A": "by length"}).modes
    assert gcn["A"] == {0: "A", 1: "A"}
    assert gcn["X"] == gcn["Z2"] == {0: "A"}


@pytest.mark.nightly(but=6)
@pytest.mark.parametrize("program", ["spmm", "gcn"])
@pytest.mark.parametrize("order", ["by length", "even(4)", "reverse Cuthill-McKee"])
@pytest.mark.parametrize("more", [{}, {"lanes": {"i": 4}}, {"split": {"A": "rows(3)"}, "lanes": {"i": 4}}])
def test_results_are_in_their_places(program: str, order: str, more: dict) -> None:
    workload = bind_program(program, ["karate"])
    plain = run(compile_workload(workload), workload.tensors).outputs
    schedule = Schedule(permute_rows={"A": order}, **more)
    compiled = compile_workload(workload, schedule)
    found = run(compiled, workload.tensors)
    assert check(workload, compiled, found.outputs).good
    for decl in workload.program.outputs:
        assert np.allclose(found.outputs[decl.name].to_dense(), plain[decl.name].to_dense(), rtol=1e-5)


@pytest.mark.parametrize("blocks", [{"i": 2}, {"j": 3}, {"i": 2, "j": 2}])
@pytest.mark.parametrize("storage", ["dense", "csr", "csc"])
@pytest.mark.parametrize("order", ["by length", "even(2)"])
def test_rows_in_blocks(blocks: dict[str, int], storage: str, order: str) -> None:
    """Blocks of the rows in their order; those at the edge have fewer."""
    rng = np.random.default_rng(0)
    matrix = rng.integers(1, 5, (5, 4)) * (rng.random((5, 4)) < 0.5)
    vector, bias = np.array([1, -2, 3, 4]), np.arange(5)
    program = parse(f"tensor A[i, j] : {storage}\ntensor x[j]\ntensor b[i]\ny[i] = A[i, j] * x[j] - b[i]")
    schedule = Schedule(blocks=blocks, permute_rows={"A": order}, permute=True)
    found = samhw.compile(program, schedule=schedule).run(A=matrix, x=vector, b=bias)
    assert np.array_equal(found.tensors["y"].to_dense(), matrix @ vector - bias)


def test_blocks_of_other_rows_store_no_more_than_they_need() -> None:
    """Rows that are dealt together fill the blocks of one row of blocks, and the others hold nothing."""
    matrix = np.zeros((4, 4), int)
    matrix[[0, 2]] = 1
    program = parse("tensor A[i, j] : bcsr(2)\nY[i, j] = A[i, j]")
    orders = order_rows(program, {"A": "by length"})
    tensors = {"A": Tensor.from_dense(matrix, "bcsr(2)")}
    there = orders.drawn(tensors).there(tensors)["A"]
    assert there.to_dense().tolist() == [[1] * 4, [1] * 4, [0] * 4, [0] * 4]
    assert (tensors["A"].nnz, there.nnz) == (16, 8)


def test_the_check_sees_results_that_are_not_put_back() -> None:
    workload = bind_program("spmm", ["karate"])
    compiled = compile_workload(workload, Schedule(permute_rows={"A": "by length"}))
    outputs = run(compiled, workload.tensors).outputs
    order = compiled.row_orders.drawn(workload.tensors)
    assert not check(workload, compiled, order.there(outputs)).good


def test_an_order_is_drawn_anew_for_each_runs_data() -> None:
    """The same design runs both matrices."""
    program = load_kernel("spmm").with_extents({"i": 4, "k": 4, "j": 2})
    dense = Tensor.from_dense(np.arange(8).reshape(4, 2), "dense")
    turned = Tensor.from_dense(MATRIX.to_dense()[::-1], "csr")
    first, second = (Workload("w", program, {"A": a, "X": dense}) for a in (MATRIX, turned))
    compiled = compile_workload(first, Schedule(permute_rows={"A": "by length"}))
    for workload in (first, second):
        found = run(compiled, workload.tensors).outputs["T"].to_dense()
        assert np.array_equal(found, workload.tensors["A"].to_dense() @ dense.to_dense())
    stored = compiled.row_orders.drawn(second.tensors).there(second.tensors)["A"]
    assert np.count_nonzero(stored.to_dense(), axis=1).tolist() == [3, 2, 1, 0]


def test_lanes_are_even_where_rows_are_dealt_evenly() -> None:
    """One long row and many short ones after each other in the lanes: and cycles come down."""
    array = np.zeros((32, 64), np.int64)
    array[::4, :24] = 1
    array[:, 0] = 1
    dense = Tensor.from_dense(np.ones((64, 8), np.int64), "dense")
    workload = bind_program("spmm", ["random:size=64,density=0.1"])
    workload = Workload(
        "uneven", workload.program.unbound, {"A": Tensor.from_dense(array, "csr"), "X": dense}
    )
    cycles = {}
    for orders in ({}, {"A": "even(4)"}):
        compiled = compile_workload(workload, Schedule(lanes={"i": 4}, permute_rows=orders))
        cycles[bool(orders)] = run(compiled, workload.tensors).cycles
    assert cycles[True] < 0.4 * cycles[False]


def test_a_build_says_how_its_rows_are_ordered(tmp_path: Path) -> None:
    workload = bind_program("spmm", ["karate"])
    compiled = compile_workload(workload, Schedule(permute_rows={"A": "by length"}))
    build(compiled, "sim", tmp_path / "build")
    assert (tmp_path / "build" / "derived.txt").read_text() == (
        "A: its rows by length, the longest first; so renumbered: A (mode 0), T (mode 0)\n"
    )


@pytest.mark.parametrize(
    ("text", "order", "reason"),
    [
        ("tensor X[i] : dense\ntensor T[i] : dense\nT[i] = cumsum(i, X[i])", "by length", "runs along i"),
        ("tensor X[i, j] : csr\ntensor T[j] : dense\nT[j] argmax= X[i, j]", "by length", "gives coordinates"),
        ("tensor X[i=8] : dense\ntensor T[j=4] : dense\nT[j] = X[2*j]", "by length", "computes or looks up"),
        (
            "tensor X[i=4, j=2] : dense\ntensor T[m=8] : dense\nT[m] = reshape(X[i, j])",
            "by length",
            "moves i",
        ),
        (
            "tensor X[i, j] : (dense, dia)\ntensor T[i] : dense\nT[i] = X[i, j]",
            "by length",
            "is stored as",
        ),
        ("tensor X[i] : dense\ntensor T[i] : dense\nT[i] = X[i]", "reverse Cuthill-McKee", "of matrices"),
        (
            "tensor X[i=2, j=3] : csr\ntensor T[i] : dense\nT[i] = X[i, j]",
            "reverse Cuthill-McKee",
            "of the extents 2 and 3 alike",
        ),
    ],
)
def test_what_has_no_other_order(text: str, order: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        order_rows(parse(text), {"X": order})


def test_errors(tmp_path: Path) -> None:
    program = load_kernel("spmm")
    with pytest.raises(InputError, match="reads no tensor 'B'"):
        order_rows(program, {"B": "by length"})
    with pytest.raises(InputError, match="'X' and 'A' both order k"):
        order_rows(program, {"A": "reverse Cuthill-McKee", "X": "by length"})
    with pytest.raises(InputError, match="there is no order 'by width'"):
        check_permute_rows({"A": "by width"})
    with pytest.raises(InputError, match="give a table"):
        check_permute_rows(["A"])
    with pytest.raises(InputError, match="one order, as in A = by length"):
        with_words(Schedule(), {"permute_rows": "by length"})
    with pytest.raises(InputError, match="cascades in lanes"):
        Schedule(permute_rows={"A": "by length"}, cascade="auto", lanes={"i": 2}).row_orders(program)
    oblong = Tensor.from_dense(np.ones((2, 3)), "csr")
    with pytest.raises(InputError, match="square matrices, and this one is"):
        rows("reverse Cuthill-McKee", oblong)
    file = tmp_path / "own.py"
    file.write_text(
        "def short(coords, shape):\n    return [0]\n\ndef twice(coords, shape):\n    return [0] * shape[0]\n"
    )
    with pytest.raises(InputError, match="give the numbers of 4 rows"):
        rows(f"{file}:short")
    with pytest.raises(InputError, match="each number from 0 to 3 once"):
        rows(f"{file}:twice")


def test_data_that_do_not_fit() -> None:
    orders = order_rows(load_kernel("spmm"), {"A": "reverse Cuthill-McKee"})
    with pytest.raises(InputError, match="'A' is missing, whose rows"):
        orders.drawn({})
    held = {"A": MATRIX, "X": Tensor.from_dense(np.ones((5, 2)), "dense")}
    with pytest.raises(InputError, match="'X' has the extent 5 along mode 0, and 'A'"):
        orders.drawn(held).there(held)


def test_words() -> None:
    schedule = with_words(Schedule(), {"permute_rows": "A = by length; B = even(4)"})
    assert schedule.permute_rows == {"A": "by length", "B": "even(4)"}
    assert Schedule.from_fields(schedule.to_json()) == schedule
    assert with_words(schedule, {"permute_rows.A": "none"}).permute_rows == {"B": "even(4)"}
    assert "rows of A by length" in str(schedule)
