"""Plots, by the texts of their SVG."""

import re
from html import unescape
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Annotation, Text

from samhw.app.checking import Outcome, Verdict
from samhw.app.checking.measure import Measure, pareto_front
from samhw.app.report.comparison import Comparison
from samhw.app.report.comparison_plot import plot_comparison
from samhw.app.report.plots import (
    PLOTS,
    new_figure,
    plot_accuracy,
    plot_correlation,
    plot_tuned,
    style,
    to_file,
)
from samhw.app.report.sweep_plot import plot_sweep
from samhw.app.report.sweep_view import check_plot
from samhw.app.sweep.tuning import Trial, Tuned
from samhw.choices.schedule import Schedule
from samhw.compiler.search.explore import Explored
from samhw.errors import InputError
from tests.support.command import good, samhw

AXES = ("program", "data", "value", "fuse", "depth", "lanes")


def texts(plot: Any) -> list[str]:
    """What a plot says."""
    svg = to_file(plot, "svg").decode()
    return [
        unescape(text).replace("\N{NO-BREAK SPACE}", " ")
        for text in re.findall(r"<text[^>]*>(.*?)</text>", svg)
    ]


def measure(cycles: int, result: str = "right") -> Measure:
    return Measure(
        regions=1,
        cycles=cycles,
        firings=50,
        operations=20,
        bytes_read=400.0,
        bytes_written=100.0,
        bytes_moved=None,
        seconds=0.1,
        status=result,
        checked=True,
        max_abs_error=0.0,
        unproved=0,
        starved=0,
        blocked=0,
        spaced=0,
        fetching=0,
        energy_pj=0.0,
        luts=3386,
        bottleneck="",
    )


def row(cycles: int, read: int = 400, status: str = "right", **axes: Any) -> dict[str, Any]:
    named = {"program": "p", "data": "d", "value": "f32", "fuse": "none", "depth": None, "lanes": "1", **axes}
    figures = {"cycles": cycles, "bytes_read": read, "bytes_written": 100, "operations": 7, "firings": 9}
    return {**named, "status": status, **(figures if status in ("right", "wrong") else {})}


def comparison(**fields: Any) -> Comparison:
    outcomes = (
        Outcome(Schedule(fuse="none"), measure(9947)),
        Outcome(Schedule(fuse="partial"), measure(6500, str(Verdict.WRONG))),
        Outcome(Schedule(fuse="full"), None, "streams cannot follow"),
    )
    return Comparison("gcn", "karate", "f32", outcomes, **fields)


def test_bars_of_a_comparison() -> None:
    said = texts(lambda: plot_comparison(comparison()))
    assert "9,947 (1.00×)" in said
    assert "6,500 (1.53×), WRONG" in said
    assert "refused" in said
    assert {"gcn on karate, f32", "every schedule: factored", "none", "full"} <= {*said}
    assert "bytes between memories and graph" in said


def test_bars_with_a_clock() -> None:
    said = texts(lambda: plot_comparison(comparison(period=10.0)))
    assert "9,947 (1.00×), 99.470 µs" in said
    assert "gcn on karate, f32, at 100 MHz" in said


def test_a_comparison_in_which_all_is_refused() -> None:
    outcomes = (Outcome(Schedule(), None, "no"),)
    assert "refused" in texts(lambda: plot_comparison(Comparison("p", "d", "f32", outcomes)))


def test_a_comparison_in_a_notebook() -> None:
    page = comparison()._repr_html_()
    assert "<td>9,947</td>" in page
    assert "refused 1: streams cannot follow" in page
    assert repr(comparison()) == "<Comparison of gcn on karate, f32: 3 designs>"


def test_the_front_of_a_sweep() -> None:
    rows = [
        row(900, 100, fuse="full"),
        row(500, 800, lanes="i=2"),
        row(500, 800, lanes="i=2", depth=2),
        row(990, 700, lanes="i=4"),
        row(1, 1, "wrong"),
        row(1, status="failed"),
    ]
    said = texts(lambda: plot_sweep(rows, AXES))
    assert "p on d" in said
    assert "4 configurations (1 wrong, 1 failed left out); those that are alike stand side by side" in said
    assert "1  900 cycles: fuse full, depth auto, lanes 1" in said
    assert "2  500 cycles: fuse none, depth auto, lanes i=2 (and 1 alike)" in said
    assert not [text for text in said if text.startswith("3  ")]
    assert {"fuse", "  full", "  none", "depth", "  auto", "  2"} <= {*said}


def test_where_bytes_are_alike_the_first_axis_that_varies_is_drawn() -> None:
    said = texts(lambda: plot_sweep([row(900, depth=None), row(500, depth=2)], AXES))
    assert {"depth", "auto", "2"} <= {*said}
    assert not [text for text in said if "Pareto" in text]


def test_a_sweep_without_results() -> None:
    said = texts(lambda: plot_sweep([row(1, status="failed")], AXES))
    assert said == ["0 configurations (1 failed left out); those that are alike stand side by side"]


def test_the_parity_line() -> None:
    rows = [{"name": f"k{n}", "model_cycles": 10**n, "rtl_cycles": 10**n + (n == 3)} for n in range(5)]
    said = texts(lambda: plot_correlation(rows, 0.5))
    assert {"4 of 5 cycle counts equal, R² = 0.5", "k0", "k4", "equal", "simulator, cycles"} <= {*said}


def test_the_plot_of_nothing() -> None:
    assert "0 of 0 cycle counts equal, R² = 1" in texts(lambda: plot_correlation([], 1.0))


@pytest.mark.parametrize("form", PLOTS)
def test_the_same_plot_is_the_same_file(form: str) -> None:
    first, again = (to_file(lambda: plot_comparison(comparison()), form) for _ in range(2))
    assert first == again


def test_a_dollar_is_a_dollar() -> None:
    def drawn() -> Any:
        figure = new_figure(2, 2)
        figure.suptitle("$x^$.mtx")
        return figure

    assert "$x^$.mtx" in texts(drawn)


def test_groups_look_different() -> None:
    looks = {tuple(style(number).values()) for number in range(77)}
    assert len(looks) == 77


def test_what_cannot_be_drawn_is_refused() -> None:
    check_plot(60, AXES, "depth")
    with pytest.raises(InputError, match=r"there is no such column; name bytes, .*lanes"):
        check_plot(1, AXES, "price")
    with pytest.raises(InputError, match="61 are too many"):
        check_plot(61, AXES, None)


points = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=12)


@given(points)
def test_the_front_is_what_nothing_beats(found: list[tuple[float, float]]) -> None:
    def beaten(a: tuple[float, float]) -> bool:
        return any(b != a and b[0] <= a[0] and b[1] <= a[1] for b in found)

    assert pareto_front(found, lambda point: point) == sorted({point for point in found if not beaten(point)})


def test_a_plot_for_a_paper(tmp_path: Path) -> None:
    """As wide as it is to be, with fonts that LaTeX takes."""
    words = ("compare", "spmm", "--data", "karate", "--lanes", "1,i=2", "--plot")
    for width, points in (("3.3in", 237.6), ("6.5in", 468), ("8.4cm", 238.1)):
        path = tmp_path / f"{width}.pdf"
        good(*words, path, "--width", width)
        text = path.read_bytes()
        assert b"/Type3" not in text
        box = re.search(rb"/MediaBox \[\s*0 0 ([0-9.]+)", text)
        assert box is not None
        assert float(box[1]) == pytest.approx(points, abs=0.1)
    for width in ("3", "0.1in", "wide", "99cm3"):
        result = samhw(*words, tmp_path / "no.pdf", "--width", width)
        assert result.exit_code == 2
        assert "give 1 to 40 inches" in result.stderr


def test_the_front_of_a_search_is_a_staircase() -> None:
    trials = tuple(
        Trial(Explored(Schedule(attempts=n + 1), 0.0, luts, 1), cycles, Verdict.RIGHT)
        for n, (cycles, luts) in enumerate([(50, 900.0), (90, 100.0), (60, 400.0), (95, 500.0)])
    )
    figure = plot_tuned(Tuned("data", trials, 4, "cycles"))
    lines: list[Any] = [line for line in figure.axes[0].lines if line.get_label() == "Pareto front"]
    (front,) = lines
    assert front.get_drawstyle() == "steps-post"
    assert [tuple(point) for point in front.get_xydata()] == [(100, 90), (400, 60), (900, 50)]


def test_the_front_of_a_search_for_little_energy_is_one_of_energy() -> None:
    trials = tuple(
        Trial(Explored(Schedule(attempts=n + 1), 0.0, 7.0, 1), cycles, Verdict.RIGHT, energy=energy)
        for n, (cycles, energy) in enumerate([(50, 900.0), (90, 100.0), (95, 500.0)])
    )
    plot = plot_tuned(Tuned("data", trials, 4, "edp")).axes[0]
    lines: list[Any] = [line for line in plot.lines if line.get_label() == "Pareto front"]
    assert [tuple(point) for point in lines[0].get_xydata()] == [(100, 90), (900, 50)]
    assert plot.get_xlabel() == "picojoules of an ASIC, by estimate"


def drawn(plot: Any, width: float | None) -> tuple[Any, list[Any]]:
    """The figure that goes to a file, and where its texts and legends lie."""
    made: list[Any] = []

    def kept() -> Any:
        made.append(plot())
        return made[-1]

    to_file(kept, "png", width)
    figure = made[-1]
    figure.draw_without_rendering()
    beyond = [  # Matplotlib keeps numbers that it does not draw.
        tick.label1
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    ]
    found = [text for text in figure.findobj(Text) if text.get_text() and text not in beyond]
    return figure, [text for text in found if text.get_visible() and text.get_window_extent().width]


CLOCKED = comparison(period=10.0)
KERNELS = [{"name": f"k{n}", "model_cycles": 10**n, "rtl_cycles": 10**n} for n in range(0, 6, 2)]
ROWS = [row(900, 100, fuse="full", program=p) for p in "pq"] + [
    row(500, 800, lanes="i=2", program=p) for p in "pq"
]
ERRORS = [(value, "Y", 0.1) for value in ("f32", "bf16", "fixed<16,4>", "fixed<32,8>", "e4m3")]


@pytest.mark.parametrize("width", [3.3, None])
@pytest.mark.parametrize(
    "plot",
    [
        lambda: plot_comparison(comparison()),
        lambda: plot_comparison(CLOCKED),
        lambda: plot_correlation(KERNELS, 1.0),
        lambda: plot_sweep(ROWS, AXES),
        lambda: plot_accuracy("mlp on 4 inputs, beside float64, at 100 MHz", ERRORS),
    ],
    ids=["comparison", "clocked", "correlation", "sweep", "accuracy"],
)
def test_no_text_is_cut_or_meets_another(plot: Any, width: float | None) -> None:
    figure, texts = drawn(plot, width)
    # Titles, labels, numbers and legends; what stands beside a point may be near others.
    apart = [text for text in texts if not isinstance(text, Annotation)]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    assert not [text for text, box in boxes if box.x0 < 0 or box.x1 > figure.bbox.x1 + 0.5]
    assert not [text for text, box in boxes if box.y0 < 0 or box.y1 > figure.bbox.y1 + 0.5]
    places = [(text.get_text(), text.get_window_extent()) for text in apart]
    assert not [(a, b) for (a, one), (b, other) in combinations(places, 2) if meet(one, other)]


def meet(one: Any, other: Any) -> bool:
    return min(one.x1, other.x1) > max(one.x0, other.x0) and min(one.y1, other.y1) > max(one.y0, other.y0)


def test_all_letters_of_a_narrow_plot_are_small() -> None:
    narrow, wide = (
        {text.get_fontsize() for text in drawn(lambda: plot_comparison(CLOCKED), width)[1]}
        for width in (3.3, None)
    )
    assert sorted(narrow) == pytest.approx([0.6 * size for size in sorted(wide)])


def test_names_of_schedules_have_what_differs() -> None:
    base: dict[str, Any] = {"formats": {"A": "csr", "X": "dense"}, "lanes": {"i": 2}}
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"formats": {"A": "csr"}},
        {"formats": {"A": "csr", "X": "dcsr"}, "permute": True, "split": {"A": "rows(4)"}},
    )
    outcomes = tuple(Outcome(Schedule(**base | own), measure(9 + n)) for n, own in enumerate(changes))
    found = Comparison("p", "d", "f32", outcomes)
    assert found.common == "partial, factored, A csr, lanes i=2"
    assert [row.name for row in found.rows] == [
        "X dense, no split, no permute",
        "no other formats, no split, no permute",
        "X dcsr, A as rows(4), with copies",
    ]
    alone = Comparison("p", "d", "f32", outcomes[:1])
    assert (alone.common, alone.rows[0].name) == ("", "partial, factored, A csr, X dense, lanes i=2")
