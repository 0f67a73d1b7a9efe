"""Statements over parts: terms where the tensor is a factor of a sum, the sum in its place elsewhere."""

import pytest

from samhw.graph.spec.base import MOST_JOINED
from samhw.lang import Program, parse
from samhw.lang.splits import split_program
from samhw.lang.splits.statements import MOST_STREAMS

DECLARED = "tensor A[i, k] : csr\ntensor B[i, k] : csr\ntensor X[k, j] : dense\ntensor c[i] : dense\n"


def halves(statement: str) -> str:
    """The last statement of a program in which A has two parts, with entries in the same rows."""
    used = [line for line in DECLARED.splitlines() if f"{line.split()[1][0]}[" in statement]
    program: Program = split_program(parse("\n".join([*used, statement])), {"A": "columns(2)"}).program
    return str(program.statements[-1])


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("T[i, j] = A[i, k] * X[k, j]", "T[i, j] = A_0[i, k] * X[k, j] + A_1[i, k] * X[k, j]"),
        ("T[i] = c[i] - A[i, k]", "T[i] = c[i] - A_0[i, k] - A_1[i, k]"),
        ("T[i] = -A[i, k] / c[i]", "T[i] = -A_0[i, k] / c[i] + -A_1[i, k] / c[i]"),
        ("T[i, k] = B[i, k] / A[i, k]", "T[i, k] = B[i, k] / (A_0[i, k] + A_1[i, k])"),
        ("T[i] = relu(A[i, k]) * 2", "T[i] = relu(A_0[i, k] + A_1[i, k]) * 2"),
        ("T[i] max= A[i, k] * c[i]", "T[i] max= (A_0[i, k] + A_1[i, k]) * c[i]"),
        ("T[i, k] = cumsum(k, A[i, k])", "T[i, k] = cumsum(k, A_0[i, k] + A_1[i, k])"),
        ("T[i] = (A[i, k] + B[i, k]) * c[i]", "T[i] = (A_0[i, k] + A_1[i, k] + B[i, k]) * c[i]"),
        (
            "T[i, j] = A[i, k] * A[j, k]",
            "T[i, j] = A_0[i, k] * A_0[j, k] + A_0[i, k] * A_1[j, k] + A_1[i, k] * A_0[j, k] "
            "+ A_1[i, k] * A_1[j, k]",
        ),
        # An entry is in one part, so that two of them have no product in one place.
        ("T[i] = A[i, k] * A[i, k]", "T[i] = A_0[i, k] * A_0[i, k] + A_1[i, k] * A_1[i, k]"),
        (
            "T[i] = A[i, k] * -(B[i, k] * A[i, k]) / c[i]",
            "T[i] = A_0[i, k] * -(B[i, k] * A_0[i, k]) / c[i] + A_1[i, k] * -(B[i, k] * A_1[i, k]) / c[i]",
        ),
        ("T[i, k] = B[i, k] * 2", "T[i, k] = B[i, k] * 2"),
    ],
)
def test_a_statement_over_parts(statement: str, wanted: str) -> None:
    if "A[" not in statement:
        statement = f"S[i] = A[i, k]\n{statement}"
    assert halves(statement) == wanted


def test_of_many_terms_partial_sums_are_stored() -> None:
    """Nine parts and X can meet in one place, so twelve parts are two sums of six, after which the rest of
    the region stands."""
    text = (
        "tensor A[i, k] : csr\ntensor X[k, j] : dense\nfuse {\nY[k, j] = relu(X[k, j])\n"
        "T[i, j] = 2 * Y[i, j] - A[i, k] * Y[k, j] order i, k, j\nU[i, j] = T[i, j] * X[i, j]\n}\n"
    )
    program = split_program(parse(text), {"A": "rows(11)"}).program
    assert [region.written for region in program.regions] == [
        ("Y",),
        ("T_sum",),
        ("T_sum_2",),
        ("T", "U"),
    ]
    first, second, last, _ = program.statements[1:]
    assert str(first).startswith("T_sum[i, j] = 2 * Y[i, j] - A_0[i, k] * Y[k, j] - A_1[i, k]")
    assert str(second).startswith("T_sum_2[i, j] = -(A_5[i, k] * Y[k, j]) - A_6[i, k] * Y[k, j]")
    assert str(last) == "T[i, j] = T_sum[i, j] + T_sum_2[i, j]"
    assert program.tensors["T_sum"].format == program.tensors["T"].format
    assert parse(program.text) == program


def test_as_many_streams_meet_as_a_union_joins() -> None:
    assert MOST_STREAMS == MOST_JOINED


def test_every_statement_follows_and_keeps_its_order() -> None:
    text = (
        "tensor A[i, k] : csr\ntensor X[k, j] : dense\nfuse {\n"
        "T[i, j] = A[i, k] * X[k, j] order i, k, j\nU[i, j] = A[i, k] * T[k, j] order i, k, j\n}\n"
    )
    program = split_program(parse(text), {"A": "columns(2)"}).program
    assert len(program.regions) == 1
    assert [statement.order for statement in program.statements] == [("i", "k", "j")] * 2
    assert "A" not in program.tensors
    assert parse(program.text) == program
