"""The documents: prose of one width, links that lead somewhere, and a site without a warning."""

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs import rules

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
WIDTH = 110
WORDS = 60_000
"""That all documents together have at most, as `wc -w` counts them."""


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """The lines that are neither code nor a row of a table, with their numbers."""
    code = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and not line.lstrip().startswith("|"):
            yield number, line


def anchors(page: Path) -> set[str]:
    """What links to the headings of a page are called."""
    titles = [line.lstrip("#").strip() for _, line in prose(page) if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_documents_stay_short() -> None:
    """With tests/README.md, which is a page of the site."""
    pages = [*PAGES, ROOT / "tests" / "README.md"]
    counts = {str(page.relative_to(ROOT)): len(page.read_text("utf-8").split()) for page in pages}
    assert sum(counts.values()) <= WORDS, sorted(counts.items(), key=lambda item: -item[1])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_prose_is_wrapped(page: Path) -> None:
    assert not [number for number, line in prose(page) if len(line) > WIDTH]


def test_the_page_of_primitives_is_made_of_their_rules() -> None:
    assert rules.PAGE.read_text("utf-8") == rules.made(), "run python -m docs.rules"
    assert sorted(rules.FOLDERS) == sorted(
        path.parent.name for path in (ROOT / "samhw/primitives").glob("*/rule.md")
    )


RECURRENCE = """
t(n) = max( t(n-1) + 1,
            p(k) + L        for every input that it needs, whose head is token k,
            q(m - D) + 1    for every channel to which it pushes token m )
"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_formulas_are_fenced(page: Path) -> None:
    """An editor that re-wraps prose takes a block that is only indented for a paragraph, and merges its
    lines."""
    blank = True
    for number, line in prose(page):
        assert not (blank and line.startswith("    ")), f"line {number}: put ``` around {line.strip()!r}"
        blank = not line.strip()


def test_the_recurrence_has_a_line_for_each_term() -> None:
    """All of samhw's cycles follow from it."""
    text = (ROOT / "docs" / "timing.md").read_text(encoding="utf-8")
    assert f"```{RECURRENCE}```" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_readme_has_links_that_work_elsewhere() -> None:
    """On the page of the package, where a relative link leads nowhere."""
    description = runpy.run_path(str(ROOT / "setup.py"))["description"]
    readme = (ROOT / "README.md").read_text("utf-8")
    relative = re.compile(r"\]\((?!https?:|#)|src=\"(?!https?:)")
    assert len(relative.findall(readme)) > 20
    assert readme.count("<img ") + readme.count("![") == 3
    there = description(readme, "https://host/samhw")
    assert not relative.search(there)
    assert 'src="https://host/samhw/raw/main/docs/spmm.svg" alt=' in there
    assert "](https://host/samhw/raw/main/docs/report.png)" in there
    for path in re.findall(r"https://host/samhw/(?:blob|raw)/main/([^)#\"]+)", there):
        assert (ROOT / path).exists()
    nowhere = description(readme, None)
    assert not relative.search(nowhere)
    assert "docs/tutorial.md is an hour" in nowhere


def test_the_tests_installation_is_that_of_ci_and_brings_pytorch() -> None:
    """Without it, the importer's tests would be skipped."""
    command = "pip install -e '.[rtl,hls,fpga,torch,test,dev]'"
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        assert command in path.read_text(encoding="utf-8")
    assert "-e '.[rtl,hls,fpga,torch,test,dev]'" in (ROOT / ".ci" / "environment").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    """Those of the repository, from its root."""
    if page.name == "CHANGELOG.md":
        return
    named = re.findall(
        r"`((?:samhw|tests|docs|benchmarks|boards|examples)/[\w./-]+)`", page.read_text("utf-8")
    )
    assert not [name for name in named if not (ROOT / name).exists()]


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Every page is in a list of contents, every link and every name of the interface is found."""
    pytest.importorskip("sphinx")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(ROOT / "docs"), str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    assert "samhw.compile" in (tmp_path / "api.html").read_text("utf-8")
