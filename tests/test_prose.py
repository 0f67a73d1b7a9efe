"""Prose is idiomatic English: in the documents, and in docstrings, comments and messages of Python code.

codespell (`.ci/run`) finds misspelt words. It knows no phrases, so those that are not English are here.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_documents import PAGES, ROOT, prose

INSTEAD = {
    # What lags is behind, or far behind.
    r"behind(?<!\b(?:is|be) behind)(?<!\b(?:are|far) behind)(?<!left behind)(?<!furthest behind)": "after",
    r"in place of": "instead of",
    r"in front of": "before",
    r"for who": "for those who",
    r"so many(?! \w+ that)": "this many, that many, a number of",
    r"which so": "which therefore",
    r"which none of (them|these)": "none of which",
    r"as(?<!\bsoon as) ([\w.']+ ){1,3}has it": "as in ..., as ... says",
    r"as ever": "as always",
    r"how (it|they|this|these|an? \w+|the \w+) (is|are) called": "what ... is called",
    r"beside [^.;:]*\b(stands?|lies?|goes|comes?) (a|an|the)": "the subject first: ... stands beside ...",
    r"comes? to (stand|lie)": "stands, lies",
    r"lets? (itself|themselves)": "can be",
    r"to be had": "available",
    r"what concerns": "as for",
    r"what for an?": "what kind of",
    r"at hand of": "by means of",
    r"allows? to": "lets you, makes it possible to",
    r"permits? to": "lets you, makes it possible to",
    r"enables? to": "lets you, makes it possible to",
    r"one has to": "you have to",
    r"rather as": "rather than",
    r"same like": "same as",
    r"not any more": "no longer",
    r"until now": "so far",
    r"up to now": "so far",
    r"can not": "cannot",
    r"independent from": "independent of",
    r"depending from": "depending on",
    r"consists? in": "consists of",
    r"there(by|of)": "by this, of that",
    r"where(by|of)": "by which, of which",
}
"""What is not English, or not idiomatic, in lower case, by whole words; and what to write instead.

Patterns begin with a word, which makes them quick."""

PHRASES = [(re.compile(phrase + r"\b"), instead) for phrase, instead in INSTEAD.items()]

CODE = [
    path
    for folder in ("samhw", "boards", "benchmarks", "docs", "examples", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path != Path(__file__)
]


def faults(text: str) -> list[str]:
    """What is wrong in a text, with what to write instead. Code in backticks does not count."""
    plain = " ".join(re.sub(r"`[^`]*`", "`", text).lower().split())
    found = ["'..': write '...' or 'and so on'"] * len(re.findall(r", \.\.(?!\.)", plain))
    for phrase, instead in PHRASES:
        for match in phrase.finditer(plain):
            if not plain[: match.start()][-1:].isalnum():
                found.append(f"{match[0]!r}: write {instead!r}")
    return found


def said(code: str, *, messages: bool) -> Iterator[str]:
    """Docstrings and blocks of comments; with `messages` all other strings too, but for single words."""
    for node in ast.walk(ast.parse(code)):
        text = node if messages else node.value if isinstance(node, ast.Expr) else None
        if isinstance(text, ast.Constant) and isinstance(text.value, str) and " " in text.value:
            yield text.value
    comments = ""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            comments += token.string.lstrip("#") + "\n"
        elif token.type != tokenize.NL and comments:
            yield comments
            comments = ""


def faults_of_code(path: Path) -> list[str]:
    """Strings of tests may be code, or what a user types: of them, only docstrings and comments count."""
    code = path.read_text(encoding="utf-8")
    if not faults(re.sub(r"\n\s*#|`", "\n", code)):
        return []  # The whole file is quickly looked through.
    messages = not path.is_relative_to(ROOT / "tests")
    return [fault for text in said(code, messages=messages) for fault in faults(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    # Those of the primitives are rules, which have names of states in them.
    has_words = page.name != "primitives.md"
    rows = [line for line in text.splitlines() if has_words and line.startswith("|")]
    assert not faults("\n".join([*(line for _, line in prose(page)), *rows]))


def test_python_code() -> None:
    found = {path.relative_to(ROOT).as_posix(): faults_of_code(path) for path in CODE}
    assert not {path: wrong for path, wrong in found.items() if wrong}


@pytest.mark.parametrize(
    "text",
    ["one behind\nthe other", "In place of a word", "1, 2, ..", "as the table has it", "so many tokens"],
)
def test_what_is_found(text: str) -> None:
    assert faults(text)


@pytest.mark.parametrize(
    "text",
    [
        "a node that is behind",
        "`behind`",
        "in place",
        "1, 2, ...",
        "who has it",
        "so many nodes that it is slow",
    ],
)
def test_what_is_not(text: str) -> None:
    assert not faults(text)


@pytest.mark.parametrize(
    ("messages", "texts"),
    [(False, ["One thing.", " three\n four\n"]), (True, ["One thing.", "two of ", " three\n four\n"])],
)
def test_what_code_says(messages: bool, texts: list[str]) -> None:
    code = '"""One thing."""\n# three\n# four\nx = f"two of {y}"\nz = "five"\n'
    assert list(said(code, messages=messages)) == texts
