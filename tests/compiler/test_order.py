"""Orders of indices: the partial order graph, what is chosen, and what is refused."""

import pytest

from samhw.compiler.order import choose_order, partial_order
from samhw.errors import InputError
from samhw.frontend import parse


def program(declarations: str, statement: str):
    return parse(declarations + "\n" + statement)


SPMM = "tensor A[i=4, k=4] : csr\ntensor X[k, j=4] : csr\ntensor T[i, j] : csr"


def test_mode_orders_are_edges() -> None:
    p = program(SPMM, "T[i,j] = A[i,k] * X[k,j]")
    assert set(partial_order(p, p.statements[0]).edges) == {("i", "k"), ("k", "j"), ("i", "j")}


def test_default_is_the_first_topological_order() -> None:
    p = program(SPMM, "T[i,j] = A[i,k] * X[k,j]")
    assert choose_order(p, p.statements[0]) == ("i", "k", "j")
    p = program(SPMM.replace("X[k, j=4] : csr", "X[k, j=4] : csc"), "T[i,j] = A[i,k] * X[k,j]")
    assert choose_order(p, p.statements[0]) == ("i", "j", "k")


def test_discordant_order_is_refused_with_the_mend() -> None:
    p = program(SPMM, "T[i,j] = A[i,k] * X[k,j]")
    with pytest.raises(
        InputError, match=r"visits j outside k, but X\[k, j\] is stored with k outside j; .* '@ \(1, 0\)'"
    ):
        choose_order(p, p.statements[0], ("i", "j", "k"))


def test_order_must_name_every_index() -> None:
    p = program(SPMM, "T[i,j] = A[i,k] * X[k,j]")
    with pytest.raises(InputError, match="does not name each index"):
        choose_order(p, p.statements[0], ("i", "j"))


def test_storage_orders_that_leave_no_order_are_refused() -> None:
    p = program(
        "tensor A[i=4, j=4] : csr\ntensor B[i, j] : csc\ntensor X[i, j] : csr", "X[i,j] = A[i,j] * B[i,j]"
    )
    with pytest.raises(InputError, match="No order of indices suits the storage"):
        choose_order(p, p.statements[0])
