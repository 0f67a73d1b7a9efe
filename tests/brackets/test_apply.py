"""Programs with brackets, by hand: which statements come of them, and which brackets are refused."""

import pytest

from samhw.errors import InputError
from samhw.lang import Program, load_model, parse
from samhw.lang.brackets import apply_brackets

CHAIN = """
tensor A[i=4, k=4] : csr
tensor X[k, l=3] : csr
tensor W[l, j=2] : dense
"""
SUM = """
tensor A[i=4, k=4] : csr
tensor B[i=4, k=4] : csr
tensor X[k, l=3] : csr
"""


def statements(program: Program) -> list[str]:
    return [str(statement) for statement in program.statements]


def test_within_a_statement() -> None:
    program = parse(CHAIN + "Y[i, j] = A[i, k] * X[k, l] * W[l, j]")
    inner = apply_brackets(program, {"Y": "A * (X * W)"})
    assert statements(inner) == ["X_W[k, j] = X[k, l] * W[l, j]", "Y[i, j] = A[i, k] * X_W[k, j]"]
    assert str(inner.tensors["X_W"].format) == "dense"
    outer = apply_brackets(program, {"Y": "(A * X) * W"})
    assert statements(outer) == ["A_X[i, l] = A[i, k] * X[k, l]", "Y[i, j] = A_X[i, l] * W[l, j]"]
    # Of two sparse matrices, only some coordinates of a row are there.
    assert str(outer.tensors["A_X"].format) == "csr"
    flat = apply_brackets(program, {"Y": "A * X * W"})
    assert statements(flat) == statements(program)


def test_across_statements() -> None:
    program = load_model("gcn")
    found = apply_brackets(program, {"U1": "A * (X * W1)", "U2": "A * (H1 * W2)"})
    assert [region.written for region in found.regions] == [
        ("X_W1", "U1", "Z1", "H1"),
        ("H1_W2", "U2", "Z2"),
    ]
    assert "T1" not in found.tensors
    assert [decl.name for decl in found.outputs] == ["Z2"]
    # A capacity goes by the names of dimensions.
    assert found.dimensions.extents.keys() == program.dimensions.extents.keys()
    for name in ("A", "X", "H1", "Z2"):
        assert found.dimensions.of_tensor(name) == program.dimensions.of_tensor(name)


def test_what_others_read_stays() -> None:
    program = parse(
        CHAIN + "T[i, l] = A[i, k] * X[k, l]\nY[i, j] = T[i, l] * W[l, j]\nr[i] = T[i, l]\nZ[i] = r[i] + 1"
    )
    found = apply_brackets(program, {"Y": "A * (X * W)"})
    assert [s.lhs.tensor for s in found.statements] == ["T", "X_W", "Y", "r", "Z"]


def test_distribution_and_factoring() -> None:
    program = parse(SUM + "S[i, l] = A[i, k] * X[k, l] - B[i, k] * X[k, l]")
    assert statements(apply_brackets(program, {"S": "(A - B) * X"})) == [
        "S[i, l] = (A[i, k] - B[i, k]) * X[k, l]"
    ]
    program = parse(SUM + "S[i, l] = (A[i, k] + B[i, k]) * X[k, l]")
    assert statements(apply_brackets(program, {"S": "A * X + (B * X)"})) == [
        "B_X[i, l] = B[i, k] * X[k, l]",
        "S[i, l] = A[i, k] * X[k, l] + B_X[i, l]",
    ]


def test_what_is_written_twice_is_computed_once() -> None:
    found = apply_brackets(load_model("gin"), {"U1": "(1 + eps1) * (X * W1) + A * (X * W1) + b1"})
    assert statements(found)[:2] == [
        "X_W1[i, h] = X[i, f] * W1[f, h]",
        "U1[i, h] = (1 + eps1) * X_W1[i, h] + A[i, k] * X_W1[k, h] + b1[h]",
    ]


def test_a_tensor_that_is_read_twice() -> None:
    program = parse("tensor A[i=4, k=4] : csr\ntensor x[k]\ny[i] = A[i, k] * A[k, l] * x[l]")
    assert statements(apply_brackets(program, {"y": "A * (A * x)"})) == [
        "A_x[k] = A[k, l] * x[l]",
        "y[i] = A[i, k] * A_x[k]",
    ]


def test_masks_quotients_and_functions() -> None:
    program = parse(
        CHAIN
        + "tensor M[i, j] : csr\ntensor d[j]\n"
        + "Y[i, j] = A[i, k] * relu(X[k, l]) * W[l, j] / d[j] where M[i, j]"
    )
    found = apply_brackets(program, {"Y": "(A * relu(X)) * W / d"})
    assert statements(found) == [
        "A_X[i, l] = A[i, k] * relu(X[k, l])",
        "Y[i, j] = A_X[i, l] * W[l, j] / d[j] where M[i, j]",
    ]


@pytest.mark.parametrize(
    ("result", "bracket", "message"),
    [
        ("Q", "A", "'brackets' names 'Q', which no statement of '<text>' computes; its statements compute Y"),
        ("m", "Y", r"brackets.m: 'm\[i\] max= Y\[i, j\]' is no sum of products"),
        (
            "C",
            "A * X",
            r"'A\[i \+ 1, k\]' in 'C.*' has an index that is more than a name, .* gather what is read",
        ),
        ("Y", "A * X", "is not equal to .* multiplies out to A . X . W; use each"),
        ("Y", "A * X * W + A", "is not equal to"),
        ("Y", "A * X[k, l] * W", "in brackets tensors stand without indices; write X for"),
        ("Y", "A * (X * W", r"expected '\)'"),
        ("Y", "", "expected"),
        ("S", "A * X", "lacks the product B . X of"),
        ("D", "(A + B) * X", "'X' stands once .* in which it has different indices; write it for each"),
        ("y", "W", "multiply out to products that each have the indices"),
        ("N", "A * (X * W)", r"sums in parentheses over an index of the mask 'X\[k, l\]'"),
    ],
)
def test_refusals(result: str, bracket: str, message: str) -> None:
    program = parse(
        CHAIN
        + "tensor B[i=4, k=4] : csr\n"
        + "Y[i, j] = A[i, k] * X[k, l] * W[l, j]\n"
        + "m[i] max= Y[i, j]\n"
        + "C[i, l] = A[i + 1, k] * X[k, l]\n"
        + "S[i, l] = A[i, k] * X[k, l] + B[i, k] * X[k, l]\n"
        + "D[i, l] = A[i, k] * X[k, l] + B[k, i] * X[i, l]\n"
        + "V[i, j] = Y[i, j] + m[i]\ny[i] = V[i, j]\n"
        + "N[i, j] = A[i, k] * X[k, l] * W[l, j] where X[k, l]\n"
    )
    with pytest.raises(InputError, match=message):
        apply_brackets(program, {result: bracket})
