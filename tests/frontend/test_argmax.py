"""argmax and argmin in the language: text, Python, and what is refused."""

import pytest

from samhw.errors import InputError
from samhw.lang import ProgramBuilder, dumps, parse

TENSORS = "tensor S[i, j] : csr\ntensor T[i, j, k]\ntensor b[i]\n"


@pytest.mark.parametrize(
    "statement",
    [
        "p[i] argmax= S[i, j]",
        "p[i] argmin= S[i, j] * 2 where S[i, j]    order i, j",
        "p[i, k] argmax= T[i, j, k] - b[i]",
        "p argmax= b[i]",
    ],
)
def test_text_is_read_and_written(statement: str) -> None:
    program = parse(f"{TENSORS}u[i, j, k] = S[i, j] * T[i, j, k] * b[i]\n{statement}")
    assert str(program.statements[1]) == statement
    assert program.statements[1].reduction in ("argmax", "argmin")
    assert parse(dumps(program)) == program


def test_python_says_the_same() -> None:
    p = ProgramBuilder("coordinates")
    i, j = p.indices("i j")
    s, found = p.tensor("S", (i, j), "csr"), p.tensor("p", i)
    p.assign(found[i], s[i, j], reduction="argmin", where=s[i, j])
    assert p.program() == parse("tensor S[i, j] : csr\ntensor p[i]\np[i] argmin= S[i, j] where S[i, j]\n")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "p[i] argmax= T[i, j, k]",
            "'p.i.' lacks the indices 'j' and 'k', but 'argmax=' goes along exactly one",
        ),
        ("p[i, j] argmin= S[i, j]", "lacks no index of its right side, but 'argmin='"),
        ("p[i] argmax= cumsum(j, S[i, j])", "is reduced by 'argmax=' as well"),
        ("p[i] argmax= recur(j, 2, S[i, j])", "is reduced by 'argmax=' as well"),
        ("p[i] = argmax(S[i, j])", "argmax"),
    ],
)
def test_refused(statement: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(TENSORS + statement)


def test_a_tensor_may_have_the_name() -> None:
    assert parse("tensor b[i]\nargmax[i] = b[i]\nargmin = b[i]\n").statements[1].lhs.tensor == "argmin"
