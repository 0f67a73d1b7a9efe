"""The value itself: what it takes, what it refuses, and its text."""

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.choices.cascade import CASCADES
from samhw.choices.fuse import FUSION_LEVELS, FUSION_RULES
from samhw.choices.iteration import ITERATIONS
from samhw.choices.schedule import Schedule
from samhw.errors import InputError

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LISTS = st.lists(TEXTS, max_size=3).map(tuple)
SCHEDULES = st.builds(
    Schedule,
    fuse=st.sampled_from((*FUSION_LEVELS, *FUSION_RULES))
    | st.lists(st.lists(TEXTS, min_size=1, max_size=3).map(tuple), max_size=3).map(tuple),
    iteration=st.sampled_from(ITERATIONS),
    permute=st.booleans(),
    place=st.dictionaries(TEXTS, st.sampled_from(["chip", "ddr", "hbm", "hbm:3"])),
    on_chip=st.sampled_from(["auto", "all", "none", "64KB"]),
    order=LISTS | st.dictionaries(TEXTS, LISTS, max_size=3),
    formats=st.dictionaries(TEXTS, TEXTS, max_size=3),
    share=st.sampled_from(("auto", "all", "none"))
    | st.dictionaries(TEXTS, st.sampled_from(("buffer", "store", "recompute")), max_size=3),
    brackets=st.dictionaries(TEXTS, TEXTS, max_size=3),
    split=st.dictionaries(TEXTS, st.sampled_from(("rows(4)", "hyb(1,2)", "rules.py:rule")), max_size=3),
    permute_rows=st.dictionaries(TEXTS, st.sampled_from(("by length", "even(2)", "o.py:o")), max_size=3),
    cascade=st.sampled_from(CASCADES) | st.builds(lambda tile: {"tile": tile}, st.integers(1, 64)),
    partial_sums=st.just("auto") | LISTS,
    queues=st.dictionaries(TEXTS, st.integers(1, 1 << 20), max_size=3),
    interleave=st.sampled_from(["all", "none"]) | LISTS,
)
"""Any texts as names: whether they name something is for a program to say."""


def load(folder: Path, text: str) -> Schedule:
    (folder / "schedule.toml").write_text(text, encoding="utf-8")
    return Schedule.load(folder / "schedule.toml")


@given(SCHEDULES)
def test_text_and_value_are_one_to_one(schedule: Schedule) -> None:
    assert Schedule.from_fields(tomllib.loads(schedule.dumps())) == schedule
    assert Schedule.from_fields(schedule.to_json()) == schedule


def test_a_file_of_every_field(tmp_path: Path) -> None:
    text = (
        'fuse = [["T1", "U1"], ["H1"]]\niteration = "global"\npermute = true\non_chip = "64KB"\n'
        'interleave = ["X"]\nshare_hardware = [["T1", "T2"]]\nparallel = "all"\nfixed_extents = true\n'
        'partial_sums = ["Y"]\ncascade = "deferred"\nlargest_copy = 100\nattempts = 3\n'
        '[brackets]\nU1 = "A * (X * W1)"\n[split]\nA = "rows(4)"\n[permute_rows]\nA = "by length"\n'
        '[share]\nT1 = "buffer"\n[order]\nH1 = ["i", "k"]\n[formats]\nT1 = "csf @ (1, 0)"\n[lanes]\ni = 4\n'
        '[blocks]\ni = 2\n[queues]\nT1 = 16\n[place]\nA = "hbm:3"\n"X.vals" = "chip"\n'
    )
    schedule = load(tmp_path, text)
    assert schedule == Schedule(
        fuse=[["T1", "U1"], ["H1"]],
        iteration="global",
        permute=True,
        place={"A": "hbm:3", "X.vals": "chip"},
        on_chip="64KB",
        interleave=["X"],
        share_hardware=[["T1", "T2"]],
        parallel="all",
        fixed_extents=True,
        order={"H1": ["i", "k"]},
        formats={"T1": "csf @ (1, 0)"},
        largest_copy=100,
        attempts=3,
        lanes={"i": 4},
        share={"T1": "buffer"},
        brackets={"U1": "A * (X * W1)"},
        split={"A": "rows(4)"},
        partial_sums=["Y"],
        permute_rows={"A": "by length"},
        cascade="deferred",
        blocks={"i": 2},
        queues={"T1": 16},
    )
    assert tomllib.loads(schedule.dumps()) == tomllib.loads(text)
    assert all(getattr(schedule, field.name) != field.default for field in fields(Schedule))
    assert load(tmp_path, "") == Schedule()
    assert load(tmp_path, 'order = ["i", "j"]').order == ("i", "j")


def test_a_schedule_can_be_a_key() -> None:
    assert len({Schedule(), Schedule(fuse="partial"), Schedule(fuse=[["T"]]), Schedule(fuse=(("T",),))}) == 2


def test_in_a_table() -> None:
    assert str(Schedule()) == "partial, factored"
    ordered = Schedule(fuse="full", iteration="global", order=("i", "k", "j"))
    assert str(ordered) == "full, global, order i,k,j"
    assert (
        str(Schedule(fuse=[["T", "U"], ["V"]], order={"U": ["i", "j"]}, formats={"T": "csr"}))
        == "T+U,V, factored, order U=i,j, T csr"
    )
    assert str(Schedule(lanes={"i": 4, "j": 2})) == "partial, factored, lanes i=4+j=2"
    assert str(Schedule(share="none")) == "partial, factored, share none"
    assert str(Schedule(share={"T": "buffer"})) == "partial, factored, share T=buffer"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "fuze = 1",
            "no field 'fuze' (did you mean 'fuse'?); its fields are brackets, fuse, iteration, order, "
            "formats, blocks, split, partial_sums, permute_rows, cascade, share, lanes, deal, queues, "
            "permute, largest_copy, attempts, place, on_chip, interleave, share_hardware, parallel, "
            "fixed_extents.",
        ),
        ('memory = "ddr4"', "name that with 'memory'"),
        (
            'share = "some"',
            "There is no share 'some'; the choices are auto, all, none, or a table with one of buffer, "
            "store, recompute for an intermediate.",
        ),
        (
            'cascade = "some"',
            "There is no cascade 'some'; the choices are off, auto, rescaled, deferred, finite.",
        ),
        ("share = 3", "'share' is 3; give a table"),
        ('share.T = "keep"', "'share' is 'keep' for 'T'; the choices are buffer, store, recompute."),
        (
            'fuse = "most"',
            "There is no fuse 'most'; the choices are none, partial, full, kinds, module, auto.",
        ),
        (
            "fuse = 3",
            "'fuse' is 3; give one of none, partial, full, kinds, module, auto, or for each region a list",
        ),
        ('fuse = ["T"]', "'fuse' is 'T'; give a list of names"),
        ('fuse = [["T"], []]', "A list of 'fuse' is empty"),
        ("fuse = [[1]]", "'fuse' is [1]; give a list of names"),
        ('iteration = "both"', "There is no iteration 'both'; the choices are factored, global"),
        ("iteration = [1]", "There is no iteration"),
        ("permute = 1", "'permute' is 1; give true or false"),
        ("largest_copy = 0", "'largest_copy' is 0; give a whole number from 1 to 1,099,511,627,776."),
        ("attempts = true", "'attempts' is True; give a whole number from 1 to 1,048,576."),
        ('off_chip = ["A"]', "no field 'off_chip' any more; 'place' says where each tensor lies"),
        ('place = "A"', "place 'A': give each tensor one place, as in A=ddr,X=chip."),
        ('place.A = "off"', "'A' cannot lie in 'off'; give chip, ddr or hbm; of several channels"),
        ('place.A = "chip:1"', "'A' cannot lie in 'chip:1'"),
        ("place.A = 1", "'A' cannot lie in 1"),
        ('on_chip = "256 KB"', "'on_chip' is '256 KB'; give a size such as 256KB or 8MB, all, none or auto."),
        ("on_chip = 256", "'on_chip' is 256; give a size"),
        ("order = 3", 'such as T = ["i", "k", "j"]'),
        ("[order]\nT = 3", "'order.T' is 3; give a list of names"),
        ('formats = "csr"', "formats 'csr': give each tensor one format"),
        ("[formats]\nT = 3", "The format of 'T' is 3; give a text"),
        ("fuse = ", "is no TOML"),
    ],
)
def test_what_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"schedule\.toml") as found:
        load(tmp_path, text)
    assert message in str(found.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give the file of a schedule"):
        Schedule.load(tmp_path / "none.toml")


@pytest.mark.parametrize("value", [{"order": {3: ["i"]}}, {"formats": [("T", "csr")]}, {"fuse": None}])
def test_other_kinds_are_refused_in_python_too(value: Any) -> None:
    with pytest.raises(InputError):
        Schedule(**value)
