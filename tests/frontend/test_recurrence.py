"""Recurrences in the language: text, Python, and what is refused."""

import pytest

from samhw.errors import InputError
from samhw.lang import ProgramBuilder, Recurrence, dumps, parse
from samhw.lang.functions import recur

TENSORS = "tensor A[i, t] : csr\ntensor b[t]\ntensor M[i, k]\n"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("h[i, t]", "recur(t, A[i, t], b[t])"),
        ("l[i]", "recur(t, A[i, t], b[t] * 2)"),
        ("h[i, t]", "recur(t, 0.5, A[i, t])"),
        ("l[i]", "recur(t, -A[i, t], 1)"),
    ],
)
def test_text_is_read_and_written(left: str, right: str) -> None:
    program = parse(f"tensor A[i, t] : csr\ntensor b[t]\nu[t] = b[t]\n{left} = {right} where A[i, t]\n")
    statement = program.statements[1]
    assert isinstance(statement.rhs, Recurrence)
    assert str(statement.rhs) == right
    assert statement.runs_along == ("t" if "t" in left else None)
    assert parse(dumps(program)) == program


def test_python_says_the_same() -> None:
    p = ProgramBuilder("recurrences")
    i, t = p.indices("i t")
    A, b = p.tensor("A", (i, t), "csr"), p.tensor("b", t)
    h, last = p.tensor("h", (i, t)), p.tensor("l", i)
    h[i, t] = recur(t, 0.5, A[i, t])
    last[i] = recur(t, b[t], A[i, t])
    text = "tensor A[i, t] : csr\ntensor b[t]\ntensor h[i, t]\ntensor l[i]\n"
    assert p.program() == parse(text + "h[i, t] = recur(t, 0.5, A[i, t])\nl[i] = recur(t, b[t], A[i, t])\n")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("h[i, t] = 2 * recur(t, b[t], A[i, t])", "is part of an expression; write it as a statement of its"),
        ("h[t] = recur(t, b[t], A[i, t])", "lacks the index 'i' of 'recur.t, b.t., A.i, t..', which goes"),
        ("h[i, t] = recur(k, b[t], A[i, t])", "nothing in 'recur.*' has the index 'k'"),
        ("h[i, t] = recur(t, b[t], 1)", "'i' of 'h.i, t.' is on the left only"),
        ("h[i, t] max= recur(t, b[t], A[i, t])", "is reduced by 'max=' as well"),
        ("h[i, t] = recur(t, b[t])", r"expected ',', found '\)'"),
        ("h[i, t] = recur(t, 3, 1)", "uses no tensor"),
        ("l[i] = recur(t, b[t], A[i, t]) where M[i, k]", "'k' of the mask 'M.i, k.' is not used"),
    ],
)
def test_refused(statement: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(TENSORS + statement)
