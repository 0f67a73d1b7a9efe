"""The page that correlate writes."""

import re
from pathlib import Path
from typing import Any

from samhw.app.checking import Verdict
from samhw.app.checking.model_and_rtl import Correlation, Row
from samhw.app.report.comparison_page import correlation_results
from samhw.app.report.page import results_page, write_page
from samhw.app.report.plots import correlation_files
from samhw.app.report.run_report import origin


def test_the_page_says_where_the_check_proves_nothing(tmp_path: Path) -> None:
    rows = (
        Row("a", "karate", 10, 10, Verdict.PLAUSIBLE, unproved=1200),
        Row("b", "karate", 10, 11, Verdict.WRONG, unproved=3),
        Row("c", "karate", 10, 10, Verdict.RIGHT),
        Row("d", "karate", 10, 10, Verdict.UNPROVED, unproved=4),
    )
    report = Correlation(rows).to_json()
    text = results_page(correlation_results(report), origin())
    page = write_page(tmp_path / "new", text, correlation_files(report)).read_text("utf-8")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        *("correlation.json", "correlation.png", "correlation.svg", "index.html")
    }
    words = ["plausible, 1,200 unproved", "WRONG", "right", "unproved"]
    assert re.findall(r"<td>([^<]*)</td></tr>", page) == words
    assert page.count('class="bad"') == 1
    kernels: Any = report["kernels"]
    found = [(kernel["status"], kernel["checked"]) for kernel in kernels]
    assert found == [("plausible", True), ("wrong", False), ("right", True), ("unproved", False)]
