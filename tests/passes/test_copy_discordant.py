"""Permuted copies of what is stored against every order that is left."""

from dataclasses import replace

import numpy as np
import pytest

from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import Program, parse
from samhw.lang.reference import evaluate_program
from samhw.targets.backends import run
from tests.support.program_cases import random_tensors

TRANSPOSITION = "tensor A[i=5, j=7] : csr\ntensor T[j=7, i=5] : csr\nT[j, i] = A[i, j]\n"
SUM = (
    "tensor A[i=5, j=7] : dense\ntensor B[i=5, j=7] : csc\ntensor C[i=5, j=7] : csc\n"
    "tensor Y[i, j] : csr\n"
    "Y[i, j] = A[i, j] + B[i, j] * C[i, j]\n"
)
DOUBLE = "tensor A[i=5, j=7] : csr\ntensor T[j=7, i=5] : csr\nT[j, i] = 2 * A[i, j]\n"
FORMATS = ("csr", "csc", "dcsr", "dense", "(compressed, dense)", "coo")
RANK_3 = "tensor A[i=3, j=4, k=5] : csf\ntensor T[k, i, j] : csf\nT[k, i, j] = A[i, j, k]\n"

PERMUTE = Schedule(permute=True)


def results(program: Program, schedule: Schedule = PERMUTE, value: str | None = None) -> None:
    """Compares the results for several sets of data."""
    rng = np.random.default_rng(0)
    for _ in range(4):
        tensors = random_tensors(program, rng)
        work = Workload("permuted", program, tensors)
        compiled = compile_workload(work, schedule, value=value and value_type(value))
        outputs = run(compiled, tensors).outputs
        expected = evaluate_program(program, {name: t.to_dense() for name, t in tensors.items()})
        for decl in program.outputs:
            assert np.array_equal(outputs[decl.name].to_dense(), expected[decl.name])


@pytest.mark.parametrize("text", [TRANSPOSITION, DOUBLE, SUM, RANK_3])
def test_copies_give_the_result(text: str) -> None:
    results(parse(text))


def test_without_permission_it_is_refused_and_the_option_named() -> None:
    with pytest.raises(ScheduleError, match="permute=True"):
        compile_job(Job(parse(SUM)))


@pytest.mark.parametrize("result", FORMATS)
@pytest.mark.parametrize("operand", FORMATS)
def test_a_transposition_that_stands_alone_needs_no_permission(operand: str, result: str) -> None:
    text = f"tensor A[i=5, j=7] : {operand}\ntensor T[j=7, i=5] : {result}\nT[j, i] = A[i, j]    order i, j\n"
    results(parse(text), Schedule())
    if operand == result in ("dense", "dcsr"):
        (region,) = compile_job(Job(parse(text))).regions
        assert str(region.copy).startswith("T is A in the mode order (1, 0): ")


def test_a_transposition_of_rank_3_needs_no_permission() -> None:
    results(parse(RANK_3), Schedule())


@pytest.mark.parametrize("storage", [*FORMATS, "dense @ (1, 0)", "csf @ (1, 0)"])
def test_a_result_against_its_own_order_is_written_and_copied(storage: str) -> None:
    text = (
        f"tensor A[i=5, j=7] : csr\ntensor B[i=5, j=7] : csr\ntensor T[i=5, j=7] : {storage}\n"
        "tensor y[i=5] : dense\n"
        "fuse {\n  T[i,j] = A[i,j] * B[i,j]    order i,j\n  y[i] = T[i,j]    order i,j\n}\n"
        "x = T[i,j]\n"
    )
    results(parse(text), value="f32")


def test_what_a_copied_result_costs_is_told() -> None:
    text = "tensor A[i=5, j=7] : csr\ntensor T[i, j] : csc\nT[i,j] = 2 * A[i,j]    order i,j\n"
    with pytest.raises(ScheduleError, match=r"permit permuted copies \(permute=True\)"):
        compile_job(Job(parse(text)))
    copies = [region.copy for region in compile_job(Job(parse(text), PERMUTE)).regions]
    # The statement, the copy, and what fills in the dense level of csc.
    assert [copy and str(copy).partition(":")[0] for copy in copies] == [
        None,
        "T_10 is T_01 in the mode order (1, 0)",
        None,
    ]


def test_a_result_in_an_order_that_the_user_asks_for() -> None:
    text = "tensor A[i=5, j=7] : csr\ntensor T[j=7, i=5] : dcsr\nT[j,i] = 2 * A[i,j]    order j,i\n"
    results(parse(text), Schedule(permute=True, order=("i", "j")))
    with pytest.raises(ScheduleError, match=r"T\[j, i\] is stored with j outside i; .*\(permute=True\)"):
        compile_job(Job(parse(text), Schedule(order=("i", "j"))))


def test_a_region_whose_orders_conflict_ends_between_them() -> None:
    text = (
        "tensor A[i=5, j=7] : csr\ntensor T[i, j] : csr\nfuse {\n  U[i,j] = 2 * A[i,j]    order j,i\n"
        "  T[i,j] = U[i,j] + A[i,j]    order i,j\n}\n"
    )
    with pytest.raises(ScheduleError, match="or change or leave out an order"):
        compile_job(Job(parse(text), replace(PERMUTE, share="none")))
    compiled = compile_job(Job(parse(text), PERMUTE))
    assert [region.order for region in compiled.regions if not region.copy] == [("j", "i"), ("i", "j")]
    results(parse(text))


def test_a_transposition_of_what_a_region_computes_ends_it() -> None:
    """Where no order of the whole region can be; what lies on both sides stays together."""
    text = (
        "tensor A[i=5, j=7] : dense\ntensor U[i, j] : dense\ntensor V[i, j] : dense\n"
        "tensor W[j, i] : dense\ntensor X[j, i] : dense\ntensor Y[j, i] : dense\nfuse {\n"
        "  U[i,j] = 2 * A[i,j]    order i,j\n  V[i,j] = U[i,j] + A[i,j]    order i,j\n"
        "  W[j,i] = V[i,j]    order i,j\n"
        "  X[j,i] = W[j,i] * 3    order j,i\n  Y[j,i] = X[j,i] + W[j,i]    order j,i\n}\n"
    )
    compiled = compile_job(Job(parse(text)))
    assert [len(region.region.statements) for region in compiled.regions] == [2, 1, 2]
    assert [region.copy is not None for region in compiled.regions] == [False, True, False]
    again = compile_job(Job(parse(text), compiled.schedule))
    assert [region.graph for region in again.regions] == [region.graph for region in compiled.regions]
    results(parse(text), Schedule())


def test_a_transposition_that_streams_can_follow_stays_in_its_region() -> None:
    text = (
        "tensor A[i=5, j=7] : dense\ntensor W[j, i] : dense\ntensor Y[j, i] : dense\nfuse {\n"
        "  U[i,j] = 2 * A[i,j]\n  W[j,i] = U[i,j]\n  Y[j,i] = W[j,i] + 3    order i,j\n}\n"
    ).replace("Y[j, i] : dense", "Y[j, i] : (dense, dense) @ (1, 0)")
    assert len(compile_job(Job(parse(text))).regions) == 1


def test_the_cost_is_told() -> None:
    copy, rest = compile_job(Job(parse(DOUBLE), PERMUTE)).regions
    assert rest.copy is None
    assert copy.copy is not None
    assert (copy.copy.tensor, copy.copy.of, copy.copy.mode_order) == ("A_10", "A", (1, 0))
    # 3 bits for each coordinate, two banks; 35 entries at most.
    assert copy.copy.words == 2 * 2**6
    assert str(copy.copy) == (
        "A_10 is A in the mode order (1, 0): up to 70 cycles, and an accumulator of 128 words"
    )


def test_the_larger_operand_keeps_its_storage() -> None:
    text = "tensor A[i=5, j=7, k=9] : csf\ntensor B[i=5, j=7] : csc\ntensor y\ny = A[i, j, k] * B[i, j]\n"
    copies = [r.copy.of for r in compile_job(Job(parse(text), PERMUTE)).regions if r.copy]
    assert copies == ["B"]
    results(parse(text))


def test_regions_share_a_copy() -> None:
    text = DOUBLE + "U[j, i] = 3 * A[i, j]    order j, i\n"
    regions = compile_job(Job(parse(text), PERMUTE)).regions
    assert [region.copy is not None for region in regions] == [True, False, False]
    results(parse(text))


def test_an_order_that_the_user_asks_for_is_one_more_reason() -> None:
    text = "tensor A[i=5, j=7] : csr\ntensor b[i] : dense\nb[i] = A[i, j]\n"
    assert len(compile_job(Job(parse(text), PERMUTE)).regions) == 1
    results(parse(text), Schedule(permute=True, order=("j", "i")))
    assert len(compile_job(Job(parse(text), Schedule(permute=True, order=("j", "i")))).regions) == 2


def test_what_is_too_large_to_sort_is_refused() -> None:
    text = TRANSPOSITION.replace("i=5", "i=5000").replace("j=7", "j=7000")
    with pytest.raises(
        ScheduleError, match=r"an accumulator of 134,217,728 words.*'largest_copy = 67108864'"
    ):
        compile_job(Job(parse(text), PERMUTE))
    permitted = replace(PERMUTE, largest_copy=67108864)
    assert compile_job(Job(parse(text), permitted)).regions[0].copy
    with pytest.raises(ScheduleError, match="more than 126"):
        compile_job(Job(parse(TRANSPOSITION), replace(PERMUTE, largest_copy=63)))


@pytest.mark.parametrize(
    ("operand", "result"), [("csr", "dcsc"), ("csc", "coo"), ("dcsc", "dcsr"), ("dense @ (1, 0)", "dense")]
)
def test_a_copy_that_the_program_makes_is_used(operand: str, result: str) -> None:
    text = (
        f"tensor A[i=5, j=7] : {operand}\ntensor T[i=5, j=7] : {result}\ntensor U[i, j] : {result}\n"
        "T[i, j] = A[i, j]\nU[i, j] = A[i, j] * T[i, j] + A[i, j]\n"
    )
    copy, rest = compile_job(Job(parse(text), PERMUTE)).regions
    assert str(copy.copy).startswith("T is A in the mode order")
    assert [str(s) for s in rest.region.statements] == ["U[i, j] = T[i, j] * T[i, j] + T[i, j]"]
    results(parse(text))


def test_an_order_against_two_tensors_that_agree_needs_no_copy() -> None:
    text = "tensor A[i=5, j=7] : csr\ntensor T[j, i] : csc\nT[j, i] = A[i, j]    order j, i\n"
    (region,) = compile_job(Job(parse(text))).regions
    assert region.copy is None
    assert region.order == ("i", "j")
    results(parse(text))
