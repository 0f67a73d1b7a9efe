"""A message calls options what its reader calls them: on the command line, or in Python."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import samhw
import samhw.torch
from samhw.app.cli import COMMANDS as ALL_COMMANDS
from samhw.app.cli import main
from samhw.choices.schedule import CHOICES
from samhw.errors import InputError
from samhw.faces import ARGUMENTS, COMMANDS, FIELDS, OTHERS, in_python, on_command_line

ROOT = Path(samhw.__file__).parent
WHOLE_COMMAND = re.compile(r"samhw [^')\]]*")


def options() -> dict[str, list[str]]:
    """By option, the commands that have it."""
    found: dict[str, list[str]] = {}
    for name in ALL_COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        for param in command.params:
            for option in (*param.opts, *param.secondary_opts):
                found.setdefault(option, []).append(name)
    return {option: names for option, names in found.items() if option.startswith("--")}


OPTIONS = options()


def messages() -> Iterator[tuple[str, str]]:
    """Texts of more than a word outside of the commands, where an option stands in one; an `x` where a value
    comes in."""
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT)
        if place.is_relative_to("app/cli") or place.name == "faces.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        parts = {
            id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values
        }
        for node in ast.walk(tree):
            text = ""
            if isinstance(node, ast.JoinedStr):
                text = "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = "" if id(node) in docs | parts else node.value
            if (
                isinstance(node, ast.expr)
                and " " in text
                and any(found in OPTIONS for found in re.findall(r"--[a-z-]+", text))
            ):
                yield f"{place}:{node.lineno}", text


def test_no_message_names_an_option_without_what_it_is_in_python() -> None:
    """What is left of options in Python's words belongs to a whole command."""
    wrong = {}
    for place, text in messages():
        said = WHOLE_COMMAND.sub("", in_python(text))
        if any(option in OPTIONS for option in re.findall(r"--[a-z-]+", said)):
            wrong[place] = in_python(text)
    assert not wrong


def test_messages_do_not_say_twice_what_an_option_is_in_python() -> None:
    assert not {place for place, text in messages() if re.search(r"in Python|=\{", text)}


def test_every_argument_is_one_in_python() -> None:
    functions = (
        samhw.compile,
        samhw.torch.compile,
        samhw.RunnableDesign.run,
        samhw.RunnableDesign.tune,
        samhw.RunnableDesign.tune_types,
    )
    known = {name for function in functions for name in inspect.signature(function).parameters}
    assert {name for name, _ in ARGUMENTS.values()} <= known
    assert set(FIELDS) == {one.name for one in CHOICES} - {name for name, _ in ARGUMENTS.values()}
    assert ARGUMENTS.keys() | OTHERS.keys() <= OPTIONS.keys()


def test_every_option_of_a_command_is_one_of_it() -> None:
    assert not {option: name for option, name in COMMANDS.items() if name not in OPTIONS[option]}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("choose f32 (--value f32).", "choose f32 (value='f32')."),
        ("give it smaller tensors (--data, --capacity).", "give it smaller tensors (data=.., entries=..)."),
        ("as in '--extents i=N,k=64'.", "as in extents={'i': N, 'k': 64}."),
        ("permit copies (--permute)", "permit copies (permute=True)"),
        ("give it some (--lanes i=4)", "give it some (schedule={'lanes': 'i=4'})"),
        ("--data random:q=3: unknown key 'q'.", "data='random:q=3': unknown key 'q'."),
        ("leave out --memory, or take another.", "leave out 'memory', or take another."),
        ("choose another --value, such as f32.", "choose another 'value', such as f32."),
        ("run it with 'samhw run --memory ddr4'.", "run it with 'samhw run --memory ddr4'."),
        ("give --baud 9 or more.", "give samhw build --baud 9 or more."),
        ("pip install --no-deps hls4ml", "pip install --no-deps hls4ml"),
        ("a loop--unrolled", "a loop--unrolled"),
    ],
)
def test_words_of_the_command_line_in_those_of_python(typed: str, said: str) -> None:
    assert in_python(typed) == said
    assert str(InputError(typed)) == said
    with on_command_line():
        assert str(InputError(typed).within("a.ein")) == f"a.ein: {typed}"
    assert str(InputError(typed)) == said
