"""The page that correlate writes."""

import re
from pathlib import Path
from typing import Any

from samhw.checking import Verdict
from samhw.checking.correlate import Correlation, Row
from samhw.report.correlation import write_report


def test_the_page_says_where_the_check_proves_nothing(tmp_path: Path) -> None:
    rows = (
        Row("a", "karate", 10, 10, Verdict.PLAUSIBLE, unproved=1200),
        Row("b", "karate", 10, 11, Verdict.WRONG, unproved=3),
        Row("c", "karate", 10, 10, Verdict.RIGHT),
        Row("d", "karate", 10, 10, Verdict.UNPROVED, unproved=4),
    )
    report = Correlation(rows).to_json()
    page = write_report(report, tmp_path).read_text()
    words = ["plausible, 1,200 unproved", "wrong", "right", "unproved"]
    assert re.findall(r"<td>([^<]*)</td></tr>", page) == words
    assert page.count('class="bad"') == 1
    kernels: Any = report["kernels"]
    found = [(kernel["result"], kernel["checked"]) for kernel in kernels]
    assert found == [("plausible", True), ("wrong", False), ("right", True), ("unproved", False)]
