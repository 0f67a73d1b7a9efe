"""The pages of comparisons, sweeps, searches, correlations and builds: what they say, and how they answer."""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from samhw.app.checking import Outcome, Verdict
from samhw.app.checking.model_and_rtl import Correlation, Row
from samhw.app.report.build_page import build_results
from samhw.app.report.comparison import Comparison
from samhw.app.report.comparison_page import comparison_results, correlation_results
from samhw.app.report.grids import shown_areas
from samhw.app.report.page import BarChart, Results, ResultTable, ScatterChart, axis, results_page, write_page
from samhw.app.report.run_report import origin
from samhw.app.report.sweep_page import sweep_results
from samhw.app.report.tune_page import tune_results
from samhw.app.sweep.tuning import Trial, Tuned
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler.search.explore import Explored
from samhw.cost import SHOWN_DEVICES, estimate_area
from tests.report.test_plots import AXES, measure, row
from tests.support.browser import browser, errors, opened
from tests.support.command import good, refused


def compared() -> Results:
    outcomes = (
        Outcome(Schedule(fuse="none"), measure(9947)),
        Outcome(Schedule(fuse="partial", lanes={"i": 4}), measure(1997)),
        Outcome(Schedule(fuse="full"), measure(1, str(Verdict.WRONG))),
        Outcome(Schedule(fuse="full", lanes={"i": 2}), None, "streams cannot follow"),
    )
    return comparison_results(Comparison("gcn", "karate", "f32", outcomes, period=10.0))


def swept() -> Results:
    rows = [
        row(900, fuse="full"),
        row(500, 800, lanes="i=2"),
        row(500, 800, lanes="i=2", depth=2),
        row(990, 700, lanes="i=4"),
        row(1, 1, "wrong"),
        {**row(1, status="failed"), "error": "a deadlock"},
        *(row(100 + n, lanes="i=8") for n in range(4)),
    ]
    return sweep_results(rows, AXES)


def tuned() -> Results:
    trials = [(6500, 53, True), (5089, 64, False), (5276, 72, False), (5614, 55, False)]
    found = tuple(
        Trial(Explored(Schedule(fuse=[[f"T{n}"]]), cycles * 0.9, n, 2, written), cycles, Verdict.RIGHT)
        for cycles, n, written in trials
    )
    return tune_results("gcn", Tuned("karate", found, 27, "cycles"))


def correlated() -> Results:
    rows = [Row(f"k{n}", "karate", 10**n, 10**n + (n == 3), Verdict.RIGHT) for n in range(1, 6)]
    return correlation_results(Correlation(tuple(rows)).to_json())


@cache
def built() -> Results:
    workload = bind_program("gcn", ["auto"])
    folder = Path(__file__).parent
    files = [folder / "test_plots.py", folder / "__init__.py"]
    known = {folder / "test_plots.py": "what is looked at first"}
    compiled = compile_workload(workload)
    areas = shown_areas(compiled)
    return build_results(compiled, "sim", folder, files, known, areas, sized="karate", checked="")


MAKERS: dict[str, Callable[[], Results]] = {
    "compare": compared,
    "sweep": swept,
    "tune": tuned,
    "correlate": correlated,
    "build": built,
}
every_page = pytest.mark.parametrize("name", MAKERS)


def text(name: str) -> str:
    return results_page(MAKERS[name](), origin(f"samhw {name} it"))


def by_words(results: Results) -> dict[str, Any]:
    """The numbers at the top."""
    return {stat.name: stat.value for stat in results.stats}


@every_page
def test_a_page_needs_nothing_else(name: str) -> None:
    page = text(name)
    assert set(re.findall(r"https?://[^\"' )]+", page)) == {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"\b(?:src|href)=\"([^\"]*)", page)) == {"data:,"}
    assert f"<code>samhw {name} it</code>" in page


@every_page
def test_marks_stand_for_rows(name: str) -> None:
    results = MAKERS[name]()
    data = json.loads(re.search(r'id="data">(.*?)</script>', text(name), re.S)[1])  # type: ignore[index]
    rows = len(results.tables[0].grid) - 1
    assert len(data["details"]) == rows
    for chart in data["charts"]:
        for mark in chart.get("points", chart.get("bars")):
            assert -1 <= mark["row"] < rows


def test_a_comparison_says_what_is_fastest_and_what_is_refused() -> None:
    results = compared()
    assert by_words(results)["speedup"] == "4.98×"  # Of what is not wrong.
    assert (results.good, results.verdict) == (False, "a result is wrong")
    cycles, traffic = results.charts
    assert isinstance(cycles, BarChart)
    assert [bar.text for bar in cycles.bars] == ["9,947 (1.00×)", "1,997 (4.98×)", "1 (9947.00×)", "refused"]
    assert [bar.bad for bar in cycles.bars] == [False, False, True, False]
    assert isinstance(traffic, BarChart)
    assert traffic.bars[0].values == (400.0, 100.0)
    assert ("time", "19.970 µs") in results.details[1]
    assert "[lanes]\ni = 4" in dict(results.details[1])["schedule"]
    assert dict(results.details[3])["error"] == "streams cannot follow"
    assert results.notes == ("refused 1: streams cannot follow",)


def test_a_sweep_has_its_front_and_its_failures() -> None:
    results = swept()
    (chart,) = results.charts
    assert isinstance(chart, ScatterChart)
    assert chart.line == ((500.0, 100.0),)
    assert all(point.group.startswith(("fuse full, depth", "fuse none, depth")) for point in chart.points)
    assert {point.look[0] for point in chart.points} == {0, 1}
    assert len({point.look for point in chart.points}) == len({point.group for point in chart.points})
    assert {point.row for point in chart.points} == {0, 1, 2, 3, 6, 7, 8, 9}
    assert dict(results.details[5])["error"] == "a deadlock"
    assert results.tables[0].bad == {4}
    assert results.tables[0].grid[0][:5] == ["program", "data", "fuse", "depth", "lanes"]


def test_a_search_has_its_front_and_what_was_expected() -> None:
    results = tuned()
    front, expected = results.charts
    assert isinstance(front, ScatterChart)
    assert front.line == ((53.0, 6500.0), (55.0, 5614.0), (64.0, 5089.0))
    assert [point.group for point in front.points] == ["best", "others", "Pareto front", "as written"]
    assert isinstance(expected, ScatterChart)
    best = expected.points[0]
    assert (best.x, best.y) == (pytest.approx(4580.1), 5089)
    assert 'fuse = [["T64"]]' in dict(results.details[0])["schedule"]
    assert by_words(results)["speedup"] == "1.28×"


def test_a_correlation_marks_what_differs() -> None:
    results = correlated()
    assert (results.verdict, results.good) == ("4 of 5 cycle counts equal", False)
    assert results.tables[0].bad == {2}
    (chart,) = results.charts
    assert isinstance(chart, ScatterChart)
    assert (chart.points[2].x, chart.points[2].y, chart.points[2].group) == (1000, 1001, "k3")


def test_a_build_counts_what_the_design_has() -> None:
    results = built()
    design = compile_workload(bind_program("gcn", ["auto"])).design
    assert by_words(results)["nodes"] == str(len(design.nodes))
    regions, fpgas, memories, channels, files = (table.grid for table in results.tables)
    assert [line[0] for line in fpgas[1:]] == [device.name for device in SHOWN_DEVICES]
    assert len(regions) == 1 + len(design.regions)
    assert sum(int(line[6].replace(",", "")) for line in regions[1:]) == sum(
        int(line[4].replace(",", "")) for line in channels[1:]
    )
    assert ["A.vals", "A", "input", "256", "8,192"] in memories
    assert channels[1][0] == "scan_dense_b1_h.crd->union_h.crd1"
    assert channels[1][2:6] == ["coordinates", "55", "495", "1"]  # Of 9 bits each.
    assert "waits for reduce_vector" in channels[1][6]
    assert [line[0] for line in files[1:]] == ["test_plots.py", "__init__.py"]
    assert files[1][2] == "what is looked at first"


def test_a_build_says_what_it_is_expected_to_take() -> None:
    results = built()
    compiled = compile_workload(bind_program("gcn", ["auto"]))
    area = estimate_area(compiled.design, compiled.arch)
    assert by_words(results)["LUTs"] == f"{area.use.luts:,.0f}"
    chart = results.charts[2]
    assert isinstance(chart, BarChart)
    assert sum(bar.values[0] for bar in chart.bars) == pytest.approx(area.use.luts, abs=1)
    assert {"reduce_vector", "memories"} <= {bar.name for bar in chart.bars}
    luts = [int(line[7].replace(",", "")) for line in results.tables[0].grid[1:]]
    assert luts == [round(region.use.luts) for region in area.regions]


def test_numbers_stand_to_the_right() -> None:
    assert ResultTable("", [["a", "b", "c"], ["1,234", "x", ""], ["", "2", ""]]).numeric == [
        True,
        False,
        False,
    ]


def test_axes_of_wide_numbers_are_logarithmic() -> None:
    assert [axis("", numbers).log for numbers in ([1, 20], [1, 21], [0, 99], [])] == [
        *(False, True, False, False)
    ]


def test_text_of_a_page_stays_text() -> None:
    results = Results("</script><b>", "", "", True, (), (), (ResultTable("<i>", [["a"], ["<u>"]]),))
    page = results_page(results, origin())
    assert not [tag for tag in ("</script><b>", "<i>", "<u>") if tag in page]


COMMANDS = {
    "compare": ("compare", "spmv", "--data", "karate"),
    "sweep": ("sweep", "spmv", "--data", "karate", "--depth", "2,8", "--jobs", "1", "-o", "OUT.csv"),
    "tune": ("tune", "spmv", "--data", "karate", "--budget", "2", "--jobs", "1", "-o", "OUT.toml"),
    "build": ("build", "spmv", "--data", "karate", "--target", "sim", "-o", "OUT"),
}


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_write_their_pages(name: str, tmp_path: Path) -> None:
    words = [word.replace("OUT", f"{tmp_path}/out") for word in COMMANDS[name]]
    said = good(*words, "--report", tmp_path / "new" / "page").stderr
    page = tmp_path / "new" / "page" / "index.html"
    assert f"wrote {page}" in said
    assert f"<code>samhw {' '.join(words)} --report {page.parent}</code>" in page.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.verilator
def test_a_correlation_has_files_beside_its_page(tmp_path: Path) -> None:
    good("correlate", "spmv", "--data", "karate", "--report", tmp_path / "page")
    names = {path.name for path in (tmp_path / "page").iterdir()}
    assert names == {"index.html", "correlation.json", "correlation.svg", "correlation.png"}


@pytest.mark.parametrize("name", [*COMMANDS, "correlate"])
def test_a_report_is_a_directory(name: str, tmp_path: Path) -> None:
    words = [word.replace("OUT", f"{tmp_path}/out") for word in COMMANDS.get(name, (name, "spmv"))]
    assert "a report is a directory" in refused(*words, "--report", "-")


def test_what_a_sweep_is_drawn_against_needs_a_picture(tmp_path: Path) -> None:
    words = ("sweep", "spmv", "-o", tmp_path / "s.csv", "--against", "price")
    assert "there is no such column" in refused(*words, "--report", tmp_path / "page")
    assert "add '--plot FILE' or '--report DIR'" in refused(*words)


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as found:
        yield found


@every_page
def test_a_browser_shows_it(driver: Any, name: str, tmp_path: Path) -> None:
    results = MAKERS[name]()
    script = opened(driver, write_page(tmp_path, text(name)))
    values = script("return [...document.querySelectorAll('.stat-value')].map(v => v.innerText)")
    assert values == [stat.value for stat in results.stats]
    assert script("return document.querySelectorAll('.chart').length") == len(results.charts)
    rows = script("return document.querySelectorAll('#rows tbody tr').length")
    assert rows == len(results.tables[0].grid) - 1
    points = sum(len(chart.points) for chart in results.charts if isinstance(chart, ScatterChart))
    assert script("return document.querySelectorAll('.mark').length") == points
    assert script("return document.documentElement.scrollWidth") <= 1280
    assert not errors(driver)


def test_marks_and_rows_answer(driver: Any, tmp_path: Path) -> None:
    script = opened(driver, write_page(tmp_path, text("tune")))
    assert script("return document.getElementById('hint').hidden")
    script("document.querySelectorAll('.mark')[0].focus()")
    hint = script("return document.getElementById('hint').innerText")
    assert "5,089" in hint
    assert 'fuse = [["T64"]]' in hint
    script("document.querySelectorAll('.mark')[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    assert script("return document.querySelectorAll('.mark.picked').length") == 2  # One in each chart.
    assert script("return document.querySelector('#rows tr.picked').dataset.row") == "0"
    script("document.querySelectorAll('#rows tbody tr')[2].click()")
    assert script("return document.querySelector('#rows tr.picked').dataset.row") == "2"
    script("document.querySelector('.legend button').click()")
    assert script("return document.querySelectorAll('.mark.hidden').length") == 1
    assert not errors(driver)


def test_tables_sort_and_filter(driver: Any, tmp_path: Path) -> None:
    script = opened(driver, write_page(tmp_path, text("sweep")))
    column = "[...document.querySelectorAll('#rows tbody tr')].map(r => r.children[5].innerText)"
    script("document.querySelectorAll('#rows thead button')[5].click()")
    assert script(f"return {column}") == [*("1", "100", "101", "102", "103", "500", "500", "900", "990"), ""]
    script("document.querySelectorAll('#rows thead button')[5].click()")
    assert script(f"return {column}")[1] == "990"
    script(
        "const f = document.getElementById('filter'); f.value = 'i=8'; f.dispatchEvent(new Event('input'))"
    )
    assert script("return document.getElementById('found').innerText") == "4 rows"
    assert (
        script("return [...document.querySelectorAll('#rows tbody tr')].filter(r => !r.hidden).length") == 4
    )
    assert not errors(driver)
