"""The page that correlate writes."""

import re
from pathlib import Path

from samhw.report import write_report
from samhw.targets.correlate import Correlation, Row


def test_the_page_says_where_the_check_proves_nothing(tmp_path: Path) -> None:
    rows = (
        Row("a", "karate", 10, 10, checked=True, unproved=1200),
        Row("b", "karate", 10, 11, checked=False, unproved=3),
        Row("c", "karate", 10, 10, checked=True),
    )
    page = write_report(Correlation(rows).to_json(), tmp_path).read_text()
    assert re.findall(r"<td>([^<]*)</td></tr>", page) == ["right, 1,200 unproved", "wrong", "right"]
