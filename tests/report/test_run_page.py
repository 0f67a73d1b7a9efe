"""The page of a run: it needs nothing but itself, says what the JSON says, and answers to clicks."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from samhw.app.checking import check
from samhw.app.report.grids import fit_words, shown_areas
from samhw.app.report.page import page, write_page
from samhw.app.report.run_page import run_page, run_view
from samhw.app.report.run_report import RunReport, run_report
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.cost import estimate_area
from samhw.targets.backends import MODEL, run
from tests.support.browser import browser, errors, first_paint, opened
from tests.support.command import good, refused, report

RUNS = {
    "spmm": ("spmm", Schedule()),
    "gcn": ("gcn", Schedule()),
    "gcn unfused": ("gcn", Schedule(fuse="none")),
    "gpt3_block": ("gpt3_block", Schedule()),
    "64 lanes": ("bigbird_attention", Schedule(lanes={"i": 64})),
}


@cache
def told(name: str) -> RunReport:
    """The report of a run, whose tokens are recorded where that is quick."""
    program, schedule = RUNS[name]
    workload = bind_program(program, ["auto"])
    compiled = compile_workload(workload, schedule)
    options = {"trace": True} if program in ("spmm", "gcn") else {}
    model = run(compiled, workload.tensors, MODEL, **options)
    found = check(workload, compiled, model.outputs)
    return run_report(workload, compiled, MODEL, [model], [found], asked=schedule, command="samhw run it")


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture
def written(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return write_page(tmp_path / "report", run_page(told(request.param)))


def view_of(found: RunReport) -> dict[str, Any]:
    """What the page's script is given."""
    return run_view(found, shown_areas(found.compiled))


every_run = pytest.mark.parametrize("name", RUNS)


@pytest.mark.nightly(but=2)
@every_run
def test_a_page_needs_nothing_else(name: str) -> None:
    text = run_page(told(name))
    assert set(re.findall(r"https?://[^\"' )]+", text)) == {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"\b(?:src|href)=\"([^\"]*)", text)) == {"data:,"}
    assert len(text) < 1_000_000


@pytest.mark.nightly(but=2)
@every_run
def test_a_page_has_what_the_json_has(name: str) -> None:
    found = told(name)
    data = json.loads(json.dumps(view_of(found)))
    said = json.loads(json.dumps(found.to_json(details=True)))
    assert data["run"] == json.loads(json.dumps(found.to_json()))
    assert len(data["regions"]) == len(said["regions"])
    for view, region in zip(data["regions"], said["regions"], strict=True):
        assert view["cycles"] == region["model_cycles"]
        assert [node["name"] for node in view["nodes"]] == [node["name"] for node in region["nodes"]]
        for node, other in zip(view["nodes"], region["nodes"], strict=True):
            assert node["firings"] == other["firings"]
            spent = other["spent"]
            summed = {cause: sum(spent[cause].values()) for cause in ("starved", "blocked")}
            assert node["spent"] == spent | summed
            assert sum(node["spent"].values()) == view["cycles"]
            assert sum(wait["cycles"] for wait in node["waits"]) == sum(summed.values())
        assert sum(channel["copies"] for channel in view["channels"]) == len(region["channels"])
        assert sum(row["bytes"] for row in view["traffic"]) == pytest.approx(region["bytes"])
        assert all(
            cell["nodes"] or not cell["text"] or "⟨" in cell["text"] or name == "64 lanes"
            for row in view["table"]["rows"]
            for cell in row["cells"]
        )


def test_channels_that_were_recorded_have_their_mean() -> None:
    (region,) = view_of(told("spmm"))["regions"]
    for channel in region["channels"]:
        assert len(channel["fill"]) > 100
        assert sum(channel["fill"]) / len(channel["fill"]) == pytest.approx(channel["mean"], abs=0.1)
        assert max(channel["fill"]) <= channel["depth"]
    for node in region["nodes"]:
        assert 0 <= max(node["activity"]) <= 1
        if node["kind"] != "root":
            mean = sum(node["activity"]) / len(node["activity"])
            assert mean == pytest.approx(node["busy"], abs=0.02) or mean < node["busy"]


@every_run
def test_nodes_have_the_area_of_their_copies(name: str) -> None:
    found = told(name)
    areas = {area.name: area for area in estimate_area(found.compiled.design, found.compiled.arch).regions}
    for region in view_of(found)["regions"]:
        luts = sum(node["luts"] for node in region["nodes"])
        assert luts == pytest.approx(areas[region["name"]].use.luts, abs=len(region["nodes"]))


def test_waits_are_told_in_words() -> None:
    (region,) = view_of(told("spmm"))["regions"]
    words = [wait["text"] for node in region["nodes"] for wait in node["waits"]]
    assert "waited 2,128 cycles for reduce_vector_t0.val" in words
    assert "waited 2,256 cycles for a slot of repeat_A_j.ref, which was full" in words


def test_regions_are_joined_by_what_passes() -> None:
    view = view_of(told("gcn"))
    assert view["passed"] == [{"from": 0, "to": 1, "tensors": ["H1"]}]
    assert view["opened"] == [0, 1]
    assert view_of(told("gpt3_block"))["opened"] == []


def test_text_in_a_page_stays_text() -> None:
    text = page("run.html.j2", **_values("</script><b>"))
    assert "</script><b>" not in text
    assert "\\u003c/script>" in text


def _values(evil: str) -> dict[str, Any]:
    found = told("spmm")
    view = {**view_of(found), "evil": evil}
    return {
        "title": evil,
        "report": found,
        "origin": found.origin,
        "view": view,
        "nodes": 14,
        "megahertz": 1.0,
        "microseconds": 1.0,
        "ports": [(evil, [["port", "lines"], [evil, "1"]])],
        "areas": [["FPGA"], [evil]],
        "caveat": evil,
        "luts": 1.0,
        "family": evil,
        "fits": evil,
        "shared": [evil],
        "fits_one": True,
        "fitting": 1,
        "beyond_clocks": evil,
        "data": json.dumps(view),
    }


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    said = good("run", "spmm", "--report", tmp_path / "new" / "report").stderr
    page = tmp_path / "new" / "report" / "index.html"
    assert f"wrote {page}" in said
    text = page.read_text("utf-8")
    assert f"samhw run spmm --report {tmp_path}" in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])  # type: ignore[index]
    assert data["regions"][0]["channels"][0]["fill"]
    told = report("run", "spmm", "--report", tmp_path / "other")
    assert told["cycles"] == data["run"]["cycles"]


def test_page_and_statistics_say_the_same_of_ports(tmp_path: Path) -> None:
    words = ("run", "spmm", "--data", "karate", "--memory", "constant:20")
    text = good(*words, "--stats", "--report", tmp_path).stdout
    shown = (tmp_path / "index.html").read_text("utf-8")
    json_ports = report(*words, "--stats")["regions"][0]["ports"]
    assert len(json_ports) == 8
    for name, port in json_ports.items():
        assert f"<td>{name}</td>" in shown
        line = next(line for line in text.splitlines() if f"│ {name} " in line)
        cells = [cell.strip().replace(",", "") for cell in line.split("│")]
        assert [int(cells[place]) for place in (3, 4, 5, 7)] == [
            port[key] for key in ("requests", "ahead", "vain", "waited")
        ]
    assert sum(port["waited"] for port in json_ports.values()) > 0
    assert "Ports off chip" in shown
    good("run", "spmm", "--report", tmp_path)
    assert "Ports off chip" not in (tmp_path / "index.html").read_text("utf-8")


def test_a_report_is_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "a report is a directory" in refused("run", "spmm", "--report", tmp_path / "file")
    assert "a report is a directory" in refused("run", "spmm", "--report", "-")


@pytest.mark.parametrize(("written", "name"), [(name, name) for name in RUNS], indirect=["written"])
def test_a_browser_shows_it(driver: Any, written: Path, name: str) -> None:
    found = told(name)
    script = opened(driver, written)
    assert script("return document.getElementById('cycles').innerText.split('\\n')[1]") == f"{found.cycles:,}"
    assert script("return document.querySelector('#limit p').innerText") == found.limit
    boxes = script("return document.querySelectorAll('.region').length")
    assert boxes == len(found.regions)
    rows = script("return document.querySelectorAll('#nodes tbody tr').length")
    assert rows == len(found.longest.nodes)
    assert script("return document.documentElement.scrollWidth") <= 1280
    assert not errors(driver)
    assert first_paint(driver, written) < 2000


@pytest.mark.parametrize(("written", "name"), [(name, name) for name in RUNS], indirect=["written"])
def test_clicks_light_up_what_they_should(driver: Any, written: Path, name: str) -> None:
    found = told(name).longest
    script = opened(driver, written)
    script("document.getElementById('to-limit').click()")
    node = found.bottleneck.node if not found.bottleneck.channel else found.bottleneck.channel
    heading = script("return document.querySelector('#detail h3').innerText")
    assert heading.split(" ×")[0].split(" and ")[0] in node
    assert script("return document.querySelectorAll('.node.hot').length") >= 1
    # A cell, and the nodes that it became.
    cells = script("return [...document.querySelectorAll('#table td.cell')].map((c, i) => [i, c.title])")
    place, title = max(cells, key=lambda cell: len(cell[1]))
    script(f"document.querySelectorAll('#table td.cell')[{place}].click()")
    lit = script("return [...document.querySelectorAll('.node.picked text')].map(t => t.textContent)")
    assert sorted(lit) == sorted(title.split(", "))
    assert script("return document.querySelectorAll('#table td.lit').length") == 1
    # A node, its row and its cells; a wait, and its channel.
    script("document.querySelector('.node.hot').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    assert script("return document.querySelectorAll('.node.picked').length") == 1
    assert script("return document.querySelectorAll('#nodes tr.picked').length") == 1
    script(
        "document.querySelector('.channel.hot, .channel')"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    assert script("return document.querySelectorAll('.channel.picked').length") == 1
    assert script("return document.querySelectorAll('.node.lit').length") == 2
    assert "so deep" in script("return document.querySelector('#detail').innerText")
    assert not errors(driver)


@pytest.mark.parametrize("written", ["gcn"], indirect=True)
def test_search_zoom_and_clock(driver: Any, written: Path) -> None:
    script = opened(driver, written)
    script(
        "const s = document.getElementById('search'); s.value = 'relu'; s.dispatchEvent(new Event('input'))"
    )
    assert script("return document.getElementById('found').textContent") == "1 of 1"
    assert script("return document.querySelector('#detail h3').innerText") == "relu"
    before = script("return document.getElementById('scene').getAttribute('transform')")
    script("document.getElementById('zoom-in').click()")
    assert script("return document.getElementById('scene').getAttribute('transform')") != before
    script("const c = document.getElementById('clock'); c.value = '50'; c.dispatchEvent(new Event('input'))")
    assert (
        script("return document.getElementById('microseconds').textContent")
        == f"{told('gcn').cycles / 50:,.2f}"
    )
    script("document.querySelector('.region-head').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    assert script("return document.querySelectorAll('.region.closed').length") == 1
    assert not errors(driver)


def test_ten_thousand_nodes_do_not_hang(driver: Any, tmp_path: Path) -> None:
    found = told("gpt3_block")
    view = view_of(found)
    view["regions"] = [dict(region, layer=n) for n in range(40) for region in view["regions"]]
    view["passed"], count = [], sum(len(region["nodes"]) for region in view["regions"])
    assert count > 10_000
    values = {**_values(""), "report": found, "view": view, "data": json.dumps(view)}
    written = write_page(tmp_path, page("run.html.j2", **values))
    assert first_paint(driver, written) < 4000
    script = opened(driver, written)
    taken = script(
        "const t = performance.now(); REGIONS.forEach((_, r) => opened.add(r)); drawGraph(); fit();"
        "return [performance.now() - t, document.querySelectorAll('.node').length]"
    )
    assert taken[1] == count
    assert taken[0] < 20_000
    assert not errors(driver)


def test_regions_side_by_side_are_shares_of_the_run(tmp_path: Path) -> None:
    """The bars of the timeline, the sentences and the table tell of the same cycles."""
    words = ("run", "gat", "--fuse", "none", "--parallel", "all", "--types", "X=bf16", "--stats")
    found = report(*words, "--report", tmp_path)
    apart = report("run", "gat", "--fuse", "none", "--types", "X=bf16")["cycles"]
    own = {region["name"]: region["cycles"] for region in found["regions"]}
    assert found["cycles"] < apart == sum(own.values()) + len(own) - 1
    for one in found["limits"]:
        share = (
            f"{own[one['region']]:,} of {found['cycles']:,} cycles ({one['cycles'] / found['cycles']:.1%})"
        )
        assert one["text"].startswith(f"{one['region']} takes {share}: ")
    text = (tmp_path / "index.html").read_text("utf-8")
    view = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])  # type: ignore[index]
    drawn = {region["name"]: region["start"] for region in view["regions"]}
    assert drawn["gat_1"] == drawn["gat_2"] == own["gat_0"] + 1
    assert max(drawn[name] + own[name] for name in own) == found["cycles"]
    assert "<dt>value type</dt><dd>f32, X bf16</dd>" in text


def test_a_page_says_what_is_shared(tmp_path: Path) -> None:
    for words, said in (
        (("spmm", "--lanes", "i=4", "--interleave", "X"), "banks that all readers share: X.vals in 2"),
        (
            ("gcn", "--fuse", "none", "--share-hardware", "all"),
            "one fabric: gcn_1, gcn_4; one fabric: gcn_2, gcn_6; nodes in common: 65 of 5 fabrics are 25",
        ),
    ):
        good("run", *words, "--report", tmp_path)
        assert f"<dt>shared</dt><dd>{said}" in (tmp_path / "index.html").read_text("utf-8")


def test_figures_in_thousands_are_whole() -> None:
    """Of the FPGA that lacks most."""
    assert re.search(r"iCE40UP5K \((\w+ )+\d+,\d{3} %\)", fit_words(shown_areas(told("64 lanes").compiled)))
