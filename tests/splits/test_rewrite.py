"""Statements over parts: terms where the tensor is a factor of a sum, the sum in its place elsewhere."""

import pytest

from samhw.frontend import Program, parse
from samhw.splits import split_program

DECLARED = "tensor A[i, k] : csr\ntensor B[i, k] : csr\ntensor X[k, j] : dense\ntensor c[i] : dense\n"


def halves(statement: str) -> str:
    """The last statement of a program in which A has two parts."""
    used = [line for line in DECLARED.splitlines() if f"{line.split()[1][0]}[" in statement]
    program: Program = split_program(parse("\n".join([*used, statement])), {"A": "rows(2)"}).program
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
        ("T[i, k] = B[i, k] * 2", "T[i, k] = B[i, k] * 2"),
    ],
)
def test_a_statement_over_parts(statement: str, wanted: str) -> None:
    if "A[" not in statement:
        statement = f"S[i] = A[i, k]\n{statement}"
    assert halves(statement) == wanted


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
