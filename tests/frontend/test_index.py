"""Indices of accesses: names, and what becomes of an index that is more than one."""

from dataclasses import dataclass, replace

import pytest

from samhw.errors import InputError
from samhw.frontend import (
    Access,
    IndexExpr,
    Name,
    Region,
    Statement,
    accesses,
    check_program,
    free_indices,
    parse,
    renamed,
    with_accesses,
)
from samhw.fusion import FusedRegion


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


def test_an_index_that_is_more_than_a_name():
    assert str(A) == "A[i, i - k, k]"
    assert A.variables == ("i", "k")
    assert A.renamed({"i": "k", "k": "i"}) == Access("A", (Name("k"), Distance("k", "i"), Name("i")))
    statement = Statement(Access.of("x", ("i",)), A * 2)
    assert (statement.indices, statement.reduction_indices) == (("i", "k"), ("k",))


def test_what_follows_names_alone_refuses_it():
    sentence = (
        r"^'A\[i, i - k, k\]' has the index 'i - k' where only the name of an index is supported; give that "
        "mode an index of its own$"
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
