"""Running reductions and products in the language: text, Python, and what is refused."""

import pytest

from samhw.errors import InputError
from samhw.lang import ProgramBuilder, RunningReduction, dumps, parse
from samhw.lang.functions import cummax, cumprod, cumsum

TENSORS = "tensor A[i, j] : csr\ntensor b[j]\ntensor M[i, k]\n"


@pytest.mark.parametrize(
    "text", ["cumsum(j, A[i, j])", "cumprod(j, A[i, j] + b[j])", "cummin(i, A[i, j], exclusive)"]
)
def test_text_is_read_and_written(text: str) -> None:
    program = parse(f"tensor A[i, j] : csr\ntensor b[j]\nu[j] = b[j]\nC[i, j] = {text} where A[i, j]\n")
    run = program.statements[1].rhs
    assert isinstance(run, RunningReduction)
    assert str(run) == text
    assert parse(dumps(program)) == program


def test_products_are_read_and_written() -> None:
    program = parse("tensor A[i, j] : csr\np[i] prod= A[i, j] where A[i, j]\n")
    assert program.statements[0].reduction == "prod"
    assert parse(dumps(program)) == program


def test_python_says_the_same() -> None:
    p = ProgramBuilder("scans")
    i, j = p.indices("i j")
    A = p.tensor("A", (i, j), "csr")
    C, D, E, q = p.tensor("C", (i, j)), p.tensor("D", (i, j)), p.tensor("E", (i, j)), p.tensor("q", i)
    C[i, j] = cumsum(j, 2 * A[i, j])
    D[i, j] = cumprod(j, A[i, j], exclusive=True)
    p.assign(E[i, j], cummax(j, A[i, j]), where=A[i, j])
    p.assign(q[i], A[i, j], reduction="prod")
    text = "tensor A[i, j] : csr\ntensor C[i, j]\ntensor D[i, j]\ntensor E[i, j]\ntensor q[i]\n"
    text += "C[i, j] = cumsum(j, 2 * A[i, j])\nD[i, j] = cumprod(j, A[i, j], exclusive)\n"
    text += "E[i, j] = cummax(j, A[i, j]) where A[i, j]\nq[i] prod= A[i, j]\n"
    assert p.program() == parse(text)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("C[i, j] = 2 * cumsum(j, A[i, j])", "is part of an expression; write it as a statement of its own"),
        ("C[j] = cumsum(j, cumsum(j, b[j]))", "is part of an expression"),
        (
            "C[i] = cumsum(j, A[i, j])",
            "lacks the index 'j' of 'cumsum.j, A.i, j..', which has a value at each",
        ),
        ("C[j] = cumsum(j, A[i, j])", "lacks the index 'i'"),
        ("C[i, j] = cumsum(k, A[i, j])", "lacks the index 'k'"),
        ("C[i, j] = cumsum(j, b[j])", "'i' of 'C.i, j.' is on the left only"),
        ("C[i, j] max= cumsum(j, A[i, j])", "is reduced by 'max=' as well"),
        ("C[i, j] = cumsum(j, A[i, j], inclusive)", "expected the word 'exclusive'"),
        ("C[i, j] = cumsum(j, A[i, j], exclusive, 1)", r"expected '\)', found ','"),
        ("C[i, j] = cumsum(A[i, j])", "expected ',', found '\\['"),
        ("C[i, j] = cumsum(j)", r"expected ',', found '\)'"),
        ("C[i, j] = cumsum(j, 3)", "uses no tensor"),
        ("C[i, j] = cumsum(j, A[i, j]) where M[i, k]", "'k' of the mask 'M.i, k.' is not used"),
    ],
)
def test_refused(statement: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(TENSORS + statement)
