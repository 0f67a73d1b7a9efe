"""Which modes share an extent, what it is, and what it is called."""

import pytest

from samhw.errors import InputError
from samhw.lang import Access, Capacity, greatest_extents, parse

CHAIN = (
    "tensor A[i=5, k] : csr\ntensor X[k=7, j]\ntensor b[m=3]\n"
    "T[i, j] = A[i, k] * X[k, j] + b[j]\nU[k] = T[k, i]\n"
)


def test_indices_of_one_extent_are_one_dimension() -> None:
    program = parse(CHAIN)
    dimensions = program.dimensions
    assert [dimensions.of_tensor(name) for name in ("A", "X", "b", "T", "U")] == [
        ("i", "k"),
        ("k", "j"),
        ("j",),
        ("i", "j"),
        ("i",),
    ]
    assert dimensions.of_statement(program.statements[1]) == {"k": "i", "i": "j"}
    assert dimensions.of_index(Access.of("X", ("a", "b")), "b") == "j"
    assert list(dimensions.extents.items()) == [("i", 5), ("k", 7), ("j", 3)]
    assert dimensions.shape("X", {"i": 1, "k": 2, "j": 4}) == (2, 4)


def test_dimensions_are_worked_out_once_for_each_program() -> None:
    program = parse(CHAIN)
    assert program.dimensions is program.dimensions
    assert program.bind({}).dimensions is program.dimensions
    assert program.bind({}).dimensions.extents == program.dimensions.extents
    assert program.bind({"A": (5, 7)}).dimensions is not program.dimensions


def test_names_meet_neither_indices_nor_each_other() -> None:
    program = parse("tensor A[i=2]\ntensor B[i=3]\ntensor C[i_2=4]\nx[i] = A[i]\ny[i] = B[i]\nz[j] = C[j]\n")
    dimensions = program.dimensions
    assert list(dimensions.extents.items()) == [("i", 2), ("i_3", 3), ("j", 4)]
    assert [dimensions.fresh(wish) for wish in ("once", "once", "i", "i_2", "j")] == [
        *("once", "once", "i_4", "i_2_2", "j_2")
    ]


def test_moves_pass_extents_on_to_each_other() -> None:
    program = parse(
        "tensor A[i=4]\ntensor B[i=2]\nC[i] = concat(i, A[i], B[i])\nD[h, d] = reshape(C[i])\ntensor e[h=3]\n"
        "F[h, d] = D[h, d] * e[h]\n"
    )
    dimensions = program.dimensions
    assert dimensions.extents[dimensions.of_tensor("C")[0]] == 6
    assert [dimensions.extents[d] for d in dimensions.of_tensor("F")] == [3, 2]


def test_an_index_with_two_extents_is_refused_with_its_place() -> None:
    with pytest.raises(InputError) as caught:
        parse("tensor A[i=3]\ntensor B[j=4]\nx[i] = A[i] * B[i]")
    assert str(caught.value) == (
        "<text>:3:15: index 'i' has extent 3 in 'A' but 4 in 'B'; give both tensors the same extent, or use "
        "two indices\n  x[i] = A[i] * B[i]\n                ^"
    )


def test_a_build_is_as_large_as_the_text_and_the_capacity_say() -> None:
    program = parse("tensor A[i=5, k]\nT[i] = A[i, k]\n")
    assert greatest_extents(program, Capacity({"i": 2, "k": 9})) == {"i": 5, "k": 9}
    with pytest.raises(InputError, match="Nothing gives the extent of index k"):
        greatest_extents(program, Capacity({"i": 8}))


def test_capacities_of_entries() -> None:
    capacity = Capacity(entries={"A": 7, "B": 0})
    assert [capacity.entries_of(name) for name in "ABC"] == [7, 1, 4096]
    assert (capacity | Capacity({"i": 3}, {"A": 5, "C": 2})).entries == {"A": 7, "B": 0, "C": 2}
