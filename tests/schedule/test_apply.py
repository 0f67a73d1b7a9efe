"""Programs with the regions, orders and formats of a schedule."""

import re
from typing import Any

import pytest

from samhw.choices.fuse import FusionLevel
from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.lang import check_program, load_model, parse

LEVELS = """
tensor A[i=4]
fuse {
  x[i] = relu(A[i])
  y[i] = x[i] * x[i]
}
z[i] = y[i] + 1
R[a, b] = reshape(z[i])
C[a, b] = concat(b, R[a, b], R[a, b])
tensor R[a=2, b]
u[a] max= C[a, b]
v = u[a]
"""


@pytest.mark.parametrize(
    ("level", "sizes"),
    [("none", [1] * 7), ("partial", [2, 1, 1, 1, 1, 1]), ("full", [4, 3])],
)
def test_fusion_levels(level: FusionLevel, sizes: list[int]) -> None:
    program = parse(LEVELS)
    fused = Schedule(fuse=level).apply(program)
    check_program(fused)
    assert [len(region.statements) for region in fused.regions] == sizes
    assert fused.statements == program.statements
    assert Schedule(fuse="none").apply(fused) == Schedule(fuse="none").apply(program)


def test_the_default_is_the_program() -> None:
    program = load_model("gcn")
    assert Schedule().apply(program) == program
    assert [region.label for region in Schedule().apply(program).regions] == ["H1", "Z2"]


def test_regions_by_their_results() -> None:
    program = load_model("gcn")
    fused = Schedule(fuse=[["U1", "Z1"], ["H1", "T2", "U2"]]).apply(program)
    names = [[s.lhs.tensor for s in region.statements] for region in fused.regions]
    assert names == [["T1"], ["U1", "Z1"], ["H1", "T2", "U2"], ["Z2"]]
    assert fused.statements == program.statements
    assert Schedule(fuse=[]).apply(program) == Schedule(fuse="none").apply(program)


@pytest.mark.parametrize(
    ("fuse", "message"),
    [
        ([["T9"]], "'fuse' names 'T9', which no statement of 'gcn' computes; its statements compute T1, U1,"),
        ([["A"]], "'fuse' names 'A', which no statement"),
        ([["U1", "T1"]], "'fuse' has the region U1, T1 out of order"),
        ([["T1", "Z1"]], "'fuse' has the region T1, Z1 out of order: it needs U1, which comes later"),
        ([["T2"], ["T1", "U1"]], "'fuse' has the region T2 out of order: it needs H1, which comes later"),
        ([["T1", "U1"], ["U1", "Z1"]], "'fuse' names 'U1' twice; a statement is of one region."),
        ([["T1", "T1"]], "'fuse' names 'T1' twice"),
    ],
)
def test_lists_that_are_no_regions(fuse: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Schedule(fuse=fuse).apply(load_model("gcn"))


BESIDE = """
tensor A[n=4, i=6]
P[k, i] = A[k, i] * 2
Q[k] = A[i, k]
R[k, i] = relu(P[k, i])
"""


def test_lists_may_put_independent_statements_in_another_order() -> None:
    """Dimensions keep their names, by which capacities know them."""
    program = parse(BESIDE)
    for fuse, expected in (
        ([["P", "R"]], [["P", "R"], ["Q"]]),
        ([["Q"], ["P", "R"]], [["Q"], ["P", "R"]]),
        ([["R"]], [["P"], ["Q"], ["R"]]),
        ("kinds", [["P", "R"], ["Q"]]),
    ):
        fused = Schedule(fuse=fuse).apply(program)
        check_program(fused)
        assert [list(region.written) for region in fused.regions] == expected
        assert fused.bind({}).dimensions.extents == program.dimensions.extents


@pytest.mark.parametrize(
    ("fuse", "expected"),
    [
        ([["z", "R"]], [["x"], ["y"], ["z", "R"], ["C"], ["u"], ["v"]]),
        ([["R", "C", "u"]], [["x"], ["y"], ["z"], ["R", "C", "u"], ["v"]]),
        ([["z", "R", "C"]], [["x"], ["y"], ["z", "R"], ["C"], ["u"], ["v"]]),
    ],
)
def test_a_region_ends_before_it_reads_its_own_results_in_another_shape(
    fuse: list[list[str]], expected: list[list[str]]
) -> None:
    listed = Schedule(fuse=fuse).apply(parse(LEVELS))
    assert [[s.lhs.tensor for s in region.statements] for region in listed.regions] == expected


def test_orders_by_the_last_result() -> None:
    order = {"H1": ("i", "k", "f", "h"), "Z2": ("i", "k", "h", "c")}
    assert [r.order for r in Schedule(order=order).apply(load_model("gcn")).regions] == list(order.values())
    (region,) = Schedule(fuse="full", order=("i", "k")).apply(load_model("gcn")).regions
    assert region.order == ("i", "k")
    with pytest.raises(InputError, match="'gcn' has 2 regions, so one order does not fit them all"):
        Schedule(order=("i", "k")).apply(load_model("gcn"))
    with pytest.raises(InputError, match="order for 'T1', which is no region's last result; the regions of "):
        Schedule(order={"T1": ("i", "k")}).apply(load_model("gcn"))


def test_formats_replace_those_of_the_program() -> None:
    program = Schedule(formats={"T1": "dcsr", "A": "csf @ (1, 0)"}).apply(load_model("gcn"))
    assert str(program.tensors["T1"].format) == "dcsr"
    assert str(program.tensors["A"].format) == "dcsc"
    assert program.tensors["X"] == load_model("gcn").tensors["X"]


@pytest.mark.parametrize(
    ("formats", "message"),
    [
        ({"T9": "csr"}, "There is no tensor 'T9' to give a format; 'gcn' has A, X, "),
        (
            {"b1": "csr"},
            "The schedule gives 'b1' a format that it cannot have: unknown format 'csr' for",
        ),
        ({"A": "zip"}, "The schedule gives 'A' a format that it cannot have: unknown format 'zip'"),
    ],
)
def test_formats_that_do_not_fit(formats: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Schedule(formats=formats).apply(load_model("gcn"))


def test_a_reshape_stays_row_major() -> None:
    with pytest.raises(InputError, match="'R' is stored as csr, but a reshape goes through row-major order"):
        Schedule(formats={"R": "csr"}).apply(parse(LEVELS))


def test_what_is_placed_is_the_programs() -> None:
    with pytest.raises(InputError, match="There is no tensor 'Q' to place; the program has A, X,"):
        Schedule(place={"A": "ddr", "Q": "chip"}).apply(load_model("gcn"))


LAYERS = """
tensor W0[k, j]
tensor W1[k, j]
tensor x0[i, k]
q0[i, j] = x0[i, k] * W0[k, j]
a0[i, j] = relu(q0[i, j])
x1[i, k] = a0[i, k]
q1[i, j] = x1[i, k] * W1[k, j]
a1[i, j] = relu(q1[i, j])
y[i, j] = a1[i, j] + q1[i, j]
"""


def test_an_entry_with_a_star_is_one_for_every_layer() -> None:
    given = Schedule(
        fuse=[["q*", "a*"]],
        order={"a*": ["i", "j", "k"], "a1": ["i", "k", "j"]},
        formats={"W*": "csr"},
        share={"q*": "store"},
        place={"W*.vals": "ddr"},
        queues={"q*": 4},
        parallel=[["q*", "a*"]],
        share_hardware=[["a*", "y"]],
    )
    found = given.in_words_of(parse(LAYERS))
    assert found.fuse == (("q0", "a0"), ("q1", "a1"))
    assert found.order == {"a0": ("i", "j", "k"), "a1": ("i", "k", "j")}
    assert found.formats == {"W0": "csr", "W1": "csr"}
    assert found.share == {"q0": "store", "q1": "store"}
    assert found.place == {"W0.vals": "ddr", "W1.vals": "ddr"}
    assert found.queues == {"q0": 4, "q1": 4}
    assert found.parallel == (("q0", "a0"), ("q1", "a1"))
    assert found.share_hardware == (("a0", "a1", "y"),)
    few = Schedule(fuse=[["q*", "a*"]]).apply(parse(LAYERS))
    assert [region.written for region in few.regions] == [("q0", "a0"), ("x1",), ("q1", "a1"), ("y",)]
    with pytest.raises(InputError, match=r"names 'z\*'"):
        Schedule(fuse=[["z*"]]).apply(parse(LAYERS))
