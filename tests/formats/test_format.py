import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.errors import InputError
from samhw.tensors.formats import Format, level_type
from tests.support.strategies.tensors import formats

D, C, S = map(level_type, ("dense", "compressed", "singleton"))


@pytest.mark.parametrize(
    ("text", "rank", "levels", "mode_order"),
    [
        ("dense", 0, (), ()),
        ("scalar", 0, (), ()),
        ("dense", 3, (D, D, D), (0, 1, 2)),
        ("csr", 2, (D, C), (0, 1)),
        ("csc", 2, (D, C), (1, 0)),
        ("dcsr", 2, (C, C), (0, 1)),
        ("dcsc", 2, (C, C), (1, 0)),
        ("coo", 3, (C, S, S), (0, 1, 2)),
        ("csf", 3, (C, C, C), (0, 1, 2)),
        ("csf @ (2, 0, 1)", 3, (C, C, C), (2, 0, 1)),
        ("dense@(1,0)", 2, (D, D), (1, 0)),
        ("csc @ (0, 1)", 2, (D, C), (0, 1)),
        (" ( dense ,compressed, singleton ) ", 3, (D, C, S), (0, 1, 2)),
        ("(compressed, dense) @ (1, 0)", 2, (C, D), (1, 0)),
        ("()", 0, (), ()),
    ],
)
def test_parse(text, rank, levels, mode_order):
    assert Format.parse(text, rank) == Format(levels, mode_order)


def test_parse_blocked():
    format = Format.parse("bcsr(4)", 2)
    assert format == Format((D, C, D, D), (0, 1), (4, 4))
    assert Format.parse("bcsr(4) @ (1, 0)", 2) == Format((D, C, D, D), (1, 0), 4)
    assert format.rank == 2
    assert format.level_modes == (0, 1, 0, 1)
    assert format.level_sizes((5, 8)) == (2, 2, 4, 4)
    assert Format.parse("bcsr(4) @ (1, 0)", 2).level_sizes((5, 12)) == (3, 2, 4, 4)


@pytest.mark.parametrize(
    ("text", "rank", "canonical"),
    [
        ("dense", 0, "scalar"),
        ("csf", 1, "csf"),
        ("coo", 1, "csf"),
        ("csf", 2, "dcsr"),
        ("csf @ (1, 0)", 2, "dcsc"),
        ("csr @ (1, 0)", 2, "csc"),
        ("(dense, compressed)", 2, "csr"),
        ("(compressed, singleton) @ (1, 0)", 2, "coo @ (1, 0)"),
        ("(dense, dense, dense) @ (0, 1, 2)", 3, "dense"),
        ("(dense, compressed, dense)", 3, "(dense, compressed, dense)"),
        ("(dense, compressed, dense) @ (1, 0, 2)", 3, "(dense, compressed, dense) @ (1, 0, 2)"),
        ("bcsr( 2 )", 2, "bcsr(2)"),
        ("srbcrs(8, 32)", 2, "bcsr(8,1)"),
        ("srbcrs(1,4)", 2, "bcsr(1)"),
        ("bcsr(2) @ (1,0)", 2, "bcsr(2) @ (1, 0)"),
    ],
)
def test_canonical_name(text, rank, canonical):
    assert str(Format.parse(text, rank)) == canonical


@given(st.integers(0, 4).flatmap(formats))
def test_names_are_one_to_one(format):
    assert Format.parse(str(format), format.rank) == format


@pytest.mark.parametrize(
    ("text", "rank", "complaint"),
    [
        ("nonsense", 2, "unknown format 'nonsense' for a tensor of rank 2: use dense, csr"),
        ("csr", 3, "unknown format 'csr' for a tensor of rank 3"),
        ("csf", 0, "unknown format 'csf' for a tensor of rank 0"),
        ("bcsr(2)", 3, "unknown format"),
        ("bcsr(0)", 2, "block size 0 is impossible"),
        ("srbcrs(0,8)", 2, "block size 0 is impossible"),
        ("srbcrs(8,0)", 2, "unknown format"),
        ("srbcrs(8)", 2, "unknown format"),
        ("(dense, sparse)", 2, "unknown level type 'sparse': use "),
        ("(dense)", 2, "has 1 levels but the tensor has rank 2"),
        ("(singleton, dense)", 2, "singleton level must follow"),
        ("(singleton, compressed)", 2, "singleton level must follow another level"),
        ("csr @ 1, 0", 2, "mode order '1, 0' does not parse"),
        ("csr @", 2, "mode order '' does not parse"),
        (f"csf @ ({'9' * 5000}, 0)", 2, "does not parse"),
        (f"bcsr({'9' * 5000})", 2, "unknown format"),
        ("csr @ (x, 0)", 2, "does not parse"),
        ("csr @ (0, 0)", 2, "not a permutation"),
        ("csr @ (0, 1, 2)", 2, "3 modes"),
        ("csr @ (1, 2)", 2, "not a permutation"),
        ("", 2, "unknown format ''"),
    ],
)
def test_parse_rejects(text, rank, complaint):
    with pytest.raises(InputError) as caught:
        Format.parse(text, rank)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [((D, C), (0, 1, 2)), ((D, C), (1, 2)), ((S,), (0,)), ((C, D, D, D), (0, 1), 2), ((D, C), (0, 1), 2)],
)
def test_constructor_rejects(arguments):
    with pytest.raises(InputError):
        Format(*arguments)


def test_of_checks_the_rank():
    assert Format.of("csr", 2) == Format.of(Format.parse("csr", 2), 2)
    with pytest.raises(InputError, match="format csr is for rank 2 but the tensor has rank 3"):
        Format.of(Format.parse("csr", 2), 3)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("csr", "csr"),
        ("coo", "coo"),
        ("bcsr(2)", "bcsr(2)"),
        ("(dense, ell(4)) @ (1, 0)", "(dense, compressed) @ (1, 0)"),
        ("(dense, ragged)", "csr"),
        ("(dense, dia)", "csr"),
    ],
)
def test_results_have_levels_that_can_be_written(text: str, result: str) -> None:
    assert Format.parse(text, 2).of_result == Format.parse(result, 2)


def test_fill():
    assert Format.parse("dense", 2).is_all_dense
    assert not Format.parse("csr", 2).is_all_dense
    assert Format.parse("(compressed, dense)", 2).stores_fill
    assert not Format.parse("csr", 2).stores_fill
    assert not Format.parse("scalar", 0).stores_fill
