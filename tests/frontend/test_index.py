"""Indices of accesses: names, and what becomes of an index that is more than one."""

from dataclasses import dataclass, replace

import pytest

from samhw.errors import InputError
from samhw.lang import (
    Access,
    IndexExpr,
    Indirect,
    Name,
    ProgramBuilder,
    Region,
    Statement,
    accesses,
    check_program,
    dumps,
    free_indices,
    parse,
    renamed,
    with_accesses,
)
from samhw.lang.fusion import FusedRegion


@dataclass(frozen=True)
class Distance(IndexExpr):
    """``i - j``, as a kind of index that nothing of samhw knows."""

    one: str
    other: str

    @property
    def variables(self):
        return (self.one, self.other)

    def renamed(self, names):
        return Distance(names.get(self.one, self.one), names.get(self.other, self.other))

    def __str__(self):
        return f"{self.one} - {self.other}"


A = Access("A", (Name("i"), Distance("i", "k"), Name("k")))


def test_an_access_under_names():
    access = Access.of("A", ("i", "k"))
    assert access == Access("A", (Name("i"), Name("k")))
    assert access.names == access.variables == ("i", "k")
    assert str(access) == "A[i, k]"


def test_the_parser_makes_names():
    (statement,) = parse("tensor A[i, k]\nx[i] = A[i, k] * 2").statements
    (access,) = accesses(statement.rhs)
    assert access.indices == (Name("i"), Name("k"))


GATHER = "tensor src[e=3]\ntensor E[n=5, f]\nY[e, f] = E[src[e], f]\n"


def test_the_parser_makes_gathers():
    program = parse(GATHER)
    (statement,) = program.statements
    (access,) = accesses(statement.rhs)
    assert access.indices == (Indirect("src", ("e",)), Name("f"))
    assert access.variables == ("e", "f")
    assert str(access.renamed({"e": "i"})) == "E[src[i], f]"
    assert statement.reads == (access, Access.of("src", ("e",)))
    assert program.index_tensors == {"src"}
    assert program.places("src") == 5
    assert parse(dumps(program)) == program


def test_python_makes_gathers():
    p = ProgramBuilder("gather")
    e, n, f = p.index("e", 3), p.index("n", 5), p.index("f")
    src, table, y = p.tensor("src", e), p.tensor("E", (n, f)), p.tensor("Y", (e, f))
    y[e, f] = table[src[e], f]
    assert p.program().statements == parse(GATHER).statements


COMPUTED = ["s[u[e]]", "s[e + 1]", "2*s[e]", "s[e] + 1", "wrap(s[e])"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Y[s[e]] = x[e]", "computes places of 'Y', which fixes no extent; declare it"),
        ("t[e] = s[e]\nY[e] = x[t[e]]", "'t' of 'x[t[e]]' is computed by the program, and only an input"),
        ("Y[e] = s[e] * x[s[e]]", "'s' names places in another statement or access, and is read as numbers"),
        ("tensor Y[n=3]\nY[s[e]] = M[e, f]", "index 'f' is summed over in a statement that writes 'Y[s[e]]'"),
        ("tensor Y[n=3]\nY[s[e]] max= x[e]", "takes nothing but a sum on the right"),
        ("tensor Y[n=3]\nY[s[e]] = cumsum(e, x[e])", "takes nothing but a sum on the right"),
        ("Y[e] = concat(e, x[s[e]], x[e])", "moves whole tensors, and takes nothing but names"),
        ("Y[e] = x[s[e, f]]", "'s[e, f]' does not fit tensor 's' of rank 1"),
        *(
            (f"Y[e] = x[{index}]", "an index tensor stands alone in its mode, under variables")
            for index in COMPUTED
        ),
    ],
)
def test_index_tensors_that_are_refused(text, told):
    declared = ["tensor s[e]", "tensor x[e]", "tensor M[e, f]", "tensor u[e]"]
    used = [line for line in declared if f"{line.split()[1][0]}[" in text]
    with pytest.raises(InputError) as error:
        parse("\n".join([*used, text]))
    assert told in str(error.value)


def test_an_index_that_is_more_than_a_name():
    assert str(A) == "A[i, i - k, k]"
    assert A.variables == ("i", "k")
    assert A.renamed({"i": "k", "k": "i"}) == Access("A", (Name("k"), Distance("k", "i"), Name("i")))
    statement = Statement(Access.of("x", ("i",)), A * 2)
    assert (statement.indices, statement.reduction_indices) == (("i", "k"), ("k",))


def test_what_follows_names_alone_refuses_it():
    sentence = (
        r"^'A\[i, i - k, k\]' has the index 'i - k', and what reads it takes only names of indices; give "
        "that mode an index of its own$"
    )
    with pytest.raises(InputError, match=sentence):
        _ = A.names
    program = parse("tensor A[i, j, k]\nx[i] = A[i, j, k] * 2")
    region = Region((Statement(Access.of("x", ("i",)), A * 2),))
    with pytest.raises(InputError, match=sentence):
        check_program(replace(program, regions=(region,)))
    with pytest.raises(InputError, match=sentence):
        FusedRegion(replace(program, regions=(region,)), region)


def test_a_statement_under_other_variables():
    program = parse("""
        tensor A[i, k]
        tensor B[i, k]
        tensor M[i]
        x[i] = A[i, k] * B[i, k] where M[i]  order i, k
        C[i, k] = concat(k, A[i, k], B[i, k])
    """)
    swapped = [str(statement.renamed({"i": "k", "k": "i"})) for statement in program.statements]
    assert swapped == [
        "x[k] = A[k, i] * B[k, i] where M[k]    order k, i",
        "C[k, i] = concat(i, A[k, i], B[k, i])",
    ]
    partly = program.statements[0].renamed({"k": "j"})
    assert str(partly) == "x[i] = A[i, j] * B[i, j] where M[i]    order i, j"


def test_expressions_under_other_variables_and_with_other_accesses():
    expr = Access.of("A", ("i",)) * 2 + Access.of("B", ("i",))
    assert free_indices(renamed(expr, {"i": "j"})) == ("j",)
    assert str(with_accesses(expr, lambda access: replace(access, tensor="C"))) == "C[i] * 2 + C[i]"
