"""Results that are computed part by part and put together by the host, and lanes by part."""

from dataclasses import replace

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler.graph_passes.lanes import lane_factors
from samhw.compiler.placement import arrays_off_chip
from samhw.graph import DDR4
from samhw.graph.numerics import value_type
from samhw.graph.spec.base import MOST_LANES
from samhw.lang import Program, load_kernel, parse
from samhw.lang.splits import SplitProgram, split_program
from samhw.lang.splits import over_parts as by_part
from samhw.lang.splits.over_parts import dealt, lane_shares
from samhw.sim.run_work import operations
from samhw.targets.backends import run
from samhw.tensors import Tensor

INPUTS = (
    "tensor A[i, k] : csr\ntensor B[i, k] : csr\ntensor X[k, j] : dense\ntensor c[i] : dense\n"
    "tensor T[i, j] : csr\n"
)


def halves(statements: str, rule: str = "rows(2)") -> SplitProgram:
    """A program in which A has two parts."""
    used = [line for line in INPUTS.splitlines() if f"{line.split()[1].split('[')[0]}[" in statements]
    return split_program(parse("\n".join([*used, statements])), {"A": rule})


def spmm() -> Program:
    return load_kernel("spmm")


@pytest.mark.parametrize(
    ("statement", "first"),
    [
        ("T[i, j] = A[i, k] * X[k, j]", "T_0[i_0, j_0] = A_0[i_0, k_0] * X[k_0, j_0]"),
        (
            "T[i, j] = -A[i, k] * X[k, j] / c[i] - A[i, k] * A[i, j]",
            "T_0[i_0, j_0] = -A_0[i_0, k_0] * X[k_0, j_0] / c[i_0] - A_0[i_0, k_0] * A_0[i_0, j_0]",
        ),
        ("T[i, j] = A[i, k] * relu(A[i, k]) * X[k, j]", "* relu(A_0[i_0, k_0]) * X[k_0, j_0]"),
    ],
)
def test_each_part_computes_its_own_rows(statement: str, first: str) -> None:
    found = halves(statement)
    part, _, whole = map(str, found.program.statements)
    assert part.endswith(first)
    assert whole == "T[i, j] = T_0[i, j] + T_1[i, j]"
    assert [region.written for region in found.program.regions] == [("T_0", "T_1"), ("T",)]
    assert [str(found.program.tensors[name].format) for name in ("T", "T_0", "T_1")] == [
        "csr",
        "dcsr",
        "dcsr",
    ]
    assert found.like()["T_1"] == "T"
    assert parse(found.program.text) == found.program


@pytest.mark.parametrize(
    ("statements", "rule"),
    [
        ("T[i, j] = A[i, k] * X[k, j]\nU[i, j] = relu(T[i, j])", "rows(2)"),  # It is read.
        ("T[i, j] = A[i, k] * X[k, j] + B[i, j]", "rows(2)"),  # B has rows in every part.
        ("T[i, j] = A[i, k] * X[k, j]", "columns(2)"),  # k is summed.
        ("T[i, j] = A[i, k] * A[j, k]", "rows(2)"),  # The parts of both rows count.
        ("T[i, j] = exp(A[i, k]) * X[k, j]", "rows(2)"),  # It is not zero where A is.
        ("T[i, j] max= A[i, k] * X[k, j]", "rows(2)"),
        ("T[i, j] = A[i, k] * X[k, j] where B[i, j]", "rows(2)"),
        ("T[i, j] = A[i, k] * X[k, j]", "hyb(2,1)"),  # A row has entries in both parts of the columns.
        (
            "fuse {\nY[k, j] = relu(X[k, j])\nT[i, j] = A[i, k] * Y[k, j]\n}",
            "rows(2)",
        ),  # Y would be streamed.
    ],
)
def test_what_is_not_apart(statements: str, rule: str) -> None:
    assert halves(statements, rule).apart == ()


def test_the_columns_of_a_result_are_apart_too() -> None:
    found = halves("T[i, k] = A[i, k] * c[i]", "columns(2)")
    assert str(found.program.tensors["T_0"].format) == "csr"
    assert found.apart[0].rows == {"k": 1}


def test_an_order_of_the_whole_region_stays_one() -> None:
    program = replace(Schedule(order=("i", "k", "j")), split={"A": "rows(2)"}).apply(spmm())
    (region, _) = split_program(program, {"A": "rows(2)"}).program.regions
    assert region.order == ("i_0", "i_1", "k_0", "k_1", "j_0", "j_1")


def test_shares_by_hand() -> None:
    """Nine entries in one row, and nine rows of one: five lanes are one, which nine entries keep busy, and
    one; more do not help. Without the long row more lanes do."""
    long, short = dealt(np.array([9])), dealt(np.ones(9, np.int64))
    assert [short(n) for n in (1, 2, 4, 9)] == [9, 5, 3, 1]
    assert dealt(np.array([4, 1, 4, 1]))(2) == 8
    assert lane_shares([long, short], 5) == [1, 1]
    assert lane_shares([short, short], 5) == [2, 2]
    assert lane_shares([short, dealt(np.ones(3, np.int64))], 4) == [3, 1]
    assert lane_shares([short] * 3, 2) == [1, 1, 1]


def test_shares_are_numbers_that_a_tree_of_scatters_has() -> None:
    assert by_part.MOST_LANES == MOST_LANES
    many = dealt(np.ones(1000, np.int64))
    for lanes in range(1, 70):
        (share,) = lane_shares([many], lanes)
        assert share <= lanes
        lane_factors(share)


def test_lanes_go_to_the_indices_of_parts() -> None:
    found = split_program(spmm(), {"A": "rows(2)"})
    busiest = {"A_0": dealt(np.ones(30, np.int64)), "A_1": dealt(np.ones(10, np.int64))}

    def lanes(**given: int) -> dict[str, int]:
        return found.lanes(given, lambda part, mode: busiest[part])

    assert lanes(i=8) == {"i_0": 6, "i_1": 2}
    assert lanes(k=2) == {"k_0": 2, "k_1": 2}
    assert lanes(i=8, i_0=1) == {"i_0": 1, "i_1": 2}
    assert lanes(other=3) == {"other": 3}


@pytest.mark.parametrize("rule", ["hyb(1,2)", "even(4)"])
@pytest.mark.parametrize("formats", [{}, {"T": "dense"}, {"T": "csc"}])
def test_a_run_with_lanes_by_part(rule: str, formats: dict[str, str]) -> None:
    order = ("j", "i", "k") if formats.get("T") == "csc" else ("i", "k", "j")
    schedule = Schedule(split={"A": rule}, lanes={"i": 6}, formats=formats, order=order, permute=True)
    workload = bind_program("spmm", ["karate"])
    compiled = compile_workload(workload, schedule, value=value_type("i32"))
    found = run(compiled, workload.tensors)
    assert check(workload, compiled, found.outputs).good
    exact = workload.tensors["A"].to_dense() @ workload.tensors["X"].to_dense()
    assert np.array_equal(found.outputs["T"].to_dense(), exact)
    assert found.outputs["T"].format == compiled.program.tensors["T"].format


@pytest.mark.nightly(but=12)
@pytest.mark.parametrize("rule", ["rows(2)", "columns(2)", "even(2)", "hyb(1, 1)", "diagonal + csr"])
@pytest.mark.parametrize("lanes", [{}, {"i": 2}])
@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y[i] = A[i, j - 1] * A[i, j]", lambda a, x, p: (np.pad(a, ((0, 0), (1, 0)))[:, :-1] * a).sum(1)),
        ("y[i] = A[i - 1, j] * x[j] + A[i, j] * x[j]", lambda a, x, p: np.pad(a @ x, (1, 0))[:-1] + a @ x),
        ("y[i] = A[i, j] * x[wrap(j + 1)]", lambda a, x, p: a @ np.roll(x, -1)),
        ("y[i] = A[p[i], j] * x[j]", lambda a, x, p: a[p] @ x),
        ("y[i, j] = A[i, p[j]] * x[j]", lambda a, x, p: a[:, p] * x),
    ],
)
def test_parts_beside_computed_and_named_places(statement, expected, rule, lanes) -> None:
    """What is gathered is computed in the region, so that parts may have to stay together there."""
    a = np.array([[1, 0, 2, 3], [0, 4, 0, 0], [5, 0, 0, 6], [0, 7, 8, 9]])
    x, p = np.array([1, -2, 3, 4]), np.array([2, 0, 3, 3])
    used = [f"tensor {t}\n" for t in ("x[v]", "p[w]") if t[:2] in statement]
    program = parse(f"tensor A[r=4, c=4] : csr\n{''.join(used)}{statement}")
    data = {name: array for name, array in {"A": a, "x": x, "p": p}.items() if f"{name}[" in statement}
    tensors = {name: Tensor.from_dense(array, program.tensors[name].format) for name, array in data.items()}
    workload = Workload("gathered", program, tensors)
    for fuse in ("none", "full"):
        schedule = Schedule(split={"A": rule}, lanes=lanes, fuse=fuse, permute=True)
        found = run(compile_workload(workload, schedule, value=value_type("i32")), tensors)
        assert np.array_equal(found.outputs["y"].to_dense(), expected(a, x, p))


def test_parts_take_less_time_than_one_after_the_other() -> None:
    """All lanes are at work at once, where one long row keeps one of dealt lanes busy."""
    array = np.zeros((32, 64), np.int64)
    array[0] = 1
    array[1:, :2] = 1
    workload = bind_program("spmm", ["random:size=64,density=0.1"])
    X = workload.tensors["X"]
    workload = replace(workload, program=spmm(), tensors={"A": Tensor.from_dense(array, "csr"), "X": X})
    cycles = {}
    for rule in (None, "even(2)"):
        schedule = Schedule(split={} if rule is None else {"A": rule}, lanes={"i": 2})
        cycles[rule] = run(
            compile_workload(workload, schedule, value=value_type("i32")), workload.tensors
        ).cycles
    assert cycles["even(2)"] < 0.85 * cycles[None]


def test_parts_lie_off_chip_where_the_whole_would() -> None:
    schedule = Schedule(split={"A": "rows(2)"}, place={"A": "ddr", "T": "ddr"})
    compiled = compile_workload(bind_program("spmm", ["karate"]), schedule)
    off = arrays_off_chip(compiled, DDR4)
    assert {compiled.design.memory[name].tensor for name in off} == {"A_0", "A_1", "T_0", "T_1"}


def test_a_part_needs_room_for_its_own_rows() -> None:
    workload = bind_program("spmm", ["karate"])
    room = workload.capacity(Schedule(split={"A": "hyb(1,2)"})).entries
    assert (room["T_w1"], room["T"]) == (64, 1024)


def test_room_for_what_the_parts_give() -> None:
    """A part of another format may store zeros that the whole has not, and a result has them too."""
    text = "tensor A[i, k] : csr\ntensor Y[i, j] : csr\nY[i, j] = A[i, k] * A[k, j]"
    array = np.zeros((7, 7), np.int64)
    array[np.arange(7), (np.arange(7) + 3) % 7] = 1
    workload = Workload("w", parse(text), {"A": Tensor.from_dense(array, "csr")})
    schedule = Schedule(split={"A": "diagonal + ragged"})
    compiled = compile_workload(workload, schedule, value=value_type("i32"))
    found = run(compiled, workload.tensors)
    assert check(workload, compiled, found.outputs).good
    whole, split = (workload.capacity(one).entries["Y"] for one in (None, schedule))
    assert whole < found.outputs["Y"].nnz <= split


@pytest.mark.parametrize("rule", ["hyb(1,2)", "hyb(2,1)", "diagonal + ell(20)"])
def test_padding_reaches_no_alu(rule: str) -> None:
    """There are as many products as entries times columns, however many cells the parts have."""
    workload = bind_program("spmm", ["karate"])
    A, X = workload.tensors["A"], workload.tensors["X"]
    compiled = compile_workload(workload, Schedule(split={"A": rule}), value=value_type("i32"))
    found = run(compiled, workload.tensors)
    products: list[int] = [
        operations(graph, region.statistics)[node.name]
        for graph, region in zip(compiled.design.runs, found.regions, strict=True)
        for node in graph.nodes
        if node.kind == "alu" and node.params["op"] == "mul"
    ]
    assert sum(products) == A.nnz * X.shape[1]
    if "hyb" in rule:
        sizes = split_program(workload.program, {"A": rule}).partitions["A"].sizes(A)
        assert sum(size.padding for size in sizes.values()) > 0


def test_a_result_is_checked_as_it_was_computed() -> None:
    """T is in the region that computes Y, so that it is not apart, until the compiler ends the region after
    Y."""
    text = (
        "tensor A[i, k] : csr\ntensor X[k, j, l] : dense\ntensor Y[k, j] : dense\ntensor T[i, j] : csr\n"
        "fuse {\nY[k, j] = X[k, j, l]\nT[i, j] = A[i, k] * Y[k, j]\n}"
    )
    rng = np.random.default_rng(0)
    tensors = {
        "A": Tensor.from_dense(rng.integers(0, 2, (6, 5)), "csr"),
        "X": Tensor.from_dense(rng.integers(1, 4, (5, 3, 2)), "dense"),
    }
    workload = Workload("w", parse(text), tensors)
    for share in ("auto", "all", "none"):
        compiled = compile_workload(
            workload, Schedule(split={"A": "rows(2)"}, share=share), value=value_type("f32")
        )
        assert check(workload, compiled, run(compiled, tensors).outputs).good
