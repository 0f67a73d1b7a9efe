"""An option that counts for nothing is refused, or said where only the design tells."""

import click
import numpy as np
import pytest

import samhw
from samhw.app.cli import COMMANDS, main
from samhw.app.cli.command import EXAMPLES, NEEDS, Command
from tests.support.command import good, refused

CASES = [
    ("compare spmm --width 3in", "--width counts for nothing without --plot; add '--plot FILE'."),
    ("tune spmm -o x.toml --width 3in", "--width counts for nothing without --plot; add '--plot FILE'."),
    ("run spmm --window 1:2", "--window counts for nothing without --trace; add '--trace run.json'."),
    ("run spmm --memory-log x", "--memory-log counts for nothing without --memory; add '--memory ddr4'."),
    ("build spmm --target sim -o x --ports lines=8", "--ports counts for nothing without --memory"),
    ("compile spmm --part XC7Z020", "--part counts for nothing without --estimate"),
    (
        "sweep spmm -o x.csv --against bytes",
        "without --plot or --report; add '--plot FILE' or '--report DIR'.",
    ),
]


@pytest.mark.parametrize(("command", "sentence"), CASES)
def test_an_option_that_needs_another(command: str, sentence: str) -> None:
    assert sentence in refused(*command.split())


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (
            "run spmm --value i32 --value f32",
            "--value is given 2 times, but the last alone would count; give",
        ),
        ("sweep spmm -o x.csv --value i32 --value f32", "give all of it at once, with commas."),
        ("tune spmm -o x.toml --output y.toml", "-o is given 2 times"),
    ],
)
def test_an_option_that_comes_again(command: str, sentence: str) -> None:
    assert sentence in refused(*command.split())


def test_options_that_collect_may_come_again() -> None:
    good(
        "run",
        "spmm",
        "--data",
        "karate",
        "--formats",
        "A=csf",
        "--formats",
        "X=csr",
        "--permute",
        "--permute",
    )


def test_every_command_looks_at_its_options() -> None:
    commands = {name: main.get_command(click.Context(main), name) for name in COMMANDS}
    assert all(isinstance(command, Command) for command in commands.values())
    having = {
        name: {option for param in command.params for option in param.opts}
        for name, command in commands.items()
        if command is not None
    }
    for name, rules in NEEDS.items():
        for option, others in rules.items():
            of = [options for one, options in having.items() if name in ("", one) and option in options]
            assert of, option
            assert all(options.intersection(others) for options in of), option
            assert all(len(other.split()) == 1 for other in others)
    assert all(example.startswith(option) for option, example in EXAMPLES.items())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--interleave", "X"), "--interleave, since no array has three readers; add '--lanes i=4'"),
        (("--largest-copy", "9"), "--largest-copy, since nothing may be copied; add '--permute'"),
        (("--parallel", "all"), "--parallel, since there is one region; leave it out."),
    ],
)
def test_a_choice_that_counts_for_nothing_is_said(options: tuple[str, ...], said: str) -> None:
    for command in ("run", "compile"):
        assert (
            f"samhw: note: Nothing comes of {said}"
            in good(command, "spmm", "--data", "karate", *options).stderr
        )


def test_choices_that_count_are_not_mentioned() -> None:
    lanes = ("--lanes", "i=4", "--interleave", "X")
    assert "Nothing comes of" not in good("run", "spmm", "--data", "karate", *lanes).stderr
    side = ("--fuse", "none", "--parallel", "all")
    assert "Nothing comes of" not in good("compile", "gat", "--data", "karate", *side).stderr


def test_python_says_it_in_its_words() -> None:
    design = samhw.compile("y[i] = A[i, j] * x[j]", schedule={"interleave": "A"})
    with pytest.warns(UserWarning, match="Nothing comes of the schedule's 'interleave'.*'lanes': 'i=4'"):
        design.run(A=np.eye(3, dtype=int), x=[1, 2, 3])
