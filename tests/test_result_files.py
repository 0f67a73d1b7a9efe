"""Result files, and the tables of the pages that are made of them."""

import json
import re
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import result_files
from benchmarks.result_files import ResultFile, names, parse, read, update
from docs import tables
from docs.tables import Columns, Counts, Pivot, Summary, View, below, one_of
from samhw.app.report import result_file
from samhw.errors import InputError

DOCS = Path(tables.__file__).parent
MADE = ("results.md", "findings.md")
"""Pages whose tables are all made."""

GOOD = {
    "title": "t",
    "command": "python -m benchmarks.compile_time mlp --repeats 1",
    "commit": "0123abcd",
    "machine": None,
    "date": "2026-11-29",
    "rows": [{"a": 1, "b": None}, {"a": 2.5, "b": "x"}],
}


def test_a_file_is_read_as_it_was_written() -> None:
    found = parse(json.dumps(GOOD))
    assert found == parse(str(found))
    assert str(found).splitlines()[-4:] == ['  {"a": 1, "b": null},', '  {"a": 2.5, "b": "x"}', " ]", "}"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"title": ""}, "'title' is ''; it takes a text"),
        ({"command": None}, "'command' is None; it takes a text"),
        ({"commit": "HEAD"}, "'commit' is 'HEAD'; it takes 8 to 40 hexadecimal digits, or null"),
        ({"date": "29.11.2026"}, "'date' is '29.11.2026'; it takes year, month and day"),
        ({"machine": 2}, "'machine' is 2; it takes a text"),
        ({"rows": []}, "'rows' takes a list of at least one row"),
        ({"rows": [[1, 2]]}, r"row 1 is \[1, 2\]; it takes an object"),
        ({"rows": [{"a": 1}, {"b": 1}]}, "row 2 has the columns 'b', and row 1 has 'a'"),
        ({"rows": [{"a": [1]}]}, r"row 1 has \[1\] as 'a'; a cell is a text or a number"),
        ({"rows": [{"a": float("nan")}]}, "row 1 has nan as 'a', which is no result"),
        ({"host": "h"}, "it has 'host', which no result file has; there are title, command"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(json.dumps({**GOOD, **change}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "it is no JSON"),
        ("[1]", r"it is \[1\]; it takes an object with the keys title, command"),
        ('{"title": "t"}', "it has no 'command'"),
        (json.dumps(GOOD).replace('"a": 1', '"a": 1, "a": 2'), "it has 'a' twice in one object"),
    ],
)
def test_what_is_wrong_with_a_text_is_said(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text)


@pytest.mark.parametrize("name", names())
def test_each_file_names_a_command_and_no_path_of_a_machine(name: str) -> None:
    found = read(name)
    assert not re.search(r"(^|[ =:])[/~]", found.command)
    for module in re.findall(r"python -m benchmarks\.(\w+)", found.command):
        assert (DOCS.parent / "benchmarks" / f"{module}.py").exists()
    assert not found.machine or re.fullmatch(r"\d+ cores?, [\w .,()-]+", found.machine)


@pytest.mark.parametrize("page", list(tables.pages()), ids=lambda page: page.name)
def test_pages_have_the_tables_that_are_made(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == tables.written(text), "run python -m docs.tables"


@pytest.mark.parametrize("name", MADE)
def test_every_table_is_made(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    outside = re.sub(r"<!-- table: [\w-]+ -->.*?<!-- end -->", "", text, flags=re.DOTALL)
    assert "|" not in outside
    assert outside != text


def test_every_view_is_shown_and_every_file_is_used() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in tables.pages())
    shown = re.findall(r"<!-- table: ([\w-]+) -->", text)
    assert sorted(shown) == sorted(tables.VIEWS)
    views = [view for view in tables.VIEWS.values() if isinstance(view, View)]
    assert {name for view in views for name in view.names} == set(names())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of result files with two files in it."""
    rows = [
        {"model": "m", "way": "x", "cycles": 1000, "ratio": 1.0, "ends": "equal"},
        {"model": "m", "way": "y", "cycles": 4000, "ratio": 4.0, "ends": "equal"},
        {"model": "n", "way": "x", "cycles": 7, "ratio": -0.5, "ends": "refused: why"},
    ]
    one = ResultFile("t", "samhw a", "0123abcd", "2 cores, A", "2026-11-29", rows)
    (tmp_path / "one.json").write_text(str(one))
    (tmp_path / "two.json").write_text(str(ResultFile("t", "samhw b", None, None, None, rows[:1])))
    monkeypatch.setattr(result_files, "FOLDER", tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("view", "text"),
    [
        (
            Columns("one", "model; time: cycles"),
            "| model | time |\n|---|---|\n| m | 1,000 |\n| | 4,000 |\n| n | 7 |\n"
            "\n`samhw a`: commit 0123abcd.\n\n",
        ),
        (
            Columns({"one": "first", "two": "second"}, ": ; ratio", where={"way": one_of("x")}, machine=True),
            "| | ratio |\n|---|---|\n| first | 1.00 |\n| | -0.50 |\n| second | 1.00 |\n"
            "\n`samhw a`: commit 0123abcd, 2 cores, A; `samhw b`: not measured on this state.\n\n",
        ),
        (
            Pivot("one", "model", "way", "cycles"),
            "| model | x | y |\n|---|---|---|\n| m | 1,000 | 4,000 |\n| n | 7 | |\n"
            "\n`samhw a`: commit 0123abcd.\n\n",
        ),
        (
            Summary("one", "model", "gain: ratio; cycles", digits=1),
            "| model | rows | gain | cycles |\n|---|---|---|---|\n"
            "| m | 2 | 1.0 to 4.0 (2.0) | 1,000 to 4,000 (2,000) |\n| n | 1 | -0.5 | 7 |\n"
            "\n`samhw a`: commit 0123abcd.\n\n",
        ),
        (
            Counts("one", "result: ends", where={"ratio": below(3)}),
            "| | equal | refused |\n|---|---|---|\n| result | 1 | 1 |\n\n`samhw a`: commit 0123abcd.\n\n",
        ),
    ],
    ids=lambda part: type(part).__name__,
)
def test_views(view: View, text: str) -> None:
    assert view() == text


def test_a_page_keeps_what_is_outside_of_its_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "VIEWS", {"v": lambda: "new\n\n"})
    page = "before\n\n<!-- table: v -->\n\nold\n\n<!-- end -->\n\nafter <!-- end -->\n"
    assert tables.written(page) == page.replace("old", "new")
    with pytest.raises(InputError, match="has no view 'w'; there are v"):
        tables.written(page.replace("v -->", "w -->"))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("view", "message"),
    [
        (Columns("one", "model; cycle"), "a view of one shows 'cycle', which no row has"),
        (Pivot("one", "model", "ways", "cycles"), "a view of one shows 'ways'"),
        (Summary({"one": "a", "two": "b"}, "mode", "cycles"), "a view of one, two shows 'mode'"),
        (Counts("one", "x: end"), "a view of one shows 'end'"),
        (Columns("one", "model", where={"kind": one_of("x")}), "a view of one shows 'kind'"),
        (Columns("one", "model", where={"way": one_of("z")}), "a view of one leaves no row"),
        (Columns("three", "model"), "there is no result file 'three'"),
    ],
)
def test_a_view_of_what_is_not_there_is_refused(view: View, message: str) -> None:
    with pytest.raises(InputError, match=message):
        view()


def written(folder: Path, **changes: object) -> ResultFile:
    """A file that `update` is to measure again."""
    found = ResultFile(**{**GOOD, "rows": [{"model": "mlp", "fusion": "none"}], **changes})
    (folder / "some.json").write_text(str(found))
    return found


@pytest.mark.slow
def test_update_measures_by_the_command_of_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_files, "commit", lambda: "fedcba98")
    old = written(folder)
    new = update("some")
    assert new == read("some")
    assert (new.title, new.command) == (old.title, old.command)
    assert {row["model"] for row in new.rows} == {"mlp"}
    assert [row["fusion"] for row in new.rows] == ["none", "partial", "full"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"command": "samhw compare gcn"}, "comes from 'samhw compare gcn', which is no benchmark"),
        (
            {"command": "SOME_DATA=FOLDER python -m benchmarks.lanes_speed"},
            "set SOME_DATA, which the command",
        ),
        ({"command": "python -m benchmarks.area DESIGN"}, "comes from several runs of .* for each DESIGN"),
        pytest.param(
            {"command": "python -m benchmarks.compile_time none"},
            r"failed \(exit code 1\), so some.json stays",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"rows": [{"model": "mlp", "lost": 1}]},
            "no longer gives the column 'lost' of some.json",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_update_refuses(
    changes: dict[str, object], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_files, "commit", lambda: "fedcba98")
    old = written(folder, **changes)
    with pytest.raises(InputError, match=message):
        update("some")
    assert read("some") == old


def test_update_needs_a_state_with_a_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_file, "_git", lambda *words: " M samhw/errors.py")
    written(folder)
    with pytest.raises(InputError, match="commit what you changed in samhw and benchmarks first"):
        update("some")


def test_the_command_lists_shows_and_refuses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.main([])
    assert re.search(r"one\s+│ 0123abcd\s+│ samhw a", capsys.readouterr().out)
    command.main(["one"])
    assert "4,000" in capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        command.main(["three"])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "there is no result file 'three'; a benchmark writes one by --json, and there are one, two" in said
    with pytest.raises(SystemExit) as end:
        command.main(["--update"])
    assert end.value.code == 2
