"""Figures of papers: their rows from what was measured, and the command from points to pages."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from samhw.app import sweep as engine
from samhw.app.cli import main
from samhw.app.papers import NAMES, load_papers
from samhw.app.papers.figure import Paper, PaperFigure, PaperRow, Setting, fewer, plain, share
from samhw.app.papers.points import MEASURES, PaperPoint, point, point_outcome
from samhw.app.papers.run_papers import chosen_figures, figure_rows, file_name
from samhw.app.report.result_file import parse
from samhw.errors import InputError

EVERY = [(paper, figure) for paper in load_papers("all") for figure in paper.figures]
IDS = [file_name(paper, figure) for paper, figure in EVERY]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[PaperPoint]:
    """The points that are measured, which this process does."""
    found: list[PaperPoint] = []

    def run_here(tasks: Sequence[tuple[str, PaperPoint]], jobs: int | None, work: Any) -> Iterator[Any]:
        def here() -> Iterator[Any]:
            for key, task in tasks:
                found.append(task)
                yield key, point_outcome(PaperPoint.from_json(json.loads(json.dumps(task.to_json()))))

        return (item for item in here())

    monkeypatch.setattr(engine.run_sweep, "run_locally", run_here)
    return found


def papers(*words: str | Path) -> str:
    result = CliRunner().invoke(main, ["papers", *map(str, words)])
    assert result.exit_code == 0, result.output
    return result.output


# Rows


def outcome(cycles: int, **others: Any) -> dict[str, Any]:
    return {"status": "right", "figures": {"cycles": cycles, **others}}


def test_rows_are_held_against_the_first_way() -> None:
    first, second, third = (point("spmv", fuse=level) for level in ("none", "partial", "full"))
    figure = PaperFigure(
        "1", "t", lambda setting: [], (plain("cycles"), fewer("speed-up"), share("bytes, to it", "bytes")), ""
    )
    row = PaperRow("spmv", {"unfused": first, "partial": second, "full": third}, {"partial": 1.5})
    outcomes = {
        first: outcome(120, bytes=50),
        second: outcome(80, bytes=25),
        third: {"status": "refused", "error": "no"},
    }
    nothing = {"cycles": None, "speed-up": None, "bytes, to it": None, "the paper's": None}
    assert figure_rows(figure, [row], outcomes) == [
        {
            "row": "spmv",
            "way": "unfused",
            "cycles": 120,
            "speed-up": 1.0,
            "bytes, to it": 1.0,
            "the paper's": None,
        }
        | {"result": "right"},
        {
            "row": "spmv",
            "way": "partial",
            "cycles": 80,
            "speed-up": 1.5,
            "bytes, to it": 0.5,
            "the paper's": 1.5,
        }
        | {"result": "right"},
        {"row": "spmv", "way": "full", **nothing, "result": "refused"},
    ]


def test_a_figure_of_kernels_has_a_row_for_each() -> None:
    one = point("gcn", how="hardware", fuse="none")
    figure = PaperFigure("13", "t", lambda setting: [], (plain("RTL", "rtl"),), "", expands=True)
    kernels = [["T1", 10, 10], ["gcn", 30, 31]]
    rows = figure_rows(figure, [PaperRow("gcn", {"": one})], {one: outcome(30, kernels=kernels)})
    assert [(row["row"], row["RTL"]) for row in rows] == [("gcn: T1", 10), ("gcn", 31)]


def test_figures_by_number() -> None:
    paper = Paper(
        "p", "P", "", tuple(PaperFigure(n, "", lambda s: [], (), "") for n in ("12", "12, off chip", "1"))
    )
    assert [figure.number for _, figure in chosen_figures([paper], "12")] == ["12"]
    assert [figure.number for _, figure in chosen_figures([paper], None)] == ["12", "12, off chip", "1"]
    with pytest.raises(InputError, match="There is no figure '2' of P; there are 12, 1"):
        chosen_figures([paper], "2")


# Every figure


@pytest.mark.parametrize(("paper", "figure"), EVERY, ids=IDS)
@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
def test_every_figure_has_points(paper: Paper, figure: PaperFigure, quick: bool) -> None:
    """Rows of different names, points that other processes read, and the paper's numbers beside a way."""
    rows = list(figure.rows(Setting(quick)))
    assert rows
    assert len({(row.name, way) for row in rows for way in row.ways}) == sum(len(row.ways) for row in rows)
    for row in rows:
        assert row.paper.keys() <= row.ways.keys()
        assert {one.how for one in row.ways.values()} <= MEASURES.keys()
        one = next(iter(row.ways.values()))
        assert PaperPoint.from_json(json.loads(json.dumps(one.to_json()))) == one
    assert not any(row.paper for row in rows) or figure.ratio is not None
    assert figure.differs.endswith(".")


def test_names_of_result_files_differ() -> None:
    assert len(set(IDS)) == len(IDS)
    assert {paper.name for paper, _ in EVERY} == set(NAMES)


def test_a_users_files_come_before_stand_ins(tmp_path: Path) -> None:
    (tmp_path / "cora.npz").touch()
    assert Setting(folder=tmp_path).data("cora", "nodes=9") == str(tmp_path / "cora.npz")
    assert Setting(folder=tmp_path).data("mag") == "synthetic:mag"
    assert Setting(True, tmp_path).data("cora", "nodes=9") == "synthetic:cora,nodes=9"


# The command


def test_a_sample_of_figures(measured: list[PaperPoint], tmp_path: Path) -> None:
    """Three figures: their page and results, from which a second call measures nothing again."""
    for name, number in (("fuseflow", "table 4"), ("redfuser", "5d"), ("sparsetir", "13, in hardware")):
        papers(name, "--figure", number, "--quick", "-o", tmp_path)
    measured.clear()
    page = (tmp_path / "index.html").read_text()
    assert "SpMM in RTL" in page
    assert "http" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    ).replace("https://matplotlib.org", "")
    hardware = parse((tmp_path / "results" / "sparsetir_13_in_hardware.json").read_text())
    (row,) = hardware.rows
    assert row["difference"] == 0
    assert row["RTL"] == row["simulator"]
    assert row["on an ECP5-85"] == "fits"
    orders = parse((tmp_path / "results" / "fuseflow_table_4.json").read_text())
    assert [line["and statements' orders"] for line in orders.rows][:2] == [1, 1_134]
    assert orders.command == "samhw papers fuseflow --figure 'table 4' --quick"
    quantised = parse((tmp_path / "results" / "redfuser_5d.json").read_text())
    assert {line["result"] for line in quantised.rows} == {"right"}
    passes = [line for line in quantised.rows if line["way"] == "one pass"]
    assert len(passes) == 10
    assert all(float(line["bytes read, times less"] or 0) > 1 for line in passes)
    assert "10 right" in papers("redfuser", "--figure", "5d", "--quick", "-o", tmp_path).replace("20", "10")
    assert measured == []
    assert "<svg" in (tmp_path / "index.html").read_text()


def test_parts_of_papers(measured: list[PaperPoint], tmp_path: Path) -> None:
    """The page takes what parts have measured."""
    figure = ("fuseflow", "--figure", "table 4", "--quick", "-o", tmp_path)
    assert papers(*figure, "--shard", "1/2") == f"part 1 of 2: {tmp_path}\n"
    assert not (tmp_path / "index.html").exists()
    papers(*figure, "--shard", "2/2")
    assert len(measured) == 3
    papers(*figure)
    assert len(measured) == 3
    assert len(parse((tmp_path / "results" / "fuseflow_table_4.json").read_text()).rows) == 3


def test_what_goes_wrong_has_a_row() -> None:
    refused = point_outcome(point("spmv", "synthetic:imdb,length=5"))
    assert refused["status"] == "refused"
    assert "error" in refused
    assert point_outcome(point("spmv", how="nothing"))["status"] == "crashed"


@pytest.mark.nightly(but=0)
def test_every_figure_at_its_quick_size(tmp_path: Path) -> None:
    printed = papers("all", "--quick", "-o", tmp_path)
    assert f"{len(EVERY)} figures" in printed
    assert not {"wrong", "failed", "crashed", "refused"} & set(
        printed.replace(";", " ").replace(",", " ").split()
    )
