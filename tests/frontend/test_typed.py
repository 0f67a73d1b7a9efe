"""The types of operations, by docs/numerics.md, worked out by hand."""

import numpy as np
import pytest

from samhw.errors import InputError
from samhw.graph.numerics import holds, value_type
from samhw.lang import Program, ProgramBuilder, dumps, parse
from samhw.lang.functions import scale, to
from samhw.lang.reference import evaluate_program
from samhw.lang.typed import common, typed, types_of, with_types

DECLARED = """
tensor W[i, k] : csr, i8
tensor X[k, j] : i8
tensor U[k, j] : u8
tensor H[k, j] : f16
tensor V[k, j] : i16
tensor B[k, j] : bf16
tensor C[k, j] : bf16
tensor E[k, j] : f8e4m3
tensor F[k, j] : f32
tensor G[k, j] : fixed<16,4>
tensor D[k, j]
"""


def written(line: str, value: str = "i32") -> Program:
    used = [text for text in DECLARED.splitlines() if text and f"{text.split('[')[0].split()[1]}[" in line]
    return typed(parse("\n".join([*used, line])), value_type(value))


@pytest.mark.parametrize(
    ("line", "wanted", "kind"),
    [
        # Narrow integers multiply and add in i32, fp8 and bf16 in f32.
        ("T[i, j] = W[i, k] * X[k, j]", "to(i32, W[i, k]) * to(i32, X[k, j])", "i32"),
        ("T[k] = X[k, j]", "to(i32, X[k, j])", "i32"),
        ("T[k, j] = B[k, j] + C[k, j]", "to(f32, B[k, j]) + to(f32, C[k, j])", "f32"),
        ("T[k] = E[k, j]", "to(f32, E[k, j])", "f32"),
        ("T[i, j] = W[i, k] * U[k, j]", "to(i32, W[i, k]) * to(i32, U[k, j])", "i32"),
        ("T[k, j] = H[k, j] * H[k, j]", "to(f32, H[k, j]) * to(f32, H[k, j])", "f32"),
        # A statement all of whose tensors are alike keeps their type.
        ("T[k, j] : bf16 = B[k, j] * C[k, j]", "B[k, j] * C[k, j]", "bf16"),
        ("T[k] : i8 = X[k, j]", "X[k, j]", "i8"),
        ("T[k, j] = D[k, j] * to(i32, X[k, j]) + 1", "D[k, j] * to(i32, X[k, j]) + 1", "i32"),
        # What only compares keeps its type; a function that is given several takes the one that holds them.
        ("T[k, j] = relu(X[k, j])", "relu(X[k, j])", "i8"),
        ("T[k] max= X[k, j]", "X[k, j]", "i8"),
        ("T[k] : i16 max= X[k, j]", "to(i16, X[k, j])", "i16"),
        ("T[k, j] = max(X[k, j], V[k, j])", "max(to(i16, X[k, j]), V[k, j])", "i16"),
        ("T[k, j] = max(X[k, j], U[k, j])", "max(to(i16, X[k, j]), to(i16, U[k, j]))", "i16"),
        ("T[k, j] = max(U[k, j], H[k, j])", "max(to(f16, U[k, j]), H[k, j])", "f16"),
        ("T[k, j] = max(B[k, j], H[k, j])", "max(to(f32, B[k, j]), to(f32, H[k, j]))", "f32"),
        ("T[k, j] = max(X[k, j], B[k, j])", "max(to(bf16, X[k, j]), B[k, j])", "bf16"),
        ("T[k, j] = max(V[k, j], B[k, j])", "max(to(f32, V[k, j]), to(f32, B[k, j]))", "f32"),
        ("T[k, j] = X[k, j] * F[k, j]", "to(f32, X[k, j]) * F[k, j]", "f32"),
        ("T[k, j] = X[k, j] + G[k, j]", "to(fixed<16,4>, X[k, j]) + G[k, j]", "fixed<16,4>"),
        # Conversions: what is inside of one knows nothing of the statement's type.
        ("T[k, j] : i8 = to(i8, X[k, j] + V[k, j])", "to(i8, to(i32, X[k, j]) + to(i32, V[k, j]))", "i8"),
        ("T[k, j] : f32 = X[k, j] * X[k, j]", "to(f32, to(i32, X[k, j]) * to(i32, X[k, j]))", "f32"),
        ("T[k, j] = to(i8, X[k, j])", "X[k, j]", "i8"),
        # A scale gives the type that is asked for; a zero point is added before the result is cut off.
        ("T[k, j] : i8 = scale(D[k, j], 3, 4)", "to(i8, scale(D[k, j], 3, 4))", "i8"),
        ("T[k, j] = scale(X[k, j], 3, 4)", "to(i32, scale(to(i32, X[k, j]), 3, 4))", "i32"),
        ("T[k] = scale(D[k, j], 3, 4, 5)", "to(i32, to(i32, scale(D[k, j], 3, 4)) + 5)", "i32"),
        (
            "T[k, j] : i8 = scale(D[k, j], 3, 4, 5)",
            "to(i8, max(min(to(i32, scale(D[k, j], 3, 4)) + 5, 127), -128))",
            "i8",
        ),
        (
            "T[k, j] : u8 = scale(D[k, j], 3, 4, 5)",
            "to(u8, max(min(to(i32, scale(D[k, j], 3, 4)) + 5, 255), 0))",
            "u8",
        ),
        # Coordinates are of the program's type.
        ("T[k] argmax= X[k, j]", "X[k, j]", "i32"),
    ],
)
def test_types_are_written_out(line: str, wanted: str, kind: str) -> None:
    program = written(line)
    (statement,) = program.statements
    assert str(statement.rhs) == wanted
    assert program.tensors["T"].value == value_type(kind)


def test_a_sum_in_another_type_than_its_result_is_converted_in_a_statement_of_its_own() -> None:
    program = written("T[i, j] : i16 = W[i, k] * X[k, j]    order i, k, j")
    assert [str(s) for s in program.statements] == [
        "T_i32[i, j] = to(i32, W[i, k]) * to(i32, X[k, j])    order i, k, j",
        "T[i, j] = to(i16, T_i32[i, j])    order i, j",
    ]
    assert len(program.regions) == 1


def test_what_a_pass_adds_has_the_type_of_what_is_computed() -> None:
    program = written("T[k, j] = B[k, j] + C[k, j]")
    text = dumps(program).replace("tensor T[k, j] : dense, f32\n", "")
    again = typed(parse(text), value_type("i32"))
    assert types_of(again, value_type("i32"))["T"] == value_type("f32")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("T[k, j] : u8 = U[k, j] + -1", "-1 is no u8"),
        ("T[k, j] = F[k, j] + G[k, j] * D[k, j]", "f32, fixed<16,4>, i32 have no type in common"),
        ("T[k, j] = exp(X[k, j])", "i8 has no exp; convert with to(f32, x) first"),
        ("T[k, j] = X[k, j] / V[k, j]", "i32 has no division"),
        ("T[k, j] = X[k, j] * 0.5", "0.5 is no i32; convert what it meets with to(f32, x)"),
        ("T[k, j] : f32 = scale(D[k, j], 1, 2)", "gives an integer, and not f32"),
        ("T[k, j] = scale(B[k, j], 1, 2)", "scales integers, and 'B[k, j]' is bf16"),
        ("T[k, j] = to(i8, 3) * D[k, j]", "'to(i8, 3)' is a number"),
        (
            "T[k, m] : i16 = concat(m, X[k, m], V[k, m])",
            "moves numbers as they are, and is of the types i8, i16",
        ),
    ],
)
def test_refusals_say_what_to_write(line: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        written(line)
    assert sentence in str(caught.value)


def test_a_scan_starts_from_numbers_of_the_type_of_its_state() -> None:
    text = "tensor X[t, h] : i8\ntensor H0[h] : i8\nscan t {{\n  H[t, h]{} = H[t-1, h] + X[t, h]\n}}\n"
    text += "H[-1, h] = H0[h]"
    program = typed(parse(text.format(" : i8")), value_type("i32"))
    assert program.tensors["H"].value == value_type("i8")
    with pytest.raises(
        InputError, match=r"'H\[-1, h\]' has type i32, and 'H0' i8; declare one type for both"
    ):
        typed(parse(text.format("")), value_type("i32"))


def test_which_types_hold_others() -> None:
    def name(*kinds: str) -> str | None:
        found = common([value_type(kind) for kind in kinds])
        return None if found is None else found.name

    assert name("i8", "i32") == "i32"
    assert name("f8e4m3", "f8e5m2") == "bf16"
    assert name("i8", "f8e4m3") == "bf16"
    assert name("i16", "bf16") == "f32"
    assert name("i8", "u8") == "i16"
    assert name("u8", "f8e5m2") == "bf16"
    assert name("f8e4m3", "f8e5m2", "f16") == "f16"
    assert name("bf16", "f16") == "f32"
    assert name("i32", "bf16") == "f32"
    assert name("fixed<16,4>", "fixed<24,8>") == "fixed<24,8>"
    assert name("fixed<16,4>", "fixed<24,2>") == "f32"
    assert name("fixed<32,4>", "f32") is None
    assert not holds(value_type("bf16"), value_type("i16"))
    assert not holds(value_type("f32"), value_type("fixed<32,4>"))


def test_a_sum_has_the_zero_point_of_each_element() -> None:
    """Stored or not: 3 + 3, and 1 / 2 rounded to 0 and 9 / 2 to 4, with 3 each."""
    program = parse("tensor X[i=2, l=2] : csr, i8\nY[i] = scale(X[i, l], 1, 1, 3)")
    found = evaluate_program(program, {"X": np.array([[0, 0], [1, 9]])})
    assert found["Y"].tolist() == [6, 10]


def test_text_and_python_say_the_same() -> None:
    text = parse(
        "tensor X[i=3, j=4] : csr, i8\nT[i] = X[i, j]\nY[i] : i8 = scale(T[i], 5, 3)\nZ[i] = to(bf16, Y[i])"
    )
    p = ProgramBuilder("text")
    i, j = p.index("i", 3), p.index("j", 4)
    X = p.tensor("X", (i, j), "csr", value="i8")
    T, Y, Z = p.tensor("T", i), p.tensor("Y", i, value="i8"), p.tensor("Z", i)
    T[i] = X[i, j]
    Y[i] = scale(T[i], 5, 3)
    Z[i] = to("bf16", Y[i])
    built = p.program()
    assert built.statements == text.statements
    assert {n: d.value for n, d in built.tensors.items()} == {n: d.value for n, d in text.tensors.items()}
    assert parse(dumps(built)) == built


def test_types_are_given_from_outside() -> None:
    program = parse("tensor A[i, e]\ntensor p[e]\nT[i, e] = A[i, p[e]]")
    assert with_types(program, {"A": value_type("i8")}).tensors["A"].value == value_type("i8")
    with pytest.raises(InputError, match="has no tensor 'Q' to give a type; it has A, p, T"):
        with_types(program, {"Q": value_type("i8")})
    with pytest.raises(InputError, match="'p' names places"):
        with_types(program, {"p": value_type("i8")})


def test_two_types_for_one_tensor_are_refused() -> None:
    with pytest.raises(InputError, match="tensor 'T' is declared as i8, and not as i16; give one type"):
        parse("tensor X[i]\ntensor T[i] : i8\nT[i] : i16 = X[i]")
