"""Names that samhw makes beside those of a user."""

from hypothesis import given
from hypothesis import strategies as st

from samhw.names import Names, comment_text, identifiers


def test_identifiers_are_distinct_and_legal():
    assert identifiers(["B.crd1", "B_crd1", "x", "0a", "é"]) == {
        "B.crd1": "B_crd1",
        "B_crd1": "B_crd1_2",
        "x": "x",
        "0a": "n0a",
        "é": "_",
    }


def test_given_names_go_to_their_own_bearers() -> None:
    names = Names(["A", "A_2", "t0"])
    assert [names.own("A"), names.own("A"), names.own("A_2"), names.fresh("t0"), names.own("t0")] == [
        "A",
        "A_3",
        "A_2",
        "t0_2",
        "t0",
    ]


_texts = st.text("a2_", min_size=1, max_size=4)


@given(st.lists(_texts), st.lists(st.tuples(st.booleans(), _texts)))
def test_no_two_names_are_alike(user: list[str], asked: list[tuple[bool, str]]) -> None:
    names = Names(user)
    found = [names.own(text) if own and text in user else names.fresh(text) for own, text in asked]
    assert len(set(found)) == len(found)
    for (own, text), name in zip(asked, found, strict=True):
        # A name of the user's is nobody else's.
        assert name not in user or (own and name == text)


@given(st.lists(st.text(), unique=True))
def test_identifiers_of_anything(texts: list[str]) -> None:
    found = identifiers(texts)
    assert list(found) == texts
    assert len(set(found.values())) == len(texts)
    assert all(name.isidentifier() and name.isascii() for name in found.values())


@given(st.text())
def test_a_comment_stays_one(text: str) -> None:
    found = comment_text(text)
    assert found.isprintable()
    assert "*/" not in found
    assert "/*" not in found
    assert not found.endswith("\\")
