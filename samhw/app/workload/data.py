"""What `--data` is by default, and what reports call it."""

import os
from collections.abc import Container
from pathlib import Path

from samhw.errors import InputError
from samhw.suggestion import did_you_mean
from samhw.tensors import Tensor, stand_in

__all__ = ["DEFAULT", "SYNTHETIC", "check_free", "check_known", "short_name", "synthetic"]

DEFAULT = ("auto",)
"""The data of every command: the karate club, or random tensors for a program that reads no such matrix."""


def short_name(spec: str) -> str:
    """A data set's name in reports: without the folder of its file."""
    name, equals, path = spec.partition("=")
    return f"{name}={Path(path).name}" if equals and name.isidentifier() else spec.rpartition("/")[2]


SYNTHETIC = "synthetic"
"""What stand-ins are called: `synthetic:cora`, or `synthetic:cora,seed=1`."""


_WORDS = ("karate", "random", SYNTHETIC)


def check_free(name: str, taken: Container[str]) -> None:
    """Raises `InputError` for a tensor that has data already."""
    if name in taken:
        raise InputError(f"--data gives '{name}' data twice; leave out all but one of them.")


def check_known(spec: str) -> None:
    """Raises `InputError` for what is neither a word of --data nor like a file's name."""
    word = spec.partition(":")[0]
    if not Path(word).suffix and os.sep not in word and not os.path.exists(word):
        raise InputError(
            f"There is no data '{spec}'{did_you_mean(word, _WORDS)}; give karate, random, synthetic:NAME, a "
            "file, or NAME=FILE."
        )


def synthetic(spec: str) -> dict[str, Tensor]:
    """The random data that stand for a data set (`stand_in`). Raises `InputError` for another name."""
    name, _, option = spec.partition(":")[2].partition(",")
    seed = option.removeprefix("seed=") if option else "0"
    if not (seed.isdecimal() and len(seed) < 10) or (option and not option.startswith("seed=")):
        raise InputError(f"--data {spec}: '{option}' is no option of a stand-in; the only one is seed=N.")
    return stand_in(name, seed=int(seed))
