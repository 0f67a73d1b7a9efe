"""What a shell completes."""

import os
import subprocess
import sys

import pytest


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
