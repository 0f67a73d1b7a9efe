"""The site of the documents: `sphinx-build -W docs site`."""

import re
from importlib.metadata import version as installed
from os.path import relpath
from pathlib import Path

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, Text
from sphinx.application import Sphinx

project = "samhw"
version = release = installed("samhw")
project_copyright = "the samhw authors"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

html_theme = "furo"
html_title = "samhw"
html_copy_source = False
html_show_sphinx = False

# Links to headings, as code hosts make them.
myst_heading_anchors = 4

# Notebooks show what they have shown; `python docs/gallery.py` runs them.
nb_execution_mode = "off"

# Docstrings write names between single backquotes.
default_role = "code"

autodoc_class_signature = "separated"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

# A block without a language is what something prints.
highlight_language = "none"

html_static_path = ["site.css"]
html_css_files = ["site.css"]

DOCS = Path(__file__).parent
FROM_OUTSIDE = {
    "index": "../README.md",
    "contributing": "../CONTRIBUTING.md",
    "changelog": "../CHANGELOG.md",
    "tests": "../tests/README.md",
}
"""The pages that begin with a file of the repository outside of the documents."""
LINK = re.compile(r"(?<=\]\()(?!https?:|#)[^)#\s]+")
PICTURE = re.compile(r'<img src="([^"]+)" alt="([^"]*)" height="(\d+)">')
TERM = re.compile(r"^\*\*([^*\n]+)\*\*(, \*\*([^*\n]+)\*\*)*: ", re.MULTILINE)
NAMED = re.compile(r"(?<![*\w])\*([a-z][a-z -]*)\*(?![*\w])")


def anchor(term: str) -> str:
    """The target of a term of the glossary, of which capitals make another one."""
    return ("term-" if term == term.lower() else "term-capital-") + re.sub(r"[^a-z0-9]+", "-", term.lower())


def terms() -> set[str]:
    """The terms of the glossary."""
    text = (DOCS / "glossary.md").read_text("utf-8")
    return {term for entry in TERM.finditer(text) for term in re.findall(r"\*\*([^*]+)\*\*", entry[0])}


def with_terms(page: str, text: str) -> str:
    """A page in which emphasised terms lead to the glossary, whose entries have targets."""
    known = terms()

    def named(found: re.Match[str]) -> str:
        return f"[*{found[1]}*](#{anchor(found[1])})" if found[1] in known else found[0]

    text = NAMED.sub(named, text)
    if page != "glossary":
        return text

    def target(found: re.Match[str]) -> str:
        return "".join(f"({anchor(term)})=\n" for term in re.findall(r"\*\*([^*]+)\*\*", found[0])) + found[0]

    return TERM.sub(target, text)


class ProgramLexer(RegexLexer):
    """Colours for the program language (docs/programs.md)."""

    name = "samhw program"
    aliases = ("ein",)
    tokens = {  # noqa: RUF012, Pygments' own form
        "root": [
            (r"#.*$", Comment.Single),
            (words(("tensor", "fuse", "where", "order", "value"), suffix=r"\b"), Keyword),
            (r"\b[a-z]\w*(?=\()", Name.Function),
            (r"\d+(\.\d+)?([eE][+-]?\d+)?", Number),
            (r"[A-Za-z_]\w*", Name),
            (r"[-+*/=:@<>]", Operator),
            (r"[\[\](){},.]", Punctuation),
            (r"\s+", Text),
        ]
    }


def _picture(path: str, found: re.Match[str]) -> str:
    return f"```{{image}} {path}\n:alt: {found[2]}\n:height: {found[3]}px\n```"


def bring_in(app: Sphinx, page: str, source: list[str]) -> None:
    """Puts files from outside before their pages, and lets links to them lead there."""
    text = source[0]
    if page in FROM_OUTSIDE:
        file = DOCS / FROM_OUTSIDE[page]
        own = LINK.sub(lambda link: relpath(file.parent / link[0], DOCS), file.read_text("utf-8"))
        # A picture of HTML stays out of the site, one of Markdown goes with it.
        own = PICTURE.sub(lambda found: _picture(relpath(file.parent / found[1], DOCS), found), own)
        text = own + text
    pages = {file: f"{name}.md" for name, file in FROM_OUTSIDE.items()}
    text = LINK.sub(lambda link: pages.get(link[0], link[0]), text)
    source[0] = text if text.startswith("{") else with_terms(page, text)  # A notebook is JSON.


def setup(app: Sphinx) -> None:
    app.add_lexer("ein", ProgramLexer)
    app.connect("source-read", bring_in)
