"""Each rule of a program, broken once: the sentence and, in a text, the place."""

from dataclasses import replace

import pytest

from samhw.errors import InputError
from samhw.frontend import Access, Literal, Program, ProgramBuilder, Region, Statement, TensorDecl, parse
from samhw.frontend.check import FUNCTIONS, MAX_DEPTH
from samhw.tensors import Format

DECLARED = """\
tensor A[i, k] : csr
tensor B[i, k] : csr
tensor c[k] : dense
tensor alpha
x = alpha * c[k]
y = A[i, k] + B[i, k]
"""


@pytest.fixture
def _functions(monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "relu", 1)
    monkeypatch.setitem(FUNCTIONS, "max", 2)


@pytest.mark.usefixtures("_functions")
@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("T[i,j] = A[i,k] * Y[k,j]", 19, "unknown tensor 'Y'; declare it with 'tensor Y[..] : format'"),
        ("T[i,k] = beta * A[i,k]", 10, "unknown tensor 'beta'; declare it with 'tensor beta'"),
        ("T[i] = A[i]", 8, "'A[i]' does not fit tensor 'A' of rank 2; write A[i, k]"),
        ("T[k] = alpha[k] * c[k]", 8, "'alpha[k]' does not fit tensor 'alpha' of rank 0; write alpha"),
        (
            "T[k] = c[k] order k\ntensor T[k, l]",
            1,
            "'T[k]' does not fit tensor 'T' of rank 2; write T[k, l]",
        ),
        (
            "T = A[i,i]",
            5,
            "index 'i' is used twice in 'A[i, i]'; use two indices (a diagonal cannot be read)",
        ),
        (
            "T[i,j] = A[i,k]",
            1,
            "index 'j' of 'T[i, j]' is on the left only; use it on the right or drop it",
        ),
        ("T = 2 * 3", 7, "the expression assigned to 'T' uses no tensor; give it one"),
        ("T[k] = 1e999 * c[k]", 8, "the number inf is not finite; use a smaller one"),
        (
            "T = c[k] * (1 + A[i,k])",
            13,
            "index 'i' is summed over, but '1' in 'c[k] * (1 + A[i, k])' lacks it; "
            "write the part that has it as a statement of its own",
        ),
        (
            "T = (c[k] - alpha) * -(c[k] - 2)",
            13,
            "index 'k' is summed over, but 'alpha' in '(c[k] - alpha) * -(c[k] - 2)' lacks it; "
            "write the part that has it as a statement of its own",
        ),
        (
            "T[i] = 2 - 3 * relu(A[i,k] * c[k])",
            16,
            "index 'k' is summed over inside 'relu(A[i, k] * c[k])'; write the sum as a statement of its own",
        ),
        ("T[k] = gelu(c[k])", 8, "unknown function 'gelu'; the functions are: max, relu"),
        ("T[k] = max(c[k])", 8, "function 'max' has the wrong number of arguments; give it 2"),
        (
            "T[i] = A[i,k]  order i,k,j",
            16,
            "'order i, k, j' names index 'j', which the statement does not use; its indices are i, k",
        ),
        ("T[i] = A[i,k]  order i", 16, "'order i' misses index 'k'; name every index of the statement"),
        ("T[i] = A[i,k]  order i,k,i", 16, "'order i, k, i' names index 'i' twice; name it once"),
        ("x = alpha", 1, "'x' is written twice; give the second result another name"),
        ("T[k] = c[k] * T[k]", 15, "'T' is used in its own statement; give the result another name"),
        ("T = U\nU = alpha", 5, "'U' is used before the statement that writes it; move that statement up"),
        ("tensor D[i]", 8, "tensor 'D' is never used; use it or remove its declaration"),
        ("tensor A[i]", 8, "tensor 'A' is declared twice; remove one declaration"),
        (
            "tensor D[i, i]\nz = D[i, k]",
            8,
            "tensor 'D' names two modes alike; give each mode an index of its own",
        ),
        ("tensor D[i=0]\nz = D[i]", 8, "tensor 'D' is declared with i=0; an extent is 1 or more"),
        (
            "tensor D[i=2, k=3]\ntensor E[i=3, k=3]\nz = E[m, n] * D[n, m]",
            None,
            "<text>:9:15: index 'n' has extent 3 in 'E' but 2 in 'D'; "
            "give both tensors the same extent, or use two indices",
        ),
        (
            "T[k] = " + " + ".join(["c[k]"] * (MAX_DEPTH + 1)),
            1,
            f"the expression assigned to 'T[k]' nests deeper than {MAX_DEPTH} levels; use several statements",
        ),
    ],
)
def test_broken_rule(line, column, message):
    with pytest.raises(InputError) as caught:
        parse(DECLARED + line)
    first = str(caught.value).splitlines()[0]
    assert first == (message if column is None else f"<text>:7:{column}: {message}")


@pytest.mark.usefixtures("_functions")
@pytest.mark.parametrize(
    "line",
    [
        "T = c[k] * (B[i,k] + A[i,k])  order k, i",
        "T = A[i,k] * (c[k] + 1)",
        "T[i] = relu(alpha) * A[i,k] - 1",
        "T = (c[k] - alpha) * -A[i,k] * relu(c[k] + 1)",
        "T[k] = " + " + ".join(["c[k]"] * MAX_DEPTH),
        "T[i,k] = c[k] + A[i,k]",
    ],
)
def test_kept_rule(line):
    parse(DECLARED + line)


def test_a_function_table_without_entries_refuses_every_call():
    with pytest.raises(InputError, match="unknown function 'relu'; the functions are: none so far"):
        parse("tensor c[k]\nT[k] = relu(c[k])")


def test_python_programs_get_the_same_sentences_without_a_place():
    p = ProgramBuilder()
    i, k = p.indices("i k")
    A, T = p.tensor("A", (i, k), "csr"), p.tensor("T", i)
    p.assign(T[i], A[i, k], order=(i,))
    with pytest.raises(InputError) as caught:
        p.program()
    assert str(caught.value) == "'order i' misses index 'k'; name every index of the statement"


def test_hand_made_programs_are_checked_too():
    dense = Format.parse("dense", 1)
    c, T = (TensorDecl(name, ("k",), (None,), dense) for name in "cT")
    region = Region((Statement(Access("T", ("k",)), Access("c", ("k",)) * 2),))
    good = Program("p", {"c": c, "T": T}, (region,))
    good.check()
    for bad, message in [
        (replace(good, regions=()), "program 'p' has no statement"),
        (replace(good, regions=(region, Region(()))), "program 'p' has an empty fuse block"),
        (replace(good, tensors={"c": c}), "unknown tensor 'T'"),
        (
            replace(good, tensors={"c": replace(c, name="c d"), "T": T}),
            "'c d' cannot be the name of a tensor",
        ),
        (
            replace(good, tensors={"c": replace(c, indices=("fuse",)), "T": T}),
            "'fuse' cannot be the name of an",
        ),
        (
            replace(good, tensors={"c": replace(c, shape=(1, 2)), "T": T}),
            "tensor 'c' has 1 indices, 2 extents and a format of rank 1; make the three agree",
        ),
        (
            replace(good, tensors={"c": replace(c, format=Format.parse("csr", 2)), "T": T}),
            "tensor 'c' has 1 indices, 1 extents and a format of rank 2; make the three agree",
        ),
        (
            replace(good, regions=(Region((replace(region.statements[0], order=()),)),)),
            "an order names one index or more; leave this empty one out",
        ),
        (
            replace(good, regions=(Region((Statement(Access("T", ("κ",)), Access("c", ("κ",))),)),)),
            "'κ' cannot be the name of an index",
        ),
        (
            replace(good, regions=(Region((Statement(Access("T", ("k",)), Literal(float("nan"))),)),)),
            "the number nan is not finite",
        ),
    ]:
        with pytest.raises(InputError) as caught:
            bad.check()
        assert str(caught.value).startswith(message)
