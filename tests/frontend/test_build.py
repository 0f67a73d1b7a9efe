from contextlib import suppress
from typing import Any

import pytest

from samhw.errors import InputError
from samhw.lang import Access, Index, ProgramBuilder, parse
from samhw.lang import functions as f
from samhw.lang.check import FUNCTIONS, REDUCTIONS
from samhw.lang.index import OUTSIDE
from samhw.tensors import Format


def test_one_to_one_with_the_text():
    p = ProgramBuilder("gcn")
    i, k, j = p.index("i", 34), p.index("k", 34), p.index("j")
    A = p.tensor("A", (i, k), "csr")
    X = p.tensor("X", (k, j), Format.parse("dense", 2))
    b, alpha = p.tensor("b", j, "dense"), p.tensor("alpha")
    T, Y, x = p.tensor("T", (i, j), "dcsr"), p.tensor("Y", (i, j)), p.tensor("x")
    with p.fuse():
        p.assign(T[i, j], alpha * A[i, k] * X[k, j], order=(i, k, j))
        p.assign(Y[i, j], -T[i, j] + 2 * b[j], order=[j, i])
    x[()] = Y[i, j] - alpha
    program = p.program()
    assert program.name == "gcn"
    assert program == parse("""
        tensor A[i=34, k=34] : csr
        tensor X[k=34, j] : dense
        tensor b[j] : dense
        tensor alpha
        tensor T[i=34, j] : dcsr
        tensor Y[i=34, j]
        tensor x
        fuse {
            T[i,j] = alpha * A[i,k] * X[k,j]  order i,k,j
            Y[i,j] = -T[i,j] + 2 * b[j]       order j,i
        }
        x = Y[i,j] - alpha
    """)
    assert str(program.tensors["Y"].format) == "dense @ (1, 0)"


def test_functions_masks_and_reductions():
    p = ProgramBuilder()
    i, j, a = p.index("i", 4), p.index("j", 6), p.index("a")
    S, m, R, C = p.tensor("S", (i, j)), p.tensor("m", i), p.tensor("R", a), p.tensor("C", a)
    E, F = p.tensor("E", (i, j)), p.tensor("F", (i, j))
    p.assign(m[i], S[i, j], reduction="max", where=S[i, j], order=(i, j))
    p.assign(E[i, j], f.exp(S[i, j] - m[i]) / 2, where=S[i, j])
    F[i, j] = f.select(f.lt(1, E[i, j]), f.leaky_relu(S[i, j], 0.1), f.max(E[i, j], 0) / f.abs(S[i, j]))
    R[a] = f.reshape(F[i, j])
    C[a] = f.concat(a, R[a], R[a])
    assert p.program() == parse("""
        tensor S[i=4, j=6]
        tensor m[i=4]
        tensor R[a]
        tensor C[a]
        tensor E[i=4, j=6]
        tensor F[i=4, j=6]
        m[i] max= S[i, j] where S[i, j]    order i, j
        E[i, j] = exp(S[i, j] - m[i]) / 2 where S[i, j]
        F[i, j] = select(lt(1, E[i, j]), leaky_relu(S[i, j], 0.1), max(E[i, j], 0) / abs(S[i, j]))
        R[a] = reshape(F[i, j])
        C[a] = concat(a, R[a], R[a])
    """)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_a_python_form(name):
    x = Access("x")
    arguments = (x, 0.5) if name == "leaky_relu" else (x,) * FUNCTIONS[name]
    call = getattr(f, name)(*(["i8"] * (name == "to")), *arguments)
    assert (call.function, len(call.arguments)) == (name, FUNCTIONS[name])
    others = {"before", "round", "concat", "reshape", "recur", *(f"cum{op}" for op in REDUCTIONS), *OUTSIDE}
    assert set(f.__all__) == {*FUNCTIONS, *others}


def test_scalars_on_every_side_of_an_operator():
    p = ProgramBuilder()
    i = p.index("i")
    alpha, beta, b, x = p.tensor("alpha"), p.tensor("beta"), p.tensor("b", i), p.tensor("x", i)
    x[i] = -alpha - (2 - beta) * b[i] + (alpha - 1) * beta
    text = "tensor alpha\ntensor beta\ntensor b[i]\ntensor x[i]\n"
    assert p.program() == parse(text + "x[i] = -alpha - (2 - beta) * b[i] + (alpha - 1) * beta")


def test_assign_takes_scalars_as_they_are():
    p = ProgramBuilder()
    x, alpha = p.tensor("x"), p.tensor("alpha")
    p.assign(x, alpha)
    assert p.program() == parse("tensor x\ntensor alpha\nx = alpha")


def test_a_builder_can_go_on_after_program():
    p = ProgramBuilder()
    x, y, alpha = p.tensor("x"), p.tensor("y"), p.tensor("alpha")
    x[()] = alpha
    with pytest.raises(InputError, match="tensor 'y' is never used"):
        p.program()
    y[()] = x + 1
    assert len(p.program().regions) == 2


def test_a_fuse_block_that_fails_leaves_nothing_behind():
    p = ProgramBuilder()
    x, alpha = p.tensor("x"), p.tensor("alpha")
    with suppress(ZeroDivisionError), p.fuse():
        x[()] = alpha
        raise ZeroDivisionError
    x[()] = alpha * 2
    assert p.program() == parse("tensor x\ntensor alpha\nx = alpha * 2")


def test_misuse():
    p = ProgramBuilder()
    i, j = p.index("i", 3), p.index("j", 4)
    A, b = p.tensor("A", (i, j), "csr"), p.tensor("b", i)
    number: Any = 0
    text: Any = "A"
    with pytest.raises(InputError, match=r"^tensor 'A' is used without indices; write A\[i, j\]$"):
        b[i] * A
    with pytest.raises(
        InputError, match=r"^tensor 'b' is indexed by 0; use indices made by index\(\) or indices"
    ):
        b[number]
    with pytest.raises(
        InputError, match=r"^index 'j' has extent 4, but mode 0 of tensor 'b' has 3; use an index of the same"
    ):
        b[j]
    with pytest.raises(InputError, match=r"^'b\[i\]' is assigned a str; assign an expression"):
        b[i] = text
    with (
        pytest.raises(InputError, match=r"^fuse blocks do not nest; end the outer one first$"),
        p.fuse(),
        p.fuse(),
    ):
        pass
    assert b[Index("k")].names == ("k",)


def test_what_only_the_whole_program_shows():
    p = ProgramBuilder()
    i = p.index("i")
    b = p.tensor("b", i, "foo")
    b[i] = 2 * b[i]
    with pytest.raises(InputError, match=r"^tensor 'b': .*'foo'"):
        p.program()
    p = ProgramBuilder()
    x, alpha = p.tensor("x"), p.tensor("alpha")
    x[()] = alpha
    with p.fuse():
        pass
    with pytest.raises(InputError, match="has an empty fuse block"):
        p.program()


def test_augmented_assignment_is_refused():
    p = ProgramBuilder()
    i = p.index("i")
    b = p.tensor("b", i)
    b[i] += 1
    with pytest.raises(InputError, match="'b' is used in its own statement"):
        p.program()
