"""Graphs: shape, determinism, and the programs that are refused."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import samhw
from samhw.app.checking import check
from samhw.app.workload import compile_workload, make_workload
from samhw.choices.iteration import ITERATIONS, Iteration
from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, ScheduleError
from samhw.graph import Arch, dumps, validate_design
from samhw.graph.numerics import value_type
from samhw.lang import Capacity, kernel_names, load_kernel, parse
from samhw.lang.decision import Refusal
from samhw.targets.backends import run

Array = NDArray[np.int64]


def small(name: str, **options: object):
    program = load_kernel(name)
    capacity = Capacity(dict.fromkeys(program.statements[0].indices, 8))
    return compile_job(Job(program, capacity=capacity, **options))


@pytest.mark.parametrize("name", kernel_names())
@pytest.mark.parametrize("iteration", ITERATIONS)
def test_kernels_give_valid_graphs(name: str, iteration: Iteration) -> None:
    validate_design(small(name, schedule=Schedule(iteration=iteration)).design)


@pytest.mark.parametrize("name", kernel_names())
def test_compilation_is_deterministic(name: str) -> None:
    assert dumps(small(name).design) == dumps(small(name).design)


def test_channels_run_at_full_rate_and_have_the_slack_of_their_path() -> None:
    arch = Arch()
    graph = small("spmv").regions[0].graph
    assert all(c.depth >= c.latency + 1 + arch.slack for c in graph.channels)
    into_mul = {c.sink.port: c for c in graph.channels if c.sink.node == "mul"}
    longer = next(c for c in graph.channels if c.sink.node == "array_c")
    # c is read at the coordinates, after a locator, so B's values wait for it.
    assert longer.source.node.startswith("locate")
    assert into_mul["a"].depth == into_mul["b"].depth + arch.memory + arch.locate - arch.step


def test_immediates_and_signs() -> None:
    text = "tensor b[i=4] : dense\ntensor x[i] : dense\nx[i] = 3 - 2 * b[i] * 2"
    ops = [
        (n.params["op"], n.params.get("immediates"))
        for n in compile_job(Job(parse(text))).regions[0].graph.nodes
        if n.kind == "alu"
    ]
    assert ops == [("mul", {"b": 4}), ("sub", {"a": 3})]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tensor A[i, j=4] : csr\ntensor x[i] : dense\nx[i] = A[i,j]", "Nothing gives the extent of index i"),
        (
            "tensor A[k=4, i=4] : csr\ntensor B[k, j=4] : csr\ntensor D[i, j] : csr\ntensor X[i, j] : dcsr\n"
            "X[i,j] = D[i,j] + A[k,i] * B[k,j]    order k,i,j",
            "comes after i, or compute the sum in a statement and a region of its own (fuse=",
        ),
        (
            "tensor A[i=8, j=8] : bcsr(4)\ntensor x[i] : dense\nx[i] = A[i,j]",
            "stored in blocks of 4 along i, but 'x' in blocks of 1",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_lowered_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        compile_job(Job(parse(text), Schedule(share="none")))
    assert message in str(error.value)
    assert str(error.value).count("\n") == 0


def test_a_factor_between_reduction_and_result_is_drawn_into_the_sum() -> None:
    text = (
        "tensor A[k=4, i=4] : csr\ntensor B[k, j=4] : csr\ntensor D[i, j] : csr\ntensor X[i, j] : dcsr\n"
        "X[i,j] = D[i,j] * A[k,i] * B[k,j]    order k,i,j"
    )
    graph = compile_job(Job(parse(text))).regions[0].graph
    assert [n.params["bits"] for n in graph.nodes if n.kind == "reduce_vector"] == [[2, 2]]


@pytest.mark.parametrize(
    "change", ["T[i] + b[i] where b[i]", "(T[i] + b[i]) * b[i]", "-(T[i] + b[i]) * b[i]"]
)
def test_global_iteration_takes_no_sum_into_one_of_several_terms(change: str) -> None:
    """The other term would be summed too, once for each k."""
    text = (
        "tensor A[i=2, k=3] : dense\ntensor b[i] : dense\ntensor y[i] : dense\n"
        f"fuse {{\n  T[i] = A[i,k] * b[i]\n  y[i] = {change}\n}}\n"
    )
    work = make_workload(parse(text), seed=1)
    compiled = compile_workload(work, value=value_type("i32"), schedule=Schedule(iteration="global"))
    assert check(work, compiled, run(compiled, work.tensors).outputs).good


@pytest.mark.parametrize("between", [1, 2, 3])
@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("A[j, i] - {}[j]", lambda A, B, t: A - t[:, None]),
        ("A[j, i] * B[j, i] - {}[j]", lambda A, B, t: A * B - t[:, None]),
        ("A[j, i] * {}[j]", lambda A, B, t: A * t[:, None]),
        ("{}[j] * B[j, i] + A[j, i] * {}[j]", lambda A, B, t: (A + B) * t[:, None]),
        ("-{}[j] + A[j, i]", lambda A, B, t: A - t[:, None]),
        ("A[j, i] - {}[i]", lambda A, B, t: A - t),
    ],
)
@pytest.mark.parametrize("format", ["csr", "(dense, dia)"])
def test_global_iteration_sums_over_no_index_of_the_statement(
    format: str, last: str, expected: Callable[..., Array], between: int
) -> None:
    """However many statements lie between a sum over i and the one that has i in its result."""
    chain = [f"T{n}[j] = T{n - 1}[j]" for n in range(1, between)]
    y = last.replace("{}", f"T{between - 1}").replace("A[", "C[")
    lines = ["C[j, i] = A[j, i]", "T0[j] = C[j, i]", *chain, f"y[j, i] = {y}"]
    uses_b = "tensor B[j=4, i=4] : csr\n" if "B[" in y else ""
    text = f"tensor A[j=4, i=4] : {format}\n{uses_b}tensor y[j=4, i=4] : dense\n" + "\n".join(lines)
    rng = np.random.default_rng(5)
    A, B = rng.integers(-2, 3, (2, 4, 4))
    design = samhw.compile(text, schedule={"fuse": "full", "iteration": "global"}, value="i32")
    result = design.run({"A": A, "B": B} if uses_b else {"A": A})
    assert result.check().good
    np.testing.assert_array_equal(result["y"], expected(A, B, A.sum(1)))


def test_as_many_orders_are_tried_as_the_schedule_says(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def refuse(scope: object, number: int, fused: object, order: tuple[str, ...]) -> Refusal:
        tried.append(order)
        return Refusal("never")

    monkeypatch.setattr("samhw.compiler.search.region_search.lower_fused", refuse)
    program = parse("tensor a[i=2]\ntensor b[j=2]\ntensor c[k=2]\ny = a[i] * b[j] * c[k]")
    for attempts in (1, 3):
        tried.clear()
        with pytest.raises(ScheduleError, match="never"):
            compile_job(Job(program, Schedule(attempts=attempts)))
        assert len(set(tried)) == attempts
