"""What a shell completes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from samhw.app.cli import COMMANDS, main


def completed(words: str) -> list[str]:
    """What bash is told for the last of some words."""
    env = {**os.environ, "_SAMHW_COMPLETE": "bash_complete", "COMP_LINE": words}
    run = subprocess.run([sys.executable, "-m", "samhw"], env=env, capture_output=True, text=True, check=True)
    return run.stdout.split()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("samhw comp", ["plain,compare", "plain,compile"]),
        ("samhw run spmspm_i", ["plain,spmspm_ijk", "plain,spmspm_ikj"]),
        ("samhw run nothing", ["file,nothing"]),
        ("samhw sweep spmv gc", ["plain,gcn"]),
        ("samhw run gcn --fus", ["plain,--fuse"]),
        ("samhw run gcn --value fix", ["plain,'fixed<16,8>'"]),
        ("samhw run gcn --value=bf16,fix", ["plain,'bf16,fixed<16,8>'"]),
        ("samhw run gcn --value 'fix", ["plain,fixed<16,8>"]),  # bash closes the quote.
        ("samhw run gcn --data synthetic:cor", ["plain,cora"]),  # A colon ends a word of bash.
        ("samhw run gcn --data=synthetic:cor", ["plain,cora"]),
        ("samhw run gcn --value ", ["plain,bf16"]),
        ("samhw tune gcn --value bf", ["plain,bf16"]),
        ("samhw sweep gcn --value f32,bf", ["plain,f32,bf16"]),
    ],
)
def test_completion(words: str, found: list[str]) -> None:
    assert set(found) <= set(completed(words))


@pytest.mark.parametrize(
    ("words", "found", "not_found"),
    [
        ("run gcn --data synthetic:", "cora power-law", "imdb aifb bert-pruned shell imagenet"),
        ("run gcn --data=synthetic:", "cora", "imdb"),
        ("run --stats gcn --data karate --data synthetic:", "cora", "imdb"),
        ("run bigbird_attention --data synthetic:", "imdb pixelfly", "cora imagenet"),
        ("run spmm --data synthetic:", "cora bert-pruned", "aifb shell"),
        ("sweep gcn bigbird_attention --data synthetic:", "cora imdb", "aifb"),
        ("run file.py:f --data synthetic:", "cora imdb shell", ""),
    ],
)
def test_data_sets_are_those_that_a_program_takes(words: str, found: str, not_found: str) -> None:
    given = {line.partition(",")[2] for line in completed(f"samhw {words}")}
    assert set(found.split()) <= given
    assert not set(not_found.split()) & given


@pytest.mark.parametrize("name", COMMANDS)
def test_what_takes_a_file_completes_files(name: str) -> None:
    """Every option whose place in the help names a file."""
    context = click.Context(main)
    command = main.get_command(context, name)
    assert command is not None
    for option in command.params:
        if re.search("FILE|TABLE", option.metavar or "") and "FILE.py:NAME" not in str(option.metavar):
            found = option.shell_complete(click.Context(command), "no-such")
            assert [item.type for item in found] == ["file"], option.name


def test_words_that_stand_for_a_file_come_with_the_files(tmp_path: Path) -> None:
    (tmp_path / "autumn").mkdir()
    for name in ("auto.toml", "other.toml", ".hidden"):
        (tmp_path / name).touch()
    env = {**os.environ, "_SAMHW_COMPLETE": "zsh_complete", "COMP_CWORD": "4"}
    words = "samhw run gcn --schedule {}"
    found = {}
    for begun in ("", "au", "o", f"{tmp_path}/au"):
        env["COMP_WORDS"] = words.format(begun)
        run = subprocess.run(
            [sys.executable, "-m", "samhw"], env=env, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        lines = run.stdout.splitlines()
        found[begun] = list(zip(lines[::3], lines[1::3], strict=True))
    assert found[""] == [("plain", name) for name in ("auto", "auto.toml", "autumn/", "other.toml")]
    assert found["au"] == [("plain", name) for name in ("auto", "auto.toml", "autumn/")]
    assert found["o"] == [("file", "o")]
    assert found[f"{tmp_path}/au"] == [("file", f"{tmp_path}/au")]
