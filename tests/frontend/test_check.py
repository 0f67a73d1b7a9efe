"""Each rule of a program, broken once: the sentence and, in a text, the place."""

from dataclasses import replace

import pytest

from samhw.errors import InputError
from samhw.graph.numerics import ALL_OPERATIONS
from samhw.lang import (
    Access,
    Literal,
    Program,
    ProgramBuilder,
    Region,
    Statement,
    TensorDecl,
    check_program,
    parse,
)
from samhw.lang.check import FUNCTIONS, MAX_DEPTH
from samhw.tensors import Format

DECLARED = """\
tensor A[i, k] : csr
tensor B[i, k] : csr
tensor c[k] : dense
tensor alpha
x = alpha * c[k]
y = A[i, k] + B[i, k]
"""


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        (
            "T[i,j] = A[i,k] * Y[k,j]",
            19,
            "unknown tensor 'Y' (did you mean 'y'?); declare it with 'tensor Y[..] : format'",
        ),
        ("T[i,k] = beta * A[i,k]", 10, "unknown tensor 'beta'; declare it with 'tensor beta'"),
        ("T[i] = A[i]", 8, "'A[i]' does not fit tensor 'A' of rank 2; write A[i, k]"),
        ("T[k] = alpha[k] * c[k]", 8, "'alpha[k]' does not fit tensor 'alpha' of rank 0; write alpha"),
        (
            "T[k] = c[k] order k\ntensor T[k, l]",
            1,
            "'T[k]' does not fit tensor 'T' of rank 2; write T[k, l]",
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
            "T[i] = alpha * (A[i,k] / alpha + relu(alpha))",
            34,
            "index 'k' is summed over, but 'relu(alpha)' in 'alpha * (A[i, k] / alpha + relu(alpha))' "
            "lacks it; write the part that has it as a statement of its own",
        ),
        (
            "T[i] = (A[i,k] + 1) / alpha",
            18,
            "index 'k' is summed over, but '1' in '(A[i, k] + 1) / alpha' lacks it; "
            "write the part that has it as a statement of its own",
        ),
        (
            "T[k] = elu(c[k])",
            8,
            "unknown function 'elu' (did you mean 'relu' or 'gelu'?); the functions are: abs, cos, eq, exp, "
            "f8e4m3, f8e5m2, gelu, le, leaky_relu, log, lt, max, min, reciprocal, relu, rint, rsqrt, scale, "
            "select, sigmoid, silu, sin, sqrt, tanh, to",
        ),
        (
            "T[k] = leaky_relu(c[k], alpha)",
            25,
            "the slope of leaky_relu is a number, not 'alpha'; write one such as 0.01",
        ),
        (
            "T[k] = c[k] where A[i, k]",
            19,
            "index 'i' of the mask 'A[i, k]' is not used by the statement; its indices are k",
        ),
        ("T[k] = c[k] where D[k]", 19, "unknown tensor 'D'; declare it with 'tensor D[..] : format'"),
        ("T[k] = c[k] where T[k]", 19, "'T' is used in its own statement; give the result another name"),
        (
            "T[i] = A[i,k] + alpha where B[i, k]",
            17,
            "the mask 'B[i, k]' has the summed index 'k', but 'alpha' lacks it; "
            "write that term as a statement of its own",
        ),
        (
            "T[k] = 1 + reshape(c[n])",
            12,
            "'reshape(c[n])' is part of an expression; write it as a statement of its own",
        ),
        (
            "tensor R[m, k, n=2]\nR[m, k, n] = reshape(c[k])",
            "8:22",
            "index 'k' is on both sides of the reshape 'R[m, k, n] = reshape(c[k])', and stays only before "
            "or after all that changes; use another name on the right",
        ),
        (
            "R[m, n] = reshape(A[i, k])",
            19,
            "'A' is stored as csr, but a reshape goes through row-major order; "
            "store it as dense, or copy it to a dense tensor first",
        ),
        (
            "R[m, n] = reshape(c[k]) order m, n, k",
            25,
            "the reshape 'reshape(c[k])' copies element by element; leave its order out",
        ),
        (
            "R[m, n] max= reshape(c[k])",
            14,
            "'reshape(c[k])' takes neither a mask nor a max or min reduction; "
            "apply them in a statement of their own",
        ),
        ("C[k] = concat(k, c[k])", 8, "'concat(k, c[k])' names 1 tensors; give it two or more"),
        (
            "C[k] = concat(n, c[k], c[k])",
            1,
            "'C[k]' lacks the index 'n' of 'concat(n, c[k], c[k])'; use it on the left",
        ),
        (
            "C[i, k] = concat(k, A[i, k], c[k])",
            30,
            "'c[k]' and 'C[i, k]' have different indices; "
            "a concatenation along 'k' needs the same ones in every tensor",
        ),
        (
            "tensor D[n=6, m=2]\nR[p, q] = reshape(D[n, m])\nx2 = R[p, q] * S[p, q]\ntensor S[p=3, q=5]",
            "8:11",
            "'R[p, q] = reshape(D[n, m])' makes 15 elements of 12; make the products of the extents equal",
        ),
        (
            "tensor D[n=6, m=2]\ntensor R[p, q=5]\nR[p, q] = reshape(D[n, m])",
            "9:11",
            "'R[p, q] = reshape(D[n, m])' cannot make 12 elements with extents of 5; "
            "choose extents that divide",
        ),
        (
            "tensor D[n=6]\ntensor E[n=2]\ntensor C[n=7]\nC[n] = concat(n, D[n], E[n])",
            "10:8",
            "'C[n] = concat(n, D[n], E[n])' puts 8 coordinates into 7 along 'n'; make the extents add up",
        ),
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
        (
            "tensor D[i=0]\nz = D[i]",
            8,
            "tensor 'D' is declared with i=0; an extent is from 1 to 4,294,967,295, "
            "as coordinates have 32 bits",
        ),
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
def test_broken_rule(line, place, message):
    with pytest.raises(InputError) as caught:
        parse(DECLARED + line)
    first = str(caught.value).splitlines()[0]
    if place is None:
        assert first == message
    else:
        assert first == f"<text>:{place if isinstance(place, str) else f'7:{place}'}: {message}"


@pytest.mark.parametrize(
    "line",
    [
        "T = c[k] * (B[i,k] + A[i,k])  order k, i",
        "T = A[i,k] * (c[k] + 1)",
        "T[i] = relu(alpha) * A[i,k] - 1",
        "T = (c[k] - alpha) * -A[i,k] * relu(c[k] + 1)",
        "T[k] = " + " + ".join(["c[k]"] * MAX_DEPTH),
        "T[i,k] = c[k] + A[i,k]",
        "T[i] = 2 - 3 * relu(A[i,k] + 1)",
        "T[i] = relu(A[i,k] + 1) * alpha / 2 + 1 / A[i,k]",
        "T[i] = (A[i,k] + 1) / c[k]",
        "T[i] = A[i,k] * B[i,k] / alpha where B[i,k]",
        "T[i] max= A[i,k] + alpha where B[i,k]",
        "T min= 1 - A[i,k] where c[k]",
        "R[m, n] = reshape(c[k])",
        "C[k] = concat(k, c[k], c[k])",
        "T[k] = leaky_relu(c[k], -0.1)",
    ],
)
def test_kept_rule(line):
    parse(DECLARED + line)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_are_operations_of_the_value_types(function):
    operation = "convert" if function == "to" else function
    assert ALL_OPERATIONS[operation] == FUNCTIONS[function]


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
    region = Region((Statement(Access.of("T", ("k",)), Access.of("c", ("k",)) * 2),))
    good = Program("p", {"c": c, "T": T}, (region,))
    check_program(good)
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
            replace(good, regions=(Region((Statement(Access.of("T", ("κ",)), Access.of("c", ("κ",))),)),)),
            "'κ' cannot be the name of an index",
        ),
        (
            replace(good, regions=(Region((Statement(Access.of("T", ("k",)), Literal(float("nan"))),)),)),
            "the number nan is not finite",
        ),
        (
            replace(good, regions=(Region((replace(region.statements[0], reduction="mean"),)),)),
            "'T[k]' is reduced by 'mean'; use one of sum, max, min",
        ),
    ]:
        with pytest.raises(InputError) as caught:
            check_program(bad)
        assert str(caught.value).startswith(message)
