"""Orders of indices: the partial order graph, what is chosen, and what is refused."""

from itertools import islice
from math import comb, factorial

import pytest

from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, ScheduleError
from samhw.lang import load_model, parse
from samhw.lang.fusion.fuse import FusedRegion
from samhw.lang.fusion.order import (
    PartialOrder,
    check_order,
    count_orders,
    orders,
    outermost_orders,
    partial_order,
    swapped_orders,
)


def region(declarations: str, *statements: str) -> FusedRegion:
    fused = "fuse {\n" + "\n".join(statements) + "\n}"
    program = parse(f"{declarations}\n{fused}")
    return FusedRegion(program, program.regions[0])


def first_order(fused: FusedRegion) -> tuple[str, ...]:
    return next(orders(fused, partial_order(fused)))


def asked(fused: FusedRegion, *order: str) -> tuple[str, ...]:
    return check_order(fused, partial_order(fused), order)


SPMM = "tensor A[i=4, k=4] : csr\ntensor X[k, j=4] : csr\ntensor T[i, j] : csr"


def test_mode_orders_are_edges() -> None:
    fused = region(SPMM, "T[i,j] = A[i,k] * X[k,j]")
    assert set(partial_order(fused).edges) == {("i", "k"), ("k", "j"), ("i", "j")}


def test_default_is_the_first_topological_order() -> None:
    assert first_order(region(SPMM, "T[i,j] = A[i,k] * X[k,j]")) == ("i", "k", "j")
    by_column = SPMM.replace("X[k, j=4] : csr", "X[k, j=4] : csc")
    assert first_order(region(by_column, "T[i,j] = A[i,k] * X[k,j]")) == ("i", "j", "k")


def test_discordant_order_is_refused_with_the_mend() -> None:
    fused = region(SPMM, "T[i,j] = A[i,k] * X[k,j]")
    with pytest.raises(
        InputError, match=r"visits j outside k, but X\[k, j\] is stored with k outside j; .* '@ \(1, 0\)'"
    ):
        asked(fused, "i", "j", "k")


def test_order_must_name_every_index() -> None:
    fused = region(SPMM, "T[i,j] = A[i,k] * X[k,j]")
    with pytest.raises(InputError, match="does not name each index"):
        asked(fused, "i", "j")


def test_storage_orders_that_leave_no_order_are_refused() -> None:
    fused = region(
        "tensor A[i=4, j=4] : csr\ntensor B[i, j] : csc\ntensor X[i, j] : csr", "X[i,j] = A[i,j] * B[i,j]"
    )
    with pytest.raises(InputError, match="No order of indices suits the storage"):
        first_order(fused)


def unconstrained(rank: int) -> PartialOrder:
    return PartialOrder(f"i{n}" for n in range(rank))


def test_large_counts_are_not_enumerated() -> None:
    assert count_orders(unconstrained(14)) == factorial(14)


def test_a_decoder_block_without_constraints_has_more_than_200_million_orders() -> None:
    program = Schedule(fuse="full").apply(load_model("gpt3_block"))
    graph = partial_order(FusedRegion(program, program.regions[0]))
    assert count_orders(PartialOrder(graph)) == factorial(len(graph)) > 2 * 10**8
    assert 0 < count_orders(graph) < 10**4


def test_count_is_that_of_the_orders() -> None:
    fused = region(SPMM + "\ntensor b[m=3, n=3] : csr", "T[i,j] = A[i,k] * X[k,j] * b[m,n]")
    graph = partial_order(fused)
    every = list(orders(fused, graph))
    assert len(every) == len(set(every)) == count_orders(graph) == 10
    assert all(order.index(u) < order.index(v) for order in every for u, v in graph.edges)


def test_too_many_orders_to_count_are_refused() -> None:
    with pytest.raises(ScheduleError, match="orders of 40 indices are too many to count"):
        count_orders(unconstrained(40))
    # Statements with orders, and a region split in half, are what the refusal names.
    ordered = unconstrained(40)
    ordered.add_edges((f"i{n}", f"i{n + 2}") for n in range(38))
    assert count_orders(ordered) == comb(40, 20)
    assert count_orders(unconstrained(18)) == factorial(18)


def test_an_order_may_name_the_indices_of_uses_that_share_less() -> None:
    program = parse(
        "tensor S[i=4, j=4] : csr\ntensor Y[i, j] : csr\n"
        "fuse {\n  T[i,j] = relu(S[i,j])\n  m[i] = T[i,j]\n  Y[i,j] = T[i,j] * m[i]\n}\n"
    )
    for order in ("i,j", "i,j_2,j", "i,j,j_2"):
        (compiled,) = compile_job(Job(program, Schedule(order=order.split(",")))).regions
        assert ",".join(compiled.order) == order
    with pytest.raises(
        InputError, match=r"does not name each index of 'Y\[i, j\]' once; its indices are i, j"
    ):
        compile_job(Job(program, Schedule(order=("i", "x"))))


def test_an_order_for_each_outermost_index_and_its_neighbours() -> None:
    fused = region("tensor A[i, j]: csr\ntensor x[k]: csf\ntensor y", "y = A[i, j] * x[k]")
    graph = partial_order(fused)
    assert list(outermost_orders(fused, graph)) == [("i", "j", "k"), ("k", "i", "j")]
    assert list(swapped_orders(graph, ("i", "j", "k"))) == [("i", "k", "j")]
    assert list(swapped_orders(graph, ("i", "k", "j"))) == [("k", "i", "j"), ("i", "j", "k")]
    scalar = region("tensor a\ntensor y", "y = a + 1")
    assert list(outermost_orders(scalar, partial_order(scalar))) == [()]


def test_a_cycle_has_no_orders() -> None:
    graph = unconstrained(2)
    graph.add_edges([("i0", "i1"), ("i1", "i0")])
    assert count_orders(graph) == 0


def test_orders_are_made_when_they_are_asked_for() -> None:
    # 25! orders would take longer than there is time.
    names = [f"n{n}" for n in range(25)]
    vectors = "\n".join(f"tensor v{n}[{name}=2] : dense" for n, name in enumerate(names))
    product = " * ".join(f"v{n}[{name}]" for n, name in enumerate(names))
    fused = region(vectors, f"x = {product}")
    first, second = islice(orders(fused, partial_order(fused)), 2)
    assert first != second
