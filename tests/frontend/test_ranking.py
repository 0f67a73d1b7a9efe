"""top, bottom and their coordinates in the language: text, Python, and what is refused."""

import pytest

from samhw.errors import InputError
from samhw.lang import ProgramBuilder, dumps, parse

TENSORS = "tensor S[i, j] : csr\ntensor T[i, j, k]\ntensor b[i]\ntensor M[i, r]\n"


@pytest.mark.parametrize(
    "statement",
    [
        "V[i, r] top= S[i, j]",
        "V[r, i] argbottom= S[i, j] * 2 where S[i, j]    order i, j, r",
        "V[i, r, k] argtop= T[i, j, k] - b[i]",
        "V[r] bottom= b[i]",
    ],
)
def test_text_is_read_and_written(statement: str) -> None:
    program = parse(f"{TENSORS}u[i, j, k, r] = S[i, j] * T[i, j, k] * b[i] * M[i, r]\n{statement}")
    assert str(program.statements[1]) == statement
    assert program.statements[1].rank == "r"
    assert parse(dumps(program)) == program


def test_python_says_the_same() -> None:
    p = ProgramBuilder("ranking")
    i, j, r = p.index("i"), p.index("j"), p.index("r", 2)
    s, found = p.tensor("S", (i, j), "csr"), p.tensor("V", (i, r))
    p.assign(found[i, r], s[i, j], reduction="top", where=s[i, j])
    assert p.program() == parse(
        "tensor S[i, j] : csr\ntensor V[i, r=2]\nV[i, r] top= S[i, j] where S[i, j]\n"
    )


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("V[i, r] top= T[i, j, k]", "'V.i, r.' lacks the indices 'j' and 'k', but 'top=' goes along exactly"),
        ("V[i] argtop= S[i, j]", "'V.i.' has no index that its right side lacks, but 'argtop=' counts"),
        ("V[i, r, k] bottom= S[i, j]", "has the indices r and k that its right side lacks"),
        ("V[i, r] top= S[i, j] where M[i, r]", "index 'r' of the mask 'M.i, r.' is not used"),
        ("V[i, r] top= cumsum(j, S[i, j])", "is reduced by 'top=' as well"),
        ("V[i, r] = top(2, S[i, j])", "index 'r' of 'V.i, r.' is on the left only|top"),
    ],
)
def test_refused(statement: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(TENSORS + statement)


def test_a_tensor_may_have_the_name() -> None:
    assert parse("tensor b[i]\ntop[i] = b[i]\nbottom = b[i]\n").statements[1].lhs.tensor == "bottom"
