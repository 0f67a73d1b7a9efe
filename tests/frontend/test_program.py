import pytest

from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.lang import dumps, parse
from samhw.lang.dimensions import Dimensions

CHAIN = """
tensor A[i, k] : csr
tensor X[k, j] : dense
tensor W[j, l=4] : dense
tensor b[n] : dense
T[i, j] = A[i, k] * X[k, j]
Y[i, j] = T[i, j] + b[j]
Z[a, c] = Y[a, t] * W[t, c]
s = X[k, j]
"""


def _names(declarations):
    return [decl.name for decl in declarations]


def test_roles():
    program = parse(CHAIN)
    assert _names(program.inputs) == ["A", "X", "W", "b"]
    assert _names(program.intermediates) == ["T", "Y"]
    assert _names(program.outputs) == ["Z", "s"]
    assert list(program.tensors) == ["A", "X", "W", "b", "T", "Y", "Z", "s"]


def test_indices_of_a_statement():
    statement = parse("tensor A[i, k]\ntensor b[l]\nT[i] = b[l] * A[k, i]").statements[0]
    assert statement.indices == ("i", "l", "k")
    assert statement.reduction_indices == ("l", "k")
    assert [access.tensor for access in statement.accesses] == ["T", "b", "A"]


def test_regions():
    program = parse("tensor A[i]\nx[i] = A[i]\nfuse {\n y[i] = x[i]\n z = y[i]\n}\n")
    assert [len(region.statements) for region in program.regions] == [1, 2]
    assert [statement.lhs.tensor for statement in program.statements] == ["x", "y", "z"]


def test_masks_are_read():
    program = parse("tensor A[i]\ntensor M[i]\nx[i] = A[i]\ny[i] = A[i] where x[i]\nz[i] = y[i] where M[i]")
    assert _names(program.inputs) == ["A", "M"]
    assert _names(program.intermediates) == ["x", "y"]
    assert [access.tensor for access in program.statements[1].accesses] == ["y", "A", "x"]


MOVES = """
tensor A[i, j]
tensor B[i, j]
tensor R[a, b]
tensor D[a]
C[i, j] = concat(j, A[i, j], B[i, j])
R[a, b] = reshape(C[i, j])
S[a] = R[a, b] * D[a]
"""


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ({"A": (4, 2), "B": (4, 3), "D": (10,)}, {"C": (4, 5), "R": (10, 2), "S": (10,)}),
        ({"A": (4, 2), "R": (2, 10)}, {"C": (4, 5), "B": (4, 3), "D": (2,), "S": (2,)}),
        ({"A": (4, 2), "D": (2,)}, {"C": (4, None), "R": (2, None)}),
    ],
)
def test_moves_pass_extents_on(shapes, expected):
    bound = parse(MOVES).bind(shapes)
    assert {name: bound.tensors[name].shape for name in expected} == expected


def test_the_extents_of_moves():
    bound = parse(MOVES).bind({"A": (4, 2), "B": (4, 3), "D": (10,)})
    concat, reshape, _ = bound.statements
    assert bound.extents(concat) == {"i": 4, "j": 5}
    assert bound.extents(reshape) == {"a": 10, "b": 2, "i": 4, "j": 5}
    assert reshape.reduction_indices == ()
    assert parse(MOVES).bind({"A": (4, 2)}).extents(concat) == {"i": 4, "j": None}


@pytest.mark.parametrize("shapes", [{}, {"A": (4, 2), "B": (4, 3), "D": (10,)}, {"A": (4, 2)}])
def test_a_bound_program_has_the_dimensions_that_it_would_be_given(shapes):
    bound = parse(MOVES).bind(shapes)
    for program in (bound, bound.bind({}), bound.regrouped(bound.regions)):
        given = Dimensions(program.tensors, program.statements, None, program.named, program.index_extents)
        assert program.dimensions.extents == given.extents
        assert all(program.dimensions.of_tensor(t) == given.of_tensor(t) for t in program.tensors)


def test_an_unbound_program_has_the_extents_of_its_text():
    program = parse(MOVES.replace("R[a, b]", "R[a, b=2]", 1))
    bound = Schedule(fuse="none").apply(program.bind({"A": (4, 2)}).bind({"B": (4, 3)}))
    assert bound.tensors["R"].shape == (10, 2)
    assert bound.unbound == program
    assert bound.unbound.bind({"A": (6, 1), "B": (6, 1)}).tensors["R"].shape == (6, 2)


def test_an_extent_comes_from_whichever_tensor_has_it():
    program = parse("tensor A[i, k=4]\ntensor b[i=3]\ntensor c[k]\nx = b[i] * A[i, k] * c[k]")
    assert program.extents(program.statements[0]) == {"i": 3, "k": 4}


def test_bind_reaches_every_tensor():
    bound = parse(CHAIN).bind({"A": (5, 6), "b": (7,)})
    assert {name: decl.shape for name, decl in bound.tensors.items()} == {
        "A": (5, 6),
        "X": (6, 7),
        "W": (7, 4),
        "b": (7,),
        "T": (5, 7),
        "Y": (5, 7),
        "Z": (5, 4),
        "s": (),
    }
    assert bound.extents(bound.statements[2]) == {"a": 5, "c": 4, "t": 7}


def test_bind_carries_an_extent_backwards():
    program = parse("tensor A[i]\ntensor b[i=3]\nT[i] = A[i]\nU[j] = T[j] * b[j]")
    assert program.extents(program.statements[0]) == {"i": 3}
    bound = program.bind({})
    assert bound.extents(bound.statements[0]) == {"i": 3}
    assert bound.tensors["A"].shape == (3,)
    assert program.tensors["A"].shape == (None,)


def test_bind_leaves_unknown_what_nothing_fixes():
    bound = parse("tensor A[i, k]\nT[i] = A[i, k]").bind({"T": (3,)})
    assert bound.tensors["A"].shape == (3, None)
    assert bound.extents(bound.statements[0]) == {"i": 3, "k": None}


def test_indices_are_local_to_their_statement():
    bound = parse("tensor A[i, j]\ntensor B[i, j]\nx = A[i, j]\ny = B[i, j]").bind({"A": (2, 3), "B": (4, 5)})
    assert bound.tensors["A"].shape == (2, 3)
    assert bound.tensors["B"].shape == (4, 5)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"Q": (3,)}, "program 'spmm' has no tensor 'Q'; its tensors are A, X, T"),
        ({"A": (3,)}, "tensor 'A' has rank 2, but its data has shape (3,); change one of them"),
        (
            {"A": (3, 35)},
            "tensor 'A' is declared with k=34, but its data has 35 there; change one of them",
        ),
        (
            {"A": (0, 34)},
            "tensor 'A' has data with i=0; an extent is from 1 to 4,294,967,295, as coordinates have 32 bits",
        ),
        (
            {"X": (35, 2)},
            "spmm.ein:3:17: index 'k' has extent 34 in 'A' but 35 in 'X'; "
            "give both tensors the same extent, or use two indices",
        ),
        (
            {"A": (3, 34), "T": (4, 2)},
            "spmm.ein:3:10: index 'i' has extent 4 in 'T' but 3 in 'A'; "
            "give both tensors the same extent, or use two indices",
        ),
    ],
)
def test_bind_refuses_shapes_that_disagree(shapes, message):
    program = parse("tensor A[i, k=34]\ntensor X[k, j]\nT[i,j] = A[i,k]*X[k,j]", "spmm.ein")
    with pytest.raises(InputError) as caught:
        program.bind(shapes)
    assert str(caught.value).splitlines()[0] == message


def test_a_conflict_across_statements_names_the_tensors_that_have_the_extents():
    program = parse("tensor A[i]\ntensor b[i]\nT[i] = A[i]\nU[j] = T[j] * b[j]")
    with pytest.raises(InputError, match=r"^<text>:4:15: index 'j' has extent 3 in 'A' but 4 in 'b'; "):
        program.bind({"A": (3,), "b": (4,)})


def test_name_and_source_take_no_part_in_equality():
    text = dumps(parse(CHAIN))
    assert parse(text, "a.ein") == parse(text, "dir/b.ein")
    assert hash(parse(text)) == hash(parse(text))
    assert parse(text, "dir/b.ein").name == "b"
    assert parse(text) != parse(text.replace("l=4", "l=5"))
