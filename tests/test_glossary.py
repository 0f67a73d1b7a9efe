"""The glossary: alphabetical, and with an entry for each word that has to be looked up."""

import re
from pathlib import Path

from samhw.app.checking.check_run import Verdict
from samhw.graph.token import Kind

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GLOSSARY = (DOCS / "glossary.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^\*\*(.+?)\*\*: ((?:.+\n)+)", GLOSSARY, re.MULTILINE)
TERMS = {name.casefold() for names, _ in ENTRIES for name in names.split(", ")}

DEFINING = ["timing.md", "sweep.md"]
"""Pages in which words in italics are terms. Elsewhere some are titles, stress, or actors."""


def lacking(words: set[str]) -> set[str]:
    """The words, in the singular or in the plural, without an entry."""
    endings = ("", "s", "es")
    return {word for word in words if not {word.casefold().removesuffix(end) for end in endings} & TERMS}


def italics(text: str) -> set[str]:
    """The words in italics; no sentences."""
    return set(re.findall(r"(?<![\w*])\*(\w[\w -]*)\*(?!\*)", text))


def test_it_is_alphabetical() -> None:
    names = [names.casefold() for names, _ in ENTRIES]
    assert len(names) == GLOSSARY.count("\n**") > 80
    assert names == sorted(names)


def test_each_entry_links_to_a_page() -> None:
    assert not [names for names, text in ENTRIES if not re.search(r"\[[\w.]+\]\([^)]+\)\n$", text)]


def test_words_in_italics_have_entries() -> None:
    assert not lacking(italics(GLOSSARY))
    for page in DEFINING:
        words = italics((DOCS / page).read_text(encoding="utf-8"))
        assert words
        assert not lacking(words), page


def test_cells_of_fusion_tables_have_entries() -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *DOCS.glob("*.md")))
    tables = [table for table in re.findall(r"┏.*?┘", pages, re.DOTALL) if "│ val │" in table]
    cells = set(re.findall(r"\b([A-Z][a-zA-Z]+\d?)(?=\(|_\w+(?:\[|:| ))", "\n".join(tables)))
    assert {"LS", "LW", "Red1", "Union"} <= cells
    assert not lacking(cells)


def test_words_that_samhw_prints_have_entries() -> None:
    assert not lacking({*Verdict, "buffer", "store", "recompute"})
    assert not lacking({kind.name for kind in Kind})
