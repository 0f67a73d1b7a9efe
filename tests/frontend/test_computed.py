"""Computed indices: how they read and print, the extents that follow from them, and what is refused."""

import pytest

from samhw.errors import InputError
from samhw.lang import Access, ComputedIndex, Program, ProgramBuilder, accesses, dumps, parse
from samhw.lang.functions import clamp, wrap


def index_of(text: str) -> ComputedIndex:
    (statement,) = parse(f"tensor X[n=9]\nindex i=2, d=2\nY[i, d] = X[i + d] * X[{text}]").statements
    (found,) = list(accesses(statement.rhs))[1].computed
    return found


@pytest.mark.parametrize(
    ("text", "terms", "offset", "printed"),
    [
        ("2*i + d - 1", (("i", 2), ("d", 1)), -1, "2*i + d - 1"),
        ("-1 - i", (("i", -1),), -1, "-i - 1"),
        ("i + 0", (("i", 1),), 0, "i + 0"),
        ("1*i", (("i", 1),), 0, "i + 0"),
        ("i*3 - i", (("i", 2),), 0, "2*i"),
        ("3", (), 3, "3"),
        ("-3", (), -3, "-3"),
        ("i - i", (), 0, "0"),
        ("4 - 2*d + i", (("d", -2), ("i", 1)), 4, "-2*d + i + 4"),
    ],
)
def test_text(text: str, terms: tuple[tuple[str, int], ...], offset: int, printed: str) -> None:
    found = index_of(text)
    assert (found.terms, found.offset, found.outside) == (terms, offset, "zero")
    assert str(found) == printed
    assert index_of(printed) == found


@pytest.mark.parametrize("outside", ["clamp", "wrap"])
def test_what_stands_outside(outside: str) -> None:
    found = index_of(f"{outside}(i)")
    assert found == ComputedIndex((("i", 1),), 0, outside)
    assert str(found) == f"{outside}(i)"
    assert index_of(f"{outside}(i - 3)") == ComputedIndex((("i", 1),), -3, outside)


def test_indices_may_have_the_names_of_functions() -> None:
    (statement,) = parse("tensor X[wrap=3]\nY[wrap] = X[wrap]").statements
    assert statement.lhs == Access.of("Y", ["wrap"])


def test_tensors_may_be_called_index() -> None:
    text = "tensor A[i=3]\nindex[i] = A[i]\nx max= index[i]\n"
    assert parse(text).outputs[0].name == "x"
    assert dumps(parse("tensor A[i=3] : dense\nindex max= A[i]")).endswith("index max= A[i]\n")


def extent(text: str, index: str = "i") -> int | None:
    program = parse(text)
    return program.extents(program.statements[0])[index]


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        ("X[i + d]", 6),
        ("X[i + d - 1]", 7),
        ("X[2*i + d]", 3),
        ("X[2*i + 2*d]", 2),
        ("X[d - i]", 1),
        ("X[7 - i]", 8),
        ("X[7 - 2*i]", 4),
        ("X[5 - i - d]", 4),
        ("X[wrap(i + 5)] * K[d]", 8),
        ("X[clamp(5 - i)] * K[d]", 8),
        ("X[i + 1] * X[i + d]", 6),
        ("X[i] * X[i + d]", 8),
    ],
)
def test_extents_that_follow(access: str, expected: int) -> None:
    """The last places are 7, and 2 of the window."""
    used = "" if "K" in access else " * K[d]" if "d" in access else ""
    declared = "" if "d" not in access else "tensor K[d=3]\n"
    assert extent(f"tensor X[n=8]\n{declared}Y[i] = {access}{used}") == expected


def test_a_window_may_follow_from_the_result() -> None:
    assert extent("tensor X[n=8]\ntensor Y[i=6]\nY[i] = X[i + d]", "d") == 3


def test_extents_are_declared_for_every_statement() -> None:
    program = parse("index d=3, i=4\ntensor X[n=8]\nY[i] max= X[2*i + d]\nZ[i] = X[i + d]")
    assert [program.extents(s)["d"] for s in program.statements] == [3, 3]
    assert program.tensors["Y"].indices == ("i",)
    assert program.bind({}).tensors["Z"].shape == (4,)
    assert dumps(program).startswith("index d=3, i=4\n")


def test_python() -> None:
    p = ProgramBuilder("window")
    i, d, n = p.index("i"), p.index("d", 3), p.index("n", 8)
    X, Y, Z = p.tensor("X", n), p.tensor("Y", i), p.tensor("Z", i)
    p.assign(Y[i], X[2 * i + d - 1], reduction="max")
    Z[i] = X[wrap(-i - 1)] + X[clamp(3 - i)] * X[-(i * 2) + 7]
    assert p.program() == parse(
        "index d=3\ntensor X[n=8]\ntensor Y[i]\ntensor Z[i]\nY[i] max= X[2*i + d - 1]\n"
        "Z[i] = X[wrap(-i - 1)] + X[clamp(-i + 3)] * X[7 - 2*i]"
    )


def test_python_with_two_extents_of_an_index() -> None:
    p = ProgramBuilder("window")
    X, Y = p.tensor("X", p.index("n", 8)), p.tensor("Y", p.index("i", 2))
    Y[p.index("i", 2)] = X[p.index("i", 3) + 1]
    with pytest.raises(InputError, match="index 'i' gets several extents; give it one, or use two indices"):
        p.program()


def program_of(text: str) -> Program:
    return parse(f"tensor X[n=8]\ntensor A[a=2, b=3]\nB[a, b] = A[a, b] + 1\n{text}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Y[i] = X[i + 9]", r"'X\[i \+ 9\]' lies outside of 'X' for every i; use smaller numbers"),
        ("Y[2*i] = X[i]", r"'Y\[2\*i\]' computes places of 'Y', which fixes no extent; declare it"),
        ("Y[i] = X[2.5*i]", "expected a whole number in an index, found '2.5'"),
        ("Y[i] = X[i*d]", "expected a whole number in an index, found 'd'"),
        ("Y[i] = X[i + ]", "expected an index, found ']'"),
        ("Y[i] = X[clamp(i]", r"expected '\)', found '\]'"),
        ("Y[i] = X[i + 4294967296]", "has a number beyond 4,294,967,295; use a smaller one"),
        ("tensor Y[i=4, j=2]\nY[i, j] = reshape(X[i + 1])", "takes nothing but names as indices"),
        ("tensor Y[m=4]\nY[2*i] max= X[i]", "takes nothing but a sum on the right"),
        ("tensor Y[m=4]\nY[2*i] = X[i + d]", "index 'd' is summed over in a statement that writes"),
        ("index d=3\nY[n] = X[n]", "declares index d=3, which no statement uses; use it or remove it"),
        ("index n=0\nY[n] = X[n]", "index n=0; an extent is from 1 to"),
        ("index n=3\nY[n] = X[n]", "index 'n' has extent 3 in 'index n=3' but 8 in 'X'"),
        ("index n=3\ntensor Y[n=8]\nY[n] = X[n]", "index 'n' has extent 8 in 'Y', and is declared with n=3"),
        ("index i=3\nY[i] = X[i] + X[i + 1]", "index 'i' has extent 3 in 'index i=3' but 8 in 'X'"),
        ("index d=3, d=4\nY[i] = X[i + d]", "index 'd' gets two extents; give one, or use two indices"),
        ("index d\nY[i] = X[i + d]", "expected '=' and the extent of index 'd'"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        program_of(text)
