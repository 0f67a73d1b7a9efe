"""Every example of docs/programs.md and docs/models.md does what the page says."""

import doctest
import re
from pathlib import Path

import pytest

import samhw.lang
import samhw.lang.python_form
from samhw.errors import InputError
from samhw.lang import (
    Program,
    dumps,
    load_model,
    model_description,
    model_names,
    parse,
)
from samhw.lang.check import FUNCTIONS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "programs.md").read_text(encoding="utf-8")
MODELS_PAGE = (DOCS / "models.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(.*)\n((?:.*\n)*?)```$", PAGE, re.MULTILINE)
REFUSED = [(BLOCKS[n][1], BLOCKS[n + 1]) for n in range(len(BLOCKS)) if BLOCKS[n][0] == "ein refused"]


def _texts(language):
    return [text for info, text in BLOCKS if info == language]


def _run(text):
    names: dict[str, object] = {}
    exec(text, names)
    assert isinstance(names["program"], Program)
    return names["program"]


def test_the_page_has_examples():
    assert {info for info, _ in BLOCKS} == {"ein", "ein refused", "text", "python"}


@pytest.mark.parametrize("text", _texts("ein"))
def test_text(text):
    program = parse(text)
    assert parse(dumps(program)) == program


@pytest.mark.parametrize("text", _texts("python"))
def test_python(text):
    _run(text)


def test_the_first_two_are_the_same():
    assert parse(_texts("ein")[0]).bind({}) == _run(_texts("python")[0]).bind({})


@pytest.mark.parametrize(("text", "answer"), REFUSED)
def test_refused(text, answer):
    info, message = answer
    assert info == "text"
    with pytest.raises(InputError) as caught:
        parse(text)
    assert str(caught.value).splitlines()[0] == message.strip()


def test_the_list_of_functions():
    (table,) = re.findall(
        r"^\*\*Functions\*\*.*\n\n\| \| \|\n\|---\|---\|\n((?:\|.*\n)*)", PAGE, re.MULTILINE
    )
    assert set(re.findall(r"`(\w+)\(", table)) == set(FUNCTIONS)


def test_the_list_of_models():
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (.*) \|$", MODELS_PAGE, re.MULTILINE)
    assert rows == [
        (name, str(len(load_model(name).statements)), model_description(name)) for name in model_names()
    ]


@pytest.mark.parametrize("text", re.findall(r"^```python\n((?:.*\n)*?)```$", MODELS_PAGE, re.MULTILINE))
def test_the_python_of_the_models(text):
    exec(text, {})


@pytest.mark.parametrize("module", [samhw.lang, samhw.lang.python_form])
def test_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
